"""The optimistic programs: the fast model against the CVXPY statements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees.lp import best_policy, solve
from committees.optimism import OptimisticLP, Optimum, interval_lp, l1_lp
from committees.rl_cmdp import bernstein_radius
from samples import problems


@st.composite
def estimates(draw):
    """A problem, and what some people from it say of p."""
    problem = draw(problems(max_features=2, max_values=4))
    seen = draw(st.integers(1, 300))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return problem, rng.multinomial(seen, problem.p) / seen, seen


@given(estimates(), st.lists(st.floats(0, 3), min_size=1, max_size=3))
def test_optimistic_lp_is_the_l1_program(known, radii):
    """Also when one model answers several questions in a row."""
    problem, estimate, _ = known
    model = OptimisticLP(problem)
    for radius in radii:
        found = model.over_l1_ball(estimate, radius)
        assert found.rate == pytest.approx(solve(l1_lp(problem, estimate, radius)), abs=1e-8)
        mass, belief = found.mass, found.belief
        assert mass.sum() == pytest.approx(found.rate, abs=1e-9)
        np.testing.assert_allclose(
            problem.incidence @ mass, problem.rho * found.rate, rtol=0, atol=1e-9
        )
        assert belief.sum() == pytest.approx(1, abs=1e-9)
        assert (belief >= mass - 1e-12).all()
        assert np.abs(belief - estimate).sum() <= radius + 1e-9


@given(
    estimates(),
    st.just(0.0) | st.floats(1e-6, 1),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([0.1, 1.0, 10.0]),
)
def test_optimistic_lp_is_the_interval_program(known, scale, below, above):
    """Intervals are points, or wider than what a solver takes for rounding; often to one side."""
    problem, estimate, seen = known
    reach = scale * bernstein_radius(estimate, seen, 0.05)
    low = np.maximum(estimate - below * reach, 0)
    high = np.minimum(estimate + above * reach, 1)
    found = OptimisticLP(problem).over_intervals(estimate, low, high)
    assert found.rate == pytest.approx(solve(interval_lp(problem, low, high)), abs=1e-8)
    assert found.belief.sum() == pytest.approx(1, abs=1e-9)
    assert (found.belief >= np.maximum(found.mass, low) - 1e-9).all()
    assert (found.belief <= high + 1e-9).all()


def test_optimum_accepts_what_it_believes_in_and_types_unknown():
    """Mass over belief; the third type is believed not to exist, and rounding never exceeds 1."""
    optimum = Optimum(0.5, np.array([0.1, 0.4 + 1e-15, 0.0]), np.array([0.6, 0.4, 0.0]))
    np.testing.assert_array_equal(optimum.acceptance(unknown=0.25), [0.1 / 0.6, 1, 0.25])


@given(estimates())
def test_optimistic_lp_gains_with_the_radius(known):
    problem, estimate, _ = known
    model = OptimisticLP(problem)
    rates = [model.over_l1_ball(estimate, radius).rate for radius in (0, 0.1, 0.5, 1, 2)]
    assert (np.diff(rates) >= -1e-9).all()
    assert rates[-1] == pytest.approx(1, abs=1e-9)  # every distribution is possible
    distance = np.abs(estimate - problem.p).sum()
    assert model.over_l1_ball(estimate, distance).rate >= best_policy(problem).rate - 1e-9

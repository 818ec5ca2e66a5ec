"""The program as printed, against its literal statement and against the corrected one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import RLCMDP, PlugIn, Problem, datasets, recruit
from committees.lp import solve
from committees.optimism import OptimisticLP, l1_lp
from committees.rl_cmdp import bernstein_radius
from companion.printed import PrintedLP, PrintedRLCMDP, printed_bernstein_radius, printed_lp
from radius import VertexLP, VertexRLCMDP
from samples import problems

THREE = datasets.brexit(features=["ethnicity", "social class", "gender"])


@st.composite
def estimates(draw):
    """A problem, and what some people from it say of p."""
    problem = draw(problems(max_features=2, max_values=4))
    seen = draw(st.integers(1, 300))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return problem, rng.multinomial(seen, problem.p) / seen


@given(estimates(), st.lists(st.floats(0, 6), min_size=1, max_size=2))
def test_printed_lp_is_what_the_fast_model_solves(known, radii):
    """Also when one model answers several questions in a row."""
    problem, estimate = known
    model = PrintedLP(problem)
    for radius in radii:
        found = model.over_l1_ball(estimate, radius)
        assert found.rate == pytest.approx(solve(printed_lp(problem, estimate, radius)), abs=1e-7)
        assert found.mass.sum() == pytest.approx(found.rate, abs=1e-9)
        assert found.belief.sum() == pytest.approx(1, abs=1e-9)


@given(estimates(), st.lists(st.floats(0, 3), min_size=1, max_size=2))
def test_the_extended_lp_word_for_word_has_the_value_of_the_smaller_program(known, radii):
    """And of the statement in CVXPY; its belief lies in the ball, and its policy is a policy."""
    problem, estimate = known
    model, small = VertexLP(problem), OptimisticLP(problem)
    for radius in radii:
        found = model.over_l1_ball(estimate, radius)
        assert found.rate == pytest.approx(small.over_l1_ball(estimate, radius).rate, abs=1e-7)
        assert found.rate == pytest.approx(solve(l1_lp(problem, estimate, radius)), abs=1e-7)
        assert found.belief.sum() == pytest.approx(1, abs=1e-9)
        assert np.abs(found.belief - estimate).sum() <= max(radius, 2 * (radius >= 2)) + 1e-7
        assert (found.mass <= found.belief + 1e-9).all()


def test_vertex_rl_cmdp_believes_that_types_it_has_met_do_not_exist():
    """At a vertex; the belief of `committees.optimism` moves towards the estimate instead."""
    five = datasets.brexit(["ethnicity", "social class", "age", "gender", "vote"])
    denied = {}
    for strategy in (VertexRLCMDP(scale=0.1), RLCMDP(scale=0.1)):
        episodes = recruit(strategy, five, 2500, 3).session.episodes[-20:]
        met = [(e.counts > 0) & (e.belief < 1e-9) for e in episodes]
        denied[type(strategy)] = np.sum(met)
    assert denied[VertexRLCMDP] > 0 == denied[RLCMDP]


@given(estimates(), st.floats(0, 2))
def test_printed_lp_is_not_optimistic(known, radius):
    """Theorem (chapter 5): up to radius 2 it has the value of the plug-in program."""
    problem, estimate = known
    plug_in = OptimisticLP(problem).over_l1_ball(estimate, 0.0)
    assert PrintedLP(problem).over_l1_ball(estimate, radius).rate == pytest.approx(
        plug_in.rate, abs=1e-8
    )


def test_printed_lp_can_be_optimistic_beyond_radius_2():
    """One feature, two values: the value is 2 min(q + b/2 - b/radius), rising in b beyond 2."""
    problem = Problem({"a": {"x": 0.5, "y": 0.5}}, [0.9, 0.1])
    model = PrintedLP(problem)
    estimate = np.array([0.9, 0.1])
    assert model.over_l1_ball(estimate, 2.0).rate == pytest.approx(0.2, abs=1e-9)
    assert model.over_l1_ball(estimate, 2.6).rate > 0.25


@pytest.mark.parametrize("seed", range(3))
def test_printed_rl_cmdp_does_the_same_in_blocks(seed):
    """Block by block or person by person: the very same committee, people and episodes."""
    one = recruit(PrintedRLCMDP(), THREE, 60, np.random.default_rng(seed))
    other = recruit(PrintedRLCMDP(), THREE, 60, np.random.default_rng(seed), step_by_step=True)
    np.testing.assert_array_equal(one.type_ids, other.type_ids)
    np.testing.assert_array_equal(one.screened, other.screened)
    starts = [[e.start for e in found.session.episodes] for found in (one, other)]
    last = one.screened[-1]
    assert [s for s in starts[0] if s <= last] == [s for s in starts[1] if s <= last]


def test_printed_rl_cmdp_solves_the_printed_program():
    episodes = recruit(PrintedRLCMDP(), THREE, 200, np.random.default_rng(1)).session.episodes
    informed = [episode for episode in episodes if episode.radius <= 2]
    assert informed
    for episode in informed:
        estimate = episode.counts / (episode.start - 1)
        plug_in = OptimisticLP(THREE).over_l1_ball(estimate, 0.0).rate
        assert episode.rate == pytest.approx(plug_in, abs=1e-7)
        literal = solve(printed_lp(THREE, estimate, float(episode.radius)))
        assert episode.rate == pytest.approx(literal, abs=1e-7)


def test_printed_rl_cmdp_has_a_name_of_its_own():
    variants = [RLCMDP(), PlugIn(), PrintedRLCMDP(), PrintedRLCMDP(scale=0.1)]
    assert len({strategy.name for strategy in variants}) == len(variants)
    assert PrintedRLCMDP(delta=0.1).name == "RL-CMDP as printed δ=0.1"


def test_printed_radius_of_rl_cmdp_b_never_shrinks():
    """Divided by one: from the second person on only its logarithm changes, and it grows."""
    estimate = np.array([0.2, 0.8])
    radii = [printed_bernstein_radius(estimate, seen, 0.05) for seen in (1, 10, 1000, 10**6)]
    assert (np.diff(radii, axis=0) > 0).all()
    log_term = np.log(6 * 2 * 1001 / 0.05)
    by_hand = np.sqrt(2) * np.sqrt(0.16 * log_term) + 7 / 3 * log_term
    assert radii[2] == pytest.approx([by_hand, by_hand])
    assert radii[0] == pytest.approx(bernstein_radius(estimate, 1, 0.05))  # one person: the same


def test_printed_rl_cmdp_b_accepts_everybody():
    printed = PrintedRLCMDP(confidence="bernstein")
    two = Problem({"gender": {"woman": 0.5, "man": 0.5}}, [0.1, 0.9])
    assert recruit(printed, two, 5000, 1).screened[-1] == 5000
    mended = recruit(RLCMDP(confidence="bernstein"), two, 5000, 1)
    assert mended.screened[-1] > 5000


def test_printed_rl_cmdp_checks_its_parameters():
    with pytest.raises(ValueError, match="delta"):
        PrintedRLCMDP(delta=0)

"""The policy for many types, held to the linear program that it stands for."""

from __future__ import annotations

import tracemalloc
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import Problem, datasets, lp
from committees.beyond import many_types


def random_problem(seed, sizes, *, spread=0.0, absent=0.0, unwanted=False):
    """Independent features; then p is shaken, some types vanish, one value is not wanted."""
    rng = np.random.default_rng(seed)
    names = [f"f{i}" for i in range(len(sizes))]

    def shares():
        drawn = (rng.dirichlet(np.full(size, 3.0)) for size in sizes)
        return {n: {f"v{j}": s for j, s in enumerate(d)} for n, d in zip(names, drawn, strict=True)}

    targets, marginals = shares(), shares()
    if unwanted:
        first = targets["f0"]
        rest = 1 - first.pop("v0")
        targets["f0"] = {"v0": 0.0} | {value: share / rest for value, share in first.items()}
    p = Problem.from_marginals(targets, marginals).p
    p = p * np.exp(spread * rng.normal(size=len(p))) * (rng.random(len(p)) >= absent)
    return Problem(targets, p / p.sum())


def assert_optimal(problem, mass, w):
    rate = mass.sum()
    assert (mass >= 0).all()
    assert (mass <= problem.p * (1 + 1e-12)).all()
    assert np.abs(problem.incidence @ mass - problem.rho * rate).max() < 1e-9 * rate
    assert w @ problem.rho == pytest.approx(1, abs=1e-9)
    score = w[problem.codes].sum(axis=1)
    assert problem.p @ np.maximum(score, 0) == pytest.approx(rate, rel=1e-9)


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(2, 5), min_size=1, max_size=5),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.booleans(),
)
def test_solve_finds_what_the_whole_program_finds(seed, sizes, spread, unwanted):
    problem = random_problem(seed, sizes, spread=spread, unwanted=unwanted)
    found = many_types.solve(problem)
    assert found is not None
    assert_optimal(problem, *found)
    assert found[0].sum() == pytest.approx(lp.best_policy(problem).rate, rel=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_solve_where_types_are_absent(seed):
    problem = random_problem(seed, [4, 3, 5, 4, 4, 3], absent=0.5)
    found = many_types.solve(problem)
    assert found is not None
    assert_optimal(problem, *found)
    assert found[0][problem.p == 0].max() == 0


def test_solve_where_almost_every_policy_is_optimal():
    """Only the young are scarce: nearly all types have score zero, and keep their coin."""
    problem = datasets.brexit()
    mass, w = many_types.solve(problem)
    assert_optimal(problem, mass, w)
    big = random_problem(0, [10] * 4, spread=0.5)
    wanted = big.presence.copy()
    wanted[:10] *= (1 - 1.5 * wanted[0]) / (1 - wanted[0])
    wanted[0] = 1.5 * big.presence[0]
    scarce = Problem(big.targets * 0 + wanted, big.p)
    mass, w = many_types.solve(scarce)
    assert_optimal(scarce, mass, w)
    assert mass.sum() == pytest.approx(2 / 3, rel=1e-9)
    coins = (mass > 1e-9 * scarce.p) & (mass < (1 - 1e-9) * scarce.p)
    assert coins.sum() > 1000


@pytest.mark.parametrize("seed", range(2))
def test_solve_where_a_scarce_value_leaves_a_hundred_thousand_coins(seed):
    problem = random_problem(seed, [10] * 5, spread=0.3)
    wanted = problem.presence.copy()
    wanted[:10] *= (1 - 1.5 * wanted[0]) / (1 - wanted[0])
    wanted[0] = 1.5 * problem.presence[0]
    problem = Problem(problem.targets * 0 + wanted, problem.p)
    assert_optimal(problem, *many_types.solve(problem))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 99))
def test_pair_sums_are_those_of_the_incidence_matrix(sizes, seed):
    problem = random_problem(seed, sizes, spread=1.0)
    mass, dense = np.random.default_rng(seed).random(len(problem.p)), problem.incidence.toarray()
    expected = dense @ np.diag(mass) @ dense.T
    np.testing.assert_allclose(many_types.pair_sums(problem, mass), expected, atol=1e-12)


def test_smoothed_has_the_acceptance_for_its_slope():
    z = np.linspace(-50, 50, 2001)
    slope = np.gradient(many_types.smoothed(z), z)
    np.testing.assert_allclose(slope[1:-1], many_types.acceptance(z)[1:-1], atol=1e-3)
    far = np.array([-1e9, 1e9])
    np.testing.assert_allclose(many_types.acceptance(far), [0, 1], atol=1e-8)


def test_best_policy_is_the_papers():
    problem = random_problem(5, [4, 4, 4], spread=1.0, absent=0.2, unwanted=True)
    ours, plain = many_types.best_policy(problem), lp.best_policy(problem)
    assert ours.rate == pytest.approx(plain.rate, rel=1e-9)
    assert ours.bound == pytest.approx(ours.rate, rel=1e-9)
    assert ours.acceptance.between(0, 1).all()
    assert (ours.acceptance[problem.p == 0] == 0).all()
    assert not ours.acceptance.to_numpy().flags.writeable


def test_best_policy_without_a_proof_is_left_to_cvxpy_or_refused(monkeypatch):
    problem = random_problem(5, [4, 4, 4], spread=1.0)
    monkeypatch.setattr(many_types, "MAX_STEPS", 1)
    assert many_types.solve(problem) is None
    assert many_types.best_policy(problem) is lp.best_policy(problem)
    monkeypatch.setattr(lp, "MAX_TYPES_CVXPY", 63)
    with pytest.raises(ValueError, match="no policy for these 64 types could be proven optimal"):
        many_types.best_policy(problem)


def test_is_optimal_refuses_wrong_answers():
    problem = random_problem(6, [4, 4, 4], spread=1.0)
    mass, w = many_types.solve(problem)
    assert many_types.is_optimal(problem, problem.p, mass, w)
    for wrong in (0.999 * mass, np.roll(mass, 1), 0 * mass):
        assert not many_types.is_optimal(problem, problem.p, wrong, w)


def test_best_policy_refuses_targets_that_cannot_be_combined():
    """Nobody has the first value of both of the first two features, and each is wanted by 60 %."""
    base = random_problem(7, [2, 2, *[4] * 6])
    p = np.where((base.codes[:, 0] == 0) & (base.codes[:, 1] == 2), 0.0, base.p)
    targets = base.targets.copy()
    targets.iloc[:4] = [0.6, 0.4, 0.6, 0.4]
    with pytest.raises(ValueError, match="no policy meets the targets"):
        many_types.best_policy(Problem(targets, p / p.sum()))


@pytest.mark.slow
def test_solve_a_million_types():
    """Few passes over the types, and a small program: counted, since seconds would not be fair."""
    problem = random_problem(0, [10] * 6)
    assert len(problem.p) == 10**6
    programs, passes = [], []
    model, smoothed = many_types.highs.model, many_types.smoothed

    def counted_model(matrix, *rest, **options):
        programs.append(matrix.shape[1])
        return model(matrix, *rest, **options)

    def counted_pass(z):
        passes.append(len(z))
        return smoothed(z)

    with (
        mock.patch.object(many_types.highs, "model", counted_model),
        mock.patch.object(many_types, "smoothed", counted_pass),
    ):
        tracemalloc.start()
        mass, w = many_types.solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert_optimal(problem, mass, w)
    assert len(passes) <= 60
    assert len(programs) <= 8
    assert max(programs) <= 1 + 2 * many_types.TYPES_PER_VALUE * len(problem.rho)
    assert peak < 20 * problem.p.nbytes

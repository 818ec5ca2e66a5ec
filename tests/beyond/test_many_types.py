"""The policy for many types, held to the linear program that it stands for."""

from __future__ import annotations

import tracemalloc
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
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


def assert_optimal(problem, mass, points):
    rate = mass.sum()
    assert (mass >= 0).all()
    assert (mass <= problem.p * (1 + 1e-12)).all()
    assert np.abs(problem.incidence @ mass - problem.rho * rate).max() < 1e-9 * rate
    assert points @ problem.rho == pytest.approx(1, abs=1e-9)
    score = points[problem.codes].sum(axis=1)
    assert problem.p @ np.maximum(score, 0) == pytest.approx(rate, rel=1e-9)


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(2, 5), min_size=1, max_size=5),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.booleans(),
)
@settings(max_examples=60)
def test_it_finds_what_the_whole_program_finds(seed, sizes, spread, unwanted):
    problem = random_problem(seed, sizes, spread=spread, unwanted=unwanted)
    found = many_types.solve(problem)
    assert found is not None
    assert_optimal(problem, *found)
    whole, _ = lp._solve_whole(problem)
    assert found[0].sum() == pytest.approx(whole.sum(), rel=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_types_may_be_absent(seed):
    problem = random_problem(seed, [4, 3, 5, 4, 4, 3], absent=0.5)
    found = many_types.solve(problem)
    assert found is not None
    assert_optimal(problem, *found)
    assert found[0][problem.p == 0].max() == 0


def test_where_almost_every_policy_is_optimal():
    """Only the young are scarce: nearly all types have score zero, and keep their coin."""
    problem = datasets.brexit()
    mass, points = many_types.solve(problem)
    assert_optimal(problem, mass, points)
    big = random_problem(0, [10] * 4, spread=0.5)
    wanted = big.presence.copy()
    wanted[:10] *= (1 - 1.5 * wanted[0]) / (1 - wanted[0])
    wanted[0] = 1.5 * big.presence[0]
    scarce = Problem(big.targets * 0 + wanted, big.p)
    mass, points = many_types.solve(scarce)
    assert_optimal(scarce, mass, points)
    assert mass.sum() == pytest.approx(2 / 3, rel=1e-9)
    coins = (mass > 1e-9 * scarce.p) & (mass < (1 - 1e-9) * scarce.p)
    assert coins.sum() > 1000


def test_the_table_is_the_incidence_matrix():
    problem = random_problem(3, [3, 2, 4, 3], spread=1.0)
    table = many_types.Table(problem)
    rng = np.random.default_rng(0)
    points, mass = rng.normal(size=len(problem.rho)), rng.random(len(problem.p))
    dense = problem.incidence.toarray()
    np.testing.assert_allclose(table.scores(points), points @ dense, atol=1e-12)
    np.testing.assert_allclose(table.shares(mass), dense @ mass, atol=1e-12)
    np.testing.assert_allclose(table.pairs(mass), dense @ np.diag(mass) @ dense.T, atol=1e-12)


def test_the_rounded_kink():
    z = np.linspace(-50, 50, 2001)
    slope = np.gradient(many_types.rounded(z), z)
    np.testing.assert_allclose(slope[1:-1], 0.5 + many_types.middle(z)[1:-1], atol=1e-3)
    far = np.array([-1e9, 1e9])
    np.testing.assert_allclose(0.5 + many_types.middle(far), [0, 1], atol=1e-8)


def test_without_a_proof_the_whole_program_is_solved(monkeypatch):
    problem = random_problem(5, [4, 4, 4], spread=1.0)
    monkeypatch.setattr(lp, "MANY", 10)
    lp.best_policy.cache_clear()
    with mock.patch.object(lp, "_solve_whole", side_effect=AssertionError):
        quick = lp.best_policy(problem)
    monkeypatch.setattr(many_types, "MOST_STEPS", 1)
    assert many_types.solve(problem) is None
    lp.best_policy.cache_clear()
    slow = lp.best_policy(problem)
    lp.best_policy.cache_clear()
    assert slow.rate == pytest.approx(quick.rate, rel=1e-10)


def test_a_wrong_answer_is_not_proven():
    problem = random_problem(6, [4, 4, 4], spread=1.0)
    table = many_types.Table(problem)
    mass, points = many_types.solve(problem)
    mass = mass / table.unit
    assert many_types._proven(table, mass, points)
    assert not many_types._proven(table, 0.999 * mass, points)
    assert not many_types._proven(table, np.roll(mass, 1), points)
    assert not many_types._proven(table, 0 * mass, points)


def test_targets_that_cannot_be_combined_are_refused_with_many_types_too():
    sizes = [2, 2, *[4] * 6]
    base = random_problem(7, sizes)
    p = base.p.copy()
    p[_both(base)] = 0
    targets = base.targets.copy()
    targets[("f0", "v0")], targets[("f0", "v1")] = 0.6, 0.4
    targets[("f1", "v0")], targets[("f1", "v1")] = 0.6, 0.4
    assert len(p) > lp.MANY
    with pytest.raises(ValueError, match="no policy meets the targets"):
        lp.best_policy(Problem(targets, p / p.sum()))


def _both(problem):
    """Nobody has the first value of both of the first two features."""
    return (problem.codes[:, 0] == 0) & (problem.codes[:, 1] == 2)


def test_a_million_types():
    """Few passes over the types, and a small program: counted, since seconds would not be fair."""
    problem = random_problem(0, [10] * 6)
    assert len(problem.p) == 10**6
    programs, passes = [], []
    model, rounded = many_types.highs.model, many_types.rounded

    def counted_model(matrix, *rest, **options):
        programs.append(matrix.shape[1])
        return model(matrix, *rest, **options)

    def counted_pass(z):
        passes.append(len(z))
        return rounded(z)

    with (
        mock.patch.object(many_types.highs, "model", counted_model),
        mock.patch.object(many_types, "rounded", counted_pass),
    ):
        tracemalloc.start()
        mass, points = many_types.solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert_optimal(problem, mass, points)
    assert len(passes) <= 60
    assert len(programs) <= 8
    assert max(programs) <= 1 + many_types.TYPES_PER_VALUE * len(problem.rho)
    assert peak < 20 * problem.p.nbytes

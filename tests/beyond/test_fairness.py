"""The fairest of the fastest policies, and the scores that prove it fastest."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given

from committees import CMDP, Problem, datasets, simulate
from committees.beyond.fairness import FairCMDP, fair_policy
from committees.lp import best_policy
from samples import needs_pgmpy, problems, random_problem

BREXIT = datasets.brexit()


def slow_leximin(problem):
    """By definition: raise all that can be raised; a type is settled if alone it cannot be."""
    rate = best_policy(problem).rate
    occurs = np.flatnonzero(problem.p > 0)
    x = cp.Variable(len(problem.p), bounds=[0, 1])
    mass = cp.multiply(problem.p / rate, x)
    rules = [problem.incidence @ mass == problem.rho]
    least: dict[int, float] = {}
    while len(least) < len(occurs):
        level = cp.Variable()
        open_ = [type_id for type_id in occurs if type_id not in least]
        held = [x[type_id] >= value - 1e-8 for type_id, value in least.items()]
        program = cp.Problem(cp.Maximize(level), [*rules, *held, x[open_] >= level, level <= 1])
        program.solve(solver=cp.HIGHS)
        top = float(level.value)
        for type_id in open_:
            alone = cp.Problem(cp.Maximize(x[type_id]), [*rules, *held, x[open_] >= top - 1e-8])
            if alone.solve(solver=cp.HIGHS) < top + 1e-6:
                least[type_id] = top
    return np.array([least.get(type_id, 0.0) for type_id in range(len(problem.p))])


@pytest.mark.parametrize("seed", range(6))
def test_fair_policy_is_leximin(seed):
    problem = random_problem(np.random.default_rng(seed), [[2, 2], [2, 3], [2, 2, 2]][seed % 3])
    expected = np.sort(slow_leximin(problem))
    np.testing.assert_allclose(np.sort(fair_policy(problem).acceptance), expected, atol=1e-5)


@given(problem=problems())
@example(
    problem=random_problem(np.random.default_rng(105), [5, 5, 5])
)  # was infeasible, by rounding
@example(problem=datasets.brexit(["region", "vote"]))
def test_fair_policy_is_as_fast_and_meets_the_targets(problem):
    fast, fair = best_policy(problem), fair_policy(problem)
    mass = problem.incidence @ (problem.p * fair.acceptance.to_numpy())
    assert fair.rate == pytest.approx(fast.rate, rel=1e-8)
    np.testing.assert_allclose(mass, problem.rho * fair.rate, atol=1e-8)
    assert fair.acceptance.between(0, 1).all()
    assert fair.acceptance.min() >= fast.acceptance.min() - 1e-7


def test_fair_policy_raises_the_smallest_chance_of_brexit():
    fast, fair = CMDP().policy(BREXIT), FairCMDP().policy(BREXIT)
    assert fast.acceptance.min() == 0
    assert fair.acceptance.min() > 0.15
    assert fair.rate == pytest.approx(fast.rate, rel=1e-8)


def test_fair_policy_leaves_out_types_that_do_not_occur():
    p = np.array([0.5, 0.2, 0.0, 0.3])
    problem = Problem({"a": {"x": 0.5, "y": 0.5}, "b": {"u": 0.4, "v": 0.6}}, p)
    fair = fair_policy(problem)
    assert fair.acceptance.iloc[2] == 0
    assert fair.rate == pytest.approx(best_policy(problem).rate)


def test_fair_policy_of_too_many_types_is_the_fastest(monkeypatch):
    problem = random_problem(np.random.default_rng(7), [2, 3])
    monkeypatch.setattr("committees.beyond.fairness.MAX_TYPES", len(problem.p) - 1)
    fair_policy.cache_clear()
    assert fair_policy(problem) is best_policy(problem)
    fair_policy.cache_clear()


def test_fair_cmdp_screens_as_many_as_cmdp():
    """People screened have the same law; 5 standard errors: one false alarm in a million."""
    frame = simulate([CMDP(), FairCMDP()], BREXIT, 100, 400, 5)
    one, other = (own["screened"] for _, own in frame.groupby("strategy"))
    error = np.sqrt((one.var() + other.var()) / 400)
    assert abs(one.mean() - other.mean()) < 5 * error
    assert set(frame["strategy"]) == {"CMDP", "CMDP fair"}


@given(problem=problems())
def test_scores_and_policies_agree(problem):
    """A score above zero: accepted; below: rejected; a coin only at zero."""
    check_scores(problem, best_policy(problem))
    check_scores(problem, fair_policy(problem))


@pytest.mark.parametrize(
    "name",
    [
        "brexit",
        pytest.param("weak", marks=needs_pgmpy),
        pytest.param("strong", marks=needs_pgmpy),
    ],
)
def test_scores_and_policies_of_the_book_agree(name):
    problem = BREXIT if name == "brexit" else datasets.adult(name)
    for policy in (best_policy(problem), fair_policy(problem)):
        check_scores(problem, policy)


def check_scores(problem, policy):
    total = policy.score.to_numpy()
    acceptance = policy.acceptance.to_numpy()
    edge = 1e-7 * np.abs(policy.dual).max()
    assert (acceptance[(total > edge) & (problem.p > 0)] > 1 - 1e-6).all()
    assert (acceptance[total < -edge] < 1e-6).all()
    by_hand = [policy.dual.to_numpy()[codes].sum() for codes in problem.codes]
    np.testing.assert_allclose(total, by_hand, atol=1e-12)

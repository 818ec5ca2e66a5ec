"""The fairest of the fastest policies, and the scorecard."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings

from committees import CMDP, Problem, datasets, simulate
from committees.beyond.fairness import fair_policy
from committees.lp import best_policy
from samples import problems, random_problem

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
def test_it_is_leximin(seed):
    problem = random_problem(np.random.default_rng(seed), [[2, 2], [2, 3], [2, 2, 2]][seed % 3])
    expected = np.sort(slow_leximin(problem))
    np.testing.assert_allclose(np.sort(fair_policy(problem).acceptance), expected, atol=1e-5)


@given(problem=problems())
@settings(max_examples=60)
def test_it_costs_nothing(problem):
    fast, fair = best_policy(problem), fair_policy(problem)
    mass = problem.incidence @ (problem.p * fair.acceptance.to_numpy())
    assert fair.rate == pytest.approx(fast.rate, rel=1e-8)
    np.testing.assert_allclose(mass, problem.rho * fair.rate, atol=1e-8)
    assert fair.acceptance.between(0, 1).all()
    assert fair.acceptance.min() >= fast.acceptance.min() - 1e-7


def test_what_brexit_gains():
    fast, fair = CMDP().policy(BREXIT), CMDP(fair=True).policy(BREXIT)
    assert fast.acceptance.min() == 0
    assert fair.acceptance.min() > 0.15
    assert fair.rate == pytest.approx(fast.rate, rel=1e-8)


def test_types_that_do_not_occur_are_left_out():
    p = np.array([0.5, 0.2, 0.0, 0.3])
    problem = Problem({"a": {"x": 0.5, "y": 0.5}, "b": {"u": 0.4, "v": 0.6}}, p)
    fair = fair_policy(problem)
    assert fair.acceptance.iloc[2] == 0
    assert fair.rate == pytest.approx(best_policy(problem).rate)


def test_of_too_many_types_the_fastest_policy_is_taken(monkeypatch):
    problem = random_problem(np.random.default_rng(7), [2, 3])
    monkeypatch.setattr("committees.beyond.fairness.MOST_TYPES", len(problem.p) - 1)
    fair_policy.cache_clear()
    assert fair_policy(problem) is best_policy(problem)
    fair_policy.cache_clear()


def test_the_two_recruit_alike():
    """People screened have the same law; 5 standard errors: one false alarm in a million."""
    frame = simulate([CMDP(), CMDP(fair=True)], BREXIT, 100, 400, 5)
    one, other = (own["screened"] for _, own in frame.groupby("strategy"))
    error = np.sqrt((one.var() + other.var()) / 400)
    assert abs(one.mean() - other.mean()) < 5 * error
    assert set(frame["strategy"]) == {"CMDP", "CMDP fair"}


@given(problem=problems())
@settings(max_examples=100)
def test_the_scorecard_and_the_policy_agree(problem):
    """Points add up to more than zero: accepted; to less: rejected; a coin only at the edge."""
    check_scorecard(problem, best_policy(problem))
    check_scorecard(problem, fair_policy(problem))


@pytest.mark.parametrize("name", ["brexit", "weak", "strong"])
def test_the_scorecards_of_the_book(name):
    problem = BREXIT if name == "brexit" else datasets.adult(name)
    for policy in (best_policy(problem), fair_policy(problem)):
        check_scorecard(problem, policy)


def check_scorecard(problem, policy):
    total = policy.score.to_numpy()
    acceptance = policy.acceptance.to_numpy()
    edge = 1e-7 * np.abs(policy.dual).max()
    assert (acceptance[(total > edge) & (problem.p > 0)] > 1 - 1e-6).all()
    assert (acceptance[total < -edge] < 1e-6).all()
    by_hand = [policy.dual.to_numpy()[codes].sum() for codes in problem.codes]
    np.testing.assert_allclose(total, by_hand)

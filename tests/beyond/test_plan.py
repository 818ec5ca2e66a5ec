"""The plan for the seats left: both statements of it, and the model that is kept, agree."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import Problem, recruit
from committees.beyond import Resolving
from committees.beyond.plan import PlanLP, plan_lp
from committees.greedy import band
from committees.lp import best_policy, solve
from samples import problems, random_problem, seated

HALVES = Problem({"f": {"a": 0.5, "b": 0.5}}, [0.5, 0.5])


def plan_in_people(problem, k, low, high):
    """The plan as its module's docstring states it first: see as few people as possible."""
    y = cp.Variable(len(problem.p), nonneg=True)
    T = cp.Variable(nonneg=True)
    by_value = problem.incidence @ y
    rules = [y <= problem.p * T, cp.sum(y) == k, by_value >= low, by_value <= high]
    return solve(cp.Problem(cp.Minimize(T), rules))


@given(problems())
def test_plan_lp_for_one_seat_is_the_papers_program(problem):
    """With k = 1 and low = high = rho, T = 1 / g*."""
    rate = best_policy(problem).rate
    program, mass = plan_lp(problem, 1, problem.rho, problem.rho)
    assert solve(program) == pytest.approx(rate, rel=1e-8)
    assert 1 / plan_in_people(problem, 1, problem.rho, problem.rho) == pytest.approx(rate, rel=1e-8)
    assert (mass.value <= problem.p + 1e-9).all()
    assert problem.incidence @ mass.value == pytest.approx(problem.rho * rate, abs=1e-9)


@given(problems(max_features=2), st.integers(1, 40), st.floats(0, 0.2))
def test_plan_lp_needs_no_more_people_where_there_is_room(problem, seats, slack):
    rho = problem.rho
    exact = 1 / solve(plan_lp(problem, seats, rho * seats, rho * seats)[0])
    loose = (rho - slack) * seats, (rho + slack) * seats
    people = 1 / solve(plan_lp(problem, seats, *loose)[0])
    assert exact == pytest.approx(seats / best_policy(problem).rate, rel=1e-8)
    assert seats - 1e-7 <= people <= exact * (1 + 1e-9)
    assert people == pytest.approx(plan_in_people(problem, seats, *loose), rel=1e-8)


@given(problems(), st.integers(3, 40), st.sampled_from([0.0, 0.02, 0.1]), st.integers(0, 99))
def test_plan_model_is_the_statement_state_after_state(problem, size, tolerance, seed):
    rng = np.random.default_rng(seed)
    low, high = band(problem, size, tolerance)
    type_ids = recruit(Resolving(tolerance), problem, size, rng).type_ids
    plain, careful = PlanLP(problem), PlanLP(problem)
    margin = np.minimum(rng.random(len(low)), (high - low) / 2)
    for filled in range(0, size, max(1, size // 4)):
        counts, left = seated(problem, type_ids[:filled]).astype(int), size - filled
        question = (left, low - counts, high - counts)
        people, wanted = plain.solve(problem.p, *question, 0 * margin, 0.0)
        assert people == pytest.approx(plan_in_people(problem, *question), rel=1e-6)
        assert wanted.sum() == pytest.approx(left)
        assert (wanted <= problem.p * people * (1 + 1e-6) + 1e-6).all()
        people, wanted = careful.solve(problem.p, *question, margin, 0.3 / left)
        by_value = problem.incidence @ wanted
        inside = np.maximum(question[1] + margin - by_value, by_value - question[2] + margin)
        found = (1 - 0.3 / left * np.maximum(inside, 0).sum()) / people
        assert found == pytest.approx(solve(plan_lp(problem, *question, margin, 0.3 / left)[0]))


def test_plan_model_is_infinite_without_a_plan_and_forgets_that():
    lp = PlanLP(HALVES)
    question = (4, *2 * [np.array([2, 2])], np.zeros(2), 0.0)
    assert lp.solve(np.array([1.0, 0.0]), *question)[0] == np.inf
    assert lp.solve(HALVES.p, *question)[0] == pytest.approx(4)
    assert lp.solve(np.array([1 - 1e-9, 1e-9]), *question)[0] == pytest.approx(2e9)
    assert lp.solve(HALVES.p, *question)[0] == pytest.approx(4)


@pytest.mark.parametrize("seed", range(30))
def test_plan_model_does_not_depend_on_the_plans_before(seed):
    """One model for wildly different beliefs, as of a learner: the same people as a new one."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, [2, 3, 2])
    kept = PlanLP(problem)
    for turn in range(12):
        p = rng.dirichlet(np.full(len(problem.p), 0.3 if turn % 2 else 1.0)) ** rng.integers(1, 6)
        p = np.maximum(p, 1e-30) / np.maximum(p, 1e-30).sum()
        size = int(rng.integers(10, 60))
        low, high = band(problem, size, 0.05)
        rho, room = problem.rho, (high - low) / 2
        margin = np.minimum(0.5 * np.sqrt(size * rho * (1 - rho)), room)
        question = (p, size, low, high, margin, min(0.7 / size, 0.9 / max(margin.sum(), 1e-9)))
        people, wanted = kept.solve(*question)
        assert people == pytest.approx(PlanLP(problem).solve(*question)[0], rel=1e-6)
        if np.isfinite(people):
            assert wanted.sum() == pytest.approx(size)
            assert (wanted <= p * people * (1 + 1e-6)).all()

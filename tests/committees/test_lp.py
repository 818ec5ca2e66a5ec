"""The linear program, against closed forms, another interface to the solver, and brute force."""

from __future__ import annotations

import resource
import sys
from itertools import combinations

import cvxpy as cp
import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import (
    CMDP,
    Greedy,
    Problem,
    datasets,
    simulate,
)
from committees.lp import best_policy, selection_lp, solve
from samples import problems, random_problem


def raw_highs(problem: Problem) -> float:
    """The paper's program as printed, acceptance probabilities and all, straight into HiGHS."""
    dense = (problem.incidence.toarray() - problem.rho[:, None]) * problem.p
    model = highspy.Highs()
    model.silent()
    for cost in problem.p:
        model.addCol(-cost, 0.0, 1.0, 0, [], [])
    for row in dense:
        used = np.flatnonzero(row)
        model.addRow(0.0, 0.0, len(used), used.astype(np.int32), row[used])
    model.run()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return -model.getInfo().objective_function_value


def brute_force(problem: Problem) -> float:
    """The best vertex of {0 <= m <= p, Am = rho g}, found by trying every basis."""
    n = len(problem.p)
    matrix = np.hstack([problem.incidence.toarray(), -problem.rho[:, None]])
    # Drop the rows that follow from others: one of each feature but the first.
    keep, at = [], 0
    for values in problem.features.values():
        keep += list(range(at, at + len(values)))[1 if at else 0 :]
        at += len(values)
    matrix = matrix[keep]
    best = 0.0
    for basis in combinations(range(n), len(keep) - 1):
        columns = [*basis, n]
        if abs(np.linalg.det(matrix[:, columns])) < 1e-10:
            continue
        rest = [x for x in range(n) if x not in basis]
        for corner in range(2 ** len(rest)):
            at_bound = np.array([problem.p[x] * (corner >> k & 1) for k, x in enumerate(rest)])
            found = np.linalg.solve(matrix[:, columns], -matrix[:, rest] @ at_bound)
            if (found[:-1] >= -1e-12).all() and (
                found[:-1] <= problem.p[list(basis)] + 1e-12
            ).all():
                best = max(best, found[-1])
    return best


def assert_optimal(problem: Problem) -> None:
    policy = best_policy(problem)
    acceptance = policy.acceptance.to_numpy()
    assert (acceptance >= 0).all()
    assert (acceptance <= 1).all()
    mass = acceptance * problem.p
    residual = problem.incidence @ mass - problem.rho * mass.sum()
    assert np.abs(residual).max() < 1e-9
    # Weak duality: points with points . rho = 1 bound every policy's rate.
    assert policy.dual.to_numpy() @ problem.rho == pytest.approx(1, abs=1e-9)
    assert policy.bound - policy.rate == pytest.approx(0, abs=1e-8)
    assert policy.composition.sum() == pytest.approx(1, abs=1e-12)


def test_best_policy_of_brexit_is_limited_by_the_young():
    problem = datasets.brexit()
    policy = CMDP().policy(problem)
    ratio = problem.presence / problem.rho
    assert problem.targets.index[np.argmin(ratio)] == ("age", "18-34")
    assert policy.rate == pytest.approx(ratio.min(), abs=1e-12)
    assert_optimal(problem)


@given(problems())
def test_best_policy_is_feasible_and_certified(problem):
    assert_optimal(problem)


@given(problems())
def test_best_policy_agrees_with_raw_highs(problem):
    rate = best_policy(problem).rate
    assert raw_highs(problem) == pytest.approx(rate, abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.sampled_from([[2, 2], [3, 2], [2, 3], [4], [2, 2, 2]]))
def test_best_policy_agrees_with_brute_force_over_vertices(seed, sizes):
    problem = random_problem(np.random.default_rng(seed), sizes)
    assert brute_force(problem) == pytest.approx(best_policy(problem).rate, abs=1e-9)


def test_best_policy_never_accepts_types_that_do_not_occur():
    halves = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
    problem = Problem(halves, [0.7, 0, 0, 0.3])
    policy = best_policy(problem)
    np.testing.assert_allclose(policy.acceptance, [3 / 7, 0, 0, 1], atol=1e-12)
    assert_optimal(problem)


def test_best_policy_refuses_targets_that_cannot_be_combined():
    """Half women and half young, when every woman is young and only 60 % may be."""
    targets = {"gender": {"M": 0.2, "F": 0.8}, "age": {"S": 0.5, "J": 0.5}}
    with pytest.raises(ValueError, match=r"no policy meets the targets.*gender = .*age = "):
        best_policy(Problem(targets, [0.5, 0.2, 0, 0.3]))


def test_policy_of_a_value_that_nobody_has_accepts_none_of_it():
    targets = {"gender": {"woman": 0.5, "man": 0.5, "other": 0}}
    by_value = best_policy(Problem(targets, [0.75, 0.25, 0])).acceptance_by_value
    assert by_value.round(9).tolist() == [0.333333333, 1, 0]


def test_solve_refuses_a_program_without_an_optimum():
    number = cp.Variable()
    with pytest.raises(RuntimeError, match="HiGHS stopped with the status 'unbounded'"):
        solve(cp.Problem(cp.Maximize(number)))
    assert solve(cp.Problem(cp.Maximize(number), [number <= 1, number >= 2])) == -np.inf


def test_selection_lp_is_sparse():
    problem = datasets.brexit()
    program, _ = selection_lp(problem)
    data = program.get_problem_data(cp.HIGHS)[0]
    assert data["A"].nnz <= 384 * 6 + 19 + 384  # one entry per type and feature, not per value


@pytest.mark.slow
def test_best_policy_with_a_hundred_thousand_types():
    """Eight features, 102,400 types: built, solved, certified and simulated."""
    problem = random_problem(np.random.default_rng(8), [4, 4, 4, 4, 5, 5, 4, 4], independent=True)
    assert len(problem.p) == 102_400
    assert problem.incidence.nnz == 102_400 * 8
    assert_optimal(problem)
    frame = simulate([CMDP(), Greedy(0.05)], problem, [50], runs=3, workers=1)
    assert frame["screened"].min() >= 50
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak * (1 if sys.platform == "darwin" else 1024) < 2e9


@pytest.mark.parametrize("rare", [1e-3, 1e-6, 1e-9, 1e-11])
def test_best_policy_treats_rare_types_exactly(rare):
    """The solver's tolerances are absolute; rates are not."""
    assert_optimal(Problem({"g": {"M": 0.5, "F": 0.5}}, [1 - rare, rare]))
    targets = {"g": {"M": 0.5, "F": 0.5}, "a": {"S": 0.4, "J": 0.6}}
    problem = Problem(targets, [0, 6 * rare, 5 * rare, 1 - 11 * rare])
    assert_optimal(problem)
    policy = best_policy(problem)
    np.testing.assert_allclose(problem.profile(policy.composition), problem.rho, atol=1e-7)

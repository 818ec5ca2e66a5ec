"""Measurements of Sections 3 and 4: the problem, Greedy, and CMDP."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats

from committees import CMDP, Greedy, Problem, datasets, theory
from committees.checks import FloatArray
from committees.exact import expected_screened
from committees.lp import best_policy
from committees.simulation import recruit, simulate
from committees.volunteers import stream
from companion.intervals import half_width, share_error
from companion.runs import Measurement, Runs, exact


def example_1(rare: float) -> Problem:
    """The volunteers and targets of Example 1, with junior women as rare as this."""
    targets = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 3 / 4, "J": 1 / 4}}
    return Problem(targets, [1 / 2 - rare, 1 / 4, 1 / 4, rare])


#: The people of event A of Example 1, as positions in the types MS, MJ, FS, FJ.
_EVENT_A = (2, 0, 0)
_ORDERS = set(permutations(_EVENT_A))

#: Shares of junior women in Example 1; the paper's steps need at most 1/6.
_RARE = np.geomspace(1e-4, 1 / 6, 12)


def _random_problems(runs: Runs, number: int) -> list[Problem]:
    """Problems with one to three dependent features, in which every type can occur."""
    rng, found = np.random.default_rng(runs.seed), []
    for _ in range(number):
        sizes = rng.integers(2, 6, size=rng.integers(1, 4))
        targets = {
            f"feature {i}": dict(zip("abcde", rng.dirichlet(np.full(n, 3.0)), strict=False))
            for i, n in enumerate(sizes)
        }
        p = rng.dirichlet(np.ones(int(np.prod(sizes)))) + 1e-3
        found.append(Problem(targets, p / p.sum()))
    return found


# Section 3


def _greedy_people(rare: float) -> float:
    return expected_screened(Greedy(0), example_1(rare), 4)


def _chance_of_a(rare: float) -> float:
    """The probability of event A, summed over the orders that there are."""
    return float(sum(np.prod(example_1(rare).p[list(order)]) for order in _ORDERS))


example_1_orders = exact(*2 * [lambda: len(_ORDERS)])
example_1_event = exact(*2 * [lambda: min(map(_chance_of_a, _RARE))])
example_1_bound = exact(lambda: min(6 * rare * _greedy_people(rare) for rare in _RARE))
example_1_unbounded = exact(lambda: _greedy_people(1e-4) / _greedy_people(1e-3))


def example_1_wait(runs: Runs) -> Measurement:
    problem, rare = example_1(0.01), 0.01
    session = Greedy(0).start(problem, 4)
    session.see(np.array(_EVENT_A), np.ones(3, dtype=bool))
    wait = 3 + 1 / float(problem.p @ session.acceptance)
    return Measurement(wait * rare, other=wait - 1 / rare)


def proposition_1(runs: Runs) -> Measurement:
    rng = np.random.default_rng(runs.seed)
    excess = []
    for problem in _random_problems(runs, 150):
        size, tolerance = int(rng.integers(1, 100)), float(rng.uniform(0, 0.2))
        found = recruit(Greedy(tolerance), problem, size, rng)
        limit = theory.greedy_loss(problem, size, tolerance)
        excess.append(problem.committee_loss(found.type_ids) - limit)
    return Measurement(max(excess))


# Section 4


def targets_can_be_met(runs: Runs) -> Measurement:
    """Accepting min(p/t) t(x)/p(x) of each type, t being products of targets, gives a rate > 0."""
    ratios = []
    for problem in _random_problems(runs, 30):
        least = (problem.p / problem.product_over_values(problem.rho)).min()
        ratios.append(best_policy(problem).rate / least)
    return Measurement(min(ratios))


def lp_feasible(runs: Runs) -> Measurement:
    """How far rejecting everybody is from the program's constraints, whatever p is."""
    nobody = 0 * runs.three.p
    gap = runs.three.incidence @ nobody - runs.three.rho * nobody.sum()
    return Measurement(float(np.abs(gap).max()), can_fail=False)


def lemma_1_rate(runs: Runs) -> Measurement:
    policy, rng = best_policy(runs.three), np.random.default_rng(runs.seed)
    type_ids = stream(runs.three, 200_000, rng)
    accepted = rng.random(len(type_ids)) < policy.acceptance.to_numpy()[type_ids]
    error = share_error(int(accepted.sum()), len(accepted)) / policy.rate
    return Measurement(float(accepted.mean()) / policy.rate, error)


def lemma_1(runs: Runs) -> Measurement:
    policies = map(best_policy, _random_problems(runs, 30))
    return Measurement(max(q.problem.loss(q.composition) for q in policies))


def lemma_2_mean(runs: Runs) -> Measurement:
    screened = simulate(CMDP(), datasets.brexit(), 100, 2000, runs.seed)["screened"]
    ratio = screened * best_policy(datasets.brexit()).rate / 100
    return Measurement(float(ratio.mean()), half_width(ratio))


def lemma_2_law(runs: Runs) -> Measurement:
    size = 20
    screened = simulate(CMDP(), runs.three, size, 4000, runs.seed)["screened"].to_numpy()
    law = theory.rejections(best_policy(runs.three), size)
    return Measurement(_fit(law, screened + size), other=_fit(law, screened - size))


def _fit(law: stats.rv_frozen, draws: FloatArray) -> float:
    """The p-value of a chi-square test."""
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 12)))
    expected = len(draws) * np.diff(law.cdf(np.r_[-np.inf, edges, np.inf]))
    seen = np.histogram(draws, np.r_[-1e9, edges + 0.5, 1e9])[0]
    return float(stats.chisquare(seen, expected).pvalue)


def proposition_2(runs: Runs) -> Measurement:
    problem, covered = datasets.brexit(), []
    for size in (50, 250, 1000):
        loss = simulate(CMDP(), problem, size, 1000, runs.seed)["loss"]
        covered.append(int((loss <= theory.cmdp_loss(problem, size, 0.05)).sum()))
    return Measurement(min(covered) / 1000, share_error(min(covered), 1000))


_HALVES = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 1 / 2, "J": 1 / 2}}
_BY_HAND = best_policy(Problem(_HALVES, [1 / 3, 1 / 4, 1 / 4, 1 / 6]))
example_2_acceptance = exact(lambda: _BY_HAND.acceptance["M", "S"])
example_2_rate = exact(lambda: _BY_HAND.rate)
example_2_composition = exact(lambda: (_BY_HAND.composition - [0.2, 0.3, 0.3, 0.2]).abs().max())
example_2_people = exact(lambda: 1 / _BY_HAND.rate)

"""Measurements of Sections 3 and 4: the problem, Greedy, and CMDP."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats

from committees import CMDP, Greedy, Problem, datasets, theory
from committees.checks import FloatArray
from committees.exact import expected_screened
from committees.lp import best_policy
from committees.recruitment import recruit
from committees.simulation import simulate
from committees.volunteers import stream
from companion.intervals import half_width, share_error
from companion.measurements.registry import claim
from companion.runs import Measurement, Runs


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
    rng = np.random.default_rng(runs.seed)
    problems = []
    for _ in range(number):
        sizes = rng.integers(2, 6, size=rng.integers(1, 4))
        targets = {}
        for i, n in enumerate(sizes):
            shares = rng.dirichlet(np.full(n, 3.0))
            targets[f"feature {i}"] = dict(zip("abcde", shares, strict=False))
        p = rng.dirichlet(np.ones(int(np.prod(sizes)))) + 1e-3
        problems.append(Problem(targets, p / p.sum()))
    return problems


# Section 3


def _greedy_people(rare: float) -> float:
    return expected_screened(Greedy(0), example_1(rare), 4)


def _chance_of_a(rare: float) -> float:
    """The probability of event A, summed over the orders that there are."""
    p = example_1(rare).p
    return float(sum(np.prod(p[list(order)]) for order in _ORDERS))


@claim("example-1-orders")
def example_1_orders(runs: Runs) -> Measurement:
    orders = float(len(_ORDERS))
    return Measurement(orders, other=orders)


@claim("example-1-event")
def example_1_event(runs: Runs) -> Measurement:
    smallest = min(_chance_of_a(rare) for rare in _RARE)
    return Measurement(smallest, other=smallest)


@claim("example-1-wait")
def example_1_wait(runs: Runs) -> Measurement:
    rare = 0.01
    problem = example_1(rare)
    session = Greedy(0).start(problem, 4)
    session.see(np.array(_EVENT_A), np.ones(3, dtype=bool))
    wait = 3 + 1 / float(problem.p @ session.acceptance)
    return Measurement(wait * rare, other=wait - 1 / rare)


@claim("example-1-bound")
def example_1_bound(runs: Runs) -> Measurement:
    return Measurement(float(min(6 * rare * _greedy_people(rare) for rare in _RARE)))


@claim("example-1-unbounded")
def example_1_unbounded(runs: Runs) -> Measurement:
    return Measurement(_greedy_people(1e-4) / _greedy_people(1e-3))


@claim("proposition-1")
def proposition_1(runs: Runs) -> Measurement:
    rng = np.random.default_rng(runs.seed)
    excess = []
    for problem in _random_problems(runs, 150):
        size = int(rng.integers(1, 100))
        tolerance = float(rng.uniform(0, 0.2))
        recruitment = recruit(Greedy(tolerance), problem, size, rng)
        limit = theory.greedy_loss(problem, size, tolerance)
        excess.append(problem.committee_loss(recruitment.type_ids) - limit)
    return Measurement(max(excess))


# Section 4


@claim("targets-can-be-met")
def targets_can_be_met(runs: Runs) -> Measurement:
    """Accepting min(p/t) t(x)/p(x) of each type, t being products of targets, gives a rate > 0."""
    ratios = []
    for problem in _random_problems(runs, 30):
        products = problem.product_over_values(problem.rho)
        least = (problem.p / products).min()
        ratios.append(best_policy(problem).rate / least)
    return Measurement(min(ratios))


@claim("lp-feasible")
def lp_feasible(runs: Runs) -> Measurement:
    """How far rejecting everybody is from the program's constraints, whatever p is."""
    nobody = 0 * runs.three.p
    gap = runs.three.incidence @ nobody - runs.three.rho * nobody.sum()
    return Measurement(float(np.abs(gap).max()), can_fail=False)


@claim("lemma-1-rate")
def lemma_1_rate(runs: Runs) -> Measurement:
    policy = best_policy(runs.three)
    rng = np.random.default_rng(runs.seed)
    type_ids = stream(runs.three, 200_000, rng)
    accepted = rng.random(len(type_ids)) < policy.acceptance.to_numpy()[type_ids]
    error = share_error(int(accepted.sum()), len(accepted)) / policy.rate
    return Measurement(float(accepted.mean()) / policy.rate, error)


@claim("lemma-1")
def lemma_1(runs: Runs) -> Measurement:
    policies = map(best_policy, _random_problems(runs, 30))
    return Measurement(max(policy.problem.loss(policy.composition) for policy in policies))


@claim("lemma-2-mean")
def lemma_2_mean(runs: Runs) -> Measurement:
    screened = simulate(CMDP(), datasets.brexit(), 100, 2000, runs.seed)["screened"]
    ratio = screened * best_policy(datasets.brexit()).rate / 100
    return Measurement(float(ratio.mean()), half_width(ratio))


@claim("lemma-2-law")
def lemma_2_law(runs: Runs) -> Measurement:
    size = 20
    screened = simulate(CMDP(), runs.three, size, 4000, runs.seed)["screened"].to_numpy()
    law = theory.rejections(best_policy(runs.three), size)
    return Measurement(_fit(law, screened + size), other=_fit(law, screened - size))


def _fit(law: stats.rv_frozen, draws: FloatArray) -> float:
    """The p-value of a chi-square test."""
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 12)))
    expected = len(draws) * np.diff(law.cdf(np.r_[-np.inf, edges, np.inf]))
    seen, _ = np.histogram(draws, np.r_[-1e9, edges + 0.5, 1e9])
    return float(stats.chisquare(seen, expected).pvalue)


@claim("proposition-2")
def proposition_2(runs: Runs) -> Measurement:
    problem = datasets.brexit()
    covered = []
    for size in (50, 250, 1000):
        loss = simulate(CMDP(), problem, size, 1000, runs.seed)["loss"]
        limit = theory.cmdp_loss(problem, size, 0.05)
        covered.append(int((loss <= limit).sum()))
    fewest = min(covered)
    return Measurement(fewest / 1000, share_error(fewest, 1000))


_HALVES = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 1 / 2, "J": 1 / 2}}
_BY_HAND = best_policy(Problem(_HALVES, [1 / 3, 1 / 4, 1 / 4, 1 / 6]))


@claim("example-2-acceptance")
def example_2_acceptance(runs: Runs) -> Measurement:
    return Measurement(float(_BY_HAND.acceptance["M", "S"]))


@claim("example-2-rate")
def example_2_rate(runs: Runs) -> Measurement:
    return Measurement(float(_BY_HAND.rate))


@claim("example-2-composition")
def example_2_composition(runs: Runs) -> Measurement:
    off = _BY_HAND.composition - [0.2, 0.3, 0.3, 0.2]
    return Measurement(float(off.abs().max()))


@claim("example-2-people")
def example_2_people(runs: Runs) -> Measurement:
    return Measurement(float(1 / _BY_HAND.rate))

"""Measurements of what the paper proves of Greedy and CMDP: Sections 3 and 4."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats

from committees import datasets, theory
from committees.checks import FloatArray
from committees.cmdp import CMDP
from committees.exact import expected_screened
from committees.greedy import Greedy
from committees.lp import best_policy
from committees.problem import Problem
from committees.simulation import recruit, simulate
from companion.runs import Lab, Measurement, measures


def example_1(rare: float) -> Problem:
    targets = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 3 / 4, "J": 1 / 4}}
    return Problem(targets, [1 / 2 - rare, 1 / 4, 1 / 4, rare])


def example_2() -> Problem:
    halves = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 1 / 2, "J": 1 / 2}}
    return Problem(halves, [1 / 3, 1 / 4, 1 / 4, 1 / 6])


def random_problems(rng: np.random.Generator, number: int) -> list[Problem]:
    """Problems with one to three dependent features, in which every type can occur."""
    found = []
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


@measures("example-1-orders")
def _(lab: Lab) -> Measurement:
    orders = len(set(permutations(["FS", "MS", "MS"])))
    return Measurement(orders, corrected=orders)


@measures("example-1-bound")
def _(lab: Lab) -> float:
    rare = np.geomspace(1e-4, 1 / 6, 12)
    return float(min(6 * e * expected_screened(Greedy(0), example_1(e), 4) for e in rare))


@measures("example-1-unbounded")
def _(lab: Lab) -> float:
    return expected_screened(Greedy(0), example_1(1e-4), 4) / expected_screened(
        Greedy(0), example_1(1e-3), 4
    )


@measures("proposition-1")
def _(lab: Lab) -> float:
    rng = np.random.default_rng(lab.seed)
    excess = []
    for problem in random_problems(rng, 150):
        size, tolerance = int(rng.integers(1, 100)), float(rng.uniform(0, 0.2))
        found = recruit(Greedy(tolerance), problem, size, rng)
        limit = theory.greedy_loss(problem, size, tolerance)
        excess.append(problem.committee_loss(found.type_ids) - limit)
    return max(excess)


# Section 4


@measures("lemma-1")
def _(lab: Lab) -> float:
    policies = [best_policy(q) for q in random_problems(np.random.default_rng(lab.seed), 30)]
    return max(q.problem.loss(q.composition) for q in policies)


@measures("lp-feasible")
def _(lab: Lab) -> float:
    return min(best_policy(q).rate for q in random_problems(np.random.default_rng(lab.seed), 30))


@measures("lemma-2-mean")
def _(lab: Lab) -> Measurement:
    policy = best_policy(datasets.brexit())
    screened = simulate(CMDP(), datasets.brexit(), 100, 2000, lab.seed)["screened"].to_numpy()
    ratio = screened * policy.rate / 100
    return Measurement(float(ratio.mean()), 1.96 * float(stats.sem(ratio)))


@measures("lemma-2-law")
def _(lab: Lab) -> Measurement:
    size, problem = 20, lab.three
    screened = simulate(CMDP(), problem, size, 4000, lab.seed)["screened"].to_numpy()
    law = theory.rejections(best_policy(problem), size)
    return Measurement(_fit(law, screened + size), corrected=_fit(law, screened - size))


def _fit(law: stats.rv_frozen, draws: FloatArray) -> float:
    """The p-value of a chi-square test."""
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 12)))
    expected = len(draws) * np.diff(law.cdf(np.r_[-np.inf, edges, np.inf]))
    seen = np.histogram(draws, np.r_[-1e9, edges + 0.5, 1e9])[0]
    return float(stats.chisquare(seen, expected).pvalue)


@measures("proposition-2")
def _(lab: Lab) -> float:
    problem, covered = datasets.brexit(), []
    for size in (50, 250, 1000):
        loss = simulate(CMDP(), problem, size, 500, lab.seed)["loss"]
        covered.append((loss <= theory.cmdp_loss(problem, size, 0.05)).mean())
    return float(min(covered))


@measures("proposition-2-rate")
def _(lab: Lab) -> Measurement:
    rows = lab.figure_1[lab.figure_1["strategy"] == "CMDP"]
    line = stats.linregress(np.log(rows["size"]), np.log(rows["loss"]))
    return Measurement(float(line.slope), 1.96 * float(line.stderr))


@measures("example-2-acceptance")
def _(lab: Lab) -> float:
    return float(best_policy(example_2()).acceptance["M", "S"])


@measures("example-2-rate")
def _(lab: Lab) -> float:
    return best_policy(example_2()).rate


@measures("example-2-composition")
def _(lab: Lab) -> float:
    return float(np.abs(best_policy(example_2()).composition - [0.2, 0.3, 0.3, 0.2]).max())


@measures("example-2-people")
def _(lab: Lab) -> float:
    return 1 / best_policy(example_2()).rate

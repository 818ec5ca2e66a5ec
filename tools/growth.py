"""How the cost of deciding at once grows with the committee, on two features of two values.

Makes `data/growth.csv` anew: for committees of 10 to 320 seats the fluid limit, the people of the
best rule, of hindsight, and of two rules that follow the plan for the seats left: by coins, or by a
threshold at one half. All but hindsight are exact. Takes a minute.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from committees import Problem
from committees.beyond import limits
from committees.checks import FloatArray, IntArray
from committees.datasets import DATA
from companion.intervals import half_width

FILE = DATA / "growth.csv"
SIZES = (10, 20, 40, 80, 160, 320)
#: The shares of the first value of each feature among the volunteers (its target is one half).
CASES = {"two equal bottlenecks": (0.25, 0.25), "one bottleneck": (0.25, 0.4)}
STREAMS = 40_000


def halves(*shares: float) -> Problem:
    """Features with equal targets, whose first values have these shares among the volunteers."""
    offered = {f"feature {i}": {"in": y, "out": 1 - y} for i, y in enumerate(shares)}
    return Problem.from_marginals({name: {"in": 0.5, "out": 0.5} for name in offered}, offered)


def in_hindsight(problem: Problem, size: int, streams: int) -> tuple[float, float]:
    """The first moment with a committee of exact halves: its mean and half of its 95 % interval.

    Such a committee has as many who are in both groups as in none, and as many only in the first as
    only in the second. So it exists as soon as the pairs of both kinds are half of the seats.
    """
    times = []
    for rng in np.random.default_rng(size).spawn(streams):
        people = rng.choice(4, 20 * size + 200, p=problem.p)
        both, first, second, none = (np.cumsum(people == x) for x in range(4))
        pairs = np.minimum(both, none) + np.minimum(first, second)
        times.append(int(pairs.searchsorted(size // 2)) + 1)
    return float(np.mean(times)), half_width(times)


def plan(first: IntArray, second: IntArray, left: int, p: FloatArray) -> FloatArray:
    """Per type, the share of those to come that the fluid plan accepts, given both needs.

    Its one unknown, the seats for people who are in both groups, is found by bisection: what makes
    the plan wait longer either grows or falls with it.
    """
    low, high = np.maximum(0, first + second - left), np.minimum(first, second)
    for _ in range(50):
        both = (low + high) / 2
        grows = np.maximum(both / p[0], (left - first - second + both) / p[3])
        falls = np.maximum((first - both) / p[1], (second - both) / p[2])
        low, high = np.where(grows < falls, both, low), np.where(grows < falls, high, both)
    y = np.array([both, first - both, second - both, left - first - second + both])
    waits = y / p[:, None, None]
    return np.clip(waits / np.maximum(waits.max(axis=0), 1e-9), 0, 1)


def coin(share: FloatArray) -> FloatArray:
    """Accept as often as the plan does."""
    return share


def threshold(share: FloatArray) -> FloatArray:
    """Accept if the plan takes more than half; by coins where that would accept nobody."""
    yes = np.round(share, 9) > 0.5
    return np.where(yes.any(axis=0), yes, share)


def people(rule: Callable[[FloatArray], FloatArray], size: int, p: FloatArray) -> float:
    """The expected people of a rule that turns the plan's shares into probabilities, exactly."""
    needs = np.arange(size // 2, -1, -1)
    first, second = np.meshgrid(needs, needs, indexing="ij")
    V = np.where((first == 0) & (second == 0), 0.0, np.inf)
    for left in range(1, size + 1):
        inside = np.maximum(first, second) <= left
        mass = p[:, None, None] * rule(plan(first, second, left, p)) * inside
        after = np.pad(np.where(np.isfinite(V), V, 0), (0, 1))
        moved = np.array([after[1:, 1:], after[1:, :-1], after[:-1, 1:], after[:-1, :-1]])
        total = np.where(inside, mass.sum(axis=0), 1)
        V = np.where(inside, (1 + (mass * moved).sum(axis=0)) / total, np.inf)
    return float(V[0, 0])


def measure(case: str, size: int, tolerance: float, streams: int = STREAMS) -> dict[str, object]:
    """One row."""
    problem = halves(*CASES[case])
    row: dict[str, object] = {"case": case, "tolerance": tolerance, "size": size}
    row |= {"fluid": limits.fluid(problem, size, tolerance)}
    row |= {"optimal": limits.fewest_screened(problem, size, tolerance)}
    if tolerance == 0:
        row["hindsight"], row["hindsight ±"] = in_hindsight(problem, size, streams)
        row |= {rule.__name__: people(rule, size, problem.p) for rule in (coin, threshold)}
    return row


if __name__ == "__main__":
    combinations = [(case, tolerance) for tolerance in (0.0, 0.05) for case in CASES]
    rows = [measure(case, size, tolerance) for case, tolerance in combinations for size in SIZES]
    pd.DataFrame(rows).to_csv(FILE, index=False, float_format="%.6g", lineterminator="\n")

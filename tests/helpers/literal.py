"""The paper's pseudocode, line by line: one person at a time, one program rebuilt per episode.

Nobody should use this. It is what the library is held to, and what it is timed against. `people`
yields the type of each volunteer who comes, and the coin that decides where chance must.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import cvxpy as cp
import numpy as np

from committees import Problem
from committees.optimism import l1_lp


def volunteers(problem: Problem, rng: np.random.Generator) -> Iterator[tuple[int, float]]:
    while True:
        yield int(rng.choice(len(problem.p), p=problem.p)), float(rng.random())


def greedy(
    problem: Problem, size: int, tolerance: float, people: Iterable[tuple[int, float]]
) -> tuple[list[int], int]:
    """Algorithm 2: the committee, and the number of people seen."""
    targets = problem.targets.to_dict()
    quota = {}
    for (feature, value), share in targets.items():
        slack = tolerance * size / (len(problem.features[feature]) - 1)
        quota[feature, value] = math.ceil(share * size - 1e-9) + slack
    count = dict.fromkeys(quota, 0)
    types = problem.types.to_dict("records")
    committee: list[int] = []
    for seen, (x, _) in enumerate(people, start=1):
        values = [(feature, str(value)) for feature, value in types[x].items()]
        if all(count[v] + 1 <= quota[v] + 1e-9 for v in values):
            committee.append(x)
            for v in values:
                count[v] += 1
            if len(committee) == size:
                return committee, seen
    raise AssertionError("nobody comes any more")


def cmdp_policy(problem: Problem) -> np.ndarray:
    """The linear program of Section 4.1, a scalar constraint after the other."""
    type_ids, codes = range(len(problem.p)), problem.codes
    mu = cp.Variable((len(problem.p), 2), nonneg=True)
    accepted = sum(mu[x, 1] for x in type_ids)
    constraints = [mu[x, 0] + mu[x, 1] == problem.p[x] for x in type_ids]
    for v, share in enumerate(problem.rho):
        with_value = sum(mu[x, 1] for x in type_ids if v in codes[x])
        constraints.append(with_value == share * accepted)
    cp.Problem(cp.Maximize(accepted), constraints).solve(solver=cp.HIGHS)
    return np.array([mu.value[x, 1] / problem.p[x] for x in type_ids])


def cmdp(
    size: int, policy: np.ndarray, people: Iterable[tuple[int, float]]
) -> tuple[list[int], int]:
    """Algorithm 3, given its policy: the committee, and the number of people seen."""
    committee: list[int] = []
    for seen, (x, coin) in enumerate(people, start=1):
        if coin < policy[x]:
            committee.append(x)
            if len(committee) == size:
                return committee, seen
    raise AssertionError("nobody comes any more")


def rl_cmdp(
    problem: Problem, size: int, delta: float, scale: float, people: Iterable[tuple[int, float]]
) -> tuple[list[int], int, list[tuple[int, float]]]:
    """Algorithm 1: the committee, the number of people seen; each episode's start and value."""
    n = len(problem.p)
    count = [0] * n
    at_start = [0] * n
    policy, episodes = np.ones(n), [(1, 1.0)]
    committee: list[int] = []
    for seen, (x, coin) in enumerate(people, start=1):
        count[x] += 1
        if coin < policy[x]:
            committee.append(x)
            if len(committee) == size:
                return committee, seen, episodes
        if count[x] >= 2 * at_start[x]:
            at_start = list(count)
            estimate = np.array([c / seen for c in count])
            radius = scale * math.sqrt(2 * n * math.log(6 * n * (seen + 1) * seen / delta) / seen)
            program = l1_lp(problem, estimate, radius)
            value = program.solve(solver=cp.HIGHS)
            mu = {v.name(): v.value for v in program.variables()}
            total = mu["accept"] + mu["reject"]
            policy = np.where(total > 1e-9, mu["accept"] / np.maximum(total, 1e-9), 0.5)
            episodes.append((seen + 1, float(value)))
    raise AssertionError("nobody comes any more")

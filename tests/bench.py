"""`make bench`: how much faster the fast paths are, measured side by side in one run."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

from committees import CMDP, RLCMDP, Greedy, datasets, experiments, simulate
from committees.lp import solve
from committees.optimism import OptimisticLP, Optimum, _belief, l1_lp


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def figure_1(runs: int) -> float:
    """Figure 1's grid: step by step against skipping rejections."""
    problem = datasets.brexit()
    CMDP().policy(problem)  # the same linear program in both, so solved before the clock starts
    strategies = [Greedy(0.02), Greedy(0.05), CMDP()]
    sizes = [50, 100, 150, 250, 500, 1000]
    slow = seconds(lambda: simulate(strategies, problem, sizes, runs, step_by_step=True, workers=1))
    return slow / seconds(lambda: simulate(strategies, problem, sizes, runs, workers=1))


def figure_2(runs: int) -> float:
    """RL-CMDP, 48 types, 2,500 seats: CVXPY rebuilt for each episode against one HiGHS model."""
    problem = datasets.brexit(experiments.FIVE_FEATURES)

    def rebuilt(self: OptimisticLP, estimate: np.ndarray, radius: float) -> Optimum:
        program = l1_lp(problem, estimate, radius)
        rate = solve(program)
        accept = next(v for v in program.variables() if v.name() == "accept")
        mass = np.maximum(np.asarray(accept.value), 0)
        return Optimum(rate, mass, _belief(mass, estimate))

    def work() -> object:
        return simulate(RLCMDP(scale=0.1), problem, 2500, runs, workers=1)

    with mock.patch.object(OptimisticLP, "over_l1_ball", rebuilt):
        slow = seconds(work)
    return slow / seconds(work)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50, help="recruitments of each committee size")
    arguments = parser.parse_args()
    for row in (figure_1, figure_2):
        print(f"{row(arguments.runs):6.1f} times faster   {row.__doc__}", flush=True)

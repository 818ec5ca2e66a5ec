"""`make bench`: how much faster the fast paths are, measured side by side in one run."""

from __future__ import annotations

import argparse
import time

from committees import CMDP, Greedy, datasets, simulate

SIZES = [50, 100, 150, 250, 500, 1000]


def figure_1(runs: int) -> float:
    """Figure 1's grid, step by step against skipping rejections, one process each."""
    problem = datasets.brexit()
    CMDP().policy(problem)  # the same linear program in both, so solved before the clock starts
    seconds = {}
    for step_by_step in (True, False):
        start = time.perf_counter()
        simulate(
            [Greedy(0.02), Greedy(0.05), CMDP()],
            problem,
            SIZES,
            runs,
            step_by_step=step_by_step,
            workers=1,
        )
        seconds[step_by_step] = time.perf_counter() - start
    return seconds[True] / seconds[False]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50, help="recruitments of each committee size")
    arguments = parser.parse_args()
    ratio = figure_1(arguments.runs)
    print(f"Figure 1's grid, {arguments.runs} runs: {ratio:.0f} times faster than step by step")

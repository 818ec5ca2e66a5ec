"""`make bench`: how fast, as ratios measured side by side in one run.

Seconds depend on the machine and on what else it does; the quotient of two measurements that were
taken in turns, much less. The results go to data/benchmarks.json, which the page on speed shows.
Where something is to be waited for, such as a fit, its seconds are stored too.
"""

from __future__ import annotations

import gc
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
from tqdm import tqdm

from committees import CMDP, RLCMDP, Greedy, Problem, datasets, recruit, simulate, simulation
from committees.beyond.tables import Tables
from committees.greedy import band
from committees.optimism import OptimisticLP, l1_lp
from companion import experiments

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "data" / "benchmarks.json"
sys.path.append(str(ROOT / "examples"))

import paper  # noqa: E402

PACKAGES = ["numpy", "scipy", "pandas", "cvxpy", "highspy", "papermill", "ipykernel"]
PEERS = {"cplex": "CPLEX", "gurobipy": "GUROBI"}
BREXIT = {8: experiments.THREE_FEATURES, 48: experiments.FIVE_FEATURES, 384: None}

#: Committees of these sizes are recruited within this tolerance.
FIT_SIZES = (20, 50, 100, 250)
TOLERANCE = 0.02

#: What takes less than this many seconds is measured in more turns, and several times in each.
SHORT = 0.1

Ways = dict[str, Callable[[], object]]
#: Answers the extended program for an estimate and a radius.
Solve = Callable[[np.ndarray, float], object]


def in_turns(
    ways: Ways, rounds: int = 3, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """The shortest time of each way. They take turns; what is short has more of them.

    Whatever else the machine does can only make a measurement longer. As in `timeit`, garbage is
    collected between the measurements: one way would be charged for what another left behind.
    With `time.process_time` as clock, waiting for a core that others use does not count.
    """
    best = dict.fromkeys(ways, np.inf)
    for turn in range(30):
        for name, work in ways.items():
            if turn >= rounds and best[name] > SHORT:
                continue
            gc.collect()
            gc.disable()
            until = clock() + SHORT / 2
            while (start := clock()) < until:
                work()
                best[name] = min(best[name], clock() - start)
            gc.enable()
    return best


def row(group: str, case: str, baseline: str, times: dict[str, float], **more: Any) -> dict:
    """A line of the table: each way's time as a multiple of the baseline's."""
    ratios = {name: taken / times[baseline] for name, taken in times.items()}
    return {"group": group, "case": case, "baseline": baseline, "ratios": ratios, **more}


# The figures


def figure_1() -> list[dict]:
    problem, sizes = datasets.brexit(), list(experiments.FIGURE_1_SIZES)
    strategies = [Greedy(0.02), Greedy(0.05), CMDP()]

    def fast() -> None:
        simulate(strategies, problem, sizes, runs=50, workers=1)

    def by_step() -> None:
        simulate(strategies, problem, sizes, runs=5, step_by_step=True, workers=1)

    def by_line() -> None:
        paper.figure_1(sizes, runs=1)

    fast()  # the policy is remembered
    taken = in_turns({"library": fast, "step by step": by_step, "pseudocode": by_line})
    runs = {"library": 50, "step by step": 5, "pseudocode": 1}
    per_run = {name: seconds / runs[name] for name, seconds in taken.items()}
    return [row("figures", "Figure 1: Greedy and CMDP, 384 types", "library", per_run)]


def figure_2() -> list[dict]:
    problems = {n: datasets.brexit(BREXIT[n]) for n in (8, 48)}
    sizes = list(experiments.FIGURE_2_SIZES)

    def fast() -> None:
        for problem in problems.values():
            simulate(RLCMDP(scale=0.1), problem, sizes, runs=10, workers=1)

    def by_line() -> None:
        for features in (experiments.THREE_FEATURES, experiments.FIVE_FEATURES):
            problem = paper.make_problem({name: paper.BREXIT[name] for name in features})
            people = paper.volunteers(problem, np.random.default_rng(1))
            paper.recruit(paper.RLCMDP(problem, scale=0.1), max(sizes), people)

    taken = in_turns({"library": fast, "pseudocode": by_line})
    per_run = {"library": taken["library"] / 10, "pseudocode": taken["pseudocode"]}
    return [row("figures", "Figure 2: RL-CMDP, 8 and 48 types", "library", per_run)]


# The extended linear program


def episodes(problem: Problem, count: int) -> list[tuple[np.ndarray, float]]:
    """Estimates and radii of the last episodes of a run, as they come one after the other."""
    found = recruit(RLCMDP(scale=0.1), problem, 1000, np.random.default_rng(0))
    informed = [e for e in found.session.episodes if e.start > 1 and e.radius < 2]
    return [(e.counts / e.counts.sum(), float(e.radius)) for e in informed[-count:]]


def with_parameters(problem: Problem) -> Solve:
    """The program stated once in CVXPY, its data as parameters."""
    estimate = cp.Parameter(len(problem.p), nonneg=True)
    radius = cp.Parameter(nonneg=True)
    program = l1_lp(problem, estimate, radius)

    def solve(now: np.ndarray, reach: float) -> None:
        estimate.value = now
        radius.value = reach
        program.solve(solver=cp.HIGHS)

    return solve


def rebuilt(problem: Problem, solver: str) -> Solve:
    """The program stated anew for each question."""

    def solve(estimate: np.ndarray, radius: float) -> None:
        l1_lp(problem, estimate, radius).solve(solver=solver)

    return solve


class RawHighs:
    """The smaller program, with nothing between the question and the solver."""

    def __init__(self, problem: Problem) -> None:
        self.model = OptimisticLP(problem)._model
        n = len(problem.p)
        self.columns, self.zeros = np.arange(2 * n, dtype=np.int32), np.zeros(2 * n)
        self.upper, self.last = np.ones(2 * n), self.model.getNumRow() - 1

    def solve(self, estimate: np.ndarray, radius: float) -> None:
        self.upper[: len(estimate)] = estimate
        self.model.changeColsBounds(len(self.upper), self.columns, self.zeros, self.upper)
        self.model.changeRowBounds(self.last, -highspy.kHighsInf, radius / 2)
        self.model.run()
        np.array(self.model.getSolution().col_value)


def extended_program() -> list[dict]:
    rows = []
    for types, features in BREXIT.items():
        problem = datasets.brexit(features)
        few = episodes(problem, 3)
        many = episodes(problem, 40)
        solvers: dict[str, tuple[Solve, list]] = {
            "library": (OptimisticLP(problem).over_l1_ball, many),
            "HiGHS, hot": (RawHighs(problem).solve, many),
            "CVXPY, parameters": (with_parameters(problem), few),
            "CVXPY, rebuilt": (rebuilt(problem, cp.HIGHS), few),
        }
        for name in PEERS.values():
            peer = rebuilt(problem, name)
            try:
                peer(*few[0])
            except cp.SolverError:  # not installed, or too many types for its free edition
                continue
            solvers[f"CVXPY, rebuilt, {name}"] = (peer, few)
        ways: Ways = {name: partial(ask_all, *pair) for name, pair in solvers.items()}
        for name in ("library", "HiGHS, hot"):
            ways[name]()  # the first solve is a cold one
        taken = in_turns(ways)
        each = {name: taken[name] / len(pair[1]) for name, pair in solvers.items()}
        rows.append(row("extended program", f"{types} types", "HiGHS, hot", each))
    return rows


def ask_all(solve: Solve, questions: list) -> None:
    """Solve the program for each of these estimates and radii."""
    for question in questions:
        solve(*question)


# Foresight


def fits() -> list[dict]:
    """Foresight's tables, fitted once for a problem and a size."""
    problem = datasets.brexit()
    rows = []
    for size in FIT_SIZES:
        low, high = band(problem, size, TOLERANCE)
        fit = partial(Tables, problem, problem.p, low, high, np.zeros_like(low), size)
        taken = in_turns({"fit": fit}, clock=time.process_time)
        rows.append(
            row("fit", f"{len(problem.p)} types, {size} seats", "fit", taken, seconds=taken)
        )
    return rows


# Workers


def workers() -> list[dict]:
    problem = datasets.brexit(BREXIT[48])
    sizes = list(experiments.FIGURE_2_SIZES)

    def grid(count: int) -> None:
        simulation.POOL_START_SECONDS = 0.0
        simulate(RLCMDP(scale=0.1), problem, sizes, runs=100, workers=count)

    grid(2)  # starts the pool
    taken = in_turns({"one worker": partial(grid, 1), "two workers": partial(grid, 2)})
    simulation.POOL_START_SECONDS = 2.0
    return [row("workers", "RL-CMDP, Figure 2's sizes, 100 runs", "two workers", taken)]


def machine() -> dict:
    peers = [package for package in PEERS if importlib.util.find_spec(package)]
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in [*PACKAGES, *peers]},
    }


def main() -> None:
    """Measure all, and write it to data/benchmarks.json."""
    parts = (figure_1, figure_2, extended_program, fits, workers)
    rows = [line for part in tqdm(parts, desc="measuring") for line in part()]
    FILE.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    for line in rows:
        print(f"{line['group']}: {line['case']} ({line['baseline']} = 1)")
        for name, ratio in line["ratios"].items():
            print(f"  {ratio:10.2f}  {name}")


if __name__ == "__main__":
    main()

"""`make bench`: how fast, as ratios measured side by side in one run.

Seconds depend on the machine and on what else it does; the quotient of two measurements that were
taken in turns, much less. The results go to data/benchmarks.json, which the page on speed shows.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
from scipy import optimize, sparse
from tqdm import tqdm

from committees import CMDP, RLCMDP, Greedy, Problem, datasets, highs, recruit, simulate, simulation
from committees.beyond import Resolving
from committees.beyond.plan import PlanLP
from committees.optimism import OptimisticLP, l1_lp
from companion import experiments

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "helpers"))

import literal  # noqa: E402

PACKAGES = ["numpy", "scipy", "pandas", "cvxpy", "highspy", "papermill", "ipykernel"]
PEERS = {"cplex": "CPLEX", "gurobipy": "GUROBI"}
BREXIT = {8: experiments.THREE_FEATURES, 48: experiments.FIVE_FEATURES, 384: None}

#: What takes less than this many seconds is measured in more turns, and several times in each.
SHORT = 0.1

Ways = dict[str, Callable[[], object]]


def in_turns(ways: Ways, rounds: int = 3) -> dict[str, float]:
    """The shortest time of each way. They take turns; what is short has more of them.

    Whatever else the machine does can only make a measurement longer. As in `timeit`, garbage is
    collected between the measurements: one way would be charged for what another left behind.
    """
    best = dict.fromkeys(ways, np.inf)
    for turn in range(30):
        for name, work in ways.items():
            if turn >= rounds and best[name] > SHORT:
                continue
            gc.collect()
            gc.disable()
            until = time.perf_counter() + SHORT / 2
            while (start := time.perf_counter()) < until:
                work()
                best[name] = min(best[name], time.perf_counter() - start)
            gc.enable()
    return best


def row(group: str, case: str, baseline: str, seconds: dict[str, float], **more: Any) -> dict:
    """A line of the table: each way's time as a multiple of the baseline's."""
    ratios = {name: taken / seconds[baseline] for name, taken in seconds.items()}
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
        rng = np.random.default_rng(1)
        policy = literal.cmdp_policy(problem)
        for size in sizes:
            for tolerance in (0.02, 0.05):
                literal.greedy(problem, size, tolerance, literal.volunteers(problem, rng))
            literal.cmdp(size, policy, literal.volunteers(problem, rng))

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
        for problem in problems.values():
            people = literal.volunteers(problem, np.random.default_rng(1))
            literal.rl_cmdp(problem, max(sizes), 0.05, 0.1, people)

    taken = in_turns({"library": fast, "pseudocode": by_line})
    per_run = {"library": taken["library"] / 10, "pseudocode": taken["pseudocode"]}
    return [row("figures", "Figure 2: RL-CMDP, 8 and 48 types", "library", per_run)]


# The extended linear program


def episodes(problem: Problem, count: int) -> list[tuple[np.ndarray, float]]:
    """Estimates and radii of the last episodes of a run, as they come one after the other."""
    found = recruit(RLCMDP(scale=0.1), problem, 1000, np.random.default_rng(0))
    informed = [e for e in found.session.episodes if e.start > 1 and e.radius < 2]
    return [(e.counts / e.counts.sum(), float(e.radius)) for e in informed[-count:]]


def scalar_loops(problem: Problem, estimate: np.ndarray, radius: float) -> cp.Problem:
    """The extended program with a constraint for each type and action, as it is printed."""
    type_ids, codes = range(len(estimate)), problem.codes
    mu, dev = cp.Variable((len(estimate), 2), nonneg=True), cp.Variable(len(estimate), nonneg=True)
    accepted = sum(mu[x, 1] for x in type_ids)
    constraints = [sum(mu[x, a] for x in type_ids for a in (0, 1)) == 1, sum(dev) <= radius]
    for x in type_ids:
        constraints.append(mu[x, 0] + mu[x, 1] <= estimate[x] + dev[x])
        constraints.append(mu[x, 0] + mu[x, 1] >= estimate[x] - dev[x])
    for v, share in enumerate(problem.rho):
        constraints.append(sum(mu[x, 1] for x in type_ids if v in codes[x]) == share * accepted)
    return cp.Problem(cp.Maximize(accepted), constraints)


def with_parameters(problem: Problem, *, smaller: bool) -> Callable[[np.ndarray, float], None]:
    """The program built once, its data as parameters."""
    n = len(problem.p)
    estimate, radius = cp.Parameter(n, nonneg=True), cp.Parameter(nonneg=True)
    if smaller:
        u, v, rate = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True), cp.Variable()
        shares = problem.incidence @ (u + v) == problem.rho * rate
        constraints = [shares, u <= estimate, v <= 1, cp.sum(v) <= radius / 2, rate <= 1]
        program = cp.Problem(cp.Maximize(rate), constraints)
    else:
        program = l1_lp(problem, estimate, radius)

    def solve(now: np.ndarray, reach: float) -> None:
        estimate.value, radius.value = now, reach
        program.solve(solver=cp.HIGHS)

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


def linprog(problem: Problem) -> Callable[[np.ndarray, float], None]:
    n, rate = len(problem.p), sparse.csc_array(-problem.rho[:, None])
    equal = sparse.hstack([problem.incidence, problem.incidence, rate])
    budget = sparse.csr_array(np.repeat([0.0, 1.0, 0.0], [n, n, 1])[None, :])
    cost, upper = np.repeat([0.0, -1.0], [2 * n, 1]), np.ones(2 * n + 1)

    def solve(estimate: np.ndarray, radius: float) -> None:
        upper[:n] = estimate
        bounds = np.column_stack([np.zeros_like(upper), upper])
        zero = np.zeros(equal.shape[0])
        optimize.linprog(cost, budget, [radius / 2], equal, zero, bounds, method="highs")

    return solve


def extended_program() -> list[dict]:
    rows = []
    for types, features in BREXIT.items():
        problem = datasets.brexit(features)
        few, many = episodes(problem, 3), episodes(problem, 40)
        ours, raw, scipys = OptimisticLP(problem), RawHighs(problem), linprog(problem)
        dpp = {smaller: with_parameters(problem, smaller=smaller) for smaller in (False, True)}

        def rebuilt(estimate: np.ndarray, radius: float, problem: Problem = problem) -> None:
            l1_lp(problem, estimate, radius).solve(solver=cp.HIGHS)

        def loops(estimate: np.ndarray, radius: float, problem: Problem = problem) -> None:
            scalar_loops(problem, estimate, radius).solve(solver=cp.HIGHS)

        solvers: dict[str, tuple[Callable[[np.ndarray, float], object], list]] = {
            "library": (ours.over_l1_ball, many),
            "HiGHS, hot": (raw.solve, many),
            "scipy linprog": (scipys, many),
            "CVXPY, smaller, parameters": (dpp[True], few),
            "CVXPY, parameters": (dpp[False], few),
            "CVXPY, rebuilt": (rebuilt, few),
            "CVXPY, scalar loops": (loops, few[:1]),
        }
        for name in PEERS.values():

            def peer(
                estimate: np.ndarray, radius: float, name: str = name, at: Problem = problem
            ) -> None:
                l1_lp(at, estimate, radius).solve(solver=name)

            try:
                peer(*few[0])
            except cp.SolverError:  # not installed, or too many types for its free edition
                continue
            solvers[f"CVXPY, rebuilt, {name}"] = (peer, few)

        def work(solve: Callable, questions: list) -> Callable[[], None]:
            return lambda: [solve(*question) for question in questions] and None

        ways = {name: work(*pair) for name, pair in solvers.items()}
        for name in ("library", "HiGHS, hot"):
            ways[name]()  # the first solve is a cold one
        taken = in_turns(ways)
        each = {name: taken[name] / len(pair[1]) for name, pair in solvers.items()}
        rows.append(row("extended program", f"{types} types", "HiGHS, hot", each, types=types))
    return rows


def replanning() -> list[dict]:
    """The plan of `Resolving`: all of a re-solve, and the share of it that HiGHS has."""
    rows = []
    for types, features in BREXIT.items():
        problem, inside = datasets.brexit(features), [0.0]
        whole = [0.0]
        solve, run = PlanLP.solve, highs.run

        def timed_run(model: highspy.Highs, run=run, inside=inside) -> np.ndarray:
            start = time.perf_counter()
            try:
                return run(model)
            finally:
                inside[0] += time.perf_counter() - start

        def timed_solve(self, *args, solve=solve, whole=whole) -> tuple[float, np.ndarray]:
            start = time.perf_counter()
            try:
                return solve(self, *args)
            finally:
                whole[0] += time.perf_counter() - start

        try:
            PlanLP.solve, highs.run = timed_solve, timed_run  # type: ignore[method-assign]
            for seed in range(4):
                recruit(Resolving(0.02), problem, 250, np.random.default_rng(seed))
        finally:
            PlanLP.solve, highs.run = solve, run  # type: ignore[method-assign]
        taken = {"library": whole[0], "HiGHS, hot": inside[0]}
        rows.append(row("re-solving", f"{types} types", "HiGHS, hot", taken, types=types))
    return rows


# Many types

MANY_TYPES = r"""
import json, re, resource, sys, time
from pathlib import Path
import numpy as np
from scipy import sparse
from committees import Problem, highs
from committees.beyond import many_types
way, sizes, limit = sys.argv[1], json.loads(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(0)
def shares():
    drawn = [rng.dirichlet(np.full(size, 3.0)) for size in sizes]
    return {f"f{i}": {f"v{j}": s for j, s in enumerate(d)} for i, d in enumerate(drawn)}
problem = Problem.from_marginals(shares(), shares())
n = len(problem.p)
start = time.perf_counter()
if way == "library":
    rate, done = float(many_types.solve(problem)[0].sum()), True
else:
    rate_column = sparse.csc_array(-problem.rho[:, None])
    matrix = sparse.hstack([problem.incidence, rate_column]).tocsc()
    upper = np.append(problem.p / problem.bottleneck, 1e30)
    model = highs.model(matrix, np.repeat([0.0, -1.0], [n, 1]))
    columns = np.arange(n + 1, dtype=np.int32)
    model.changeColsBounds(n + 1, columns, np.zeros(n + 1), upper)
    model.setOptionValue("time_limit", limit)
    start = time.perf_counter()
    model.run()
    done = "Optimal" in str(model.getModelStatus())
    rate = model.getSolution().col_value[-1] * problem.bottleneck
taken = time.perf_counter() - start
unit = 1 if sys.platform == "darwin" else 1024
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
if Path("/proc/self/status").exists():  # on Linux the number above begins with the parent's
    peak = 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
print(json.dumps({"seconds": taken, "rate": rate, "done": done, "peak": peak}))
"""


def many_types(limit: float) -> list[dict]:
    """Each way in a process of its own, since memory is measured too."""
    rows, first = [], 0.0
    for power in range(2, 7):
        sizes, found = json.dumps([10] * power), {}
        for way in ("library", "HiGHS"):
            command = [sys.executable, "-c", MANY_TYPES, way, sizes, str(limit)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found[way] = json.loads(done.stdout)
        if found["HiGHS"]["done"]:
            assert np.isclose(found["library"]["rate"], found["HiGHS"]["rate"], rtol=1e-7)
        taken = {way: found[way]["seconds"] for way in found}
        first = first or taken["library"] / 10**power
        rows.append(
            row(
                "many types",
                f"{10**power:,} types",
                "library",
                taken,
                types=10**power,
                stopped=not found["HiGHS"]["done"],
                gigabytes={way: found[way]["peak"] / 1e9 for way in found},
                per_type=taken["library"] / 10**power / first,
            )
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
    taken = in_turns({"one worker": lambda: grid(1), "two workers": lambda: grid(2)})
    simulation.POOL_START_SECONDS = 2.0
    rows = [row("workers", "RL-CMDP, Figure 2's sizes, 100 runs", "two workers", taken)]

    def sweep(count: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            grid_file = ROOT / "chapters/beyond/grids/size_tolerance.yml"
            command = [sys.executable, "-m", "companion.sweep", str(grid_file)]
            command += ["--workers", str(count), "--output", str(Path(folder) / "out")]
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    taken = in_turns({"one worker": lambda: sweep(1), "two workers": lambda: sweep(2)}, rounds=2)
    return [*rows, row("workers", "a sweep of a page with papermill", "two workers", taken)]


def machine() -> dict:
    peers = [package for package in PEERS if importlib.util.find_spec(package)]
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in [*PACKAGES, *peers]},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "benchmarks.json")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for HiGHS alone")
    parts: dict[str, list[Callable[[], list[dict]]]] = {
        "figures": [figure_1, figure_2],
        "extended program": [extended_program],
        "re-solving": [replanning],
        "workers": [workers],
        "many types": [lambda: many_types(arguments.limit)],
    }
    parser.add_argument("--only", choices=parts, help="measure these rows anew, keep the others")
    arguments = parser.parse_args()
    chosen = [arguments.only] if arguments.only else list(parts)
    kept = json.loads(arguments.out.read_text())["rows"] if arguments.only else []
    rows = [row for row in kept if row["group"] not in chosen]
    for name in tqdm(chosen, desc="measuring"):
        rows += [line for part in parts[name] for line in part()]
    rows.sort(key=lambda row: list(parts).index(row["group"]))
    arguments.out.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    for line in rows:
        print(f"{line['group']}: {line['case']} ({line['baseline']} = 1)")
        for name, ratio in line["ratios"].items():
            print(f"  {ratio:10.2f}  {name}")

"""`make bench`: how fast, as ratios measured side by side in one run.

Seconds depend on the machine and on what else it does; the quotient of two measurements that were
taken in turns, much less. The results go to data/benchmarks.json, which the page on speed shows.
Where something is to be waited for, such as a fit, its seconds are stored too.
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
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
from joblib.externals.loky import get_reusable_executor
from scipy import optimize, sparse
from tqdm import tqdm

from committees import CMDP, RLCMDP, Greedy, Problem, datasets, highs, recruit, simulate, simulation
from committees.beyond import Foresight, Prices
from committees.beyond.tables import Tables
from committees.checks import IntArray
from committees.greedy import band
from committees.optimism import OptimisticLP, l1_lp
from committees.strategy import Strategy
from companion import experiments

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "helpers"))

import literal  # noqa: E402

PACKAGES = ["numpy", "scipy", "pandas", "cvxpy", "highspy", "papermill", "ipykernel"]
PEERS = {"cplex": "CPLEX", "gurobipy": "GUROBI"}
BREXIT = {8: experiments.THREE_FEATURES, 48: experiments.FIVE_FEATURES, 384: None}

#: Committees of these sizes are recruited within this tolerance.
FIT_SIZES, TOLERANCE = (20, 50, 100, 250), 0.02
#: The numbers of values of made-up features: 5,400 types.
MADE_UP = (5, 4, 3, 3, 3, 5, 2)

#: What takes less than this many seconds is measured in more turns, and several times in each.
SHORT = 0.1

Ways = dict[str, Callable[[], object]]


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


# Foresight and Prices


class FluidHighs:
    """The program of the fluid limit for the seats that are left, solved again for each seat.

    It is the least that re-solving costs: a model that is kept, told of the entries that changed,
    and started from the last solution. Its rows: shares of the values and the seats, with entries
    that change in the column of the rate; then the widths of the band.
    """

    def __init__(self, problem: Problem, size: int) -> None:
        low, high = band(problem, size, TOLERANCE)
        values, n = problem.incidence.shape
        inside, rate = sparse.eye_array(values), n + values
        shares = sparse.hstack([problem.incidence, -inside, -low[:, None]])
        seats = np.repeat([1.0, 0.0, -size], [n, values, 1])[None, :]
        widths = sparse.hstack([sparse.csr_array((values, n)), inside, (low - high)[:, None]])
        matrix = sparse.vstack([shares, seats, widths], format="csc").astype(float)
        self.model = highs.model(matrix, np.repeat([0.0, -1.0], [rate, 1]))
        self.model.setOptionValue("presolve", "off")
        columns, inf = np.arange(rate + 1, dtype=np.int32), highspy.kHighsInf
        upper = np.append(problem.p * size, np.full(values + 1, inf))
        self.model.changeColsBounds(rate + 1, columns, np.zeros(rate + 1), upper)
        for width in range(values + 1, 2 * values + 1):
            self.model.changeRowBounds(width, -inf, 0.0)
        self.rate, self.at_first = rate, np.append(low, size).tolist()
        self.rows = [[*own, values] for own in problem.codes.tolist()]

    def recruit(self, type_ids: IntArray) -> None:
        """A solve for each seat, while people of these types are accepted one after the other."""
        needed = self.at_first.copy()
        self.tell(range(len(needed)), needed)
        for type_id in type_ids.tolist():
            self.model.run()
            np.array(self.model.getSolution().col_value)
            for row in self.rows[type_id]:
                needed[row] -= 1
            self.tell(self.rows[type_id], needed)

    def tell(self, rows: Iterable[int], needed: list[int]) -> None:
        for row in rows:
            self.model.changeCoeff(row, self.rate, -float(needed[row]))


def made_up() -> Problem:
    rng = np.random.default_rng(0)
    drawn = [[rng.dirichlet(np.full(n, 3.0)) for n in MADE_UP] for _ in range(2)]
    targets, marginals = (
        {f"f{i}": {f"v{j}": s for j, s in enumerate(shares)} for i, shares in enumerate(part)}
        for part in drawn
    )
    return Problem.from_marginals(targets, marginals)


def fits() -> list[dict]:
    """Foresight's tables, fitted once for a problem and a size, and one committee by re-solving."""
    brexit, rows = datasets.brexit(), []
    for problem, size in [*((brexit, size) for size in FIT_SIZES), (made_up(), 50)]:
        low, high = band(problem, size, TOLERANCE)
        people = recruit(Foresight(TOLERANCE), problem, size, 0).type_ids
        fit = partial(Tables, problem, problem.p, low, high, np.zeros_like(low), size)
        ways: Ways = {"fit": fit, "HiGHS, hot": partial(FluidHighs(problem, size).recruit, people)}
        taken, types = in_turns(ways, clock=time.process_time), len(problem.p)
        more = {"types": types, "seats": size, "seconds": taken}
        rows.append(row("fit", f"{types:,} types, {size} seats", "HiGHS, hot", taken, **more))
    return rows


def decisions() -> list[dict]:
    """Whom to accept next: the same recruitments of 50 seats, each seat decided in each way."""
    rows, size, runs = [], 50, 10

    def replay(strategy: Strategy, problem: Problem, recruitments: list[IntArray]) -> None:
        one, yes = np.zeros(1, dtype=np.intp), np.array([True])
        for type_ids in recruitments:
            session = strategy.start(problem, size)
            for one[0] in type_ids:
                session.see(one, yes)

    def resolve(fluid: FluidHighs, recruitments: list[IntArray]) -> None:
        for type_ids in recruitments:
            fluid.recruit(type_ids)

    for types, features in BREXIT.items():
        problem, foresight = datasets.brexit(features), Foresight(TOLERANCE)
        same = [recruit(foresight, problem, size, run).type_ids for run in range(runs)]
        ways: Ways = {
            "Foresight": partial(replay, foresight, problem, same),
            "Prices": partial(replay, Prices(), problem, same),
            "HiGHS, hot": partial(resolve, FluidHighs(problem, size), same),
        }
        taken = in_turns(ways, clock=time.process_time)
        each = {name: seconds / (size * runs) for name, seconds in taken.items()}
        more = {"types": types, "seconds": each}
        rows.append(row("decision", f"{types} types", "HiGHS, hot", each, **more))
    return rows


def thousand_committees() -> list[dict]:
    """Tables are fitted before. But other processes fit their own, each once: in the first call.

    Also, the share of its time in which one worker had a core: 1 if nothing else was going on.
    """
    problem, best, share = datasets.brexit(), dict[str, float](), 0.0

    def work(workers: int | None, runs: int = 1000) -> None:
        simulate(Foresight(TOLERANCE), problem, 50, runs=runs, workers=workers)

    work(1, runs=1)
    calls = {"one worker": 1, "all cores, first call": None, "all cores, later calls": None}
    for _ in range(3):
        get_reusable_executor().shutdown()
        for name, workers in calls.items():
            start, busy = time.perf_counter(), time.process_time()
            work(workers)
            taken, busy = time.perf_counter() - start, time.process_time() - busy
            best[name] = min(best.get(name, np.inf), taken)
            share = max(share, busy / taken) if workers == 1 else share
    case = "Foresight, 1,000 committees of 50 seats, 384 types"
    more = {"seconds": best, "share_of_core": share}
    return [row("committees", case, "all cores, later calls", best, **more)]


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
    parts: dict[str, list[Callable[[], list[dict]]]] = {
        "figures": [figure_1, figure_2],
        "extended program": [extended_program],
        "fit": [fits],
        "decision": [decisions],
        "committees": [thousand_committees],
        "workers": [workers],
    }
    help_only = "measure these rows anew, keep the others"
    parser.add_argument("--only", nargs="+", choices=parts, help=help_only)
    arguments = parser.parse_args()
    chosen = arguments.only or list(parts)
    now, rows = machine(), []
    if arguments.only:
        before = json.loads(arguments.out.read_text())
        now["packages"] = before["machine"]["packages"] | now["packages"]
        others = set(parts) - set(chosen)
        rows = [line for line in before["rows"] if line["group"] in others]
    for name in tqdm(chosen, desc="measuring"):
        rows += [line for part in parts[name] for line in part()]
    rows.sort(key=lambda row: list(parts).index(row["group"]))
    arguments.out.write_text(json.dumps({"machine": now, "rows": rows}, indent=1) + "\n")
    for line in rows:
        print(f"{line['group']}: {line['case']} ({line['baseline']} = 1)")
        for name, ratio in line["ratios"].items():
            print(f"  {ratio:10.2f}  {name}")

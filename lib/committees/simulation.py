r"""Section 6 and Appendix A: recruit one committee, in either of two ways, and simulate many.

**Step by step**, as in the paper's pseudocode: one volunteer at a time is drawn from $p$, and
accepted with the probability that the strategy gives the volunteer's type right now.

**Fast**: while the acceptance probabilities $a(x)$ are fixed, the wait for the next acceptance is
geometric with parameter $g = \sum_x p(x) a(x)$, and the type of the person accepted has the
distribution $p(x) a(x) / g$, independent of the wait. So rejections need not be drawn, and all the
acceptances until the probabilities change can be drawn at once. Same law, far fewer steps. A
strategy that learns must see everybody: for it the same people as step by step are drawn, and shown
in blocks.

The sum of $1/g$ is the mean of the people screened given who was accepted. It varies less, so that
means are better taken of it: `expected`. (Where everybody is drawn, it is `screened`.)

A run depends on (strategy, problem, size, seed, number of the run) alone: run r always uses the
r-th child of the seed, whichever process computes it and in whatever order.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.random import Generator, SeedSequence, default_rng
from tqdm import tqdm

from committees.checks import FloatArray, IntArray, check_choice, check_integer, check_size
from committees.problem import Problem
from committees.strategy import Session, Strategy, check_is_strategy
from committees.volunteers import Volunteers, cumulative

#: People shown at once to a strategy that learns.
PEOPLE_PER_BLOCK = 128
#: `DeadEnd` is raised when a smaller share of the volunteers than this would be accepted.
MIN_ACCEPTANCE_RATE = 1e-12
#: `DeadEnd` is raised when a strategy that learns has seen so many people.
MAX_SEEN_BY_LEARNER = 10**8
#: `simulate` works in this process for so long before it starts others, which takes about as long.
POOL_START_SECONDS = 2.0
#: `simulate` cuts the runs of a strategy into so many tasks, or a few more.
TASKS_PER_STRATEGY = 10
#: The most acceptances that are drawn at once, for each that was used the last time.
DRAWN_PER_NOTED = 8
#: How joblib says "as many processes as there are cores".
ALL_CORES = -1
#: What `simulate` tells of each committee.
COLUMNS = ["strategy", "size", "run", "screened", "loss", "expected"]

Measure = Callable[[Problem, IntArray], float]


class DeadEnd(RuntimeError):
    """The strategy would accept nobody who can still come, or has learnt in vain for too long."""


@dataclass(frozen=True, eq=False)
class Recruitment:
    """One committee of K people: who was accepted, in order, and how many were seen by then."""

    type_ids: IntArray  #: shape (K,): the types of the people accepted
    screened: IntArray  #: shape (K,): people seen up to each of them, rejected ones included
    expected: FloatArray  #: shape (K,): their mean given who was accepted; see the top of the file
    session: Session  #: the strategy's session when the committee was full


def recruit(
    strategy: Strategy,
    problem: Problem,
    size: int,
    rng: Generator | int,
    *,
    step_by_step: bool = False,
) -> Recruitment:
    """Fill one committee of `size` people; `rng` may also be a seed.

    >>> from committees import Greedy, datasets
    >>> recruitment = recruit(Greedy(0), datasets.brexit(["gender"]), 10, rng=1)
    >>> len(recruitment.type_ids)
    10
    """
    check_is_strategy(strategy)
    check_size(size)
    generator = default_rng(rng)
    if step_by_step:
        return _step_by_step(strategy, problem, size, generator)
    if strategy.learns:
        return _in_blocks(strategy, problem, size, generator)
    return _skip_rejections(strategy, problem, size, generator)


def _step_by_step(strategy: Strategy, problem: Problem, size: int, rng: Generator) -> Recruitment:
    session = strategy.start(problem, size)
    type_ids: list[int] = []
    screened: list[int] = []
    for seen, (type_id, coin) in enumerate(Volunteers(problem, rng), start=1):
        if strategy.learns:
            _check_patience(strategy, seen - 1, len(type_ids), size)
        else:
            rate = float(problem.p @ session.acceptance)
            _check_rate(strategy, rate, len(type_ids), size)
        accepted = bool(coin < session.acceptance[type_id])
        session.see_one(type_id, accepted)
        if accepted:
            type_ids.append(type_id)
            screened.append(seen)
        if len(type_ids) == size:
            break
    return Recruitment(np.array(type_ids), np.array(screened), np.array(screened, float), session)


def _in_blocks(strategy: Strategy, problem: Problem, size: int, rng: Generator) -> Recruitment:
    session = strategy.start(problem, size)
    volunteers = Volunteers(problem, rng)
    type_ids: list[IntArray] = []
    screened: list[IntArray] = []
    seated = 0
    seen = 0
    while seated < size:
        _check_patience(strategy, seen, seated, size)
        block, coins = volunteers.next(PEOPLE_PER_BLOCK)
        accepted = coins < session.acceptance[block]
        until_full = int(accepted.cumsum().searchsorted(size - seated)) + 1
        noted = session.see(block[:until_full], accepted[:until_full])
        positions = np.flatnonzero(accepted[:noted])
        type_ids.append(block[positions])
        screened.append(seen + 1 + positions)
        seated += len(positions)
        seen += noted
        volunteers.skip(noted)
    people = np.concatenate(screened)
    return Recruitment(np.concatenate(type_ids), people, people.astype(float), session)


def _skip_rejections(
    strategy: Strategy, problem: Problem, size: int, rng: Generator
) -> Recruitment:
    session = strategy.start(problem, size)
    # Two generators: numbers for types and for waits are each drawn in batches of any length.
    for_types, for_waits = rng.spawn(2)
    type_ids: list[IntArray] = []
    waits: list[IntArray] = []
    mean_waits: list[FloatArray] = []
    seated = 0
    batch = size  # acceptances drawn at once
    while seated < size:
        accepted_mass = problem.p * session.acceptance
        rate = min(float(accepted_mass.sum()), 1.0)
        _check_rate(strategy, rate, seated, size)
        drawn = cumulative(accepted_mass).searchsorted(for_types.random(batch), side="right")
        wait = for_waits.geometric(rate, batch)
        noted = session.see(drawn, np.ones(batch, dtype=bool))
        type_ids.append(drawn[:noted].copy())
        waits.append(wait[:noted].copy())
        mean_waits.append(np.full(noted, 1 / rate))
        seated += noted
        batch = size - seated
        if not strategy.sized:
            # One recruitment serves all smaller sizes, so that its beginning must be the same
            # whatever the size. The batch is as long as the size asks for, and leaves the
            # generators wherever it ends: fresh ones for the next.
            for_types, for_waits = rng.spawn(2)
            batch = min(batch, DRAWN_PER_NOTED * noted)  # few, if every seat changes the rule
    screened = np.concatenate(waits).cumsum()
    expected = np.concatenate(mean_waits).cumsum()
    return Recruitment(np.concatenate(type_ids), screened, expected, session)


def _check_rate(strategy: Strategy, rate: float, seated: int, size: int) -> None:
    """Stop where waiting is in vain: what is accepted does not change while all are rejected."""
    if not rate > MIN_ACCEPTANCE_RATE:
        raise DeadEnd(
            f"{strategy}: after {seated} of {size} seats it would accept nobody, or fewer than one "
            f"person in {1 / MIN_ACCEPTANCE_RATE:.0e}"
        )


def _check_patience(strategy: Strategy, seen: int, seated: int, size: int) -> None:
    """Stop a strategy that learns, and may always change, once it has seen very many."""
    if seen > MAX_SEEN_BY_LEARNER:
        raise DeadEnd(f"{strategy}: has seen {seen:,} people for {seated} of {size} seats")


def simulate(
    strategies: Strategy | Sequence[Strategy],
    problem: Problem,
    sizes: int | Iterable[int],
    runs: int = 50,
    seed: int = 2021,
    *,
    step_by_step: bool = False,
    workers: int | None = None,
    dead_ends: Literal["raise", "rows"] = "raise",
    measures: Mapping[str, Measure] | None = None,
) -> pd.DataFrame:
    """Recruit many committees.

    Parameters
    ----------
    strategies : Strategy or sequence of Strategy
    problem : Problem
    sizes : int or iterable of int
        The committee sizes, K.
    runs : int
        How many independent recruitments of each.
    seed : int
        Where all randomness comes from.
    step_by_step : bool
        Whether to draw every volunteer, as the pseudocode does, instead of skipping rejections.
    workers : int, optional
        How many processes joblib may use; by default, and for -1, all cores, or as many as
        LOKY_MAX_CPU_COUNT allows; inside `joblib.parallel_config(backend="dask")` a cluster's. It
        changes no result.
    dead_ends : {"raise", "rows"}
        Whether a recruitment that gets stuck raises `DeadEnd`, or is a row without numbers: means
        are then over the others only.
    measures : mapping of str to callable, optional
        More columns by name, each a function of the problem and of the committee's counts per type.

    Returns
    -------
    DataFrame
        A row per committee: strategy (its name), size, run, screened (people seen), loss, expected
        (the mean of screened given who was accepted), and the measures.

    >>> from committees import CMDP, datasets
    >>> problem, measures = datasets.brexit(["gender"]), {"women": lambda problem, n: n[0]}
    >>> frame = simulate(CMDP(), problem, sizes=[10, 20], runs=3, seed=1, measures=measures)
    >>> list(frame.columns), len(frame)
    (['strategy', 'size', 'run', 'screened', 'loss', 'expected', 'women'], 6)
    """
    all_strategies = _check_strategies(strategies)
    all_sizes = _check_sizes(sizes)
    all_measures = _check_measures(measures)
    check_integer("runs", runs, 1)
    check_integer("seed", seed, 0)
    if workers not in (None, ALL_CORES):
        check_integer("workers", workers, 1)
    check_choice("dead_ends", dead_ends, ["raise", "rows"])
    options = Options(problem, seed, step_by_step, dead_ends == "rows", all_measures)
    rows = _all_rows(_plan(all_strategies, all_sizes, runs, options), workers)
    order = [strategy.name for strategy in all_strategies]
    rows.sort(key=lambda row: (order.index(row["strategy"]), row["size"], row["run"]))
    return pd.DataFrame(rows, columns=[*COLUMNS, *all_measures])


def _check_strategies(strategies: Strategy | Sequence[Strategy]) -> list[Strategy]:
    listed = list(strategies) if isinstance(strategies, Iterable) else [strategies]
    if not listed:
        raise ValueError("strategies: there are none")
    for strategy in listed:
        check_is_strategy(strategy)
    if len({strategy.name for strategy in listed}) < len(listed):
        raise ValueError(f"strategies: two have the same name: {', '.join(map(str, listed))}")
    return listed


def _check_sizes(sizes: int | Iterable[int]) -> list[int]:
    listed = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    if not listed:
        raise ValueError("sizes: there are none")
    for size in listed:
        check_size(size)
    return sorted({int(size) for size in listed})


def _check_measures(measures: Mapping[str, Measure] | None) -> dict[str, Measure]:
    taken = [name for name in measures or {} if name in COLUMNS]
    if taken:
        raise ValueError(f"measures: {taken[0]!r} is a column already")
    return dict(measures or {})


@dataclass(frozen=True)
class Options:
    """What is the same for all recruitments of one call of `simulate`."""

    problem: Problem
    seed: int
    step_by_step: bool
    dead_ends_are_rows: bool
    measures: Mapping[str, Measure]


@dataclass(frozen=True)
class Task:
    """Some runs of one strategy, done by one process."""

    strategy: Strategy
    sizes: list[int]  #: one recruitment up to the largest contains the others
    runs: range
    options: Options


def _plan(strategies: list[Strategy], sizes: list[int], runs: int, options: Options) -> list[Task]:
    """Tasks small enough to be shared out among processes."""
    runs_per_task = max(1, runs // TASKS_PER_STRATEGY)
    tasks = []
    for strategy in strategies:
        groups = [[size] for size in sizes] if strategy.sized else [sizes]
        for group in groups:
            for first in range(0, runs, runs_per_task):
                some_runs = range(runs)[first : first + runs_per_task]
                tasks.append(Task(strategy, group, some_runs, options))
    return tasks


def _all_rows(tasks: list[Task], workers: int | None) -> list[dict[str, Any]]:
    """The rows of all tasks, with a bar while they are done."""
    rows: list[dict[str, Any]] = []
    with tqdm(total=len(tasks), disable=None, delay=POOL_START_SECONDS, desc="recruiting") as bar:
        for part in _rows_by_task(tasks, workers):
            rows += part
            bar.update()
    return rows


def _rows_by_task(tasks: list[Task], workers: int | None) -> Iterator[list[dict[str, Any]]]:
    """Do tasks in this process for as long as others take to start, then in these."""
    until = time.monotonic() + POOL_START_SECONDS
    left = deque(tasks)
    while left and time.monotonic() < until:
        yield _rows_of(left.popleft())
    if left:
        parallel = Parallel(n_jobs=workers or ALL_CORES, return_as="generator")
        yield from parallel(delayed(_rows_of)(task) for task in left)


def _rows_of(task: Task) -> list[dict[str, Any]]:
    """A row for each run and size. From the largest size down, until one does not get stuck."""
    rows = []
    for run in task.runs:
        recruitment = None
        for size in reversed(task.sizes):
            recruitment = recruitment or _recruit_for(task, run, size)
            rows.append(_row(task, run, size, recruitment))
    return rows


def _recruit_for(task: Task, run: int, size: int) -> Recruitment | None:
    """Run number `run`; None for a dead end that is to be a row."""
    options = task.options
    rng = default_rng(SeedSequence(options.seed, spawn_key=(run,)))
    try:
        return recruit(task.strategy, options.problem, size, rng, step_by_step=options.step_by_step)
    except DeadEnd:
        if options.dead_ends_are_rows:
            return None
        raise


def _row(task: Task, run: int, size: int, recruitment: Recruitment | None) -> dict[str, Any]:
    """What `simulate` tells of one committee: the first `size` people of a recruitment."""
    row: dict[str, Any] = {"strategy": task.strategy.name, "size": size, "run": run}
    if recruitment is None:
        return row
    problem = task.options.problem
    type_ids = recruitment.type_ids[:size]
    row["screened"] = int(recruitment.screened[size - 1])
    row["expected"] = float(recruitment.expected[size - 1])
    row["loss"] = problem.committee_loss(type_ids)
    counts = np.bincount(type_ids, minlength=len(problem.p))
    for name, measure in task.options.measures.items():
        row[name] = measure(problem, counts)
    return row

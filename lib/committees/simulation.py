"""Section 6: recruit many committees, in several processes, and tell of each in a row.

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
from numpy.random import SeedSequence, default_rng
from tqdm import tqdm

from committees.checks import IntArray, check_choice, check_integer, check_size
from committees.problem import Problem
from committees.recruitment import DeadEnd, Recruitment, recruit
from committees.strategy import Strategy, check_is_strategy

#: `simulate` works in this process for so long before it starts others, which takes about as long.
POOL_START_SECONDS = 2.0
#: `simulate` cuts the runs of a strategy into so many tasks, or a few more.
TASKS_PER_STRATEGY = 10
#: How joblib says "as many processes as there are cores".
ALL_CORES = -1
#: What `simulate` tells of each committee.
COLUMNS = ["strategy", "size", "run", "screened", "loss", "expected"]

Measure = Callable[[Problem, IntArray], float]


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

"""Many recruitments, in a table.

A run depends on (strategy, problem, size, seed) alone. Run number r always uses the r-th child of
the seed, whoever computes it and in whatever order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor

import numpy as np
import pandas as pd

from committees.checks import check_size, whole
from committees.problem import Problem
from committees.recruitment import recruit
from committees.strategy import Strategy, check_strategy

#: How long `simulate` works alone before it calls for help: less than it takes to start a pool.
PATIENCE = 2.0


def simulate(
    strategies: Strategy | Sequence[Strategy],
    problem: Problem,
    sizes: int | Iterable[int],
    runs: int = 50,
    seed: int = 2021,
    *,
    step_by_step: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Recruit many committees.

    Parameters
    ----------
    strategies, problem
        Who decides, and for whom.
    sizes
        The committee sizes, K.
    runs
        How many independent recruitments of each.
    seed
        Where all randomness comes from.
    step_by_step
        Whether to draw every volunteer, as the paper's pseudocode does, instead of skipping
        rejections.
    workers
        The number of processes that may be used; by default all cores, or as many of them as the
        environment's LOKY_MAX_CPU_COUNT allows. Short work stays in this one. The result does not
        depend on it.
    executor
        Runs the work instead of our own processes: any `concurrent.futures.Executor`.
    progress
        Whether long work shows a bar (in a terminal; never in a notebook).

    Returns
    -------
    A tidy table: strategy, size, run, screened (people seen) and loss, a row per committee.
    """
    from tqdm import tqdm  # so that importing the library stays quick

    chosen = list(strategies) if isinstance(strategies, Iterable) else [strategies]
    lengths = _check(chosen, sizes, runs, seed, workers)
    chunk = max(1, runs // 10)
    tasks: list[Task] = [
        (strategy, problem, marks, range(runs)[first : first + chunk], seed, step_by_step)
        for strategy in chosen
        for marks in ([[size] for size in lengths] if strategy.sized else [lengths])
        for first in range(0, runs, chunk)
    ]
    bar = tqdm(
        total=len(tasks), disable=None if progress else True, delay=PATIENCE, desc="recruiting"
    )
    with bar:
        rows = [row for part in _spread(tasks, workers, executor, bar.update) for row in part]
    frame = pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])
    order = {str(strategy): rank for rank, strategy in enumerate(chosen)}
    return frame.sort_values(
        ["strategy", "size", "run"],
        key=lambda column: column.map(order) if column.name == "strategy" else column,
        ignore_index=True,
    )


Task = tuple[Strategy, Problem, list[int], range, int, bool]
Row = tuple[str, int, int, int, float]


def _run(task: Task) -> list[Row]:
    strategy, problem, marks, which, seed, step_by_step = task
    rows = []
    for run in which:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))
        found = recruit(strategy, problem, marks[-1], rng, step_by_step=step_by_step)
        for mark in marks:
            loss = problem.loss_of_kinds(found.kinds[:mark])
            rows.append((str(strategy), mark, run, int(found.screened[mark - 1]), loss))
    return rows


def _spread(
    tasks: list[Task],
    workers: int | None,
    executor: Executor | None,
    done: Callable[[], object],
) -> Iterator[list[Row]]:
    """Do the tasks: here for a moment, then, if some are left, in other processes."""
    start = time.monotonic()
    waiting = list(reversed(tasks))
    while waiting and executor is None and (time.monotonic() - start < PATIENCE or alone(workers)):
        yield _run(waiting.pop())
        done()
    if not waiting:
        return
    executor = executor or pool(workers)
    futures = [executor.submit(_run, task) for task in reversed(waiting)]
    try:
        for future in futures:
            yield future.result()
            done()
    finally:
        for future in futures:
            future.cancel()


def alone(workers: int | None) -> bool:
    """Whether this process is the only one that may work."""
    from loky import cpu_count  # seldom needed

    return (workers or cpu_count()) == 1


def pool(workers: int | None) -> Executor:
    """Processes that stay for the next call; on a busy machine, idle ones may be slow to wake."""
    from loky import get_reusable_executor  # seldom needed

    executor: Executor = get_reusable_executor(max_workers=workers, timeout=300)
    return executor


def _check(
    strategies: Sequence[object],
    sizes: int | Iterable[int],
    runs: int,
    seed: int,
    workers: int | None,
) -> list[int]:
    if not strategies:
        raise ValueError("strategies: there are none")
    for strategy in strategies:
        check_strategy(strategy)
    names = [str(strategy) for strategy in strategies]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"strategies: {name!r} is there {names.count(name)} times")
    lengths = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    if not lengths:
        raise ValueError("sizes: there are none")
    for size in lengths:
        check_size(size)
    whole("runs", runs, 1)
    whole("seed", seed, 0)
    if workers is not None:
        whole("workers", workers, 1)
    return sorted({int(size) for size in lengths})

r"""Section 6 and Appendix A: recruit one committee, in either of two ways, and simulate many.

**Step by step**, as in the paper's pseudocode: one volunteer at a time is drawn from $p$, and
accepted with the probability that the strategy gives the volunteer's type right now.

**Fast**: while the acceptance probabilities $a(x)$ are fixed, the wait for the next acceptance is
geometric with parameter $g = \sum_x p(x) a(x)$, and the type of whoever it is has the distribution
$p(x) a(x) / g$, independent of the wait. So rejections need not be drawn, and all the acceptances
until the probabilities change can be drawn at once. Same law, far fewer steps. A strategy that
learns must see everybody: for it the same people as step by step are drawn, and shown in blocks.

The sum of $1/g$ is the mean of the people screened given who was accepted. It varies less, so that
means are better taken of it: `expected`. (Where everybody is drawn, it is `screened`.)

A run depends on (strategy, problem, size, seed, number of the run) alone: run r always uses the
r-th child of the seed, whichever process computes it and in whatever order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
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
#: What `simulate` tells of each committee.
COLUMNS = ["strategy", "size", "run", "screened", "loss", "expected"]

Measure = Callable[[Problem, IntArray], float]
Task = tuple[Strategy, Problem, list[int], range, int, bool, list[Any], dict[str, Measure]]


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
    >>> found = recruit(Greedy(0), datasets.brexit(["gender"]), 10, rng=1)
    >>> len(found.type_ids)
    10
    """
    check_is_strategy(strategy)
    check_size(size)
    rng = default_rng(rng) if isinstance(rng, int) else rng
    fast = _in_blocks if strategy.learns else _skip_rejections
    return (_step_by_step if step_by_step else fast)(strategy, problem, size, rng)


def _step_by_step(strategy: Strategy, problem: Problem, size: int, rng: Generator) -> Recruitment:
    session = strategy.start(problem, size)
    volunteers = Volunteers(problem, rng)
    type_ids: list[int] = []
    screened: list[int] = []
    seen = 0
    while len(type_ids) < size:
        rate = float(problem.p @ session.acceptance)
        _check_dead_end(strategy, rate, len(type_ids), size, seen)
        type_id, coin = volunteers.next(1)
        accepted = coin < session.acceptance[type_id]
        session.see(type_id, accepted)
        seen += 1
        if accepted:
            type_ids.append(int(type_id[0]))
            screened.append(seen)
        volunteers.skip(1)
    return Recruitment(np.array(type_ids), np.array(screened), np.array(screened, float), session)


def _in_blocks(strategy: Strategy, problem: Problem, size: int, rng: Generator) -> Recruitment:
    session = strategy.start(problem, size)
    volunteers = Volunteers(problem, rng)
    parts: list[tuple[IntArray, IntArray]] = []
    seated = seen = 0
    while seated < size:
        _check_dead_end(strategy, 1.0, seated, size, seen)  # the rate of a learner may change
        came, coins = volunteers.next(PEOPLE_PER_BLOCK)
        accepted = coins < session.acceptance[came]
        enough = int(accepted.cumsum().searchsorted(size - seated)) + 1
        noted = session.see(came[:enough], accepted[:enough])
        chosen = np.flatnonzero(accepted[:noted])
        parts.append((came[chosen], seen + 1 + chosen))
        seated, seen = seated + len(chosen), seen + noted
        volunteers.skip(noted)
    type_ids, screened = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Recruitment(type_ids, screened, screened.astype(float), session)


def _skip_rejections(
    strategy: Strategy, problem: Problem, size: int, rng: Generator
) -> Recruitment:
    session = strategy.start(problem, size)
    # Two generators, so that the beginning of a recruitment does not depend on its length.
    for_types, for_waits = rng.spawn(2)
    parts: list[tuple[IntArray, IntArray, FloatArray]] = []
    seated, ahead, everybody = 0, size, np.ones(size, dtype=bool)
    while seated < size:
        mass = problem.p * session.acceptance
        rate = min(float(mass.sum()), 1.0)
        _check_dead_end(strategy, rate, seated, size)
        drawn = cumulative(mass).searchsorted(for_types.random(ahead), side="right")
        wait = for_waits.geometric(rate, ahead)
        noted = session.see(drawn, everybody[:ahead])
        parts.append((drawn[:noted].copy(), wait[:noted].copy(), np.full(noted, 1 / rate)))
        seated += noted
        ahead = size - seated
        if not strategy.sized:  # the rest must not depend on how many were drawn and not used
            for_types, for_waits = rng.spawn(2)
            ahead = min(ahead, 8 * noted)  # who changes with every seat needs few at once
    type_ids, waits, means = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Recruitment(type_ids, waits.cumsum(), means.cumsum(), session)


def _check_dead_end(strategy: Strategy, rate: float, seated: int, size: int, seen: int = 0) -> None:
    """Stop where waiting is in vain; a strategy that learns may still change, up to a limit."""
    if seen > MAX_SEEN_BY_LEARNER and strategy.learns:
        raise DeadEnd(f"{strategy}: has seen {seen:,} people for {seated} of {size} seats")
    if not strategy.learns and not rate > MIN_ACCEPTANCE_RATE:
        rare = f"fewer than one person in {1 / MIN_ACCEPTANCE_RATE:.0e}"
        raise DeadEnd(
            f"{strategy}: after {seated} of {size} seats it would accept nobody, or {rare}"
        )


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
        How many processes joblib may use; by default all cores, or as many as LOKY_MAX_CPU_COUNT
        allows; inside `joblib.parallel_config(backend="dask")` a cluster's. It changes no result.
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
    own = dict(measures or {})
    chosen = list(strategies) if isinstance(strategies, Iterable) else [strategies]
    wanted = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    if not chosen or not wanted:
        raise ValueError(f"{'sizes' if chosen else 'strategies'}: there are none")
    for strategy in chosen:
        check_is_strategy(strategy)
    if len({strategy.name for strategy in chosen}) < len(chosen):
        raise ValueError(f"strategies: two have the same name: {', '.join(map(str, chosen))}")
    for size in wanted:
        check_size(size)
    for name in own.keys() & {*COLUMNS}:
        raise ValueError(f"measures: {name!r} is a column already")
    check_integer("runs", runs, 1)
    check_integer("seed", seed, 0)
    check_integer("workers", 1 if workers is None else workers, 1)
    check_choice("dead_ends", dead_ends, ["raise", "rows"])
    all_sizes, chunk = sorted({int(size) for size in wanted}), max(1, runs // 10)
    options = seed, step_by_step, [DeadEnd] if dead_ends == "rows" else [], own
    tasks: list[Task] = [
        (strategy, problem, together, range(runs)[first : first + chunk], *options)
        for strategy in chosen
        for together in ([[size] for size in all_sizes] if strategy.sized else [all_sizes])
        for first in range(0, runs, chunk)
    ]
    rows: list[dict[str, Any]] = []
    start, left = time.monotonic(), iter(tasks)
    with tqdm(total=len(tasks), disable=None, delay=POOL_START_SECONDS, desc="recruiting") as bar:
        while time.monotonic() - start < POOL_START_SECONDS and (task := next(left, None)):
            rows += _run(task)
            bar.update()
        parallel = Parallel(n_jobs=workers or -1, return_as="generator")
        for part in parallel(delayed(_run)(task) for task in left):
            rows += part
            bar.update()
    order = [strategy.name for strategy in chosen]
    rows.sort(key=lambda row: (order.index(row["strategy"]), row["size"], row["run"]))
    return pd.DataFrame(rows, columns=[*COLUMNS, *own])


def _run(task: Task) -> list[dict[str, Any]]:
    """Recruit up to the largest of these sizes, once for each run, and look at all of them."""
    strategy, problem, sizes, runs, seed, step_by_step, ignored, measures = task
    rows: list[dict[str, Any]] = []
    for run in runs:
        found = None  # the longest recruitment that did not get stuck
        for size in reversed(sizes):
            rng = default_rng(SeedSequence(seed, spawn_key=(run,)))
            rows.append(row := {"strategy": strategy.name, "size": size, "run": run})
            with suppress(*ignored):
                found = found or recruit(strategy, problem, size, rng, step_by_step=step_by_step)
                row["screened"] = int(found.screened[size - 1])
                row["expected"] = float(found.expected[size - 1])
                row["loss"] = problem.committee_loss(found.type_ids[:size])
                counts = np.bincount(found.type_ids[:size], minlength=len(problem.p))
                row |= {name: measure(problem, counts) for name, measure in measures.items()}
    return rows

"""Whether a strategy does what `committees.strategy` asks of it: for whoever writes one."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.stats import ks_2samp

from committees.checks import FloatArray
from committees.problem import Problem
from committees.simulation import PEOPLE_PER_BLOCK, simulate
from committees.strategy import Session, Strategy, check_is_strategy
from committees.volunteers import PEOPLE_PER_DRAW, Volunteers

#: The probability, over the seeds, with which a sound strategy may be refused.
LEVEL = 1e-3


def check_strategy(
    strategy: Strategy, problem: Problem, size: int = 10, runs: int = 600, seed: int = 1
) -> None:
    """Refuse a strategy that breaks its contract, with a sentence that says how.

    The same people are shown to it several times, one by one or many at once, and it must decide
    alike. Then both simulators recruit `runs` committees, whose people screened and seats per type
    must have the same law. (A learner is shown the same people by both: it needs no such test.) A
    sound strategy is refused with a probability of at most `LEVEL`, over the seeds.

    >>> from committees import Greedy, datasets
    >>> check_strategy(Greedy(0.1), datasets.brexit(["gender", "age"]))
    """
    check_is_strategy(strategy)
    if not f"{strategy.name} ".startswith(f"{strategy.family} "):
        raise ValueError(f"{strategy}: the name does not begin with the family, {strategy.family}")
    follow = partial(_follow, strategy, problem, seed)
    seated = follow(size)
    ways = {
        "the second time: sessions share something, or draw at random": follow(size),
        "on many at once: `see` must stop where acceptance changes": follow(size, PEOPLE_PER_BLOCK),
    }
    if not strategy.learns:
        untold = follow(size, PEOPLE_PER_BLOCK, told=False)
        ways["if not told whom it rejects: `learns` should be True"] = untold
    if not strategy.sized:
        ways["in a larger committee: `sized` should be True"] = follow(2 * size)[:size]
    for when, found in ways.items():
        if found != seated:
            raise ValueError(f"{strategy}: decides otherwise {when}")
    if not strategy.learns:
        seats = {f"type {k}": lambda _, counts, k=k: counts[k] for k in range(len(problem.p))}
        draw = partial(simulate, strategy, problem, size, runs, workers=1, measures=seats)
        frames = draw(seed), draw(seed + 1, step_by_step=True)
        p = p_value(*(frame[["screened", *seats]].to_numpy(float) for frame in frames))
        if p <= LEVEL:
            raise ValueError(f"{strategy}: the simulators disagree on its law (p-value {p:.1g})")


def p_value(one: FloatArray, other: FloatArray) -> float:
    """The smallest p-value of the columns' Kolmogorov-Smirnov tests, times their number."""
    found = [ks_2samp(*two, method="asymp").pvalue for two in zip(one.T, other.T, strict=True)]
    return min(1.0, len(found) * float(min(found)))


def _follow(
    strategy: Strategy, problem: Problem, seed: int, size: int, block: int = 1, told: bool = True
) -> list[int]:
    """Who is seated of the same people, shown in blocks; if not `told`, without the rejected."""
    session = strategy.start(problem, size)
    if not isinstance(session, Session):
        raise ValueError(f"{strategy}: start must return a Session, got {session!r}")
    came, coins = Volunteers(problem, seed).next(PEOPLE_PER_DRAW)
    seated, at = list[int](), 0
    while at < len(came) and len(seated) < size:
        now = session.acceptance
        before = np.array(now)
        if before.shape != problem.p.shape or not ((before >= 0) & (before <= 1)).all():
            asked = f"{len(problem.p)} numbers from 0 to 1, one per type"
            raise ValueError(f"{strategy}: acceptance must be {asked}, got {now!r}")
        accepted = coins[at:] < before[came[at:]]
        shown = (np.arange(len(accepted)) if told else np.flatnonzero(accepted))[:block]
        shown = shown[: int(accepted[shown].cumsum().searchsorted(size - len(seated))) + 1]
        if not len(shown):
            break
        noted = session.see(came[at + shown], accepted[shown])
        if not isinstance(noted, int | np.integer) or not 1 <= noted <= len(shown):
            asked = f"how many of {len(shown)} people it noted, at least 1"
            raise ValueError(f"{strategy}: see must return {asked}, got {noted!r}")
        if not np.array_equal(now, before):
            raise ValueError(f"{strategy}: acceptance must be a new array when it changes")
        shown = shown[:noted]
        seated += (at + shown[accepted[shown]]).tolist()
        at += int(shown[-1]) + 1
    return seated

"""Whether a strategy does what `committees.strategy` asks of it: for people who write one."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.stats import ks_2samp

from committees.checks import BoolArray, FloatArray, IntArray
from committees.problem import Problem
from committees.recruitment import PEOPLE_PER_BLOCK
from committees.simulation import Measure, simulate
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
    _check_decisions(strategy, problem, size, seed)
    if not strategy.learns:
        _check_law(strategy, problem, size, runs, seed)


def _check_decisions(strategy: Strategy, problem: Problem, size: int, seed: int) -> None:
    """It decides alike about the same people, however they are shown."""
    follow = partial(_follow, strategy, problem, seed)
    seated = follow(size)

    def compare(others: list[int], when: str) -> None:
        if others != seated:
            raise ValueError(f"{strategy}: decides otherwise {when}")

    compare(follow(size), "the second time: sessions share something, or draw at random")
    compare(
        follow(size, PEOPLE_PER_BLOCK),
        "on many at once: `see` must stop where acceptance changes",
    )
    if not strategy.learns:
        compare(
            follow(size, PEOPLE_PER_BLOCK, show_rejected=False),
            "if not told whom it rejects: `learns` should be True",
        )
    if not strategy.sized:
        compare(follow(2 * size)[:size], "in a larger committee: `sized` should be True")


def _check_law(strategy: Strategy, problem: Problem, size: int, runs: int, seed: int) -> None:
    """Both simulators recruit alike."""
    seats: dict[str, Measure] = {
        f"type {type_id}": partial(_seats, type_id) for type_id in range(len(problem.p))
    }
    draw = partial(simulate, strategy, problem, size, runs, workers=1, measures=seats)
    columns = ["screened", *seats]
    fast = draw(seed)[columns].to_numpy(float)
    slow = draw(seed + 1, step_by_step=True)[columns].to_numpy(float)
    p = p_value(fast, slow)
    if p <= LEVEL:
        raise ValueError(f"{strategy}: the simulators disagree on its law (p-value {p:.1g})")


def _seats(type_id: int, problem: Problem, counts: IntArray) -> float:
    return float(counts[type_id])


def p_value(one: FloatArray, other: FloatArray) -> float:
    """The smallest p-value of the columns' Kolmogorov-Smirnov tests, times their number."""
    columns = zip(one.T, other.T, strict=True)
    p_values = [float(ks_2samp(*pair, method="asymp").pvalue) for pair in columns]
    return min(1.0, len(p_values) * min(p_values))


def _follow(
    strategy: Strategy,
    problem: Problem,
    seed: int,
    size: int,
    block: int = 1,
    show_rejected: bool = True,
) -> list[int]:
    """Who is seated, by position, of the same people, shown in blocks."""
    session = strategy.start(problem, size)
    if not isinstance(session, Session):
        raise ValueError(f"{strategy}: start must return a Session, got {session!r}")
    type_ids, coins = Volunteers(problem, seed).next(PEOPLE_PER_DRAW)
    seated: list[int] = []
    position = 0
    while position < len(type_ids) and len(seated) < size:
        _check_acceptance(strategy, problem, np.array(session.acceptance))
        accepted = coins < session.acceptance[type_ids]
        shown = np.arange(position, len(type_ids))
        if not show_rejected:
            shown = shown[accepted[shown]]
        shown = shown[:block]
        until_full = int(accepted[shown].cumsum().searchsorted(size - len(seated))) + 1
        shown = shown[:until_full]
        if len(shown) == 0:
            break
        noted = shown[: _see(strategy, session, type_ids[shown], accepted[shown])]
        seated += noted[accepted[noted]].tolist()
        position = int(noted[-1]) + 1
    return seated


def _see(strategy: Strategy, session: Session, type_ids: IntArray, accepted: BoolArray) -> int:
    """How many people it notes; the array in which it said whom it accepts must stay as it was."""
    acceptance = session.acceptance
    before = np.array(acceptance)
    noted = session.see(type_ids, accepted)
    if not isinstance(noted, int | np.integer) or not 1 <= noted <= len(type_ids):
        raise ValueError(
            f"{strategy}: see must return how many of {len(type_ids)} people it noted, "
            f"at least 1, got {noted!r}"
        )
    if not np.array_equal(acceptance, before):
        raise ValueError(f"{strategy}: acceptance must be a new array when it changes")
    return int(noted)


def _check_acceptance(strategy: Strategy, problem: Problem, acceptance: FloatArray) -> None:
    is_right = acceptance.shape == problem.p.shape
    if not is_right or not ((acceptance >= 0) & (acceptance <= 1)).all():
        raise ValueError(
            f"{strategy}: acceptance must be {len(problem.p)} numbers from 0 to 1, one per type, "
            f"got {acceptance!r}"
        )

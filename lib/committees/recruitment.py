r"""One recruitment, simulated in either of two ways.

**Step by step**: the paper's pseudocode, read aloud. One volunteer at a time is drawn from $p$, and
accepted with the probability that the strategy gives the volunteer's type right now.

**Fast**: while the acceptance probabilities $a(x)$ are fixed, the wait for the next acceptance is
geometric with parameter $g = \sum_x p(x) a(x)$, and the type of whoever it is has the distribution
$p(x) a(x) / g$, independent of the wait. So rejections need not be drawn, and all the acceptances
until the probabilities change can be drawn at once. Same law, far fewer steps. A strategy that
learns must see everybody: for it the same people as step by step are drawn, and reported in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committees.checks import check_size, whole
from committees.problem import FloatArray, IntArray, Problem
from committees.strategy import Session, Strategy, check_strategy

#: People drawn at once, and reported at once to a strategy that learns.
AT_ONCE, BLOCK = 1024, 128

#: Whoever accepts fewer people than this share will not live to see the committee.
HOPELESS = 1e-12

#: A learner that has met so many people without filling its committee never will.
PATIENT_WITH_LEARNERS = 10**8


class DeadEnd(RuntimeError):
    """The strategy would accept nobody who can still come."""


@dataclass(frozen=True, eq=False)
class Recruitment:
    """One committee: whom it accepted, in order, and how many had been seen by then.

    Attributes
    ----------
    kinds
        The types of the people accepted, as positions in `problem.types`.
    screened
        For each of them, the number of people seen so far, rejected ones included.
    session
        The strategy's session when the committee was full.
    """

    kinds: IntArray
    screened: IntArray
    session: Session


def recruit(
    strategy: Strategy,
    problem: Problem,
    size: int,
    rng: np.random.Generator,
    *,
    step_by_step: bool = False,
) -> Recruitment:
    """Fill one committee."""
    check_strategy(strategy)
    check_size(size)
    if step_by_step:
        return _step_by_step(strategy, problem, size, rng)
    return (_in_blocks if strategy.learns else _skip_rejections)(strategy, problem, size, rng)


def _step_by_step(
    strategy: Strategy, problem: Problem, size: int, rng: np.random.Generator
) -> Recruitment:
    session = strategy.start(problem, size)
    people = _Stream(problem, rng)
    kinds: list[int] = []
    screened: list[int] = []
    seen = 0
    while len(kinds) < size:
        _beware_of_dead_ends(strategy, problem, session, len(kinds), size, seen)
        kind, coin = people.next(1)
        accepted = coin < session.acceptance[kind]
        session.see(kind, accepted)
        seen += 1
        if accepted:
            kinds.append(int(kind[0]))
            screened.append(seen)
        people.skip(1)
    return Recruitment(np.array(kinds), np.array(screened), session)


def _in_blocks(
    strategy: Strategy, problem: Problem, size: int, rng: np.random.Generator
) -> Recruitment:
    session = strategy.start(problem, size)
    people = _Stream(problem, rng)
    kinds: list[IntArray] = []
    screened: list[IntArray] = []
    seated = seen = 0
    while seated < size:
        _beware_of_dead_ends(strategy, problem, session, seated, size, seen)
        kind, coin = people.next(BLOCK)
        accepted = coin < session.acceptance[kind]
        enough = int(accepted.cumsum().searchsorted(size - seated)) + 1
        noted = session.see(kind[:enough], accepted[:enough])
        chosen = np.flatnonzero(accepted[:noted])
        kinds.append(kind[chosen])
        screened.append(seen + 1 + chosen)
        seated, seen = seated + len(chosen), seen + noted
        people.skip(noted)
    return Recruitment(np.concatenate(kinds), np.concatenate(screened), session)


def _skip_rejections(
    strategy: Strategy, problem: Problem, size: int, rng: np.random.Generator
) -> Recruitment:
    session = strategy.start(problem, size)
    # Two generators, so that the beginning of a recruitment does not depend on its length.
    for_kinds, for_waits = rng.spawn(2)
    kinds: list[IntArray] = []
    waits: list[IntArray] = []
    seated = 0
    while seated < size:
        _beware_of_dead_ends(strategy, problem, session, seated, size)
        cumulative = _cumulative(weights := problem.p * session.acceptance)
        block = np.searchsorted(cumulative, for_kinds.random(size - seated), side="right")
        wait = for_waits.geometric(min(weights.sum(), 1.0), size - seated)
        noted = session.see(block, np.ones(len(block), dtype=bool))
        kinds.append(block[:noted])
        waits.append(wait[:noted])
        seated += noted
        if not strategy.sized:  # nor on how many were drawn in vain
            for_kinds, for_waits = rng.spawn(2)
    return Recruitment(np.concatenate(kinds), np.cumsum(np.concatenate(waits)), session)


def stream(problem: Problem, people: int, rng: np.random.Generator) -> IntArray:
    """The types of the first so many people whom `recruit`, step by step, would meet."""
    whole("people", people, 1)
    source = _Stream(problem, rng)
    parts: list[IntArray] = []
    while people > 0:
        kinds, _ = source.next(people)
        parts.append(kinds)
        people -= len(kinds)
        source.skip(len(kinds))
    return np.concatenate(parts)


class _Stream:
    """The people who come, with the coin that each will be judged by.

    They depend on the problem and the generator alone: whoever recruits, and in blocks of whatever
    size, meets the same people in the same order.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self._cumulative = _cumulative(problem.p)
        self._rng = rng
        self._at = 0
        self._kinds = np.zeros(0, dtype=np.intp)
        self._coins = np.zeros(0)

    def next(self, block: int) -> tuple[IntArray, FloatArray]:
        """Up to `block` people, at least one, without moving on."""
        if self._at == len(self._kinds):
            draws = self._rng.random((2, AT_ONCE))
            self._kinds = np.searchsorted(self._cumulative, draws[0], side="right")
            self._coins, self._at = draws[1], 0
        end = self._at + block
        return self._kinds[self._at : end], self._coins[self._at : end]

    def skip(self, people: int) -> None:
        """Move on by so many people."""
        self._at += people


def _cumulative(weights: FloatArray) -> FloatArray:
    """A distribution function that a number below one always falls within."""
    total = np.cumsum(weights)
    return np.asarray(total / total[-1])


def _beware_of_dead_ends(
    strategy: Strategy, problem: Problem, session: Session, seated: int, size: int, seen: int = 0
) -> None:
    """Stop where waiting is vain; a strategy that learns may change its mind, but not for ever."""
    if seen > PATIENT_WITH_LEARNERS and strategy.learns:
        raise DeadEnd(f"{strategy}: has seen {seen:,} people for {seated} of {size} seats")
    if not strategy.learns and not (problem.p @ session.acceptance > HOPELESS):
        raise DeadEnd(
            f"{strategy}: after {seated} of {size} seats it would accept nobody of the types that "
            f"occur in p, or fewer than one person in {1 / HOPELESS:.0e}"
        )

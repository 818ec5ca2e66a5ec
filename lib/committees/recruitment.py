r"""Section 6 and Appendix A: recruit one committee, in either of two ways.

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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from committees.checks import FloatArray, IntArray, check_size
from committees.problem import Problem
from committees.strategy import Session, Strategy, check_is_strategy
from committees.volunteers import Volunteers, cumulative

#: People shown at once to a strategy that learns.
PEOPLE_PER_BLOCK = 128
#: `DeadEnd` is raised when a smaller share of the volunteers than this would be accepted.
MIN_ACCEPTANCE_RATE = 1e-12
#: `DeadEnd` is raised when a strategy that learns has seen so many people.
MAX_SEEN_BY_LEARNER = 10**8
#: The most acceptances that are drawn at once, for each that was used the last time.
DRAWN_PER_NOTED = 8


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
        rate = float(problem.p @ session.acceptance)
        _check_dead_end(strategy, rate, len(type_ids), size, seen - 1)
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
        rate = float(problem.p @ session.acceptance)
        _check_dead_end(strategy, rate, seated, size, seen)
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
        _check_dead_end(strategy, rate, seated, size)
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


def _check_dead_end(strategy: Strategy, rate: float, seated: int, size: int, seen: int = 0) -> None:
    """Stop where waiting is in vain; a strategy that learns may still change, up to a limit."""
    if strategy.learns:
        if seen > MAX_SEEN_BY_LEARNER:
            raise DeadEnd(f"{strategy}: has seen {seen:,} people for {seated} of {size} seats")
    elif not rate > MIN_ACCEPTANCE_RATE:
        raise DeadEnd(
            f"{strategy}: after {seated} of {size} seats it would accept nobody, or fewer than one "
            f"person in {1 / MIN_ACCEPTANCE_RATE:.0e}"
        )

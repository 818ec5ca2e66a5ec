r"""Greedy: accept everybody whose quotas are not full.

With $K$ seats and tolerance $\epsilon$, a committee may hold at most
$\lceil \rho^i_j K \rceil + \epsilon K / (D_i - 1)$ people with value $j$ of feature $i$. A person
is accepted as long as that stays true for all of their values (paper, Section 3.2 and
Algorithm 2). Nothing need be known of $p$.

While some seat is empty, every feature has a value with fewer than $\rho^i_j K$ people, hence with
room for one more: if every type can occur, Greedy never gets stuck. It may have to wait long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committees.checks import number
from committees.problem import FloatArray, IntArray, Problem
from committees.strategy import BoolArray, Session, Strategy

#: 0.3 * 10 is not 3: ceilings and floors forgive this much.
NOISE = 1e-9


def quotas(problem: Problem, size: int, tolerance: float) -> IntArray:
    """The largest number of people with each value that Greedy allows, as whole numbers."""
    slack = np.divide(
        tolerance * size,
        problem.sizes - 1,
        out=np.full(len(problem.target), float(size)),
        where=problem.sizes > 1,
    )
    limit: FloatArray = np.ceil(problem.target * size - NOISE) + slack
    return np.floor(limit + NOISE).astype(np.intp)


@dataclass(frozen=True)
class Greedy(Strategy):
    """Accept everybody whose quotas are not full.

    Parameters
    ----------
    tolerance
        By how much (as a share of the committee) a quota may exceed its target, spread over the
        other values of the feature; from 0 to 1.
    """

    tolerance: float

    def __post_init__(self) -> None:
        number("tolerance", self.tolerance, 0, 1)

    def start(self, problem: Problem, size: int) -> Session:
        return _GreedySession(problem, quotas(problem, size, self.tolerance))

    def __str__(self) -> str:
        return f"Greedy {self.tolerance:.12g}"


class _GreedySession(Session):
    def __init__(self, problem: Problem, room: IntArray) -> None:
        self._problem = problem
        self._room = room  # seats left under each quota
        self.acceptance = self._open()

    def _open(self) -> FloatArray:
        return self._problem.by_type((self._room > 0).astype(float))

    def see(self, kinds: IntArray, accepted: BoolArray) -> int:
        places = np.flatnonzero(accepted)
        values = self._problem.codes[kinds[places]]
        seats = np.bincount(values.ravel(), minlength=len(self._room))
        filled = (seats >= self._room) & (self._room > 0)
        if not filled.any():
            self._room = self._room - seats
            return len(kinds)
        last = self._first_to_fill(values, np.flatnonzero(filled))
        seats = np.bincount(values[: last + 1].ravel(), minlength=len(self._room))
        self._room = self._room - seats
        self.acceptance = self._open()
        return int(places[last]) + 1

    def leave(self, kind: int) -> None:
        room = self._room.copy()
        room[self._problem.codes[kind]] += 1
        self._room = room
        self.acceptance = self._open()

    def _first_to_fill(self, values: IntArray, candidates: IntArray) -> int:
        """The first person with whom one of the candidate quotas is full."""
        return min(
            int(np.flatnonzero((values == value).any(axis=1))[self._room[value] - 1])
            for value in candidates
        )

"""The people who come: their types, drawn from p one after the other."""

from __future__ import annotations

import numpy as np

from committees.checks import FloatArray, IntArray, check_integer
from committees.problem import Problem

#: People drawn at once.
PEOPLE_PER_DRAW = 1024


class Volunteers:
    """The people who come, each with a coin: a uniform number from 0 to 1.

    Whoever's coin is below the acceptance probability of their type is accepted. People depend on
    the problem and the generator alone: every strategy meets the same ones in the same order.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator | int) -> None:
        self._rng = np.random.default_rng(rng) if isinstance(rng, int) else rng
        self._cumulative = cumulative(problem.p)
        self._type_ids, self._coins, self._at = np.zeros(0, dtype=np.intp), np.zeros(0), 0

    def next(self, block: int) -> tuple[IntArray, FloatArray]:
        """The types and coins of up to `block` people, at least one, without moving on."""
        if self._at == len(self._type_ids):
            draws = self._rng.random((2, PEOPLE_PER_DRAW))
            self._type_ids = np.searchsorted(self._cumulative, draws[0], side="right")
            self._coins, self._at = draws[1], 0
        end = self._at + block
        return self._type_ids[self._at : end], self._coins[self._at : end]

    def skip(self, people: int) -> None:
        """Move on by so many people."""
        self._at += people


def stream(problem: Problem, people: int, rng: np.random.Generator | int) -> IntArray:
    """The types of the first people whom `recruit`, step by step, would meet, shape (people,).

    >>> stream(Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.75, 0.25]), 5, rng=1).tolist()
    [0, 1, 0, 1, 0]
    """
    check_integer("people", people, 1)
    volunteers, parts = Volunteers(problem, rng), list[IntArray]()
    for _ in range(0, people, PEOPLE_PER_DRAW):
        parts.append(volunteers.next(PEOPLE_PER_DRAW)[0])
        volunteers.skip(PEOPLE_PER_DRAW)
    return np.concatenate(parts)[:people]


def cumulative(weights: FloatArray) -> FloatArray:
    """Cumulative sums divided by the last: any number below 1 falls between two of them."""
    total = weights.cumsum()
    return np.asarray(total / total[-1])

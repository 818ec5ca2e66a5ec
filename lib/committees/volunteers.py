"""The people who come: their types, drawn from p one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from committees.checks import FloatArray, IntArray, check_integer
from committees.problem import Problem

#: People drawn at once.
PEOPLE_PER_DRAW = 1024


class Volunteers:
    """The people who come, each with a coin: a uniform number from 0 to 1.

    A person is accepted if the coin is below the acceptance probability of the type. People depend
    on the problem and the generator alone: every strategy meets the same ones in the same order.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator | int) -> None:
        self._rng = np.random.default_rng(rng)
        self._cumulative = cumulative(problem.p)
        self._type_ids = np.zeros(0, dtype=np.intp)
        self._coins = np.zeros(0)
        self._position = 0

    def next(self, people: int) -> tuple[IntArray, FloatArray]:
        """The types and coins of up to so many people, at least one, without moving on."""
        if self._position == len(self._type_ids):
            uniform = self._rng.random((2, PEOPLE_PER_DRAW))
            self._type_ids = np.searchsorted(self._cumulative, uniform[0], side="right")
            self._coins = uniform[1]
            self._position = 0
        end = self._position + people
        return self._type_ids[self._position : end], self._coins[self._position : end]

    def skip(self, people: int) -> None:
        """Move on by so many people."""
        self._position += people

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """One person after the other, without end: type and coin."""
        while True:
            type_ids, coins = self.next(PEOPLE_PER_DRAW)
            for type_id, coin in zip(type_ids.tolist(), coins.tolist(), strict=True):
                self.skip(1)
                yield type_id, coin


def stream(problem: Problem, people: int, rng: np.random.Generator | int) -> IntArray:
    """The types of the first people whom `recruit`, step by step, would meet, shape (people,).

    >>> stream(Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.75, 0.25]), 5, rng=1).tolist()
    [0, 1, 0, 1, 0]
    """
    check_integer("people", people, 1)
    volunteers = Volunteers(problem, rng)
    return np.array([type_id for type_id, _ in islice(volunteers, people)])


def cumulative(weights: FloatArray) -> FloatArray:
    """Cumulative sums divided by the last: any number below 1 falls between two of them."""
    total = weights.cumsum()
    return np.asarray(total / total[-1])

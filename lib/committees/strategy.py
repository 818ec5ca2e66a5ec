"""What a strategy is.

A strategy is one idea: the probability with which each type would be accepted right now, and how
that changes when someone is seen. `Strategy.start` opens a `Session` for one committee; the session
holds the current `acceptance` and is told who was seen. Simulators know nothing else of a strategy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from committees.checks import BoolArray, FloatArray, IntArray, check_integer
from committees.problem import Problem


class Session(ABC):
    """One committee being recruited."""

    #: ndarray of float, per type: the probability with which each type would be accepted right now.
    #: When it changes, a new array is assigned; arrays are never modified in place.
    acceptance: FloatArray

    # What a strategy that looks ahead can say besides, right now; None in all others, and while
    # nothing is known.

    #: How many people are still to be seen until all seats are filled, on average.
    ahead: float | None = None
    #: ndarray of float, per type: the same once a person of this type has been accepted; infinite
    #: where this must not happen.
    ahead_with: FloatArray | None = None

    @abstractmethod
    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        """Take note of people, in the order in which they came, until `acceptance` changes.

        Parameters
        ----------
        type_ids : ndarray of int, shape (n,)
            The types of the people seen, as positions in `problem.types`.
        accepted : ndarray of bool, shape (n,)
            Which of them were accepted.

        Returns
        -------
        int
            The number of people noted: all n, or those up to and including the one after whom
            `acceptance` changed. The others count as not seen; the caller offers them again. Noting
            only the first person is always right, and slower.
        """

    def see_one(self, type_id: int, accepted: bool) -> None:
        """Take note of one person; the same as `see` with arrays of one."""
        check_integer("type_id", type_id, 0, len(self.acceptance) - 1)
        self.see(np.array([type_id]), np.array([accepted]))

    def leave(self, type_id: int) -> None:
        """Take note that an accepted person of this type gives the seat back."""
        raise NotImplementedError(f"{type(self).__name__} cannot take a seat back")


class Strategy(ABC):
    """A rule for accepting volunteers; implementations are frozen dataclasses."""

    #: Whether the rule depends on the committee's size. If not, one long recruitment contains a
    #: shorter one for every smaller size.
    sized: ClassVar[bool] = True

    @property
    @abstractmethod
    def family(self) -> str:
        """What the rule is called whatever its parameters; plots choose the colour by it."""

    @property
    def name(self) -> str:
        """What tells this strategy from others in tables: the family, then its parameters."""
        return self.family

    @property
    def learns(self) -> bool:
        """Whether the rule changes with the people it turns away, so that they must be drawn."""
        return False

    def band(self, problem: Problem, size: int) -> tuple[IntArray, IntArray] | None:
        """The fewest and the most seats of each value, if the rule is sure to end between them.

        Two ndarrays of int, per value; None for a rule that promises no such thing.
        """
        return None

    @abstractmethod
    def start(self, problem: Problem, size: int) -> Session:
        """Open a session for one committee of `size` people."""

    def __str__(self) -> str:
        return self.name


def check_people(type_ids: IntArray, accepted: BoolArray) -> None:
    """Refuse anything but two arrays, in no time: `Session.see` is called for every seat."""
    are_arrays = isinstance(type_ids, np.ndarray) and isinstance(accepted, np.ndarray)
    if not are_arrays or type_ids.shape != accepted.shape or not type_ids.size:
        raise ValueError(
            "type_ids, accepted: expected two arrays of the same length, at least 1; "
            "for one person there is see_one"
        )


def check_is_strategy(strategy: object) -> None:
    """Refuse anything but a strategy."""
    if isinstance(strategy, type) and issubclass(strategy, Strategy):
        name = strategy.__name__
        raise ValueError(f"strategy: expected one such as CMDP(), got the class: write {name}(...)")
    if not isinstance(strategy, Strategy):
        raise ValueError(f"strategy: expected one such as CMDP(), got {strategy!r}")

"""What a strategy is.

A strategy is one idea: the probability with which each type would be accepted right now, and how
that changes when someone is seen. `Strategy.start` opens a `Session` for one committee; the session
holds the current `acceptance` and takes note of the people who were `see`n.

Everything else (both simulators, the plots) is written against these two classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from committees.problem import FloatArray, IntArray, Problem

BoolArray = npt.NDArray[np.bool_]


class Session(ABC):
    """One committee being recruited."""

    #: The probability with which each type would be accepted right now. When it changes, it is
    #: another array: nobody who holds the old one is surprised.
    acceptance: FloatArray

    @abstractmethod
    def see(self, kinds: IntArray, accepted: BoolArray) -> int:
        """Take note of these people, in this order, until `acceptance` changes.

        Parameters
        ----------
        kinds
            The types of the people seen, as positions in `problem.types`.
        accepted
            Which of them were accepted.

        Returns
        -------
        The number of people noted: all of them, or those up to and including the one after whom
        `acceptance` changed. The others have not been seen, and are forgotten. To note only the
        first is always right, and slower.
        """

    def leave(self, kind: int) -> None:
        """Take note that somebody of this type, who had been accepted, gives the seat back."""
        raise NotImplementedError(f"{type(self).__name__} cannot take a seat back")


class Strategy(ABC):
    """A rule for accepting volunteers; implementations are frozen dataclasses."""

    #: Whether the rule depends on the committee's size. If not, one long recruitment holds a
    #: shorter one for every smaller size.
    sized: ClassVar[bool] = True

    @property
    def learns(self) -> bool:
        """Whether the rule changes with the people it turns away, so that they must be drawn."""
        return False

    @abstractmethod
    def start(self, problem: Problem, size: int) -> Session:
        """Open a session for one committee."""

    @abstractmethod
    def __str__(self) -> str:
        """A short name that tells this strategy from others in tables and plots."""


def check_strategy(strategy: object) -> None:
    """Refuse what is not a strategy."""
    if not isinstance(strategy, Strategy):
        raise ValueError(f"strategy: expected one such as CMDP(), got {strategy!r}")

r"""Section 3.2: Greedy accepts everybody whose quotas are not full. Quotas and bands are here.

With $K$ seats and tolerance $\epsilon$, a committee may hold at most
$\lceil \rho^i_j K \rceil + \epsilon K / (D_i - 1)$ people with value $j$ of feature $i$, the
**quota** (a feature with one value has none). A person is accepted as long as that stays true for
all of their values (Algorithm 2). The rule knows nothing of $p$.

While some seat is empty, every feature has a value with fewer than $\rho^i_j K$ people, hence with
room for one more: if every type can occur, Greedy never gets stuck. It may have to wait long.

Other strategies keep to a **band** of people with each value, from
$\min(\lceil \rho K - \epsilon K \rceil, \lfloor \rho K \rfloor)$ to
$\max(\lfloor \rho K + \epsilon K \rfloor, \lceil \rho K \rceil)$.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from committees.checks import BoolArray, FloatArray, IntArray, check_number, check_size
from committees.problem import Problem
from committees.strategy import Session, Strategy, check_people

#: 0.07 * 100 is 7.000000000000001: ceilings and floors ignore differences this small.
ROUNDING = 1e-9


def quotas(problem: Problem, size: int, tolerance: float) -> IntArray:
    """The largest number of people with each value that Greedy allows: ndarray of int, per value.

    >>> problem = Problem({"age": {"young": 0.3, "old": 0.7}}, [0.5, 0.5])
    >>> quotas(problem, 10, tolerance=0.1).tolist()
    [4, 8]
    """
    check_size(size)
    other_values = problem.n_values - 1
    slack = np.full(len(problem.rho), float(size))  # a feature with one value has no quota
    np.divide(tolerance * size, other_values, out=slack, where=other_values > 0)
    most: FloatArray = np.ceil(problem.rho * size - ROUNDING) + slack
    return np.floor(most + ROUNDING).astype(np.intp)


def band(problem: Problem, size: int, tolerance: float) -> tuple[IntArray, IntArray]:
    """The fewest and the most people with each value: two ndarrays of int, per value.

    >>> problem = Problem({"age": {"young": 0.25, "old": 0.75}}, [0.5, 0.5])
    >>> band(problem, 10, tolerance=0)
    (array([2, 7]), array([3, 8]))
    """
    check_size(size)
    check_number("tolerance", tolerance, 0, 1)
    target = problem.rho * size
    slack = tolerance * size
    low = np.minimum(np.ceil(target - slack - ROUNDING), np.floor(target + ROUNDING))
    high = np.maximum(np.floor(target + slack + ROUNDING), np.ceil(target - ROUNDING))
    return np.clip(low, 0, size).astype(np.intp), np.clip(high, 0, size).astype(np.intp)


def band_loss(problem: Problem, size: int, tolerance: float) -> float:
    """The largest representation loss that a committee inside the band can have."""
    low, high = band(problem, size, tolerance)
    # A value gets at least the seats for which the others of its feature have no room.
    room_of_others = feature_sums(problem, high) - high
    low = np.maximum(low, size - room_of_others)
    target = problem.rho * size
    return float(np.maximum(high - target, target - low).max() / size)


def feature_sums(problem: Problem, per_value: IntArray | FloatArray) -> npt.NDArray[Any]:
    """Per value: the sum over all values of its feature (along the last axis)."""
    first_of_feature = problem.codes[0]
    sums = np.add.reduceat(per_value, first_of_feature, axis=-1)
    return sums.repeat(problem.shape, axis=-1)


@dataclass(frozen=True)
class Greedy(Strategy):
    """Accept everybody whose quotas are not full.

    Parameters
    ----------
    tolerance : float, from 0 to 1
        By how much (as a share of the committee) a quota may exceed its target, spread over the
        other values of the feature.

    >>> Greedy(0.02).name
    'Greedy 0.02'
    """

    tolerance: float

    family: ClassVar[str] = "Greedy"

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, 0, 1)

    @property
    def name(self) -> str:
        return f"Greedy {self.tolerance:.12g}"

    def start(self, problem: Problem, size: int) -> Session:
        return GreedySession(problem, quotas(problem, size, self.tolerance))


class GreedySession(Session):
    """Accepts while there is room: per value, the seats left under its quota."""

    def __init__(self, problem: Problem, room: IntArray) -> None:
        self._problem = problem
        self._room = room
        self._feature_of_value = np.repeat(np.arange(len(problem.shape)), problem.shape)
        self.acceptance = self._open()

    def _open(self) -> FloatArray:
        return self._problem.product_over_values((self._room > 0).astype(float))

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        """Take note of people up to the one who fills a quota.

        For a single person: if accepted, one seat less in the room of each of the person's values;
        a value without room is closed.
        """
        check_people(type_ids, accepted)
        values = self._problem.codes[type_ids]
        noted = self._until_a_quota_is_full(values, accepted)
        seats = np.bincount(values[:noted][accepted[:noted]].ravel(), minlength=len(self._room))
        room = self._room - seats
        is_filled = bool(((room == 0) & (self._room > 0)).any())
        self._room = room
        if is_filled:
            self.acceptance = self._open()
        return noted

    def _until_a_quota_is_full(self, values: IntArray, accepted: BoolArray) -> int:
        """How many people are seen until the first quota is full, or all of them."""
        seats = np.bincount(values[accepted].ravel(), minlength=len(self._room))
        noted = len(accepted)
        for value in np.flatnonzero((seats >= self._room) & (self._room > 0)):
            has_value = values[:, self._feature_of_value[value]] == value
            takers = np.flatnonzero(accepted & has_value)
            last_taker = int(takers[self._room[value] - 1])
            noted = min(noted, last_taker + 1)
        return noted

    def leave(self, type_id: int) -> None:
        room = self._room.copy()
        room[self._problem.codes[type_id]] += 1
        self._room = room
        self.acceptance = self._open()

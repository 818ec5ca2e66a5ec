r"""Foresight: accept a volunteer who lowers the number of people still to be seen.

For a committee $N$ with seats left, let $V(N)$ be the people still to be seen, on average. A type
$x$ is accepted if and only if it is open (`beyond.bands`) and $V(N + x) < V(N)$. Where $V$ can be
computed (`beyond.limits`), no rule is better. Elsewhere it is fitted (`beyond.tables`). Since only
open types are accepted, the committee ends inside the band whatever the errors of the fit.

**When p is unknown** Prices decides among the open types while many seats are left: it needs no p.
For the last ones p is estimated from everybody seen (`beyond.estimate`), and the tables are fitted
anew whenever the people seen have grown by some share, at the very end after every acceptance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from committees.beyond.bands import check_band, fewest_ahead, open_values
from committees.beyond.estimate import estimate
from committees.beyond.fitting import fit_tables
from committees.beyond.limits import fluid_lp
from committees.beyond.prices import seats_ahead
from committees.beyond.tables import Tables
from committees.checks import BoolArray, IntArray, check_number
from committees.greedy import band
from committees.lp import solve
from committees.problem import Problem
from committees.strategy import Session, Strategy, check_people

#: When learning: people seen before the first fit.
FIRST_FIT = 20
#: When learning: by what factor the people seen grow until the next fit.
NEXT_FIT = 1.25
#: When learning: tables are fitted once so many seats are left.
LEARN_SEATS = 64
#: When learning: with so many seats left tables are fitted anew after every acceptance.
EVERY_SEAT = 16
#: When learning: how many committees are recruited in each pass of a fit.
COMMITTEES = (200, 200)
#: When learning: the lead of Prices before the first fit.
LEAD = 4.0


@dataclass(frozen=True)
class Foresight(Strategy):
    """Accept a volunteer who lowers the number of people still to be seen.

    Before the first person comes, tables are fitted: seconds for hundreds of types, half a minute
    for tens of thousands. Other recruitments of the same problem and size use them again.

    Parameters
    ----------
    tolerance : float, from 0 to 1
        How far (as a share of the committee) the share of a value may end from its target. What
        rounding to whole people demands is always allowed.
    learn : bool
        Whether to estimate p from everybody seen instead of knowing it.
    seats : two sequences of int, per value, optional
        The band itself instead: the fewest and the most seats of each of `problem.labels`.

    >>> Foresight(0.02).name, Foresight(0.02, learn=True).name
    ('Foresight 0.02', 'Foresight learning 0.02')
    """

    tolerance: float = 0.02
    learn: bool = False
    seats: tuple[Sequence[int], Sequence[int]] | None = None

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, 0, 1)
        if self.seats is not None:  # tuples, so that strategies can be compared and looked up
            fewest, most = self.seats
            object.__setattr__(self, "seats", (tuple(map(int, fewest)), tuple(map(int, most))))

    @property
    def learns(self) -> bool:
        return self.learn

    @property
    def family(self) -> str:
        return "Foresight learning" if self.learn else "Foresight"

    @property
    def name(self) -> str:
        if self.seats is not None:
            return f"{self.family} seats"
        return f"{self.family} {self.tolerance:.12g}"

    def band(self, problem: Problem, size: int) -> tuple[IntArray, IntArray]:
        """The fewest and the most seats of each value: two ndarrays of int."""
        if self.seats is None:
            return band(problem, size, self.tolerance)
        low = np.array(self.seats[0], dtype=np.intp)
        high = np.array(self.seats[1], dtype=np.intp)
        if low.shape != problem.rho.shape or high.shape != problem.rho.shape:
            raise ValueError(f"seats: expected two numbers for each of {len(problem.rho)} values")
        check_band(problem, size, low, high)
        return low, high

    def start(self, problem: Problem, size: int) -> ForesightSession:
        return ForesightSession(self, problem, size)


@lru_cache(maxsize=32)
def fitted(strategy: Foresight, problem: Problem, size: int) -> Tables:
    """The tables for all seats, fitted once."""
    low, high = strategy.band(problem, size)
    if not problem.p.all() and not solve(fluid_lp(problem, size, low, high)) > 0:
        raise ValueError(
            f"{strategy}: among the types that occur in p, none can be combined to a "
            f"committee of {size} inside the band"
        )
    nobody = np.zeros_like(low)
    return fit_tables(problem, problem.p, low, high, nobody, size)


class ForesightSession(Session):
    """Keeps who is seated, and when learning also who has been seen.

    Attributes
    ----------
    counts : ndarray of int, per value
        The people seated.
    left : int
        The seats left.
    seen : ndarray of int, per type
        The people seen, when learning.
    tables : Tables or None
        What it decides by; None while Prices decides.
    """

    def __init__(self, strategy: Foresight, problem: Problem, size: int) -> None:
        self._problem = problem
        self._learn = strategy.learn
        self._low, self._high = strategy.band(problem, size)
        self.counts = np.zeros_like(self._low)
        self.left = size
        self.seen = np.zeros(len(problem.p), dtype=np.intp)
        self._next_fit = FIRST_FIT  # people seen
        self.tables = None if strategy.learn else fitted(strategy, problem, size)
        self._decide()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        check_people(type_ids, accepted)
        noted = self._until_something_changes(accepted)
        if self._learn:
            self.seen += np.bincount(type_ids[:noted], minlength=len(self.seen))
        if accepted[noted - 1]:
            self._seat(int(type_ids[noted - 1]), +1)
            if self.tables and self.left <= EVERY_SEAT:
                self._next_fit = 0  # at once
        if self._learn and 0 < self.left <= LEARN_SEATS and self.seen.sum() >= self._next_fit:
            self._fit()
        return noted

    def _until_something_changes(self, accepted: BoolArray) -> int:
        """How many people are seen until somebody is seated, or enough for the next fit."""
        first = int(accepted.argmax())
        noted = first + 1 if accepted[first] else len(accepted)
        until_fit = self._next_fit - int(self.seen.sum())
        if self._learn and until_fit > 0:
            return min(noted, until_fit)
        return noted

    def leave(self, type_id: int) -> None:
        self._seat(type_id, -1)

    def _seat(self, type_id: int, people: int) -> None:
        self.counts = self.counts.copy()
        self.counts[self._problem.codes[type_id]] += people
        self.left -= people
        if self.left:
            self._decide()

    def _fit(self) -> None:
        """Fit tables to what has been seen, for the seats that are left."""
        people = int(self.seen.sum())
        self._next_fit = int(np.ceil(people * NEXT_FIT))
        self.tables = fit_tables(
            self._problem,
            estimate(self._problem, self.seen),
            self._low,
            self._high,
            self.counts,
            self.left,
            before=self.tables,
            committees=COMMITTEES,
        )
        self._decide()

    def _decide(self) -> None:
        if self.tables is None:
            self._decide_by_prices()
        else:
            self._decide_by_tables(self.tables)

    def _decide_by_tables(self, tables: Tables) -> None:
        """Accept the types with which fewer people are ahead than without."""
        V = tables.after(self.counts[None], self.left)[0]
        v = fewest_ahead(V, tables.p)
        is_accepted = v > V
        if not is_accepted.any():
            is_accepted = np.isfinite(V)  # nobody who can come: all who are open
        self.acceptance = is_accepted.astype(float)
        offset = tables.offset[min(self.left, tables.left)]
        self.ahead = float(v + offset)
        self.ahead_with = V + offset

    def _decide_by_prices(self) -> None:
        """Before the first fit: Prices, among the types that are open."""
        values = open_values(self._problem, self._low, self._high, self.counts, self.left)
        is_open = self._problem.product_over_values(values.astype(float))
        seated = self.counts[: self._problem.shape[0]].sum()
        ahead = self.counts - self._problem.rho * seated
        accept = is_open * (seats_ahead(self._problem, ahead) < LEAD)
        self.acceptance = accept if accept.any() else is_open
        self.ahead = None
        self.ahead_with = None

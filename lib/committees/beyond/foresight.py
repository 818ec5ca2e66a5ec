r"""Foresight: accept whoever lowers the number of people still to be seen.

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
from committees.beyond.limits import fluid_lp
from committees.beyond.prices import seats_ahead
from committees.beyond.tables import Tables
from committees.checks import BoolArray, IntArray, check_number
from committees.greedy import band
from committees.lp import solve
from committees.problem import Problem
from committees.strategy import Session, Strategy

#: When learning: people seen before the first fit, and by what factor they grow until the next.
FIRST_FIT, NEXT_FIT = 20, 1.25
#: When learning: tables are fitted for so many last seats, and for so many at every acceptance.
LEARN_SEATS, EVERY_SEAT = 64, 16
#: When learning: how many committees are recruited in each pass of a fit.
COMMITTEES = (200, 200)
#: When learning: the lead of Prices before the first fit.
LEAD = 4.0


@dataclass(frozen=True)
class Foresight(Strategy):
    """Accept whoever lowers the number of people still to be seen.

    Where p is known it thinks before the first person: seconds for hundreds of types, half a minute
    for tens of thousands, once for each problem and size.

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
            fewest, most = (tuple(int(count) for count in part) for part in self.seats)
            object.__setattr__(self, "seats", (fewest, most))

    @property
    def learns(self) -> bool:
        return self.learn

    @property
    def family(self) -> str:
        return "Foresight learning" if self.learn else "Foresight"

    @property
    def name(self) -> str:
        return f"{self.family} " + ("seats" if self.seats else f"{self.tolerance:.12g}")

    def band(self, problem: Problem, size: int) -> tuple[IntArray, IntArray]:
        """The fewest and the most seats of each value: two ndarrays of int."""
        if self.seats is None:
            return band(problem, size, self.tolerance)
        low, high = (np.array(part, dtype=np.intp) for part in self.seats)
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
    return Tables(problem, problem.p, low, high, 0 * low, size)


class ForesightSession(Session):
    """Keeps the counts of people seated, per value, and the seats left."""

    def __init__(self, strategy: Foresight, problem: Problem, size: int) -> None:
        self._problem, self._learn = problem, strategy.learn
        self._band = strategy.band(problem, size)
        self.counts, self.left = 0 * self._band[0], size
        self._seen = np.zeros(len(problem.p), dtype=np.intp)
        self._next_fit = FIRST_FIT  # people seen
        self._tables = None if self._learn else fitted(strategy, problem, size)
        self._decide()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        first = int(accepted.argmax())
        noted = first + 1 if accepted[first] else len(type_ids)
        if self._learn:
            until = self._next_fit - int(self._seen.sum())
            noted = min(noted, until) if until > 0 else noted
            self._seen += np.bincount(type_ids[:noted], minlength=len(self._seen))
        if accepted[noted - 1]:
            self._seat(int(type_ids[noted - 1]), +1)
            if self._tables and self.left <= EVERY_SEAT:
                self._next_fit = 0  # at once
        if self._learn and 0 < self.left <= LEARN_SEATS and self._seen.sum() >= self._next_fit:
            self._fit()
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
        p, seen = estimate(self._problem, self._seen), int(self._seen.sum())
        self._next_fit = int(np.ceil(seen * NEXT_FIT))
        state = *self._band, self.counts, self.left
        self._tables = Tables(self._problem, p, *state, self._tables, COMMITTEES)
        self._decide()

    def _decide(self) -> None:
        if self._tables is None:
            self._by_prices()
            return
        V = self._tables.after(self.counts[None], self.left)[0]
        v = fewest_ahead(V, self._tables.p)
        accept = v > V
        accept = accept if accept.any() else np.isfinite(V)
        self.acceptance = accept.astype(float)
        offset = self._tables.offset[min(self.left, len(self._tables.offset) - 1)]
        self.ahead, self.ahead_with = float(v + offset), V + offset

    def _by_prices(self) -> None:
        values = open_values(self._problem, *self._band, self.counts, self.left)
        is_open = self._problem.product_over_values(values.astype(float))
        off = self.counts - self._problem.rho * self.counts[: self._problem.shape[0]].sum()
        accept = is_open * (seats_ahead(self._problem, off) < LEAD)
        self.acceptance = accept if accept.any() else is_open
        self.ahead = self.ahead_with = None

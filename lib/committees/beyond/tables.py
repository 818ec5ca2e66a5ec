r"""The people still to be seen, as one number per value and count.

With $V_k(N)$ the fewest people still to be seen, on average, by a committee $N$ with $k$ seats
left, the best rule accepts $x$ if and only if $V_{k-1}(N + x) < V_k(N)$ (see `bands`). Its table is
far too large for many features. But, with $n_v$ people of value $v$, very nearly

$$\log V_k(N) = a_k + \sum_v s_k[v, n_v].$$

`beyond.fitting` finds $a$ and $s$; here they are read.

**Many seats left.** Fitted for hundreds of seats the errors add up, so there are tables for the
last `LAST_SEATS` only. Before them the same table is looked at from further away: the way from the
start to the average committee with `LAST_SEATS` left is a straight line, and being $d$ seats off it
with $k$ seats left counts like being $z\,d$ off, $z = \sqrt{L / k}$ for $L$ tables, as chance
moves counts by the root of the seats (the fourth root for committees of many hundreds, by trial).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from committees.beyond.bands import feature_slices, fewest_ahead, open_values
from committees.checks import FloatArray, IntArray
from committees.problem import Problem

#: There are tables for so many seats.
LAST_SEATS = 32
#: The exponent of z.
POWER = 0.5
#: With more seats than this, the smaller exponent does better.
MANY_SEATS = 256
POWER_MANY = 0.25
#: Whatever a fit says, V is finite where a type is open: logarithms are held within this.
MAX_LOG = 25.0


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables for one band and one p, from the people seated at first until all seats are filled.

    Examples
    --------
    >>> from committees.beyond.fitting import fit_tables
    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.5, 0.5])
    >>> tables = fit_tables(problem, problem.p, low=[1, 1], high=[1, 1], counts=[0, 0], left=2)
    >>> tables.after(np.array([[1, 0]]), left=1)
    array([[inf,  0.]])
    """

    problem: Problem  #: features and targets
    p: FloatArray  #: per type: the distribution of the volunteers, as it is known or believed
    low: IntArray  #: per value: the fewest people of the band
    high: IntArray  #: per value: the most people of the band
    start: IntArray  #: per value: who is seated at first
    left: int  #: the seats left then
    s: FloatArray  #: shape (last + 1, number of values, largest count + 2): s[k, v, n]
    a: FloatArray  #: shape (last + 1,): a[k]
    centre: FloatArray  #: per value: the average committee with `last` seats left
    offset: FloatArray  #: shape (left + 1,): what trials still saw on average, less what tables say

    @property
    def last(self) -> int:
        """There are tables for so many seats."""
        return len(self.a) - 1

    @cached_property
    def _features(self) -> list[slice]:
        return feature_slices(self.problem)

    @cached_property
    def _values(self) -> IntArray:
        return np.arange(len(self.start))

    def after(self, counts: IntArray, left: int) -> FloatArray:
        """The people still to be seen once a type has been accepted, V(N + x).

        Parameters
        ----------
        counts : ndarray of int, shape (committees, number of values)
        left : int
            The seats left before x.

        Returns
        -------
        ndarray of float, shape (committees, number of types)
            Infinite for types that are not open.
        """
        is_open = open_values(self.problem, self.low, self.high, counts, left)
        if left == 1:
            nobody_ahead = np.where(is_open, 1.0, np.inf)
            return self.products(nobody_ahead, np.ones(len(counts))) - 1
        k = min(left - 1, self.last)
        if k == left - 1:
            zoom = 1.0
            entries = self.s[k][self._values, counts]
            entries_with_one_more = self.s[k][self._values, counts + 1]
        else:
            power = POWER if self.left <= MANY_SEATS else POWER_MANY
            zoom = (k / (left - 1)) ** power
            way = (self.left - left + 1) / max(self.left - k, 1)
            seats_off = counts - self.start - (self.centre - self.start) * way
            entries = self.between(k, self.centre + zoom * seats_off)
            entries_with_one_more = self.between(k, self.centre + zoom * (seats_off + 1))
        factors = np.exp((entries_with_one_more - entries).clip(-MAX_LOG, MAX_LOG))
        factors[~is_open] = np.inf
        log_level = (entries.sum(axis=1) + self.a[k]).clip(-MAX_LOG, MAX_LOG)
        return self.products(factors, np.exp(log_level) / zoom)

    def decide(self, counts: IntArray, left: int) -> tuple[FloatArray, FloatArray]:
        """The rule of these tables, for many committees at once: `fitting.Rule`."""
        V = self.after(counts, left)
        v = fewest_ahead(V, self.p)
        is_accepted = v[:, None] > V
        return is_accepted * self.p, v

    def between(self, k: int, counts: FloatArray) -> FloatArray:
        """Entries of the table for k seats left, for counts that are not whole: on a line."""
        table = self.s[k]
        clipped = counts.clip(0, table.shape[1] - 1 - 1e-9)
        whole = clipped.astype(np.intp)
        part = clipped - whole
        below = table[self._values, whole]
        above = table[self._values, whole + 1]
        return np.asarray((1 - part) * below + part * above)

    def products(self, per_value: FloatArray, level: FloatArray) -> FloatArray:
        """The level of each committee (row), times the product over the values of each type."""
        if len(per_value) == 1:  # all at once: far fewer calls, but too much memory for many
            return np.asarray(level * per_value.take(self.problem.codes.T, axis=1).prod(axis=1))
        products = level[:, None]
        for values in reversed(self._features):  # the last first: long runs of memory
            of_feature = per_value[:, values]
            both = of_feature[:, :, None] * products[:, None, :]
            products = both.reshape(len(level), of_feature.shape[1] * products.shape[1])
        return products

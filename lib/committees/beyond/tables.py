r"""The people still to be seen, as one number per value and count: tables fitted backwards.

With $V_k(N)$ the fewest people still to be seen, on average, by a committee $N$ with $k$ seats
left, the best rule accepts $x$ if and only if $V_{k-1}(N + x) < V_k(N)$ (see `bands`). Its table is
far too large for many features. But, with $n_v$ people of value $v$, very nearly

$$\log V_k(N) = a_k + \sum_v s_k[v, n_v].$$

**Backwards**, $k = 1, 2, \dots$, on some hundred committees: $V_k$ by one exact step from the
tables of $k - 1$, then least squares for $s_k$. Where data are few, the tables of $k - 1$ stand in,
moved by a seat: $(1 - \rho_v)\, s_{k-1}[v, n] + \rho_v\, s_{k-1}[v, n + 1]$. Corrections to that
are held small and smooth.

**On which committees?** Errors would be sought out by the rule, which goes where few people seem to
be needed. So tables are fitted several times over, on committees that the rule met with the tables
before, the same with some seats moved, and a few from random recruitments. The rule's own
recruitments also tell how many people it really needs: the tables that need the fewest are kept.

**Many seats left.** Fitted for hundreds of seats the errors add up, so there are tables for the
last `LAST_SEATS` only. Before them the same table is looked at from further away: the way from the
start to the average committee with `LAST_SEATS` left is a straight line, and being $d$ seats off it
with $k$ seats left counts like being $z\,d$ off, $z = \sqrt{\text{LAST\_SEATS} / k}$, as chance
moves counts by the root of the seats (the fourth root for committees of many hundreds, by trial).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tqdm import tqdm

from committees.beyond.bands import fewest_ahead, open_values
from committees.checks import FloatArray, IntArray
from committees.problem import Problem

#: There are tables for so many seats.
LAST_SEATS = 32
#: The exponent of z, and that for more seats than this, where the smaller one does better.
POWER, MANY_SEATS, POWER_MANY = 0.5, 256, 0.25
#: In least squares: the weight of a correction, and of the difference of two neighbouring ones.
RIDGE, SMOOTHNESS = 1.0, 3.0
#: Committees recruited in each pass, fewer if there are very many types; and random ones per ten.
COMMITTEES, MAX_CELLS, RANDOM_PER_TEN = (200, 200, 400, 400, 600, 600), 1_000_000, 2
#: A dead end counts as so many people in trials; in a fit, as so many times the worst other.
DEAD_END, DEAD_END_FACTOR = 1e9, 3.0
#: Whatever a fit says, V is finite where a type is open: logarithms are held within this.
MAX_LOG = 25.0
#: Added to counts: as they are, and with one person more of each value.
NOW_AND_THEN = np.arange(2)[:, None, None]
#: A bar shows the progress of a fit that takes longer than this.
BAR_AFTER_SECONDS = 2.0

#: Given committees and the seats left: the probability that a type comes and is accepted, a row per
#: committee, and what the tables say of the people still to be seen.
Rule = Callable[[IntArray, int], tuple[FloatArray, FloatArray]]


class Tables:
    """Fitted tables for one band and p, from the people seated at first until all seats are filled.

    Parameters
    ----------
    problem : Problem
        Features and targets.
    p : ndarray of float, per type
        The distribution of the volunteers, as it is known or believed.
    low, high : ndarray of int, per value
        The band.
    counts, left : ndarray of int, per value; int
        Who is seated at first, and the seats left then.
    before : Tables, optional
        Tables fitted earlier in the same recruitment, to begin with.
    committees : sequence of int, optional
        How many committees are recruited in each pass: `COMMITTEES` if nothing is said.
    """

    def __init__(
        self,
        problem: Problem,
        p: FloatArray,
        low: IntArray,
        high: IntArray,
        counts: IntArray,
        left: int,
        before: Tables | None = None,
        committees: Sequence[int] | None = None,
    ) -> None:
        self.p = p
        self._problem, self._band, self._start, self._left = problem, (low, high), counts, left
        self._rng = np.random.default_rng(0)
        self._last, self._power = min(LAST_SEATS, left), POWER if left <= MANY_SEATS else POWER_MANY
        self._centre = counts + problem.rho * (left - self._last)
        self._values, self._codes = np.arange(len(low)), np.ascontiguousarray(problem.codes.T)
        ends = np.cumsum(problem.shape).tolist()
        self._features = [slice(end - n, end) for end, n in zip(ends, problem.shape, strict=True)]
        self._s = np.zeros((self._last + 1, len(low), int(high.max()) + 2))
        self._a = np.zeros(self._last + 1)
        #: Per number of seats left: what trials still saw on average, less what the tables said.
        self.offset = np.zeros(left + 1)
        most = MAX_CELLS // len(p) + 1
        self._fit(before, [min(number, most) for number in committees or COMMITTEES])

    def after(self, counts: IntArray, k: int) -> FloatArray:
        """V(N + x) for each committee (row) and type (column), with k seats left before x."""
        is_open = open_values(self._problem, *self._band, counts, k)
        if k == 1:
            return self._products(np.where(is_open, 1.0, np.inf), np.ones(len(counts))) - 1
        at = min(k - 1, self._last)
        s, zoom = self._s[at], (at / (k - 1)) ** self._power
        if at == k - 1:
            now, then = s[self._values, counts + NOW_AND_THEN]
        else:
            way = (self._left - k + 1) / max(self._left - at, 1)
            off = counts - self._start - (self._centre - self._start) * way
            now, then = self._between(s, self._centre + zoom * (off + NOW_AND_THEN))
        factors = np.exp((then - now).clip(-MAX_LOG, MAX_LOG))
        factors[~is_open] = np.inf
        level = (now.sum(axis=1) + self._a[at]).clip(-MAX_LOG, MAX_LOG)
        return self._products(factors, np.exp(level) / zoom)

    def _products(self, per_value: FloatArray, level: FloatArray) -> FloatArray:
        """The level of each committee (row), times the product over the values of each type."""
        if len(per_value) == 1:  # all at once: far fewer calls, but too much memory for many
            return np.asarray(level * per_value.take(self._codes, axis=1).prod(axis=1))
        products = level[:, None]
        for own in self._features[::-1]:  # from the last to the first: long runs of memory
            cells = len(products), (own.stop - own.start) * products.shape[1]
            products = (per_value[:, own, None] * products[:, None, :]).reshape(cells)
        return products

    def _between(self, s: FloatArray, counts: FloatArray) -> FloatArray:
        """Entries of a table for counts that are not whole."""
        counts = counts.clip(0, s.shape[1] - 1 - 1e-9)
        whole = counts.astype(np.intp)
        part = counts - whole
        return (1 - part) * s[self._values, whole] + part * s[self._values, whole + 1]

    def _fit(self, before: Tables | None, committees: Sequence[int]) -> None:
        """Pass after pass: fit on committees met before, try out, keep the best."""
        steps = (len(committees) + 1) * (self._left + self._last)
        bar = tqdm(total=steps, disable=None, delay=BAR_AFTER_SECONDS, desc="looking ahead")
        first = before.decide if before else self._at_random(committees[0])
        met, fewest = self._try_out(committees[0], first)[0], np.inf
        for number in committees:
            few = number * RANDOM_PER_TEN // 10 + 1
            random, half = self._try_out(few, self._at_random(few))[0], (number + 1) // 2
            for k in range(1, self._last + 1):
                moved = self._move_seats(met[k][-half:], k)
                self._fit_level(np.concatenate([met[k], moved, random[k]]), k)
            own, people, said = self._try_out(number, self.decide)
            if people[-1] < fewest:
                fewest, self.offset = people[-1], people - said
                best = self._s.copy(), self._a.copy(), self._centre
            if len(own[self._last]):
                self._centre = own[self._last].mean(axis=0)
            met = [np.concatenate([o[-half:], n[:half]]) for o, n in zip(met, own, strict=True)]
            bar.update(self._left + self._last)
        bar.close()
        self._s, self._a, self._centre = best

    def decide(self, counts: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
        """The rule of these tables: `Rule`."""
        V = self.after(counts, k)
        v = fewest_ahead(V, self.p)
        return (v[:, None] > V) * self.p, v

    def _at_random(self, number: int) -> Rule:
        """Some recruitments follow p, some what is still needed, most are between the two."""
        low, high = self._band
        urge, presence = self._rng.random((number, 1)), self._problem.marginals(self.p) + 1e-9
        size = self._start[self._features[0]].sum() + self._left
        wanted = np.clip(self._problem.rho * size, low, high)

        def rule(counts: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
            is_open = open_values(self._problem, low, high, counts, k)
            weight = is_open * (np.maximum(wanted - counts, 1e-2) / presence) ** urge
            return self._products(weight, np.ones(number)) * self.p, np.zeros(number)

        return rule

    def _try_out(self, number: int, rule: Rule) -> tuple[list[IntArray], FloatArray, FloatArray]:
        """Recruit committees. Per number of seats left: those met, people still seen, and said."""
        counts, alive = np.tile(self._start, (number, 1)), np.ones(number, dtype=bool)
        met = [counts[:0]] * (self._last + 1)
        people, said = np.zeros(self._left + 1), np.zeros(self._left + 1)
        for k in range(self._left, 0, -1):
            if k <= self._last:
                met[k] = counts[alive]
            mass, v = rule(counts, k)
            total = mass.sum(axis=1)
            people[k] = np.minimum(1 / np.maximum(total, 1 / DEAD_END), DEAD_END).mean()
            said[k], alive = np.minimum(v, DEAD_END).mean(), alive & (total > 0)
            sums = np.cumsum(mass, axis=1)
            drawn = (sums <= (self._rng.random(number) * sums[:, -1])[:, None]).sum(axis=1)
            rows = np.flatnonzero(alive)
            counts[rows[:, None], self._problem.codes[drawn[rows]]] += 1
        return met, people.cumsum(), said

    def _move_seats(self, counts: IntArray, k: int) -> IntArray:
        """Move a seat between two values, in about half of the features, where that is allowed."""
        (low, high), rows = self._band, np.arange(len(counts))
        counts = counts.copy()
        for own in self._features:
            moved = counts.copy()
            moved[rows, self._rng.integers(own.start, own.stop, len(rows))] -= 1
            moved[rows, self._rng.integers(own.start, own.stop, len(rows))] += 1
            part, chosen = moved[:, own], self._rng.random(len(rows)) < 0.5
            fits = chosen & ((part >= 0) & (part <= high[own])).all(axis=1)
            fits &= np.maximum(low[own] - part, 0).sum(axis=1) <= k
            counts[fits] = moved[fits]
        return counts

    def _fit_level(self, counts: IntArray, k: int) -> None:
        """The tables for k seats left, by least squares on these committees."""
        v = fewest_ahead(self.after(counts, k), self.p)
        if not np.isfinite(v).any():
            return
        log_v = np.log(np.minimum(v, DEAD_END_FACTOR * v[np.isfinite(v)].max()))
        before, rho = self._s[k - 1], self._problem.rho[:, None]
        s = (1 - rho) * before + rho * np.column_stack([before[:, 1:], before[:, -1:]])
        rest = log_v - s[self._values, counts].sum(axis=1)
        self._a[k] = rest.mean()
        # A column for each value and count that some committee has, and all counts between them.
        least, most = counts.min(axis=0), counts.max(axis=0)
        value = np.repeat(self._values, most - least + 1)
        column = np.cumsum(most - least + 1) - (most + 1)  # plus the count
        cells = np.zeros((len(counts), len(value)))
        np.put_along_axis(cells, counts + column, 1.0, axis=1)
        between = np.diff(np.eye(len(value)), axis=0)[value[1:] == value[:-1]]
        square = cells.T @ cells + RIDGE * np.eye(len(value)) + SMOOTHNESS * between.T @ between
        correction = np.linalg.solve(square, cells.T @ (rest - self._a[k]))
        at = np.clip(np.arange(s.shape[1]), least[:, None], most[:, None]) + column[:, None]
        self._s[k] = s + correction[at]

r"""The plan for the seats that are left: see few people, and stay away from the edges of the band.

With $k$ seats left, the program of the seats (`committees.lp.seats_lp`) finds the people $y(x)$ to
accept that keep the counts between low and high, and make the number $T$ of people to see least. It
knows of averages only, and so aims at the very edge of the band. There the last seats are
expensive: few types fit in all features at once. So each value has a **margin** on both sides of
the band. Ending $\sigma_v$ people inside it is allowed, at a price: minimise
$T / (1 - \gamma \sum_v \sigma_v)$. Prices multiply because (wherever it can be computed) the
logarithm of the fewest people still to be seen is very nearly a sum over features.

In terms of the rate $s = 1/T$, $m = y/T$ and $\tau = \sigma/T$ this is linear:

$$\max\ s - \gamma \textstyle\sum_v \tau_v \quad\text{subject to}\quad 0 \le m \le p,\qquad
\sum_x m(x) = k s,\qquad \text{low}\, s \le A m \le \text{high}\, s,$$
$$(\text{low} + \text{margin})\, s - \tau \le A m \le (\text{high} - \text{margin})\, s + \tau.$$

Without a price its optimum is the other program's: $s = 1/T$. It has a bound for each type instead
of a row, so it is solved twice as fast. `PlanLP` states it with one long row for each value: where
$A m$ lies in the band is said by how far it falls **below** the inner part, how much of that
**inner** part it fills, and how far it rises **above** it,

$$A m = (\text{low} + \text{margin})\, s - \text{below} + \text{inner} + \text{above},$$

with below and above at most $\text{margin}\, s$, and inner at most
$(\text{high} - \text{low} - 2\, \text{margin})\, s$. Then $\tau$ is below + above, of which at most
one is needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import highspy
import numpy as np

from committees import highs
from committees.checks import FloatArray, IntArray
from committees.problem import Problem

if TYPE_CHECKING:
    import cvxpy as cp
    from scipy import sparse

#: Once so many people would have to be seen, there is no plan.
TOO_MANY = 1e15


def plan_lp(
    problem: Problem,
    seats: int,
    low: IntArray,
    high: IntArray,
    margin: FloatArray | float = 0.0,
    price: float = 0.0,
) -> tuple[cp.Problem, cp.Variable]:
    """State the plan; `low` and `high` say how many people of each value are still to be had."""
    import cvxpy as cp

    mass = cp.Variable(len(problem.p), bounds=[0, problem.p], name="mass")
    inside = cp.Variable(len(low), nonneg=True, name="inside the margins")
    rate = cp.Variable(nonneg=True, name="rate")
    by_value = problem.incidence @ mass
    constraints = [
        by_value >= low * rate,
        by_value <= high * rate,
        by_value >= (low + margin) * rate - inside,
        by_value <= (high - margin) * rate + inside,
        cp.sum(mass) == seats * rate,
    ]
    return cp.Problem(cp.Maximize(rate - price * cp.sum(inside)), constraints), mass


class PlanLP:
    """The same as one HiGHS model, for many solves in a row; it belongs to one session.

    Masses are in a unit in which the rate is between a thousandth and one, far above the solver's
    tolerances. From one solve to the next, bounds and the column of the rate change.
    """

    def __init__(self, problem: Problem) -> None:
        values, n = problem.incidence.shape
        self._model = highs.model(_rows(problem), cost=np.repeat([0.0, -1.0], [n + 3 * values, 1]))
        self._model.setOptionValue("presolve", "off")
        self._rate = n + 3 * values
        columns = np.arange(self._rate + 1, dtype=np.int32)
        self._mass, self._priced, free = columns[:n], columns[n : n + 2 * values], columns[n:]
        inf = np.full(len(free), highspy.kHighsInf)
        self._model.changeColsBounds(len(free), free, np.zeros(len(free)), inf)
        for row in range(values, 4 * values):
            self._model.changeRowBounds(row, -inf[0], 0.0)
        self._entries = np.ones(4 * values + 1)

    def solve(
        self,
        p: FloatArray,
        seats: int,
        low: IntArray,
        high: IntArray,
        margin: FloatArray,
        price: float,
    ) -> tuple[float, FloatArray]:
        """The people to see, infinite if there is no plan, and those of each type to accept.

        The margins are at most half as wide as the band.
        """
        entries = -np.concatenate([low + margin, margin, margin, high - low - 2 * margin, [seats]])
        for row in np.flatnonzero(entries != self._entries):
            self._model.changeCoeff(int(row), self._rate, float(entries[row]))
        self._entries = entries
        count = len(self._priced)
        self._model.changeColsCost(count, self._priced, np.full(count, price))
        unit = float(seats)
        while unit < TOO_MANY:
            self._model.changeColsBounds(len(p), self._mass, np.zeros_like(p), p * unit)
            found = highs.run(self._model)
            rate = float(found[-1])
            unit /= max(rate, 1e-3)
            if rate > 1e-3:
                return unit, np.maximum(found[: len(p)], 0.0) / rate
        return np.inf, np.zeros_like(p)


@lru_cache(maxsize=8)
def _rows(problem: Problem) -> sparse.csc_array:
    """The rows in the order of `solve`'s entries; columns: mass, below, above, inner, rate."""
    from scipy import sparse

    values, n = problem.incidence.shape
    eye = sparse.eye_array(values)
    rate = sparse.csr_array(np.ones((values, 1)))
    shares = sparse.hstack([problem.incidence, eye, -eye, -eye, rate])
    none, short = sparse.csr_array((3 * values, n)), sparse.eye_array(3 * values)
    widths = sparse.hstack([none, short, np.ones((3 * values, 1))])
    seats = sparse.csr_array(np.repeat([1.0, 0.0, 1.0], [n, 3 * values, 1])[None, :])
    return sparse.vstack([shares, widths, seats]).tocsc()

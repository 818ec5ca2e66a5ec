r"""The plan for the seats that are left: see few people, and stay away from the edges of the band.

The paper's program (`committees.lp`) in people: with $k$ seats to fill, $y(x)$ people of type $x$
to accept and $T$ people to see,

$$\min_{y,\,T}\ T \quad\text{subject to}\quad 0 \le y \le p\,T, \qquad \textstyle\sum_x y(x) = k,
\qquad \text{low} \le A y \le \text{high}.$$

With $k = 1$ and low = high = $\rho$ its optimum is $T = 1/g^*$. It knows of averages only, and so
aims at the very edge of the band. There the last seats are expensive: few types fit in all features
at once. So each value has a **margin** on both sides of the band. Ending $\sigma_v$ people inside
it is allowed, at a price: minimise $T / (1 - \gamma \sum_v \sigma_v)$. Prices multiply because
(wherever it can be computed) the logarithm of the fewest people still to be seen is very nearly a
sum over features.

In terms of the rate $s = 1/T$, $m = y/T$ and $\tau = \sigma/T$ this is linear:

$$\max\ s - \gamma \textstyle\sum_v \tau_v \quad\text{subject to}\quad 0 \le m \le p,\qquad
\sum_x m(x) = k s,\qquad \text{low}\, s \le A m \le \text{high}\, s,$$
$$(\text{low} + \text{margin})\, s - \tau \le A m \le (\text{high} - \text{margin})\, s + \tau.$$

`PlanLP` has one long row for each value, $A m = (\text{low} + \text{margin})\, s - \text{below} +
\text{inner} + \text{above}$, with below and above at most $\text{margin}\, s$, and inner at most
$(\text{high} - \text{low} - 2\, \text{margin})\, s$. Then $\tau$ is below + above.
"""

from __future__ import annotations

from functools import lru_cache

import cvxpy as cp
import highspy
import numpy as np
from scipy import sparse

from committees import highs
from committees.checks import FloatArray, IntArray
from committees.problem import Problem

#: There is no plan if more people than this would have to be seen.
MAX_PEOPLE = 1e15
#: `PlanLP` takes masses in a unit in which the rate is at least this.
LEAST_RATE = 1e-3


def plan_lp(
    problem: Problem,
    k: float,
    low: IntArray | FloatArray,
    high: IntArray | FloatArray,
    margin: FloatArray | float = 0.0,
    price: float = 0.0,
) -> tuple[cp.Problem, cp.Variable]:
    """State the plan, and return it with m; without margin and price its value is s = 1/T.

    `low`, `high` and `margin` are ndarrays, per value, in people. A margin is at most half as wide
    as the band.
    """
    mass = cp.Variable(len(problem.p), bounds=[0, problem.p], name="mass")
    inside = cp.Variable(len(low), nonneg=True, name="inside the margins")
    rate = cp.Variable(nonneg=True, name="rate")
    by_value = problem.incidence @ mass
    constraints = [
        by_value >= low * rate,
        by_value <= high * rate,
        by_value >= (low + margin) * rate - inside,
        by_value <= (high - margin) * rate + inside,
        cp.sum(mass) == k * rate,
    ]
    return cp.Problem(cp.Maximize(rate - price * cp.sum(inside)), constraints), mass


class PlanLP:
    """The same as one HiGHS model, for many solves in a row; it belongs to one session."""

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
        self, p: FloatArray, k: int, low: IntArray, high: IntArray, margin: FloatArray, price: float
    ) -> tuple[float, FloatArray]:
        """T, infinite if there is no plan, and y per type; parameters as for `plan_lp`."""
        # From one solve to the next, bounds and the column of the rate change.
        entries = -np.concatenate([low + margin, margin, margin, high - low - 2 * margin, [k]])
        for row in np.flatnonzero(entries != self._entries):
            self._model.changeCoeff(int(row), self._rate, float(entries[row]))
        self._entries = entries
        count = len(self._priced)
        self._model.changeColsCost(count, self._priced, np.full(count, price))
        unit = float(k)
        while unit < MAX_PEOPLE:
            self._model.changeColsBounds(len(p), self._mass, np.zeros_like(p), p * unit)
            found = highs.run(self._model)
            rate = float(found[-1])
            unit /= max(rate, LEAST_RATE)
            if rate > LEAST_RATE:
                return unit, np.maximum(found[: len(p)], 0.0) / rate
        return np.inf, np.zeros_like(p)


@lru_cache(maxsize=8)
def _rows(problem: Problem) -> sparse.csc_array:
    """The rows in the order of `solve`'s entries; columns: mass, below, above, inner, rate."""
    values, n = problem.incidence.shape
    eye = sparse.eye_array(values)
    rate = sparse.csr_array(np.ones((values, 1)))
    shares = sparse.hstack([problem.incidence, eye, -eye, -eye, rate])
    zeros, widths = sparse.csr_array((3 * values, n)), sparse.eye_array(3 * values)
    edges = sparse.hstack([zeros, widths, np.ones((3 * values, 1))])
    seats = sparse.csr_array(np.repeat([1.0, 0.0, 1.0], [n, 3 * values, 1])[None, :])
    return sparse.vstack([shares, edges, seats]).tocsc()

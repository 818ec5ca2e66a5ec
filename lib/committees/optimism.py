r"""Optimism: the best policy under the most favourable distribution that is still possible.

After some people have been seen, $\hat p$ is the empirical distribution of their types, and the
true $p$ lies, with high probability, in a confidence set $B$ around it. The optimistic program
looks for the policy **and** the distribution in $B$ with the largest selection rate (paper,
Section 5):

$$\max_{\pi,\ \tilde p \in B} \Big\{ g^{\tilde p, \pi} \ :\ \text{accepted in the target
proportions, if volunteers came from } \tilde p \Big\}.$$

With $\mu(x, a) = \tilde p(x) \pi(x, a)$ it is linear. Three readings are stated below in CVXPY:

- `l1_lp`: $B = \{\tilde p : \|\tilde p - \hat p\|_1 \le \beta\}$, as it must read;
- `printed_lp`: the same as the paper prints it, with the constraint
  $\sum_y \beta(y) \le \mu(x, a)\,\beta$ for all $x, a$ instead of $\sum_y \beta(y) \le \beta$;
- `interval_lp`: $B = \{\tilde p : \text{low} \le \tilde p \le \text{high}\}$ (Appendix C).

**A smaller program.** Only the accepted mass $m(x) = \mu(x, 1)$ matters for the value. For the
first set, a $\tilde p \ge m$ in $B$ exists if and only if $\sum_x (m - \hat p)^+ \le \beta/2$ and
$\sum_x m \le 1$. For intervals, if and only if $m \le \text{high}$ and
$\sum_x (m - \text{low})^+ \le 1 - \sum_x \text{low}$. So both are

$$\max\ g \quad\text{subject to}\quad A(u + v) = \rho\, g,\quad 0 \le u \le \text{base},\quad
0 \le v \le \text{room},\quad \textstyle\sum_x v \le \text{budget},\quad g \le 1$$

with $m = u + v$: base $= \hat p$, room $= 1$, budget $= \beta / 2$ for the first, and base $=$ low,
room $=$ high $-$ low, budget $= 1 - \sum$ low for the second. From one episode to the next only
bounds change: `OptimisticLP` keeps one HiGHS model and starts from the last basis.

**A distribution to go with it.** With $q_0 = m$ (first set) or $q_0 = \max(m, \text{low})$
(intervals) and $r = (\hat p - q_0)^+$, the distribution
$\tilde p = q_0 + (1 - \sum q_0)\, r / \sum r$ lies in $B$ and has $\tilde p \ge m$; among the many
that do, this one moves towards $\hat p$.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import highspy
import numpy as np

from committees import highs
from committees.problem import FloatArray, Problem

if TYPE_CHECKING:
    import cvxpy as cp
    from scipy import sparse


#: A probability below this is rounding.
NOTHING = 1e-12


def l1_lp(problem: Problem, estimate: FloatArray, radius: float) -> cp.Problem:
    """State the optimistic program over an l1 ball (paper, equation 6, corrected)."""
    import cvxpy as cp

    accept, reject, constraints = _occupation(problem)
    deviation = cp.Variable(len(problem.p), nonneg=True)
    constraints += [
        accept + reject <= estimate + deviation,
        accept + reject >= estimate - deviation,
        cp.sum(deviation) <= radius,
    ]
    return cp.Problem(cp.Maximize(cp.sum(accept)), constraints)


def printed_lp(problem: Problem, estimate: FloatArray, radius: float) -> cp.Problem:
    """State the optimistic program exactly as the paper prints it (equation 6)."""
    import cvxpy as cp

    accept, reject, constraints = _occupation(problem)
    deviation = cp.Variable(len(problem.p), nonneg=True)
    constraints += [
        accept + reject <= estimate + deviation,
        accept + reject >= estimate - deviation,
        cp.sum(deviation) <= accept * radius,
        cp.sum(deviation) <= reject * radius,
    ]
    return cp.Problem(cp.Maximize(cp.sum(accept)), constraints)


def interval_lp(problem: Problem, low: FloatArray, high: FloatArray) -> cp.Problem:
    """State the optimistic program over intervals (paper, Appendix C)."""
    import cvxpy as cp

    accept, reject, constraints = _occupation(problem)
    constraints += [accept + reject <= high, accept + reject >= low]
    return cp.Problem(cp.Maximize(cp.sum(accept)), constraints)


def _occupation(problem: Problem) -> tuple[cp.Variable, cp.Variable, list[cp.Constraint]]:
    import cvxpy as cp

    accept = cp.Variable(len(problem.p), nonneg=True, name="accept")
    reject = cp.Variable(len(problem.p), nonneg=True, name="reject")
    constraints = [
        cp.sum(accept + reject) == 1,
        problem.incidence @ accept == problem.target * cp.sum(accept),
    ]
    return accept, reject, constraints


@dataclass(frozen=True, eq=False)
class Optimum:
    """A solution: its rate, the mass it accepts, and the distribution it believes in."""

    rate: float
    mass: FloatArray
    belief: FloatArray

    def acceptance(self, unknown: float) -> FloatArray:
        """The policy mass / belief, and `unknown` for the types that it believes not to exist."""
        policy = np.full(len(self.mass), unknown)
        np.divide(self.mass, self.belief, out=policy, where=self.belief > NOTHING)
        np.minimum(policy, 1.0, out=policy)
        return policy


class OptimisticLP:
    """The smaller program as one HiGHS model, for many solves in a row.

    A warm start may return another optimum than a cold one, so a model belongs to one run: its
    answers depend on the questions before them.
    """

    def __init__(self, problem: Problem) -> None:
        n, matrix = len(problem.p), _rows(problem)
        self._model = highs.model(matrix, cost=np.repeat([0.0, -1.0], [2 * n, 1]))
        self._columns, self._zeros = np.arange(2 * n, dtype=np.int32), np.zeros(2 * n)
        self._upper = np.ones(2 * n)
        self._last_row = matrix.shape[0] - 1

    def over_l1_ball(self, estimate: FloatArray, radius: float) -> Optimum:
        """Solve over the distributions within `radius` of the estimate."""
        rate, mass = self._solve(estimate, 1.0, radius / 2)
        return Optimum(rate, mass, _belief(mass, estimate))

    def over_intervals(self, estimate: FloatArray, low: FloatArray, high: FloatArray) -> Optimum:
        """Solve over the distributions between `low` and `high`, which the estimate is one of."""
        rate, mass = self._solve(low, np.maximum(high - low, 0.0), max(0.0, 1 - low.sum()))
        return Optimum(rate, mass, _belief(np.maximum(mass, low), estimate))

    def _solve(
        self, base: FloatArray, room: FloatArray | float, budget: float
    ) -> tuple[float, FloatArray]:
        n = len(base)
        self._upper[:n], self._upper[n:] = base, room
        self._model.changeColsBounds(2 * n, self._columns, self._zeros, self._upper)
        self._model.changeRowBounds(self._last_row, -highspy.kHighsInf, budget)
        values = highs.run(self._model)
        return float(values[-1]), np.maximum(values[:n] + values[n:-1], 0.0)


@lru_cache(maxsize=8)
def _rows(problem: Problem) -> sparse.csc_array:
    """The rows of the smaller program: the shares, then the budget; columns: u, v, g."""
    from scipy import sparse

    n, incidence = len(problem.p), problem.incidence
    rate = sparse.csc_array(-problem.target[:, None])
    budget = sparse.csr_array(np.repeat([0.0, 1.0, 0.0], [n, n, 1])[None, :])
    return sparse.vstack([sparse.hstack([incidence, incidence, rate]), budget]).tocsc()


class PrintedLP:
    """The program as printed, as one HiGHS model.

    With $f = \\min_{x, a} \\mu(x, a)$, the printed constraint is $\\sum_y \\beta(y) \\le \\beta f$:
    one row, one coefficient that changes, and $2n$ rows that say what $f$ is.
    """

    def __init__(self, problem: Problem) -> None:
        from scipy import sparse

        n = len(problem.p)
        eye, zero = sparse.eye_array(n), sparse.csr_array((n, n))
        one, none = sparse.csr_array(np.ones((n, 1))), sparse.csr_array((n, 1))
        ones, nothing = sparse.csr_array(np.ones((1, n))), sparse.csr_array((1, n))
        value = problem.incidence
        rho = sparse.csr_array(-problem.target[:, None])
        blank, no_value = sparse.csr_array((len(problem.target), 1)), 0 * value
        # columns: accept, reject, deviation, f, g
        matrix = sparse.block_array(
            [
                [value, no_value, no_value, blank, rho],  # in the target proportions
                [ones, ones, nothing, None, sparse.csr_array((1, 1))],  # sum to one
                [nothing, nothing, ones, sparse.csr_array([[-1.0]]), None],  # printed constraint
                [eye, eye, -eye, none, none],  # at most estimate + deviation
                [eye, eye, eye, none, none],  # at least estimate - deviation
                [eye, zero, zero, -one, none],  # accept >= f
                [zero, eye, zero, -one, none],  # reject >= f
            ]
        ).tocsc()
        self._model = highs.model(matrix, cost=np.repeat([0.0, -1.0], [3 * n + 1, 1]))
        inf = highspy.kHighsInf
        first = len(problem.target)
        self._printed, self._floor = first + 1, 3 * n
        self._between = np.arange(first + 2, first + 2 + 2 * n, dtype=np.int32)
        self._model.changeColsBounds(
            3 * n + 1,
            np.arange(3 * n + 1, dtype=np.int32),
            np.zeros(3 * n + 1),
            np.full(3 * n + 1, inf),
        )
        self._model.changeRowBounds(first, 1.0, 1.0)
        self._model.changeRowBounds(self._printed, -inf, 0.0)
        for row in range(first + 2 + 2 * n, matrix.shape[0]):
            self._model.changeRowBounds(row, 0.0, inf)

    def over_l1_ball(self, estimate: FloatArray, radius: float) -> Optimum:
        """Solve for an estimate and a radius."""
        n, inf = len(estimate), highspy.kHighsInf
        self._model.changeCoeff(self._printed, self._floor, -radius)
        for row, share in zip(self._between[:n], estimate, strict=True):
            self._model.changeRowBounds(int(row), -inf, share)
        for row, share in zip(self._between[n:], estimate, strict=True):
            self._model.changeRowBounds(int(row), share, inf)
        values = highs.run(self._model)
        accept, reject = np.maximum(values[:n], 0.0), np.maximum(values[n : 2 * n], 0.0)
        return Optimum(float(values[-1]), accept, accept + reject)


def _belief(least: FloatArray, estimate: FloatArray) -> FloatArray:
    """A distribution that is at least this much, and otherwise as close to the estimate."""
    rest = 1 - np.add.reduce(least)
    if rest <= NOTHING:
        return least
    towards = estimate - least
    np.maximum(towards, 0.0, out=towards)
    towards *= rest / np.add.reduce(towards)
    towards += least
    return towards

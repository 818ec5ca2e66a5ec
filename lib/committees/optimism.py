r"""Section 5: the best policy under the most favourable distribution that is still possible.

After some people have been seen, $\hat p$ is the empirical distribution of their types, and the
true $p$ lies, with high probability, in a confidence set $B$ around it. The optimistic program
looks for the policy **and** the distribution in $B$ with the largest selection rate (paper,
Section 5):

$$\max_{\pi,\ \tilde p \in B} \Big\{ g^{\tilde p, \pi} \ :\ \text{accepted in the target
proportions, if volunteers came from } \tilde p \Big\}.$$

With $\mu(x, a) = \tilde p(x) \pi(x, a)$ it is linear. It is stated below in CVXPY for two sets:

- `l1_lp`: $B = \{\tilde p : \|\tilde p - \hat p\|_1 \le \beta\}$ (what the paper prints differs in
  one constraint: see `companion.printed`);
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

import cvxpy as cp
import highspy
import numpy as np
from scipy import sparse

from committees import highs
from committees.checks import FloatArray
from committees.problem import Problem

#: A probability below this is zero up to rounding.
ZERO_PROBABILITY = 1e-12


def l1_lp(problem: Problem, estimate: FloatArray, radius: float) -> cp.Problem:
    """State the optimistic program over an l1 ball around an estimate (per type)."""
    accept, reject, constraints = occupation(problem)
    deviation = cp.Variable(len(problem.p), nonneg=True)
    constraints += [
        accept + reject <= estimate + deviation,
        accept + reject >= estimate - deviation,
        cp.sum(deviation) <= radius,
    ]
    return cp.Problem(cp.Maximize(cp.sum(accept)), constraints)


def interval_lp(problem: Problem, low: FloatArray, high: FloatArray) -> cp.Problem:
    """State the optimistic program over intervals, low and high being per type (Appendix C)."""
    accept, reject, constraints = occupation(problem)
    constraints += [accept + reject <= high, accept + reject >= low]
    return cp.Problem(cp.Maximize(cp.sum(accept)), constraints)


def occupation(problem: Problem) -> tuple[cp.Variable, cp.Variable, list[cp.Constraint]]:
    """The variables mu(., 1), mu(., 0) and the constraints that both programs share."""
    accept = cp.Variable(len(problem.p), nonneg=True, name="accept")
    reject = cp.Variable(len(problem.p), nonneg=True, name="reject")
    constraints = [
        cp.sum(accept + reject) == 1,
        problem.incidence @ accept == problem.rho * cp.sum(accept),
    ]
    return accept, reject, constraints


@dataclass(frozen=True, eq=False)
class Optimum:
    """A solution of an optimistic program; arrays are per type."""

    rate: float  #: the value of the program
    mass: FloatArray  #: what is accepted, m
    belief: FloatArray  #: a distribution of the confidence set that gives this value

    def acceptance(self, unknown: float) -> FloatArray:
        """The policy mass / belief, and `unknown` for the types that it believes not to exist."""
        policy = np.full(len(self.mass), unknown)
        np.divide(self.mass, self.belief, out=policy, where=self.belief > ZERO_PROBABILITY)
        return np.asarray(np.minimum(policy, 1.0))


class OptimisticLP:
    """The smaller program as one HiGHS model, for the many solves of one run (see `highs`)."""

    def __init__(self, problem: Problem) -> None:
        n = len(problem.p)
        rows = _rows(problem)
        self._model = highs.model(rows, cost=np.repeat([0.0, -1.0], [2 * n, 1]))
        self._columns = np.arange(2 * n, dtype=np.int32)  # u and v
        self._zeros = np.zeros(2 * n)
        self._upper = np.ones(2 * n)
        self._last_row = rows.shape[0] - 1
        self.everybody = accept_everybody(problem)

    def over_l1_ball(self, estimate: FloatArray, radius: float) -> Optimum:
        """Solve over the distributions within `radius` (a number) of the estimate (per type)."""
        if radius >= 2:  # the ball holds every distribution
            return self.everybody
        rate, mass = self._solve(estimate, 1.0, radius / 2)
        return Optimum(rate, mass, _belief(mass, estimate))

    def over_intervals(self, estimate: FloatArray, low: FloatArray, high: FloatArray) -> Optimum:
        """Solve over the distributions between `low` and `high`, which the estimate is one of."""
        room = np.maximum(high - low, 0.0)
        budget = max(0.0, 1 - float(low.sum()))
        rate, mass = self._solve(low, room, budget)
        return Optimum(rate, mass, _belief(np.maximum(mass, low), estimate))

    def _solve(
        self, base: FloatArray, room: FloatArray | float, budget: float
    ) -> tuple[float, FloatArray]:
        n = len(base)
        self._upper[:n] = base
        self._upper[n:] = room
        self._model.changeColsBounds(2 * n, self._columns, self._zeros, self._upper)
        self._model.changeRowBounds(self._last_row, -highspy.kHighsInf, budget)
        values = highs.run(self._model)
        rate = float(values[-1])
        mass = values[:n] + values[n:-1]
        return rate, np.maximum(mass, 0.0)


def accept_everybody(problem: Problem) -> Optimum:
    """The optimum where nothing is known: volunteers may well come in the target proportions."""
    ideal = problem.product_over_values(problem.rho)
    return Optimum(1.0, ideal, ideal)


@lru_cache(maxsize=8)
def _rows(problem: Problem) -> sparse.csc_array:
    """The rows of the smaller program: the shares, then the budget; columns: u, v, g."""
    n = len(problem.p)
    rate = sparse.csc_array(-problem.rho[:, None])
    shares = sparse.hstack([problem.incidence, problem.incidence, rate])
    budget = sparse.csr_array(np.repeat([0.0, 1.0, 0.0], [n, n, 1])[None, :])
    return sparse.vstack([shares, budget]).tocsc()


def _belief(least: FloatArray, estimate: FloatArray) -> FloatArray:
    """A distribution that is at least this much, and otherwise as close to the estimate as that."""
    rest = 1 - least.sum()
    if rest <= ZERO_PROBABILITY:
        return least
    lacking = np.maximum(estimate - least, 0.0)
    return np.asarray(least + lacking * (rest / lacking.sum()))

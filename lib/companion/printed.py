r"""RL-CMDP as the paper prints it: its optimistic program, and the radius of RL-CMDP-B.

**The program** (equation 6). Printed is the constraint
$\sum_y \beta(y) \le \mu(x, a)\,\beta$ for all $x, a$, instead of
$\sum_y \beta(y) \le \beta$. With $f = \min_{x, a} \mu(x, a)$ it reads
$\sum_y \beta(y) \le \beta f$: one row, one coefficient that changes, and $2n$ rows that say what
$f$ is.

**The radius** (Appendix C). Printed is a division by $\min(1, \tau - 1)$, which is 1 from the
second person on, instead of the maximum: the intervals never shrink.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import cvxpy as cp
import highspy
import numpy as np
from scipy import sparse

from committees import highs
from committees.checks import FloatArray
from committees.optimism import OptimisticLP, Optimum, accept_everybody, occupation
from committees.problem import Problem
from committees.rl_cmdp import RLCMDP, maurer_pontil


def printed_lp(problem: Problem, estimate: FloatArray, radius: float) -> cp.Problem:
    """State the program exactly as printed; the estimate is an ndarray of float, per type."""
    accept, reject, constraints = occupation(problem)
    deviation = cp.Variable(len(problem.p), nonneg=True)
    constraints += [
        accept + reject <= estimate + deviation,
        accept + reject >= estimate - deviation,
        cp.sum(deviation) <= accept * radius,
        cp.sum(deviation) <= reject * radius,
    ]
    return cp.Problem(cp.Maximize(cp.sum(accept)), constraints)


class PrintedLP(OptimisticLP):
    """The program as printed, as one HiGHS model for the many solves of one run."""

    def __init__(self, problem: Problem) -> None:
        self.everybody = accept_everybody(problem)
        n, first, inf = len(problem.p), len(problem.rho), highspy.kHighsInf
        eye, floor = sparse.eye_array(n), sparse.csr_array(-np.ones((n, 1)))
        ones, radius = sparse.csr_array(np.ones((1, n))), sparse.csr_array([[-1.0]])
        rho = sparse.csr_array(-problem.rho[:, None])
        # columns: accept, reject, deviation, f, g
        rows = [
            [problem.incidence, None, None, None, rho],  # in the target proportions
            [ones, ones, None, None, None],  # sum to one
            [None, None, ones, radius, None],  # the printed constraint
            [eye, eye, -eye, None, None],  # at most estimate + deviation
            [eye, eye, eye, None, None],  # at least estimate - deviation
            [eye, None, None, floor, None],  # accept >= f
            [None, eye, None, floor, None],  # reject >= f
        ]
        matrix = sparse.block_array(rows).tocsc()
        self._model = highs.model(matrix, cost=np.repeat([0.0, -1.0], [3 * n + 1, 1]))
        free = np.arange(3 * n + 1, dtype=np.int32)
        self._model.changeColsBounds(len(free), free, np.zeros(len(free)), np.full(len(free), inf))
        self._model.changeRowBounds(first, 1.0, 1.0)
        self._model.changeRowBounds(first + 1, -inf, 0.0)
        for row in range(first + 2 + 2 * n, matrix.shape[0]):
            self._model.changeRowBounds(row, 0.0, inf)
        self._printed_row = first + 1

    def over_l1_ball(self, estimate: FloatArray, radius: float) -> Optimum:
        """Solve for an estimate (ndarray of float, per type) and a radius."""
        n, inf = len(estimate), highspy.kHighsInf
        self._model.changeCoeff(self._printed_row, 3 * n, -radius)
        for row, share in enumerate(estimate, start=self._printed_row + 1):
            self._model.changeRowBounds(row, -inf, share)
            self._model.changeRowBounds(row + n, share, inf)
        values = highs.run(self._model)
        accept, reject = np.maximum(values[:n], 0.0), np.maximum(values[n : 2 * n], 0.0)
        return Optimum(float(values[-1]), accept, accept + reject)


def printed_bernstein_radius(estimate: FloatArray, seen: int, delta: float) -> FloatArray:
    """RL-CMDP-B's radius exactly as printed, for an estimate (per type): it does not shrink.

    >>> bool(printed_bernstein_radius(np.array([0.5, 0.5]), 10**6, 0.05).min() > 1)
    True
    """
    log_term = log(6 * len(estimate) * (seen + 1) / delta)
    return maurer_pontil(estimate, log_term / min(1, seen))


@dataclass(frozen=True)
class PrintedRLCMDP(RLCMDP):
    """RL-CMDP with the program as printed; RL-CMDP-B with the radius as printed.

    >>> PrintedRLCMDP(scale=0.5).name, PrintedRLCMDP(confidence="bernstein").name
    ('RL-CMDP as printed ×0.5', 'RL-CMDP-B as printed')
    """

    @property
    def family(self) -> str:
        return f"{super().family} as printed"

    def radius(self, estimate: FloatArray, seen: int) -> float | FloatArray:
        if self.confidence == "bernstein":
            return self.scale * printed_bernstein_radius(estimate, seen, self.delta)
        return super().radius(estimate, seen)

    def program(self, problem: Problem) -> OptimisticLP:
        if self.confidence == "bernstein":
            return super().program(problem)
        return PrintedLP(problem)

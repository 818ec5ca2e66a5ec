r"""RL-CMDP with the optimistic program as the paper prints it (equation 6).

Printed is the constraint $\sum_y \beta(y) \le \mu(x, a)\,\beta$ for all $x, a$, instead of
$\sum_y \beta(y) \le \beta$. With $f = \min_{x, a} \mu(x, a)$ it reads
$\sum_y \beta(y) \le \beta f$: one row, one coefficient that changes, and $2n$ rows that say what
$f$ is.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import highspy
import numpy as np
from scipy import sparse

from committees import highs
from committees.checks import FloatArray
from committees.optimism import OptimisticLP, Optimum, accept_everybody, occupation
from committees.problem import Problem
from committees.rl_cmdp import RLCMDP


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


@dataclass(frozen=True)
class PrintedRLCMDP(RLCMDP):
    """RL-CMDP with the program as printed; its confidence sets are l1 balls.

    >>> PrintedRLCMDP(scale=0.5).name
    'RL-CMDP as printed ×0.5'
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.confidence != "l1":
            raise ValueError("confidence: the printed program is for 'l1' only")

    @property
    def family(self) -> str:
        return "RL-CMDP as printed"

    def program(self, problem: Problem) -> OptimisticLP:
        return PrintedLP(problem)

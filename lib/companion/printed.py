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
    """State the optimistic program exactly as the paper prints it (equation 6)."""
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
    """The program as printed, as one HiGHS model."""

    def __init__(self, problem: Problem) -> None:
        self.everybody = accept_everybody(problem)
        n = len(problem.p)
        eye, zero = sparse.eye_array(n), sparse.csr_array((n, n))
        one, none = sparse.csr_array(np.ones((n, 1))), sparse.csr_array((n, 1))
        ones, nothing = sparse.csr_array(np.ones((1, n))), sparse.csr_array((1, n))
        value = problem.incidence
        rho = sparse.csr_array(-problem.rho[:, None])
        blank, no_value = sparse.csr_array((len(problem.rho), 1)), 0 * value
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
        first = len(problem.rho)
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


@dataclass(frozen=True)
class PrintedRLCMDP(RLCMDP):
    """RL-CMDP with the program as printed; its confidence sets are l1 balls."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.confidence != "l1":
            raise ValueError("confidence: the printed program is for 'l1' only")

    @property
    def family(self) -> str:
        return "RL-CMDP as printed"

    def program(self, problem: Problem) -> OptimisticLP:
        return PrintedLP(problem)

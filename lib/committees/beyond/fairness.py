r"""Among the fastest policies, the fairest.

The linear program of `committees.lp` has many optimal policies: all accept the share $g^*$ of the
volunteers in the target proportions, and differ in whom they favour. The solver returns a corner,
where some types are never accepted although they could be. As the sortition community asks of its
lotteries (Flanigan et al. 2021), we take the **leximin** policy: its smallest acceptance
probability is as large as possible; among those that achieve this, the second smallest, and so on.

One linear program per level: with lower limits $\ell(x)$ for the types that are settled,

$$\max_{\pi,\,t}\ t \quad\text{subject to}\quad \textstyle\sum_{x: x^i = j} p(x)\,\pi(x) =
\rho^i_j\, g^*, \quad \pi(x) \ge t \text{ for the others}, \quad \ell \le \pi \le 1.$$

A type whose constraint $\pi(x) \ge t$ has a positive dual is at $t$ in every optimum: it is
settled there, and the next program raises the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy import optimize, sparse

from committees import highs
from committees.checks import FloatArray
from committees.cmdp import CMDP
from committees.lp import Policy, best_policy, make_policy
from committees.problem import Problem

#: With more types than this the programs take minutes: the fastest policy stays as it was found.
MAX_TYPES = 5000
#: Levels and rates that differ by less are equal, and duals below this are zero.
TOLERANCE = 1e-9
#: By this much at most, levels that are settled may be lowered again where rounding demands it.
MAX_SLACK = 1e-6


@lru_cache(maxsize=8)
def fair_policy(problem: Problem) -> Policy:
    """The leximin policy among the fastest; with more than `MAX_TYPES` types, any fastest one.

    >>> targets = {"gender": {"w": 0.5, "m": 0.5}, "age": dict.fromkeys(["20", "40", "60"], 1 / 3)}
    >>> fair_policy(Problem(targets, [0.1, 0.2, 0.2] * 2)).acceptance.round(3).tolist()
    [1.0, 0.5, 0.5, 1.0, 0.5, 0.5]
    """
    best = best_policy(problem)
    if len(problem.p) > MAX_TYPES:
        return best
    occurs = problem.p > 0
    acceptance = np.zeros_like(problem.p)
    shares = problem.incidence[:, occurs] * (problem.p[occurs] / best.rate)
    acceptance[occurs] = _leximin(shares, problem.rho)
    return make_policy(problem, acceptance, best.dual.to_numpy())


def _leximin(shares: sparse.csr_array, rho: FloatArray) -> FloatArray:
    """The leximin point of {0 <= x <= 1, shares x = rho}, shape (number of types that occur,)."""
    n = shares.shape[1]
    least = np.zeros(n)
    is_open = np.ones(n, dtype=bool)
    slack = TOLERANCE
    cost = np.append(np.zeros(n + 1), -1.0)
    # Columns: acceptance, rate as a share of the best (rounding may have emptied the set), level.
    blank = sparse.csr_array((len(rho), 1))
    in_proportion = sparse.hstack([shares, -rho[:, None], blank], format="csr")
    # Not by CVXPY: after its translation, rounding leaves a few of these without a positive dual.
    while is_open.any():
        rows = np.flatnonzero(is_open)
        minus_acceptance = -sparse.eye_array(n, format="csr")[rows]
        no_rate = sparse.csr_array((len(rows), 1))
        plus_level = np.ones((len(rows), 1))
        solution = optimize.linprog(
            cost,
            A_ub=sparse.hstack([minus_acceptance, no_rate, plus_level]),
            b_ub=np.zeros(len(rows)),
            A_eq=in_proportion,
            b_eq=np.zeros(len(rho)),
            bounds=[*zip(least, np.ones(n), strict=True), (1 - TOLERANCE, 1), (0, 1)],
            method="highs-ds",
            options=highs.OPTIONS,
        )
        if solution.status == 2 and slack < MAX_SLACK:  # infeasible: what is settled was rounded
            least = np.maximum(least - slack, 0.0)
            slack = 2 * slack
            continue
        if solution.status != 0:
            raise RuntimeError(f"HiGHS stopped: {solution.message}")
        level = solution.x[-1]
        settled = rows[solution.ineqlin.marginals < -TOLERANCE]
        if level > 1 - TOLERANCE or not len(settled):
            settled = rows
        least[settled] = max(level - TOLERANCE, 0.0)
        is_open[settled] = False
    return np.asarray(solution.x[:n])


@dataclass(frozen=True)
class FairCMDP(CMDP):
    """CMDP with the policy that, among the fastest, is the fairest to the types."""

    family: ClassVar[str] = "CMDP fair"

    def policy(self, problem: Problem) -> Policy:
        return fair_policy(problem)

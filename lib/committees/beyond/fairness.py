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

These programs have a row for each type, and with many types they take minutes. Then the fastest
policy stays as it was found, which at least is not a corner where thousands of types are in doubt
(`committees.beyond.many_types`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from committees import highs
from committees.checks import FloatArray
from committees.cmdp import CMDP
from committees.lp import Policy, best_policy, make_policy
from committees.problem import Problem

if TYPE_CHECKING:
    from scipy import sparse

#: With more types than this, nothing is made fairer.
MOST_TYPES = 5000

#: Levels that differ by less are equal, and duals below this are zero.
EQUAL = 1e-9


@lru_cache(maxsize=8)
def fair_policy(problem: Problem) -> Policy:
    """The leximin policy among the fastest that meet the targets in expectation, if it is quick."""
    best = best_policy(problem)
    if len(problem.p) > MOST_TYPES:
        return best
    occurs = problem.p > 0
    acceptance = np.zeros_like(problem.p)
    acceptance[occurs] = _leximin(
        problem.incidence[:, occurs] * (problem.p[occurs] / best.rate), problem.rho
    )
    return make_policy(problem, acceptance, best.dual.to_numpy())


@dataclass(frozen=True)
class FairCMDP(CMDP):
    """CMDP with the policy that, among the fastest, is fairest to the types."""

    family: ClassVar[str] = "CMDP fair"

    def policy(self, problem: Problem) -> Policy:
        return fair_policy(problem)


def _leximin(matrix: sparse.csr_array, target: FloatArray) -> FloatArray:
    """The leximin point of {0 <= x <= 1, matrix x = target}, which rounding may have emptied."""
    from scipy import optimize, sparse  # take as long to import as all the rest

    n = matrix.shape[1]
    least = np.zeros(n)
    open_ = np.ones(n, dtype=bool)
    cost = np.append(np.zeros(n + 1), -1.0)
    # Columns: acceptance, rate as a share of the best, level.
    in_proportion = sparse.hstack(
        [matrix, -target[:, None], sparse.csr_array((len(target), 1))], format="csr"
    )
    while open_.any():
        rows = np.flatnonzero(open_)
        below = sparse.eye_array(n, format="csr")[rows]
        found = optimize.linprog(
            cost,
            A_ub=sparse.hstack([-below, sparse.csr_array((len(rows), 1)), np.ones((len(rows), 1))]),
            b_ub=np.zeros(len(rows)),
            A_eq=in_proportion,
            b_eq=np.zeros(len(target)),
            bounds=[*zip(least, np.ones(n), strict=True), (1 - EQUAL, 1), (0, 1)],
            method="highs-ds",
            options=highs.OPTIONS,
        )
        if found.status != 0:
            raise RuntimeError(f"HiGHS stopped: {found.message}")
        level = found.x[-1]
        settled = rows[found.ineqlin.marginals < -EQUAL]
        if level > 1 - EQUAL:
            settled = rows
        least[settled] = max(level - EQUAL, 0.0)
        open_[settled] = False
    return np.asarray(found.x[:n])

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

import cvxpy as cp
import numpy as np
from scipy import sparse

from committees.checks import BoolArray, FloatArray
from committees.cmdp import CMDP
from committees.lp import Policy, best_policy, make_policy, solve
from committees.problem import Problem

#: With more types than this the programs take minutes: the fastest policy stays as it was found.
MOST_TYPES = 5000
#: Levels and rates that differ by less are equal, and duals below this are zero.
TOLERANCE = 1e-9
#: What is settled may be this much lower later: solutions are exact up to the solver's rounding.
SLACK = 1e-8


@lru_cache(maxsize=8)
def fair_policy(problem: Problem) -> Policy:
    """The leximin policy among the fastest; with more than `MOST_TYPES` types, any fastest one.

    >>> targets = {"gender": {"w": 0.5, "m": 0.5}, "age": dict.fromkeys(["20", "40", "60"], 1 / 3)}
    >>> fair_policy(Problem(targets, [0.1, 0.2, 0.2] * 2)).acceptance.round(3).tolist()
    [1.0, 0.5, 0.5, 1.0, 0.5, 0.5]
    """
    best = best_policy(problem)
    if len(problem.p) > MOST_TYPES:
        return best
    occurs = problem.p > 0
    shares = problem.incidence[:, occurs] * (problem.p[occurs] / best.rate)
    least, settled = np.zeros(occurs.sum()), np.zeros(occurs.sum(), dtype=bool)
    while not settled.all():
        program, chance = leximin_lp(shares, problem.rho, least, settled)
        level = solve(program)
        if not level >= 0:
            raise RuntimeError("HiGHS found no fair policy, by rounding")
        now = np.flatnonzero(~settled)
        if level <= 1 - TOLERANCE:
            now = now[np.abs(program.constraints[-1].dual_value) > TOLERANCE]
        least[now], settled[now] = max(level - SLACK, 0.0), True
    acceptance = np.zeros_like(problem.p)
    acceptance[occurs] = chance.value
    return make_policy(problem, acceptance, best.dual.to_numpy())


def leximin_lp(
    shares: sparse.csr_array, rho: FloatArray, least: FloatArray, settled: BoolArray
) -> tuple[cp.Problem, cp.Variable]:
    """State the program of one level: its value is t, its last constraint that of the open types.

    Parameters
    ----------
    shares : sparse array of float, shape (number of values, number of types that occur)
        p(x) / g* where the type has the value, 0 elsewhere.
    least, settled : ndarray of float and of bool, per type that occurs
        The lower limits, and which types are settled there.
    """
    chance = cp.Variable(len(least), bounds=[least, np.ones(len(least))], name="chance")
    level = cp.Variable(bounds=[0, 1], name="level")
    # Rounding may have left no policy that is exactly as fast as the fastest.
    rate = cp.Variable(bounds=[1 - TOLERANCE, 1], name="rate as a share of g*")
    constraints = [shares @ chance == rho * rate, chance[np.flatnonzero(~settled)] >= level]
    return cp.Problem(cp.Maximize(level), constraints), chance


@dataclass(frozen=True)
class FairCMDP(CMDP):
    """CMDP with the policy that, among the fastest, is the fairest to the types."""

    family: ClassVar[str] = "CMDP fair"

    def policy(self, problem: Problem) -> Policy:
        return fair_policy(problem)

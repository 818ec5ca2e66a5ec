r"""The linear programs, stated in CVXPY and solved with HiGHS.

Let $m(x) = \pi(x)\,p(x)$ be the probability that the next volunteer is of type $x$ **and** is
accepted (the paper's occupation measure $\mu(x, 1)$), $g$ the share of volunteers accepted, and
$A$ the incidence matrix of values and types. The paper's linear program (Section 4.1) reads

$$\max_{m,\,g}\ g \quad\text{subject to}\quad 0 \le m \le p, \qquad A m = \rho\, g.$$

The rows of $Am$ that belong to one feature add up to $\sum_x m(x)$, and their targets to one, so
$g = \sum_x m(x)$ need not be said. Every coefficient is 0, 1 or a target, and the matrix has $d$
entries per type: it stays sparse and well scaled with a million types.

The **seats** form asks the same question in people. With $k$ seats to fill, $y(x)$ people of type
$x$ to accept and $T$ people to see,

$$\min_{y,\,T}\ T \quad\text{subject to}\quad 0 \le y \le p\,T, \qquad \textstyle\sum_x y(x) = k,
\qquad \text{low} \le A y \le \text{high}.$$

With $k = 1$ and low = high = $\rho$ its optimum is $T = 1/g^*$, and $m = y / T$.

The dual of the first program,
$$\min_\lambda\ \sum_x p(x) \big(\textstyle\sum_i \lambda^i_{x^i}\big)^+ \quad\text{subject to}\quad
\lambda \cdot \rho = 1,$$
gives each value a number of **points** $\lambda^i_j$, and proves that no policy is faster.

With thousands of types, `committees.many_types` finds the same by way of the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from committees import highs, many_types
from committees.problem import FloatArray, Problem

if TYPE_CHECKING:
    import cvxpy as cp

#: A rate that is smaller than this share of the bottleneck's is zero up to the solver's tolerance.
SMALLEST_SHARE = 1e-8

#: With more types than this, the points are sought first (`committees.many_types`).
MANY = 5000


@dataclass(frozen=True, eq=False)
class Policy:
    """A stationary policy: each type is accepted with a fixed probability.

    Attributes
    ----------
    acceptance
        The probability with which a volunteer of each type is accepted (0 where p is 0).
    rate
        The share of volunteers who are accepted, g.
    points
        The dual solution, one number for each value of each feature; see `bound`.
    """

    problem: Problem
    acceptance: pd.Series
    rate: float
    points: pd.Series

    @cached_property
    def composition(self) -> pd.Series:
        """The expected share of each type in the committee."""
        mass = self.acceptance * self.problem.p
        return (mass / mass.sum()).rename("composition")

    @cached_property
    def by_value(self) -> pd.Series:
        """The share of the volunteers with each value who are accepted."""
        accepted = self.problem.incidence @ (self.acceptance.to_numpy() * self.problem.p)
        presence = self.problem.presence
        shares = np.divide(accepted, presence, out=np.zeros_like(accepted), where=presence > 0)
        return pd.Series(shares, self.problem.values, name="acceptance")

    @cached_property
    def score(self) -> pd.Series:
        """The points of each type: accepted if positive, rejected if negative, a coin at zero."""
        totals = self.problem.sum_by_type(self.points.to_numpy())
        return pd.Series(totals, self.problem.index, name="score")

    @cached_property
    def bound(self) -> float:
        """An upper bound on the rate of every policy that meets the targets, from the points."""
        return float(self.problem.p @ np.maximum(self.score.to_numpy(), 0))


def selection_lp(problem: Problem) -> tuple[cp.Problem, cp.Variable]:
    """State the paper's program: accept as many as possible, in the target proportions.

    Mass and rate are in units of the bottleneck, so that the solver's tolerances are relative to
    the largest rate that could be, however small that is.
    """
    import cvxpy as cp

    most = np.minimum(problem.p / problem.bottleneck, 1.0)
    mass = cp.Variable(len(problem.p), bounds=[0, most], name="mass")
    rate = cp.Variable(name="rate")
    in_proportion = problem.incidence @ mass == problem.target * rate
    return cp.Problem(cp.Maximize(rate), [in_proportion]), mass


def seats_lp(
    problem: Problem, seats: float, low: FloatArray, high: FloatArray
) -> tuple[cp.Problem, cp.Variable]:
    """State the program of the seats: see as few people as possible, within low and high."""
    import cvxpy as cp

    people = cp.Variable(len(problem.p), nonneg=True, name="people")
    seen = cp.Variable(nonneg=True, name="seen")
    by_value = problem.incidence @ people
    constraints = [
        people <= problem.p * seen,
        cp.sum(people) == seats,
        by_value >= low,
        by_value <= high,
    ]
    return cp.Problem(cp.Minimize(seen), constraints), people


def solve(program: cp.Problem) -> float:
    """Solve a program to a vertex and return its optimal value; infinite when there is none."""
    import cvxpy as cp

    value = program.solve(solver=cp.HIGHS, highs_options=highs.OPTIONS)
    if program.status not in (cp.OPTIMAL, cp.INFEASIBLE):
        raise RuntimeError(f"HiGHS stopped with the status {program.status!r}")
    return float(value)


@lru_cache(maxsize=8)
def best_policy(problem: Problem) -> Policy:
    """The fastest stationary policy that meets the targets in expectation."""
    found = many_types.solve(problem) if len(problem.p) > MANY else None
    mass, points = found or _solve_whole(problem)
    p = problem.p
    acceptance = np.divide(mass, p, out=np.zeros_like(p), where=p > 0)
    acceptance = snap(np.clip(acceptance, 0, 1))
    # Policies are remembered, so nobody may change them.
    acceptance.flags.writeable = points.flags.writeable = False
    return Policy(
        problem,
        pd.Series(acceptance, problem.index, name="acceptance", copy=False),
        float(p @ acceptance),
        pd.Series(points, problem.values, name="points", copy=False),
    )


def _solve_whole(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """The accepted mass of each type, and the points, from the program as it is stated."""
    program, mass = selection_lp(problem)
    rate = solve(program)
    # The dual values, signed so that acceptance follows positive points, with points . rho = 1.
    dual = np.asarray(program.constraints[0].dual_value, dtype=float)
    points = dual / float(dual @ problem.target)
    if rate < SMALLEST_SHARE:
        order = np.argsort(-np.abs(points), kind="stable")
        clash = problem.values[order[: (np.abs(points) > 1e-6).sum()]]
        names = [f"{feature} = {value}" for feature, value in clash]
        raise ValueError(
            "no policy meets the targets: among the types that occur in p, none can be combined "
            f"in the target proportions (the clash is between {', '.join(names[:6])})"
        )
    return np.asarray(mass.value) * problem.bottleneck, points


def snap(acceptance: FloatArray) -> FloatArray:
    """Put what differs from 0 or 1 by rounding alone on 0 or 1."""
    acceptance[acceptance < 1e-12] = 0
    acceptance[acceptance > 1 - 1e-12] = 1
    return acceptance

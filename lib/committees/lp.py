r"""Section 4.1: the linear programs, stated in CVXPY and solved with HiGHS.

Let $m(x) = \pi(x)\,p(x)$ be the probability that the next volunteer is of type $x$ **and** is
accepted (the paper's occupation measure $\mu(x, 1)$), $g$ the share of volunteers accepted, and
$A$ the incidence matrix of values and types. The paper's linear program reads

$$\max_{m,\,g}\ g \quad\text{subject to}\quad 0 \le m \le p, \qquad A m = \rho\, g.$$

The rows of $Am$ that belong to one feature add up to $\sum_x m(x)$, and their targets to one, so
$g = \sum_x m(x)$ need not be said. Every coefficient is 0, 1 or a target, and the matrix has $d$
entries per type: it stays sparse and well scaled however many types there are.

The **dual** of this program,
$$\min_w\ \sum_x p(x) \big(\textstyle\sum_i w^i_{x^i}\big)^+ \quad\text{subject to}\quad
w \cdot \rho = 1,$$
gives each value a number $w^i_j$, and proves that no policy is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import cvxpy as cp
import numpy as np
import pandas as pd

from committees import highs
from committees.checks import FloatArray, frozen
from committees.problem import Problem

#: A rate below this share of `Problem.bottleneck` is zero up to the solver's tolerance.
SMALLEST_RATE = 1e-8

#: With more types than this the program takes minutes.
MAX_TYPES_CVXPY = 200_000


@dataclass(frozen=True, eq=False)
class Policy:
    """A stationary policy: each type is accepted with a fixed probability."""

    problem: Problem
    acceptance: pd.Series  #: indexed by the types: the probability of accepting each (0 if p is 0)
    rate: float  #: the share of volunteers who are accepted, g
    dual: pd.Series  #: indexed by (feature, value): the dual solution w; see `bound`

    @cached_property
    def composition(self) -> pd.Series:
        """The expected share of each type in the committee."""
        mass = self.acceptance * self.problem.p
        return (mass / mass.sum()).rename("composition")

    @cached_property
    def acceptance_by_value(self) -> pd.Series:
        """The share of the volunteers with each value who are accepted."""
        problem = self.problem
        accepted = problem.marginals(self.acceptance.to_numpy() * problem.p)
        presence = np.where(problem.presence > 0, problem.presence, 1)  # no division by 0
        return pd.Series(accepted / presence, problem.labels, name="acceptance")

    @cached_property
    def score(self) -> pd.Series:
        """The sum of w over the values of each type: above 0 all are accepted, below 0 none."""
        totals = self.problem.sum_over_values(self.dual.to_numpy())
        return pd.Series(totals, self.problem.index, name="score")

    @cached_property
    def bound(self) -> float:
        """An upper bound on the rate of every policy that meets the targets, from the dual."""
        return float(self.problem.p @ np.maximum(self.score.to_numpy(), 0))


def selection_lp(problem: Problem) -> tuple[cp.Problem, cp.Variable]:
    """State the paper's program: accept as many as possible, in the target proportions.

    Returned are the program and its variable, shape (number of types,). Mass and rate are in units
    of `problem.bottleneck`, so that the solver's tolerances are relative to the largest rate that
    could be, however small that is.
    """
    most = np.minimum(problem.p / problem.bottleneck, 1.0)
    mass = cp.Variable(len(problem.p), bounds=[0, most], name="mass")
    rate = cp.Variable(name="rate")
    in_proportion = problem.incidence @ mass == problem.rho * rate
    return cp.Problem(cp.Maximize(rate), [in_proportion]), mass


def solve(program: cp.Problem) -> float:
    """Solve a program to a vertex and return its optimal value; infinite if it is infeasible."""
    value = program.solve(solver=cp.HIGHS, highs_options=highs.OPTIONS)
    if program.status not in (cp.OPTIMAL, cp.INFEASIBLE):
        raise RuntimeError(f"HiGHS stopped with the status {program.status!r}")
    return float(value)


@lru_cache(maxsize=8)
def best_policy(problem: Problem) -> Policy:
    """The fastest stationary policy that meets the targets in expectation.

    Examples
    --------
    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.75, 0.25])
    >>> policy = best_policy(problem)
    >>> round(policy.rate, 3), policy.acceptance.round(3).to_dict()
    (0.5, {('woman',): 0.333, ('man',): 1.0})
    """
    if len(problem.p) > MAX_TYPES_CVXPY:
        raise ValueError(
            f"p: {len(problem.p):,} types are more than the {MAX_TYPES_CVXPY:,} that CVXPY solves "
            "in reasonable time; take fewer features, or merge values"
        )
    program, mass = selection_lp(problem)
    rate = solve(program)
    # The dual values, signed so that acceptance follows positive scores, with w . rho = 1.
    dual = np.asarray(program.constraints[0].dual_value, dtype=float)
    dual = dual / float(dual @ problem.rho)
    if rate < SMALLEST_RATE:
        raise ValueError(
            "no policy meets the targets: among the types that occur in p, none can be combined "
            f"in the target proportions (the clash is between {_clash(problem, dual)})"
        )
    accepted = np.asarray(mass.value) * problem.bottleneck
    acceptance = np.zeros_like(problem.p)
    np.divide(accepted, problem.p, out=acceptance, where=problem.p > 0)
    return make_policy(problem, acceptance, dual)


def _clash(problem: Problem, dual: FloatArray) -> str:
    """The values with the largest dual values, in words: they prove that there is no policy."""
    size = np.abs(dual)
    largest_first = np.argsort(-size, kind="stable")
    clashing = largest_first[: (size > 1e-6).sum()]
    names = [f"{feature} = {value}" for feature, value in problem.labels[clashing]]
    return ", ".join(names[:6])


def make_policy(problem: Problem, acceptance: FloatArray, dual: FloatArray) -> Policy:
    """A policy from what a solver found: the acceptance per type, and the dual per value."""
    acceptance = np.clip(acceptance, 0, 1)
    acceptance[acceptance < 1e-12] = 0  # what differs from 0 or 1 by rounding alone is 0 or 1
    acceptance[acceptance > 1 - 1e-12] = 1
    return Policy(
        problem,
        pd.Series(frozen(acceptance), problem.index, name="acceptance", copy=False),
        float(problem.p @ acceptance),
        pd.Series(frozen(dual), problem.labels, name="dual", copy=False),
    )

"""The plug-in strategy of the theorem on groups: ties are broken at random, by a score per type."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from committees import RLCMDP
from committees.optimism import OptimisticLP, Optimum, accept_everybody

#: How much the objective differs from one type to another, at most.
ETA = 1e-3
#: Stands for the probability of a type that nobody has seen.
UNSEEN = 1e-9


def weights(problem, seed=5):
    """The objective c, per type."""
    return 1 + ETA * np.random.default_rng(seed).random(len(problem.p))


def solve(problem, estimate, c):
    """The policy on types that were seen, and the score of all: ndarrays of float, per type."""
    phi = problem.incidence.toarray() - problem.rho[:, None]
    answer = linprog(-c * estimate, A_eq=phi * estimate, b_eq=0 * problem.rho, bounds=(0, 1))
    assert answer.success
    prices = -answer.eqlin.marginals
    return answer.x, c - prices @ phi


class TieBrokenLP(OptimisticLP):
    def __init__(self, problem, largest_scores):
        self.everybody = accept_everybody(problem)
        self._problem = problem
        self._c = weights(problem)
        self._largest_scores = largest_scores

    def over_l1_ball(self, estimate, radius):
        policy, score = solve(self._problem, estimate, self._c)
        self._largest_scores.append(score.max())
        was_seen = estimate > 0
        belief = np.where(was_seen, estimate, UNSEEN)
        mass = np.where(was_seen, policy, score > 0) * belief
        return Optimum(float(mass.sum()), mass, belief)


@dataclass(frozen=True)
class TieBroken(RLCMDP):
    scale: float = 0.0
    #: The largest score of each episode but the first is put here.
    largest_scores: list[float] = field(default_factory=list, compare=False)

    def program(self, problem):
        return TieBrokenLP(problem, self.largest_scores)

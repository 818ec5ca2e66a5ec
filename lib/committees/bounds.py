"""What the paper proves about Greedy and CMDP, as functions (Propositions 1 and 2, Lemma 2)."""

from __future__ import annotations

from math import log, sqrt
from typing import Any, Literal

from scipy import stats

from committees.lp import Policy
from committees.problem import Problem


def greedy_loss(problem: Problem, size: int, tolerance: float) -> float:
    r"""Proposition 1: Greedy's loss never exceeds $(\max_i D_i - 1)/K + \epsilon$."""
    return (int(problem.sizes.max()) - 1) / size + tolerance


def cmdp_loss(
    problem: Problem, size: int, delta: float, union: Literal["paper", "full"] = "paper"
) -> float:
    r"""Proposition 2: with probability $1 - \delta$, CMDP's loss is at most
    $\sqrt{\log(2 \tilde d / \delta) / (2K)}$.

    Parameters
    ----------
    union
        What the union bound counts. `"paper"`: $\tilde d = \sum_i (D_i - 1)$, all values of a
        feature but one. That is enough for two values, whose deviations are equal; of three or
        more, the one left out may deviate most, so `"full"` counts all of them.
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta: expected a number between 0 and 1, got {delta!r}")
    values = [len(v) for v in problem.features.values()]
    terms = sum(n - 1 if union == "paper" or n <= 2 else n for n in values)
    # A feature with a single value cannot deviate; with no other there is nothing to bound.
    return sqrt(log(2 * terms / delta) / (2 * size)) if terms else 0.0


def rejections(policy: Policy, size: int) -> Any:
    """Lemma 2: the law of the number of people rejected until `size` are accepted.

    People screened = size + this, whose mean is size / rate.
    """
    return stats.nbinom(size, policy.rate)

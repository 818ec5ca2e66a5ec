r"""Estimates of p from a sample: some hundred people tell the shares of hundreds of types badly.

`shrink` mixes the shares of types with the product of the shares of values; `estimate` also mixes
the shares of values with the targets, for a strategy that learns while it recruits.
"""

from __future__ import annotations

import numpy as np

from committees.checks import FloatArray, IntArray
from committees.greedy import feature_sums
from committees.problem import Problem

#: The targets and equal shares, half and half, count like so many people seen.
PRIOR_PEOPLE = 3


def shrink(
    problem: Problem, observed: FloatArray, shares: FloatArray, people: float, least: float = 0.0
) -> tuple[FloatArray, float]:
    r"""Estimate p from a sample of people: a mixture, per type, and its weight lambda.

    The shares of types, $\hat p$ (`observed`, per type), are mixed with the product $t$ of those
    of values, $m$ (`shares`, per value): $p = (1 - \lambda)\,\hat p + \lambda\, t$, where

    $$\lambda = \frac{1 - \sum_x \hat p(x)^2 - \sum_x \hat p(x)\, t(x) \sum_i (1/m^i_{x^i} - 1)}
    {(n - 1) \sum_x (t(x) - \hat p(x))^2} \le 1$$

    estimates the weight with the smallest expected squared error (Hausser and Strimmer 2009, after
    James and Stein; the last term because $t$ comes from the same $n$ people). For few people who
    are all alike the numerator would be 0: it is at least `least`.
    """
    product = problem.product_over_values(shares)
    odds = np.divide(1, shares, out=np.ones_like(shares), where=shares > 0) - 1
    of_same_people = float((observed * product) @ problem.sum_over_values(odds))
    by_chance = max(1 - float(observed @ observed) - of_same_people, least)
    distance = (people - 1) * float(((product - observed) ** 2).sum())
    weight = 1.0
    if distance > by_chance:
        weight = by_chance / distance
    return (1 - weight) * observed + weight * product, weight


def estimate(problem: Problem, seen: IntArray) -> FloatArray:
    r"""The distribution of types, from how often each was seen, without a look at `problem.p`.

    The shares $m$ of a feature's values, of $n$ people seen, are mixed with its targets by the
    weight $(1 - \sum m^2) / ((n - 1) \sum (\rho - m)^2) \le 1$, after James and Stein, and with a
    bit of everything. Their product is mixed with the shares of types by `shrink`.
    """
    people = max(int(seen.sum()), 1)
    rho = problem.rho
    shares = problem.marginals(seen / people)
    by_chance = np.maximum(1 - feature_sums(problem, shares**2), 1 / people)
    distance = (people - 1) * feature_sums(problem, (rho - shares) ** 2)
    weight = by_chance / np.maximum(distance, by_chance)
    shares = shares + weight * (rho - shares)
    prior = PRIOR_PEOPLE * (rho + 1 / problem.n_values) / 2
    shares = (people * shares + prior) / (people + PRIOR_PEOPLE)
    p, _ = shrink(problem, seen / people, shares, people, least=1 / people)
    return p

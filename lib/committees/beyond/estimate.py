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
    towards = problem.product_over_values(shares)
    odds = np.divide(1, shares, out=np.ones_like(shares), where=shares > 0) - 1
    shared = float((observed * towards) @ problem.sum_over_values(odds))
    by_chance = max(1 - float(observed @ observed) - shared, least)
    apart = (people - 1) * float(((towards - observed) ** 2).sum())
    weight = by_chance / apart if apart > by_chance else 1.0
    return (1 - weight) * observed + weight * towards, weight


def estimate(problem: Problem, seen: IntArray) -> FloatArray:
    r"""The distribution of types, from how often each was seen, without a look at `problem.p`.

    The shares $m$ of a feature's values, of $n$ people seen, are mixed with its targets by the
    weight $(1 - \sum m^2) / ((n - 1) \sum (\rho - m)^2) \le 1$, after James and Stein, and with a
    bit of everything. Their product is mixed with the shares of types by `shrink`.
    """
    people, rho = max(int(seen.sum()), 1), problem.rho
    shares = problem.incidence @ seen / people
    by_chance = np.maximum(1 - feature_sums(problem, shares**2), 1 / people)
    apart = (people - 1) * feature_sums(problem, (rho - shares) ** 2)
    shares += by_chance / np.maximum(apart, by_chance) * (rho - shares)
    prior = PRIOR_PEOPLE * (rho + 1 / problem.n_values) / 2
    shares = (people * shares + prior) / (people + PRIOR_PEOPLE)
    return shrink(problem, seen / people, shares, people, least=1 / people)[0]

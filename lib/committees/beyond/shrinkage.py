r"""Shares of hundreds of types from some hundred people: mix them with what is known better.

Some hundred people tell the shares of each value well, but not the shares of hundreds of types:
most types were met once or never. With $\hat p$ the shares of the types among $n$ people, and $t$
others to go towards, such as the product of the marginals, take
$p = (1 - \lambda)\,\hat p + \lambda\, t$, where

$$\lambda = \frac{1 - \sum_x \hat p(x)^2}{(n - 1) \sum_x (t(x) - \hat p(x))^2}$$

(at most one) estimates the mixture with the smallest expected squared error (Hausser and Strimmer
2009, after James and Stein). With many people, or much dependence, it goes to zero: then the people
speak for themselves.
"""

from __future__ import annotations

from committees.checks import FloatArray


def shrink(
    often: FloatArray, towards: FloatArray, people: float, least: float = 0.0
) -> tuple[FloatArray, float]:
    """Mix the shares found among so many people with others, and say with which weight.

    The numerator of the weight is taken to be at least `least`: of a few people who are all alike
    it would be 0, and they would be believed at once.
    """
    by_chance = max(1 - float((often**2).sum()), least)
    apart = (people - 1) * float(((towards - often) ** 2).sum())
    weight = by_chance / apart if apart > by_chance else 1.0
    return (1 - weight) * often + weight * towards, weight

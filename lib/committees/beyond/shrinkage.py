r"""Shares of hundreds of types from some hundred people: mix them with what is known better.

Some hundred people tell the shares of each value well, but not the shares of hundreds of types:
most types were met once or never. With $\hat p$ the shares of the types among $n$ people, and $t$
others to go towards, such as the product of the marginals, take
$p = (1 - \lambda)\,\hat p + \lambda\, t$, where

$$\lambda = \frac{1 - \sum_x \hat p(x)^2}{(n - 1) \sum_x (t(x) - \hat p(x))^2}$$

(at most one) estimates the mixture with the smallest expected squared error (Hausser and Strimmer
2009, after James and Stein). With many people, or much dependence, it goes to zero.
"""

from __future__ import annotations

from committees.checks import FloatArray


def shrink(
    observed: FloatArray, towards: FloatArray, people: float, least: float = 0.0
) -> tuple[FloatArray, float]:
    """The mixture p of the shares observed among n people with others, and lambda.

    Shares are ndarrays of float, per type. The numerator of lambda is at least `least`: for a few
    people who are all alike it would be 0.

    >>> import numpy as np
    >>> shrink(np.array([0.6, 0.4]), np.array([0.5, 0.5]), people=101)[0].round(3)
    array([0.576, 0.424])
    """
    by_chance = max(1 - float((observed**2).sum()), least)
    apart = (people - 1) * float(((towards - observed) ** 2).sum())
    weight = by_chance / apart if apart > by_chance else 1.0
    return (1 - weight) * observed + weight * towards, weight

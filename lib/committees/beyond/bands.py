r"""What keeps a committee inside a band, and how many people the best rule still sees.

A full committee holds between low and high people of each value: the **band**, from a tolerance
(`greedy.band`) or as given.

**What is open.** With counts $n$ and $k$ seats left, a committee inside the band can be reached if
and only if, in every feature, $n \le \text{high}$ and $\sum_j (\text{low}_j - n_j)^+ \le k$: first
the values below their lows are given their seats, then the others, for which there is room because
$\sum_j \text{high}_j \ge K$. So accepting value $v$ keeps the band within reach if and only if
$n_v < \text{high}_v$, and either $n_v < \text{low}_v$ or $\sum_j (\text{low}_j - n_j)^+ < k$. Call
such a value **open**. Some value of each feature always is: if the lows need all $k$ seats, those
below them, and otherwise all that have room. A strategy that accepts only types whose values are
all open, and always one of them, **never gets stuck and ends inside the band if every type can
occur**, whatever else it does, and whatever it knows of $p$. If some types cannot occur, all the
types that are open may be among them: a dead end.

**The optimum.** Let $V(x)$ be the people still to be seen, on average, once type $x$ has been
accepted. Before that, the best set of types to accept has the smallest
$v = (1 + \sum_{x \in S} p(x) V(x)) / p(S)$; it is $S = \{x : V(x) < v\}$, and $v$ solves
$\sum_x p(x)\,(v - V(x))^+ = 1$: what one more person is worth is one person.
"""

from __future__ import annotations

import numpy as np

from committees.checks import BoolArray, FloatArray, IntArray
from committees.greedy import feature_sums
from committees.problem import Problem

#: The largest number below infinity.
LARGEST = np.finfo(float).max


def open_values(
    problem: Problem, low: IntArray, high: IntArray, counts: IntArray, left: int
) -> BoolArray:
    """Which values are open; low, high and counts are per value (along the last axis).

    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.5, 0.5])
    >>> open_values(problem, np.array([2, 2]), np.array([2, 2]), counts=np.array([2, 1]), left=1)
    array([False,  True])
    """
    lacking = np.maximum(low - counts, 0)
    spare = feature_sums(problem, lacking) < left
    return np.asarray((counts < high) & (spare | (lacking > 0)))


def feature_slices(problem: Problem) -> list[slice]:
    """Where the values of each feature stand in an array per value."""
    ends = np.cumsum(problem.shape).tolist()
    return [slice(end - n, end) for end, n in zip(ends, problem.shape, strict=True)]


def check_band(problem: Problem, size: int, low: IntArray, high: IntArray) -> None:
    """Refuse a band that holds no committee of this size."""
    is_wrong = (low < 0) | (low > high)
    if is_wrong.any():
        feature, value = problem.labels[is_wrong][0]
        raise ValueError(f"feature {feature!r}, value {value!r}: expected 0 <= fewest <= most")
    for feature, values in zip(problem.features, feature_slices(problem), strict=True):
        fewest = low[values].sum()
        most = high[values].sum()
        if not fewest <= size <= most:
            raise ValueError(
                f"feature {feature!r}: {size} seats do not fit between {fewest}, the sum "
                f"of the fewest, and {most}, the sum of the most"
            )


def fewest_ahead(V: FloatArray, p: FloatArray) -> FloatArray:
    """The smallest (1 + sum of p(x) V(x) over S) / p(S) of all sets S of types.

    V is per type along its last axis, infinite for types that cannot be accepted. First S is all
    types, then those with V below what this gives, and so on while it gives fewer people: types
    only leave S, so it ends after a few steps. This is Newton's method for the equation above.

    >>> float(fewest_ahead(np.array([0.0, 3.0]), np.array([0.5, 0.5])))
    2.0
    """
    if V.ndim == 1:
        return np.asarray(_fewest_of_one(V, p))
    weighted = np.minimum(V, LARGEST) * p  # those that are infinite are never chosen
    fewest = np.full(V.shape[:-1], np.inf)
    is_chosen = np.empty(V.shape)
    while True:
        np.greater(fewest[..., None], V, out=is_chosen)  # in place: fresh memory takes longer
        share = is_chosen @ p
        fewer = np.full_like(fewest, np.inf)
        np.divide(1 + np.vecdot(is_chosen, weighted), share, out=fewer, where=share > 0)
        if not (fewer < fewest).any():
            return fewest
        fewest = np.minimum(fewest, fewer)


def _fewest_of_one(V: FloatArray, p: FloatArray) -> float:
    """The same for one committee: several times as fast in plain numbers."""
    both = np.stack([p, np.minimum(V, LARGEST) * p])
    is_chosen = np.empty(V.shape)
    fewest = np.inf
    while True:
        np.greater(fewest, V, out=is_chosen)
        share, weighted = both.dot(is_chosen).tolist()
        if not share > 0:
            return fewest
        fewer = (1 + weighted) / share
        if not fewer < fewest:
            return fewest
        fewest = fewer

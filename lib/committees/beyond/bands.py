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


def check_band(problem: Problem, size: int, low: IntArray, high: IntArray) -> None:
    """Refuse a band that holds no committee of this size."""
    for feature, values in problem.features.items():
        own = problem.labels.get_level_values(0) == feature
        if not (low[own] >= 0).all() or not (low[own] <= high[own]).all():
            value = values[int(np.argmax((low[own] < 0) | (low[own] > high[own])))]
            raise ValueError(f"feature {feature!r}, value {value!r}: expected 0 <= fewest <= most")
        if not low[own].sum() <= size <= high[own].sum():
            raise ValueError(
                f"feature {feature!r}: {size} seats do not fit between {low[own].sum()}, the sum "
                f"of the fewest, and {high[own].sum()}, the sum of the most"
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
    v, chosen = np.full(V.shape[:-1], np.inf), np.empty(V.shape)
    while True:
        np.greater(v[..., None], V, out=chosen)  # in place: fresh memory would take longer
        share = chosen @ p
        found = np.full_like(v, np.inf)
        np.divide(1 + np.vecdot(chosen, weighted), share, out=found, where=share > 0)
        if not (found < v).any():
            return v
        v = np.minimum(v, found)


def _fewest_of_one(V: FloatArray, p: FloatArray) -> float:
    """The same for one committee: several times as fast in plain numbers."""
    v, chosen, both = np.inf, np.empty(V.shape), np.empty((2, *V.shape))
    both[0], both[1] = p, np.minimum(V, LARGEST) * p
    while True:
        np.greater(v, V, out=chosen)
        share, weighted = both.dot(chosen).tolist()
        if not (share > 0 and (found := (1 + weighted) / share) < v):
            return v
        v = found

r"""The best that can be done online: dynamic programming over committees.

With $K$ seats, let $N$ be the committee so far, and $V(N)$ the smallest expected number of people
still to be seen until it is full **and** within the band that `Resolving` keeps to. In state $N$ a
rule accepts a set $S$ of types; the wait for one of them is $1/p(S)$ on average, and which comes is
drawn in proportion to $p$, so

$$V(N) = \min_{S} \frac{1 + \sum_{x \in S} p(x)\, V(N + x)}{p(S)}, \qquad
V(N) = 0 \text{ or } \infty \text{ for full committees, as they lie in the band or not.}$$

The minimum is over $2^n$ sets, but the best one accepts exactly the types with $V(N + x) < V(N)$:
sort the types by $V(N + x)$, and take the best beginning of the list. Coins would not help.

Only the counts of each value matter, so a state is one number for each value of each feature but
the last (which follows from the number of seats filled). The table has a cell for each combination
of counts: three binary features and a hundred seats fit easily, the six features of the Brexit
assembly do not, and never will.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from committees.checks import number
from committees.problem import FloatArray, IntArray, Problem
from committees.resolving import band, fewest
from committees.strategy import BoolArray, Session, Strategy

#: A larger table does not fit into memory.
MOST_CELLS = 200_000_000

#: Types are accepted if this makes the future shorter by more than rounding.
ROUNDING = 1e-12


@lru_cache(maxsize=4)
def table(problem: Problem, size: int, tolerance: float) -> FloatArray:
    """The expected number of people still to be seen: one axis for the seats filled, then one for
    the count of each value but the last of each feature.
    """
    low, high = band(problem, size, tolerance)
    free = _free(problem)
    shape = (size + 1, *(int(most) + 1 for most in high[free]))  # which cannot overflow
    if prod(shape) > MOST_CELLS:
        raise ValueError(
            f"the table of all committees has {prod(shape):.2g} cells, more than {MOST_CELLS:,}; "
            "take fewer features or seats"
        )
    values = np.full(shape, np.inf)
    values[size] = _within(problem, size, low, high, shape[1:])
    kinds = np.flatnonzero(problem.p > 0).tolist()
    for seated in range(size - 1, -1, -1):
        # Counts cannot exceed the seats that are filled: the rest of the layer stays infinite.
        reach = tuple(slice(0, min(seated, int(most) - 1) + 1) for most in shape[1:])
        after = [_after(values[seated + 1, ...], problem, kind, free)[reach] for kind in kinds]
        values[seated, ...][reach] = fewest(np.stack(after, axis=-1), problem.p[kinds])
    values.flags.writeable = False
    return values


def fewest_people(problem: Problem, size: int, tolerance: float) -> float:
    """The smallest expected number of people that any online rule must see."""
    return float(table(problem, size, tolerance)[(0,) * (1 + int(_free(problem).sum()))])


def _free(problem: Problem) -> BoolArray:
    """Which values have an axis: all but the last of each feature."""
    feature = problem.values.get_level_values(0).to_numpy()
    return np.append(feature[1:] == feature[:-1], False)


def _within(
    problem: Problem, size: int, low: IntArray, high: IntArray, shape: tuple[int, ...]
) -> FloatArray:
    """Zero for the full committees in the band, infinity for the others."""
    free = _free(problem)
    counts = np.indices(shape, sparse=True)
    good = np.ones(shape, dtype=bool)
    axis, used = 0, np.zeros((1,) * len(shape), dtype=np.intp)
    for value in range(len(free)):
        if free[value]:
            count, axis, used = counts[axis], axis + 1, used + counts[axis]
        else:
            count, used = size - used, np.zeros((1,) * len(shape), dtype=np.intp)
        good &= (count >= low[value]) & (count <= high[value])
    return np.where(good, 0.0, np.inf)


def _after(layer: FloatArray, problem: Problem, kind: int, free: BoolArray) -> FloatArray:
    """The values of a layer at N + x, for all N; infinite beyond the edge."""
    axis_of = np.cumsum(free) - 1
    moved = np.full_like(layer, np.inf)
    axes = [int(axis_of[value]) for value in problem.codes[kind] if free[value]]
    take = tuple(slice(1, None) if axis in axes else slice(None) for axis in range(layer.ndim))
    put = tuple(slice(None, -1) if axis in axes else slice(None) for axis in range(layer.ndim))
    moved[put] = layer[take]
    return moved


@dataclass(frozen=True)
class Optimal(Strategy):
    """The optimal online rule, for few types and small committees.

    Parameters
    ----------
    tolerance
        The band that the committee must end in, as for `Resolving`.
    """

    tolerance: float

    def __post_init__(self) -> None:
        number("tolerance", self.tolerance, 0, 1)

    def start(self, problem: Problem, size: int) -> Session:
        values = table(problem, size, self.tolerance)
        if not np.isfinite(fewest_people(problem, size, self.tolerance)):
            raise ValueError(f"{self}: no committee within the band can be had for certain")
        return _OptimalSession(problem, values)

    def __str__(self) -> str:
        return f"Optimal {self.tolerance:.12g}"


class _OptimalSession(Session):
    def __init__(self, problem: Problem, values: FloatArray) -> None:
        self._problem, self._values, self._free = problem, values, _free(problem)
        self._counts = np.zeros(len(problem.target), dtype=np.intp)
        self._seated = 0
        self._steps = np.asarray(problem.incidence.T.toarray()[:, self._free], dtype=np.intp)
        self.acceptance = self._choose()

    def see(self, kinds: IntArray, accepted: BoolArray) -> int:
        chosen = np.flatnonzero(accepted)
        if not len(chosen):
            return len(kinds)
        self._move(int(kinds[chosen[0]]), +1)
        return int(chosen[0]) + 1

    def leave(self, kind: int) -> None:
        self._move(kind, -1)

    def _move(self, kind: int, step: int) -> None:
        self._counts[self._problem.codes[kind]] += step
        self._seated += step
        self.acceptance = self._choose()

    def _choose(self) -> FloatArray:
        """Accept the types that make the future shorter."""
        if self._seated == len(self._values) - 1:
            return np.zeros(len(self._problem.p))
        here = self._counts[self._free]
        after = here + self._steps
        inside = (after < self._values.shape[1:]).all(axis=1)
        future = np.full(len(after), np.inf)
        future[inside] = self._values[self._seated + 1][tuple(after[inside].T)]
        shorter = future < self._values[(self._seated, *here)] - ROUNDING
        return np.asarray(shorter, dtype=float)

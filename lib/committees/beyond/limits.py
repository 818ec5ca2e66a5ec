r"""What no strategy can beat.

Three lower limits on the people seen until $K$ seats are filled within a band (`resolving.band`),
from the loosest that is quick to the tightest that is not:

- **Fluid**: a rule that stops after $T$ people on average has met $p(x)\,T$ of type $x$ on average
  (Wald), so the averages of whom it seats satisfy the constraints of the linear program of the
  seats. Hence no rule, not even one that chooses the committee when it stops, sees fewer people on
  average than that program's optimum.
- **Hindsight**: of a given stream, the shortest beginning that contains a committee in the band. No
  rule stops earlier on that stream. Found by bisection, since more people never hurt; each step
  asks an integer program whether a committee exists.
- **Optimal** (`committees.beyond.limits`): the best online rule, where its table fits into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import ClassVar

import numpy as np
from scipy import optimize

from committees.beyond.plan import plan_lp
from committees.beyond.resolving import fewest
from committees.checks import BoolArray, FloatArray, IntArray, check_number
from committees.greedy import band
from committees.lp import solve
from committees.problem import Problem
from committees.strategy import Session, Strategy


def fluid(problem: Problem, size: int, tolerance: float) -> float:
    """People that every rule must see on average, by the linear program of the seats."""
    low, high = band(problem, size, tolerance)
    return 1 / solve(plan_lp(problem, size, low, high)[0])


def hindsight(problem: Problem, size: int, tolerance: float, type_ids: IntArray) -> int:
    """The shortest beginning of a stream of people that contains a committee within the band.

    Parameters
    ----------
    type_ids
        The types of the people who come, in order; `recruitment.stream` draws some.
    """
    low, high = band(problem, size, tolerance)
    has = np.zeros((len(type_ids), len(low)), dtype=np.intp)
    np.put_along_axis(has, problem.codes[type_ids], 1, axis=1)
    plenty = (np.cumsum(has, axis=0) >= low).all(axis=1) & (np.arange(len(type_ids)) >= size - 1)
    none = ValueError(f"among {len(type_ids)} people there is no committee within the band")
    if not plenty.any():
        raise none
    # Before there are enough people of every value, no need to ask.
    lacking = int(np.argmax(plenty))
    enough, step = lacking + 1, 1
    while not _has_committee(problem, size, low, high, type_ids[:enough]):
        if enough == len(type_ids):
            raise none
        lacking, enough, step = enough, min(enough + step, len(type_ids)), 2 * step
    while enough - lacking > 1:
        middle = (lacking + enough) // 2
        if _has_committee(problem, size, low, high, type_ids[:middle]):
            enough = middle
        else:
            lacking = middle
    return enough


def _has_committee(
    problem: Problem, size: int, low: IntArray, high: IntArray, type_ids: IntArray
) -> bool:
    """Whether some of these people make a committee within the band."""
    present, counts = np.unique(type_ids, return_counts=True)
    values = problem.incidence[:, present]
    found = optimize.milp(
        np.zeros(len(present)),
        integrality=np.ones(len(present)),
        bounds=optimize.Bounds(0, counts),
        constraints=[
            optimize.LinearConstraint(values, low, high),
            optimize.LinearConstraint(np.ones((1, len(present))), size, size),
        ],
    )
    return bool(found.status == 0)


#: A larger table does not fit into memory.
MOST_CELLS = 200_000_000

#: Types are accepted if this makes the future shorter by more than rounding.
ROUNDING = 1e-12


@lru_cache(maxsize=4)
def optimal_table(problem: Problem, size: int, tolerance: float) -> FloatArray:
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
    type_ids = np.flatnonzero(problem.p > 0).tolist()
    for seated in range(size - 1, -1, -1):
        # Counts cannot exceed the seats that are filled: the rest of the layer stays infinite.
        reach = tuple(slice(0, min(seated, int(most) - 1) + 1) for most in shape[1:])
        after = [
            _after(values[seated + 1, ...], problem, type_id, free)[reach] for type_id in type_ids
        ]
        values[seated, ...][reach] = fewest(np.stack(after, axis=-1), problem.p[type_ids])
    values.flags.writeable = False
    return values


def fewest_screened(problem: Problem, size: int, tolerance: float) -> float:
    """The smallest expected number of people that any online rule must see."""
    return float(optimal_table(problem, size, tolerance)[(0,) * (1 + int(_free(problem).sum()))])


def _free(problem: Problem) -> BoolArray:
    """Which values have an axis: all but the last of each feature."""
    feature = problem.labels.get_level_values(0).to_numpy()
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


def _after(layer: FloatArray, problem: Problem, type_id: int, free: BoolArray) -> FloatArray:
    """The values of a layer at N + x, for all N; infinite beyond the edge."""
    axis_of = np.cumsum(free) - 1
    moved = np.full_like(layer, np.inf)
    axes = [int(axis_of[value]) for value in problem.codes[type_id] if free[value]]
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

    family: ClassVar[str] = "Optimal"

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, 0, 1)

    def start(self, problem: Problem, size: int) -> Session:
        values = optimal_table(problem, size, self.tolerance)
        if not np.isfinite(fewest_screened(problem, size, self.tolerance)):
            raise ValueError(f"{self}: no committee within the band can be had for certain")
        return _OptimalSession(problem, values)

    @property
    def name(self) -> str:
        return f"Optimal {self.tolerance:.12g}"


class _OptimalSession(Session):
    def __init__(self, problem: Problem, values: FloatArray) -> None:
        self._problem, self._values, self._free = problem, values, _free(problem)
        self._counts = np.zeros(len(problem.rho), dtype=np.intp)
        self._seated = 0
        self._steps = np.asarray(problem.incidence.T.toarray()[:, self._free], dtype=np.intp)
        self.acceptance = self._choose()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        chosen = np.flatnonzero(accepted)
        if not len(chosen):
            return len(type_ids)
        self._move(int(type_ids[chosen[0]]), +1)
        return int(chosen[0]) + 1

    def leave(self, type_id: int) -> None:
        self._move(type_id, -1)

    def _move(self, type_id: int, step: int) -> None:
        self._counts[self._problem.codes[type_id]] += step
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

r"""What no strategy can beat.

Three lower limits on the people seen until $K$ seats are filled within a band (`greedy.band`), from
the loosest, which is quick, to the tightest, which is not:

- **Fluid**: a rule that stops after $T$ people on average has met $p(x)\,T$ of type $x$ on average
  (Wald), so the averages of whom it seats satisfy the constraints of the plan for all seats
  (`committees.beyond.plan`, without margins). Hence no rule, not even one that chooses the
  committee when it stops, sees fewer people on average than that program's optimum.
- **Hindsight**: of a given stream, the shortest beginning that contains a committee in the band. No
  rule stops earlier on that stream. Found by bisection, since more people never hurt; each step
  asks an integer program whether a committee exists.
- **Optimal**: the best online rule, by dynamic programming. With $V(N)$ the fewest people still to
  be seen, on average, after the committee $N$, and $S$ the set of types accepted next,

  $$V(N) = \min_S \frac{1 + \sum_{x \in S} p(x)\, V(N + x)}{p(S)},$$

  where $V$ of a full committee is 0 in the band and infinite outside. Committees with the same
  counts of each value have the same future: the table has a cell for each combination of counts.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import ClassVar

import numpy as np
from scipy import optimize

from committees.beyond.plan import plan_lp
from committees.beyond.resolving import fewest_ahead
from committees.checks import BoolArray, FloatArray, IntArray, check_number, frozen
from committees.greedy import band
from committees.lp import solve
from committees.problem import Problem
from committees.strategy import Session, Strategy

#: Larger tables do not fit into memory.
MAX_CELLS = 200_000_000
#: A type is accepted if this makes the people ahead fewer by more than rounding.
ROUNDING = 1e-12


def fluid(problem: Problem, size: int, tolerance: float) -> float:
    """People that every rule must see on average, by the plan for all seats.

    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.75, 0.25])
    >>> round(fluid(problem, 10, tolerance=0), 6), round(fluid(problem, 10, tolerance=0.1), 6)
    (20.0, 16.0)
    """
    low, high = band(problem, size, tolerance)
    return 1 / solve(plan_lp(problem, size, low, high)[0])


def hindsight(problem: Problem, size: int, tolerance: float, type_ids: IntArray) -> int:
    """The length of the shortest beginning of a stream that contains a committee in the band.

    `type_ids` are the types of the people who come, in order, as `volunteers.stream` draws them.
    """

    def enough(people: int) -> bool:
        return has_committee(problem, size, tolerance, type_ids[:people])

    low, _ = band(problem, size, tolerance)
    has_value = np.zeros((len(type_ids), len(low)), dtype=np.intp)
    np.put_along_axis(has_value, problem.codes[type_ids], 1, axis=1)
    # So many are too few, or have too few of some value: there is no need to ask.
    too_few = max(size - 1, int((np.cumsum(has_value, axis=0) < low).any(axis=1).sum()))
    step = 1
    while too_few < len(type_ids) and not enough(min(too_few + step, len(type_ids))):
        too_few, step = min(too_few + step, len(type_ids)), 2 * step
    if too_few >= len(type_ids):
        raise ValueError(f"among {len(type_ids)} people there is no committee within the band")
    between = range(too_few + 1, min(too_few + step, len(type_ids)))
    return too_few + 1 + bisect_left(between, True, key=enough)


def has_committee(problem: Problem, size: int, tolerance: float, type_ids: IntArray) -> bool:
    """Whether some of these people, given their types, make a committee within the band."""
    present, counts = np.unique(type_ids, return_counts=True)
    found = optimize.milp(
        np.zeros(len(present)),
        integrality=np.ones(len(present)),
        bounds=optimize.Bounds(0, counts),
        constraints=[
            (problem.incidence[:, present], *band(problem, size, tolerance)),
            (np.ones((1, len(present))), size, size),
        ],
    )
    return bool(found.status == 0)


@lru_cache(maxsize=4)
def optimal_table(problem: Problem, size: int, tolerance: float) -> FloatArray:
    """V(N): one axis for the seats filled, then one for the count of each free value.

    All values but the last of each feature are free: the last has the seats that are left.
    """
    low, high = band(problem, size, tolerance)
    steps, most = _steps(problem)[problem.p > 0], high[_is_free(problem)].tolist()
    shape = (size + 1, *(count + 1 for count in most))
    if prod(shape) > MAX_CELLS:
        raise ValueError(
            f"the table of all committees has {prod(shape):.2g} cells, more than {MAX_CELLS:,}; "
            "take fewer features or seats"
        )
    V = np.full(shape, np.inf)
    V[size] = np.where(_in_band(problem, size, low, high, shape[1:]), 0.0, np.inf)
    for seated in range(size - 1, -1, -1):
        # Counts cannot exceed the seats that are filled: the rest of the layer stays infinite.
        reach = np.minimum(seated, most) + 1
        after = np.pad(V[seated + 1, ...], (0, 1), constant_values=np.inf)
        moved = [after[tuple(map(slice, step, step + reach))] for step in steps]
        fewest = fewest_ahead(np.stack(moved, axis=-1), problem.p[problem.p > 0])
        V[seated, ...][tuple(map(slice, reach))] = fewest
    return frozen(V)


def fewest_screened(problem: Problem, size: int, tolerance: float) -> float:
    """The smallest expected number of people that any online rule must see."""
    return float(optimal_table(problem, size, tolerance).flat[0])


def _is_free(problem: Problem) -> BoolArray:
    """Per value: whether it has an axis, as all but the last of each feature do."""
    return ~np.isin(np.arange(1, len(problem.rho) + 1), np.cumsum(problem.shape))


def _steps(problem: Problem) -> IntArray:
    """For each type (row), how it moves the committee along each axis (column): 0 or 1."""
    return np.asarray(problem.incidence.T.toarray()[:, _is_free(problem)], dtype=np.intp)


def _in_band(
    problem: Problem, size: int, low: IntArray, high: IntArray, shape: tuple[int, ...]
) -> BoolArray:
    """Which full committees are in the band, as a table with an axis for each free value."""
    inside, axes = np.ones(shape, dtype=bool), iter(np.indices(shape, sparse=True))
    for first, n_values in zip(problem.codes[0], problem.shape, strict=True):
        counts = [next(axes) for _ in range(n_values - 1)]
        for value, count in enumerate([*counts, size - sum(counts)], start=first):
            inside &= (low[value] <= count) & (count <= high[value])
    return inside


@dataclass(frozen=True)
class Optimal(Strategy):
    """The optimal online rule, for few types and small committees; `tolerance` sets the band."""

    tolerance: float
    family: ClassVar[str] = "Optimal"

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, 0, 1)

    @property
    def name(self) -> str:
        return f"Optimal {self.tolerance:.12g}"

    def start(self, problem: Problem, size: int) -> Session:
        V = optimal_table(problem, size, self.tolerance)
        if not np.isfinite(V.flat[0]):
            raise ValueError(f"{self}: no committee within the band can be had for certain")
        return _OptimalSession(problem, V)


class _OptimalSession(Session):
    def __init__(self, problem: Problem, V: FloatArray) -> None:
        self._V, self._steps = V, np.insert(_steps(problem), 0, 1, axis=1)
        self._state = np.zeros(V.ndim, dtype=np.intp)  # seats filled, then counts
        self._move(0, 0)

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        noted = int(np.argmax(accepted)) + 1 if accepted.any() else len(type_ids)
        if accepted[noted - 1]:
            self._move(int(type_ids[noted - 1]), +1)
        return noted

    def leave(self, type_id: int) -> None:
        self._move(type_id, -1)

    def _move(self, type_id: int, people: int) -> None:
        """Seat so many people of a type, and accept the types that make the future shorter."""
        self._state = self._state + people * self._steps[type_id]
        after = self._state + self._steps
        inside = (after < self._V.shape).all(axis=1)
        ahead = np.full(len(after), np.inf)
        ahead[inside] = self._V[tuple(after[inside].T)]
        self.acceptance = (ahead < self._V[tuple(self._state)] - ROUNDING).astype(float)

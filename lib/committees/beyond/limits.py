r"""What no strategy can beat.

Three lower limits on the people seen until $K$ seats are filled within a band (`greedy.band`), from
the loosest, which is quick, to the tightest, which is not:

- **Fluid**: a rule that stops after $T$ people on average has met $p(x)\,T$ of type $x$ on average
  (Wald), so the averages $y$ of whom it seats satisfy $0 \le y \le p\,T$, $\sum_x y(x) = K$ and
  $\text{low} \le A y \le \text{high}$. No rule, not even one that chooses the committee when it
  stops, sees fewer people on average than the smallest such $T$, a linear program.
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
from functools import lru_cache
from math import prod

import cvxpy as cp
import numpy as np
from scipy import optimize

from committees.beyond.bands import feature_slices, fewest_ahead
from committees.checks import BoolArray, FloatArray, IntArray, frozen
from committees.greedy import band
from committees.lp import solve
from committees.problem import Problem

#: Larger tables do not fit into memory.
MAX_CELLS = 200_000_000


def fluid_lp(problem: Problem, size: int, low: IntArray, high: IntArray) -> cp.Problem:
    """State the program of the fluid limit, in terms of the rate 1/T and of the masses y/T."""
    mass = cp.Variable(len(problem.p), bounds=[0, problem.p], name="mass")
    rate = cp.Variable(nonneg=True, name="rate")
    by_value = problem.incidence @ mass
    band_of_shares = [by_value >= low * rate, by_value <= high * rate]
    return cp.Problem(cp.Maximize(rate), [*band_of_shares, cp.sum(mass) == size * rate])


def fluid(problem: Problem, size: int, tolerance: float) -> float:
    """People that every rule must see on average.

    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.75, 0.25])
    >>> round(fluid(problem, 10, tolerance=0), 6), round(fluid(problem, 10, tolerance=0.1), 6)
    (20.0, 16.0)
    """
    return 1 / solve(fluid_lp(problem, size, *band(problem, size, tolerance)))


def hindsight(problem: Problem, size: int, tolerance: float, type_ids: IntArray) -> int:
    """The length of the shortest beginning of a stream that contains a committee in the band.

    `type_ids` are the types of the people who come, in order, as `volunteers.stream` draws them.
    """

    def enough(people: int) -> bool:
        return has_committee(problem, size, tolerance, type_ids[:people])

    too_few = _certainly_too_few(problem, size, tolerance, type_ids)
    step = 1
    while too_few < len(type_ids) and not enough(min(too_few + step, len(type_ids))):
        too_few = min(too_few + step, len(type_ids))
        step = 2 * step
    if too_few >= len(type_ids):
        raise ValueError(f"among {len(type_ids)} people there is no committee within the band")
    between = range(too_few + 1, min(too_few + step, len(type_ids)))
    return too_few + 1 + bisect_left(between, True, key=enough)


def _certainly_too_few(problem: Problem, size: int, tolerance: float, type_ids: IntArray) -> int:
    """The longest beginning with too few people, or too few of some value."""
    low, _ = band(problem, size, tolerance)
    has_value = np.zeros((len(type_ids), len(low)), dtype=np.intp)
    np.put_along_axis(has_value, problem.codes[type_ids], 1, axis=1)
    lacks_a_value = (np.cumsum(has_value, axis=0) < low).any(axis=1)
    return max(size - 1, int(lacks_a_value.sum()))


def has_committee(problem: Problem, size: int, tolerance: float, type_ids: IntArray) -> bool:
    """Whether some of these people, given their types, make a committee within the band."""
    present, counts = np.unique(type_ids, return_counts=True)
    answer = optimize.milp(
        np.zeros(len(present)),
        integrality=np.ones(len(present)),
        bounds=optimize.Bounds(0, counts),
        constraints=[
            (problem.incidence[:, present], *band(problem, size, tolerance)),
            (np.ones((1, len(present))), size, size),
        ],
    )
    return bool(answer.status == 0)


@lru_cache(maxsize=4)
def optimal_table(problem: Problem, size: int, tolerance: float) -> FloatArray:
    """V(N): one axis for the seats filled, then one for the count of each free value.

    All values but the last of each feature are free: the last has the seats that are left.
    """
    low, high = band(problem, size, tolerance)
    occurs = problem.p > 0
    steps = _steps(problem)[occurs]
    most = high[_is_free(problem)].tolist()
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
        fewest = fewest_ahead(np.stack(moved, axis=-1), problem.p[occurs])
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
    inside = np.ones(shape, dtype=bool)
    axes = iter(np.indices(shape, sparse=True))
    for values in feature_slices(problem):
        free_counts = [next(axes) for _ in range(values.stop - values.start - 1)]
        counts = [*free_counts, size - sum(free_counts)]
        for count, fewest, most in zip(counts, low[values], high[values], strict=True):
            inside &= (fewest <= count) & (count <= most)
    return inside

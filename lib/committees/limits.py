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
- **Optimal** (`committees.optimal`): the best online rule, where its table fits into memory.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from committees.lp import seats_lp, solve
from committees.problem import IntArray, Problem
from committees.resolving import band


def fluid(problem: Problem, size: int, tolerance: float) -> float:
    """People that every rule must see on average, by the linear program of the seats."""
    low, high = band(problem, size, tolerance)
    return solve(seats_lp(problem, size, low.astype(float), high.astype(float))[0])


def hindsight(problem: Problem, size: int, tolerance: float, kinds: IntArray) -> int:
    """The shortest beginning of a stream of people that contains a committee within the band.

    Parameters
    ----------
    kinds
        The types of the people who come, in order; `recruitment.stream` draws some.
    """
    low, high = band(problem, size, tolerance)
    has = np.zeros((len(kinds), len(low)), dtype=np.intp)
    np.put_along_axis(has, problem.codes[kinds], 1, axis=1)
    plenty = (np.cumsum(has, axis=0) >= low).all(axis=1) & (np.arange(len(kinds)) >= size - 1)
    none = ValueError(f"among {len(kinds)} people there is no committee within the band")
    if not plenty.any():
        raise none
    # Before there are enough people of every value, no need to ask.
    lacking = int(np.argmax(plenty))
    enough, step = lacking + 1, 1
    while not _has_committee(problem, size, low, high, kinds[:enough]):
        if enough == len(kinds):
            raise none
        lacking, enough, step = enough, min(enough + step, len(kinds)), 2 * step
    while enough - lacking > 1:
        middle = (lacking + enough) // 2
        if _has_committee(problem, size, low, high, kinds[:middle]):
            enough = middle
        else:
            lacking = middle
    return enough


def _has_committee(
    problem: Problem, size: int, low: IntArray, high: IntArray, kinds: IntArray
) -> bool:
    """Whether some of these people make a committee within the band."""
    present, counts = np.unique(kinds, return_counts=True)
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

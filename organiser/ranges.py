"""Ranges of seats that leave no room for a committee: the smallest change that would."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import LinearConstraint, milp

from committees.problem import Problem

#: The fewest and the most seats of each value.
Seats = tuple[tuple[int, ...], tuple[int, ...]]


def smallest_change(own: pd.DataFrame, size: int) -> str:
    """What would make room for a committee: so many seats more, or less, in all.

    First those that the file's own flex allows, then the others, the largest groups before.
    """
    is_short = own["max"].sum() < size
    side, word = ("max", "higher") if is_short else ("min", "lower")
    missing = abs(int(size - own[side].sum()))
    room = np.full(len(own), missing) if is_short else own["min"].to_numpy(int)
    flex = (own[f"{side} flex"] - own[side]).abs() if f"{side} flex" in own else 0 * own[side]
    each = np.zeros(len(own), dtype=int)
    for most in (np.minimum(flex.to_numpy(int), room), room):
        for _ in range(missing - each.sum()):
            if (each < most).any():  # one seat at a time, where the range is widest relative to it
                each[np.argmax(np.where(each < most, own["max"] / (each + 1), -1))] += 1
    names = own.index.get_level_values("value")
    parts = [f"{name!r} by {more}" for name, more in zip(names, each, strict=True) if more]
    return f"; with the {side} {word} of {', '.join(parts)} there would be room"


def nearest_ranges(problem: Problem, size: int, seats: Seats) -> str:
    """The fewest seats by which ranges must be moved for a committee to fit; empty if one does.

    A whole-number program: committees of types that occur, and for each value how far below its
    min, or above its max, it may be.
    """
    if problem.p.all():
        return ""  # every feature has been looked at, and all can be combined
    low, high = (np.array(part, dtype=float) for part in seats)
    types, values = np.flatnonzero(problem.p > 0), np.eye(len(low))
    counts = problem.incidence.toarray()[:, types]
    cost = np.concatenate([np.zeros(len(types)), np.ones(2 * len(low))])
    total = np.concatenate([np.ones(len(types)), np.zeros(2 * len(low))])
    found = milp(
        cost,
        integrality=np.ones(len(cost)),
        constraints=[
            LinearConstraint(np.hstack([counts, values, 0 * values]), low, np.inf),
            LinearConstraint(np.hstack([counts, 0 * values, -values]), -np.inf, high),
            LinearConstraint(total[None], size, size),
        ],
    )
    moved = np.round(found.x[len(types) :]).astype(int).reshape(2, -1)
    words = [("min", "lower"), ("max", "higher")]
    parts = [
        f"the {side} of {' '.join(map(str, problem.labels[code]))} {moved[row, code]} {word}"
        for row, (side, word) in enumerate(words)
        for code in np.flatnonzero(moved[row]).tolist()
    ]
    return f"the smallest change that would do: {', '.join(parts)}" if parts else ""

"""Pictures that respond to the reader: the data that the book's scripts draw.

Each is shown in the cell below a still picture. In the book it takes the place of that one, which
stays for paper and for readers without scripts. Numbers are rounded: last digits depend on the
processor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import IPython.display
import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from scipy import sparse

from committees import highs
from committees.checks import FloatArray, IntArray
from committees.problem import Problem
from companion.plots.style import palette
from companion.plots.tables import per_seat

MIME = "application/vnd.committees.picture+json"
#: How far a target moves from where it is, in hundredths.
REACH = 20
#: Of a queue no more people are shown: it would not fit a page.
MOST_PEOPLE = 3000


def targets(problem: Problem, size: int) -> None:
    """Show people per seat as the target of one value moves: choose the value, move its target."""
    moves = []
    for value in range(len(problem.rho)):
        best_rates = rates(problem, value)
        moves.append({"targets": _short(best_rates.index), "rates": _short(best_rates)})
    data = {
        "size": size,
        "shares": _short(problem.presence),
        "colour": _colours(["CMDP"])[0],
        "moves": moves,
    }
    _show("targets", "people per seat, with a target to move", problem, data)


def rates(problem: Problem, value: int) -> pd.Series:
    """The best rate for each of many targets of a value: Series of float, indexed by the targets.

    `value` is its position in `problem.labels`.
    """
    # The columns are the acceptance of each type, and the rate: one column to change.
    n = len(problem.p)
    mass = problem.incidence.multiply(problem.p)
    matrix = sparse.csc_array(sparse.hstack([mass, -problem.rho[:, None]]))
    model = highs.model(matrix, np.r_[np.zeros(n), -1.0])
    best_rates = {}
    for target in _near(problem.rho[value]):
        for row, share in enumerate(moved(problem, value, target)):
            model.changeCoeff(row, n, -float(share))
        best_rates[float(target)] = highs.run(model)[-1]
    return pd.Series(best_rates, name="rate", dtype=float)


def _near(target: float) -> FloatArray:
    """A target and the whole hundredths around it, up to `REACH` of them away."""
    at = 100 * target
    lowest = max(1, np.ceil(at - REACH))
    highest = min(99, np.floor(at + REACH))
    hundredths = np.arange(lowest, highest + 1)
    others = hundredths[np.abs(hundredths - at) > 1e-4] / 100
    return np.sort(np.r_[others, target])


def moved(problem: Problem, value: int, target: float) -> FloatArray:
    """Targets, per value: one has moved, and the others of its feature share the rest as before.

    >>> problem = Problem({"vote": {"a": 0.5, "b": 0.3, "c": 0.2}}, [0.4, 0.4, 0.2])
    >>> moved(problem, 0, 0.75).round(2).tolist()
    [0.75, 0.15, 0.1]
    """
    same = problem.labels.get_level_values(0) == problem.labels[value][0]
    rest = (1 - target) / (1 - problem.rho[value])
    targets = np.where(same, problem.rho * rest, problem.rho)
    targets[value] = target
    return targets


def queue(
    problem: Problem, type_ids: IntArray, screened: Mapping[str, IntArray], name: str
) -> None:
    """Show strategies that fill a committee from the same people: choose one, move along.

    `type_ids` has the types of the people; `screened`, by strategy, the people seen up to each seat
    (`Recruitment.screened`); `name` is the strategy to begin with.
    """
    strategies = []
    for strategy, colour in zip(screened, _colours(screened), strict=True):
        at_seats = screened[strategy]
        seated = at_seats[at_seats <= MOST_PEOPLE].tolist()
        strategies.append({"name": strategy, "colour": colour, "seated": seated})
    data = {
        "people": type_ids[:MOST_PEOPLE].tolist(),
        "size": len(screened[name]),
        "first": name,
        "strategies": strategies,
    }
    _show("queue", "a queue of people, with a strategy to choose", problem, data)


def prices(problem: Problem, type_ids: IntArray, size: int, lead: float) -> None:
    """Show Prices fill a committee, caller by caller: first these people, then others by chance."""
    data = {
        "people": type_ids.tolist(),
        "p": _short(problem.p),
        "size": size,
        "lead": lead,
        "colour": _colours(["Prices"])[0],
    }
    _show("prices", "a committee filled by Prices, caller by caller", problem, data)


def tradeoff(frame: pd.DataFrame) -> None:
    """Show people per seat against loss, of a table of `simulate`: choose a committee size."""
    names = frame["strategy"].unique()
    sizes = sorted(frame["size"].unique().tolist())
    means = per_seat(frame)
    strategies = []
    for name, colour in zip(names, _colours(names), strict=True):
        path = means.loc[name].loc[sizes]
        strategies.append(
            {
                "name": name,
                "colour": colour,
                "screened": _short(path["screened"]),
                "loss": _short(path["loss"]),
            }
        )
    data = {"sizes": sizes, "strategies": strategies}
    _show("tradeoff", "people per seat against loss, with a committee size to choose", None, data)


def _colours(names: Iterable[str]) -> list[str]:
    return [to_hex(colour) for colour in palette(names).values()]


def _short(numbers: Iterable[float]) -> list[float]:
    return [float(f"{number:.7g}") for number in numbers]


def _show(kind: str, words: str, problem: Problem | None, data: dict[str, Any]) -> None:
    data = {"kind": kind, "words": words, **data}
    if problem is not None:
        # Not by name: notebooks are stored with names in alphabetical order.
        features = [[name, list(values)] for name, values in problem.features.items()]
        data |= {"features": features, "targets": _short(problem.rho)}
    plain = f"In the book this picture responds: {words}."
    IPython.display.display({MIME: data, "text/plain": plain}, raw=True)

"""95 % intervals: of a mean, of a table of means, and of numbers computed from such tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from committees.checks import FloatArray

#: A table of means: a row per strategy and size, the columns screened and loss.
Means = Any
#: Which column of a table of `simulate` counts people. Both have the same mean, given who was
#: accepted; the expected ones vary less.
People = Literal["expected", "screened"]


def standard_errors(n: int) -> float:
    """Half of the 95 % interval of a mean of n numbers, in standard errors: Student's t.

    >>> round(standard_errors(5), 2), round(standard_errors(1000), 2)
    (2.78, 1.96)
    """
    return float(stats.t.ppf(0.975, n - 1))


def half_width(values: Iterable[float]) -> float:
    """Half of the 95 % interval of the mean of independent numbers; nan for a single one.

    >>> round(half_width([1.0, 2.0, 3.0, 4.0]), 3)
    2.054
    """
    numbers: Any = pd.Series(values)
    return standard_errors(len(numbers)) * float(numbers.sem())


def share_error(successes: int, n: int) -> float:
    """Half of the 95 % interval of a share, after Agresti and Coull: not 0 if all succeeded.

    >>> round(share_error(200, 200), 3)
    0.014
    """
    share = (successes + 2) / (n + 4)
    return float(1.96 * np.sqrt(share * (1 - share) / (n + 4)))


def means(frame: pd.DataFrame, people: People = "expected") -> pd.DataFrame:
    """The means of a table of `simulate`, each with the half-width of its 95 % interval.

    A row per strategy and size; the columns screened and loss, below "mean" and below "±". People
    screened are counted by the column `people`.
    """
    _check_people(frame, people)
    grouped = frame.groupby(["strategy", "size"], sort=False)[[people, "loss"]]
    errors = grouped.sem().mul(grouped.size().map(standard_errors), axis=0)
    both = pd.concat({"mean": grouped.mean(), "±": errors}, axis=1)
    return both.rename(columns={people: "screened"}, level=1)


def _check_people(frame: pd.DataFrame, people: People) -> None:
    if people not in frame:
        raise ValueError(f"people: the table has no column {people!r}")


def summary(frame: pd.DataFrame, **labels: str) -> pd.DataFrame:
    """`means` as a flat table, a row per strategy and size, that begins with these labels.

    >>> from committees import CMDP, datasets, simulate
    >>> frame = simulate(CMDP(), datasets.brexit(["gender"]), 10, runs=4)
    >>> list(summary(frame, figure="1"))
    ['figure', 'strategy', 'size', 'screened', 'screened ±', 'loss', 'loss ±']
    """
    both = means(frame)
    errors = both["±"].add_suffix(" ±")
    table = both["mean"].join(errors).reset_index()
    table = table[["strategy", "size", "screened", "screened ±", "loss", "loss ±"]]
    return pd.DataFrame(labels, table.index).join(table)


def jackknife(left_out: FloatArray) -> FloatArray:
    """Half of the 95 % interval of a number, from its values with each run left out in turn.

    `left_out` has shape (runs, ...), the result (...): there may be several numbers.
    """
    n = len(left_out)
    return np.asarray(standard_errors(n) * np.sqrt((n - 1) * np.var(left_out, axis=0)))


def over_runs(
    statistics: Callable[..., pd.Series | Mapping[str, float]],
    *frames: pd.DataFrame,
    people: People = "expected",
) -> pd.DataFrame:
    """Numbers computed from tables of means, each with the half-width of its 95 % interval.

    Runs of one number share their randomness, whatever the strategy, the size and the table, so
    that the jackknife leaves a run out of all tables at once. (For the largest of several numbers
    it does not work: compute all of them, and pick one afterwards.)

    Parameters
    ----------
    statistics : callable
        Gets the means of each of the frames; returns the numbers.
    *frames : DataFrame
        Tables of `simulate`, with the same runs.
    people : "expected" or "screened"
        The column that counts people screened.

    Returned is a DataFrame: a row per number, the columns value and error.
    """
    tables = [_means_without_each(frame, people) for frame in frames]
    numbers = [pd.Series(statistics(*means), dtype=float) for means in zip(*tables, strict=True)]
    of_all, *left_out = numbers
    return pd.DataFrame({"value": of_all, "error": jackknife(np.asarray(left_out))})


def _means_without_each(frame: pd.DataFrame, people: People) -> list[Means]:
    """The means over all runs; then, for each run, those over the others."""
    _check_people(frame, people)
    loss, strategies_and_sizes = _without_each(frame, "loss")
    screened, _ = _without_each(frame, people)
    return [
        pd.DataFrame({"loss": losses, "screened": people_seen}, strategies_and_sizes)
        for losses, people_seen in zip(loss, screened, strict=True)
    ]


def _without_each(frame: pd.DataFrame, column: str) -> tuple[FloatArray, pd.Index]:
    """A row with the means of a column over all runs, and one without each; what they are of."""
    # A row per run, a column per strategy and size.
    table = frame.pivot(index="run", columns=["strategy", "size"], values=column)
    table = table.sort_index(axis="columns")
    without_one = (table.sum() - table) / (len(table) - 1)
    return np.vstack([table.mean(), without_one]), table.columns

"""95 % intervals: of a mean, of a table of means, and of numbers computed from such tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from committees.checks import FloatArray

#: A table of means: a row per strategy and size, the columns screened and loss.
Means = Any


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


def better_people(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of `simulate` with expected for screened: the same mean, with less variance."""
    return frame.assign(screened=frame["expected"]) if "expected" in frame else frame


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """The means of a table of `simulate`, each with the half-width of its 95 % interval.

    A row per strategy and size; the columns screened and loss, below "mean" and below "±". Means of
    screened are taken of the column expected, which has the same mean and varies less.
    """
    grouped = better_people(frame).groupby(["strategy", "size"], sort=False)[["screened", "loss"]]
    errors = grouped.sem().mul(grouped.size().map(standard_errors), axis=0)
    return pd.concat({"mean": grouped.mean(), "±": errors}, axis=1)


def summary(frame: pd.DataFrame, **labels: str) -> pd.DataFrame:
    """`means` as a flat table, a row per strategy and size, that begins with these labels.

    >>> from committees import CMDP, datasets, simulate
    >>> frame = simulate(CMDP(), datasets.brexit(["gender"]), 10, runs=4)
    >>> list(summary(frame, figure="1"))
    ['figure', 'strategy', 'size', 'screened', 'screened ±', 'loss', 'loss ±']
    """
    found = means(frame)
    table = found["mean"].join(found["±"].add_suffix(" ±")).reset_index()
    table = table[["strategy", "size", "screened", "screened ±", "loss", "loss ±"]]
    return pd.DataFrame(labels, table.index).join(table)


def jackknife(left_out: FloatArray) -> FloatArray:
    """Half of the 95 % interval of a number, from its values with each run left out in turn.

    `left_out` has shape (runs, ...), the result (...): there may be several numbers.
    """
    n = len(left_out)
    return np.asarray(standard_errors(n) * np.sqrt((n - 1) * np.var(left_out, axis=0)))


def over_runs(
    statistics: Callable[..., pd.Series | Mapping[str, float]], *frames: pd.DataFrame
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

    Returned is a DataFrame: a row per number, the columns value and error.
    """
    tables = zip(*map(_means_without_each, frames), strict=True)
    found = [pd.Series(statistics(*table), dtype=float) for table in tables]
    return pd.DataFrame({"value": found[0], "error": jackknife(np.asarray(found[1:]))})


def _means_without_each(frame: pd.DataFrame) -> list[Means]:
    """The means over all runs; then, for each run, those over the others."""
    found = {}
    frame = better_people(frame)
    for column in ("loss", "screened"):
        # A row per run, a column per strategy and size.
        table = frame.pivot(index="run", columns=["strategy", "size"], values=column)
        table = table.sort_index(axis="columns")
        found[column] = np.vstack([table.mean(), (table.sum() - table) / (len(table) - 1)])
    rows = zip(*found.values(), strict=True)
    return [pd.DataFrame(dict(zip(found, row, strict=True)), table.columns) for row in rows]

"""An organiser's two CSV files, read with care.

**Targets**: a row per value of each feature, with the columns `feature, value, target`, the target
being a share of the committee. Or, as the sortition community writes it, `feature, value, min, max`
in seats: the target then lies as far up its range as makes the feature's seats add up, in the
middle if no committee size is given, and a tolerance is found with which the ranges are kept.

**Volunteers**: either shares, `feature, value, share`, taken as independent; or a table of people,
a row each, with a column per feature (other columns are ignored; `count` says how many people a row
stands for).

A table of some hundred people does not know the shares of hundreds of types. They are mixed with
the product of the table's marginals, as `committees.problem.shrink` says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from assembly.csvfile import CsvFile, same_word, unknown
from committees.checks import SHARE_SUM_TOLERANCE, BoolArray, check_size
from committees.lp import MAX_TYPES_CVXPY
from committees.problem import Problem, shrink


@dataclass(frozen=True, eq=False)
class Assembly:
    """An assembly to be recruited.

    Attributes
    ----------
    problem : Problem
        Targets, and the distribution of the volunteers.
    summary : str
        Where targets and the distribution come from, in words.
    absent : ndarray of bool, per type
        The types that nobody in the table of people has; none if the file gives shares.
    max_tolerance : float
        The largest tolerance with which `Foresight` keeps to the file's ranges of seats, given the
        committee's size; 1 if the targets are shares.
    """

    problem: Problem
    summary: str
    absent: BoolArray
    max_tolerance: float


def read_assembly(targets: str | Path, volunteers: str | Path, size: int | None = None) -> Assembly:
    """Read who is wanted and who comes.

    Parameters
    ----------
    targets, volunteers : str or Path
        CSV files as described at the top of this module; what is wrong with one is a `BadFile`.
    size : int, optional
        The number of seats; it matters where the targets are given as ranges of seats.
    """
    if size is not None:
        check_size(size)
    file = CsvFile(targets)
    wanted, max_tolerance = _read_targets(file, size)
    features = {
        str(feature): own.index.get_level_values("value").to_list()
        for feature, own in wanted.groupby(level="feature", sort=False)
    }
    n_types = math.prod(map(len, features.values()))
    if n_types > MAX_TYPES_CVXPY:
        raise file.refuse(f"makes {n_types:,} types, more than {MAX_TYPES_CVXPY:,}")
    offered = CsvFile(volunteers)
    summary = f"Read {file.name} and {offered.name}. "
    if {"feature", "value", "share"} <= set(offered.header):
        shares = _read_shares(offered, features)
        _refuse_absent(offered, wanted, set(shares.index[shares > 0]))
        problem = Problem.from_marginals(wanted["target"], shares)
        summary += "Volunteers are given as shares, so their features count as independent."
        return Assembly(problem, summary, np.zeros(n_types, dtype=bool), max_tolerance)
    frame, people = _read_people(offered, features)
    _refuse_absent(offered, wanted, {(f, v) for f in features for v in frame[f].unique()})
    table = Problem.from_table(wanted["target"], frame)
    p, weight = shrink(table, table.p, table.presence, people)
    absent = table.p == 0
    rows = len(offered.rows)
    counted = f" (its column 'count' added up, over {rows:,} rows)" if people != rows else ""
    summary += (
        f"People in the table of volunteers: {people:,}{counted}. Types: {n_types:,}, of which "
        f"{absent.sum():,} do not occur in the table. What it says of the types was mixed with "
        f"{weight:.2%} of what independent features would give."
    )
    return Assembly(Problem(wanted["target"], p), summary, absent, max_tolerance)


def _read_targets(file: CsvFile, size: int | None) -> tuple[pd.DataFrame, float]:
    """The columns `target` and `line`, indexed by (feature, value); and the largest tolerance."""
    if {"min", "max"} <= set(file.header):
        if "target" in file.header:
            raise file.refuse("has a target, and min and max as well; keep one or the other")
        return _read_ranges(file, size)
    expected = "the columns feature, value, target (or feature, value, min, max)"
    wanted = file.per_value(["target"], expected)
    _check_shares(file, wanted["target"])
    return wanted, 1.0


def _read_ranges(file: CsvFile, size: int | None) -> tuple[pd.DataFrame, float]:
    """The same for ranges of seats."""
    ranges = file.per_value(["min", "max"], "the columns feature, value, min, max")
    for (feature, value), least, most, line in ranges.itertuples(name=None):
        wrong = f"min {least:g} is larger than max {most:g}" if least > most else ""
        if least % 1 or most % 1:
            wrong = "min and max are seats, expected whole numbers"
        if wrong:
            file.complain(f"line {line}: {feature} {value!r}: {wrong}")
    file.stop_if_bad()
    ranges["target"] = 0.0
    room = 1.0
    for feature, own in ranges.groupby(level="feature", sort=False):
        low, high = own["min"].to_numpy(), own["max"].to_numpy()
        seats = float(low.sum() + high.sum()) / 2 if size is None else size
        if not low.sum() <= seats <= high.sum() or seats == 0:
            file.complain(
                f"{feature}: min and max allow from {low.sum():g} to {high.sum():g} seats in all, "
                f"expected {'some' if size is None else size}"
            )
            continue
        width = high.sum() - low.sum()
        exact = low + (high - low) * ((seats - low.sum()) / width if width else 0)
        ranges.loc[own.index, "target"] = exact / seats
        # The band is rounded to whole seats: it leaves a range where it reaches the next seat.
        room = min(room, float(np.minimum(high + 1 - exact, exact - low + 1).min()) / seats)
    file.stop_if_bad()
    return ranges, max(0.0, math.floor((room - 1e-6) * 1e4) / 1e4)


def _read_shares(file: CsvFile, features: dict[str, list[str]]) -> pd.Series:
    """The volunteers' shares, indexed by (feature, value) as in the targets."""
    given = file.per_value(["share"], "the columns feature, value, share")
    names = {same_word(feature): feature for feature in features}
    known = {(same_word(f), same_word(v)): (f, v) for f, vs in features.items() for v in vs}
    shares: dict[tuple[str, str], float] = {}
    for (feature, value), share, line in given.itertuples(name=None):
        words = same_word(feature), same_word(value)
        if words in known:
            shares[known[words]] = share
        elif words[0] in names:
            values = features[names[words[0]]]
            file.complain(f"line {line}: {feature}: {unknown('value', value, values)}")
    for feature, value in known.values():
        if (feature, value) not in shares:
            file.complain(f"there is no share for {feature} {value!r}, which has a target")
    file.stop_if_bad()
    series = pd.Series(shares, name="share").rename_axis(["feature", "value"])
    _check_shares(file, series)
    return series


def _read_people(file: CsvFile, features: dict[str, list[str]]) -> tuple[pd.DataFrame, int]:
    """The people by feature and value as in the targets, and how many they are."""
    columns = {feature: same_word(feature) for feature in features}
    expected = "a column for each feature, or the columns feature, value, share"
    weighted = "count" in file.header and "count" not in columns.values()
    file.require([*columns.values(), *(["count"] if weighted else [])], expected)
    spelling = {f: {same_word(value): value for value in vs} for f, vs in features.items()}
    found: list[dict[str, str | int]] = []
    people = 0
    for line, row in file.rows:
        person: dict[str, str | int] = {}
        for feature, column in columns.items():
            word = row[column]
            if not word:
                file.complain(f"line {line}: {feature} is empty")
            elif same_word(word) not in spelling[feature]:
                told = unknown("value", word, features[feature])
                file.complain(f"line {line}: {feature}: {told}")
            else:
                person[feature] = spelling[feature][same_word(word)]
        count = file.count(line, row["count"]) if weighted else 1
        people += count
        if count:
            found.append(person | {"count": count} if weighted else person)
    if not people:
        file.complain("the counts add up to 0, expected at least one person")
    file.stop_if_bad()
    return pd.DataFrame(found), people


def _check_shares(file: CsvFile, shares: pd.Series) -> None:
    """Refuse shares that are not of one; `Problem` spreads what rounding has left over."""
    for (feature, value), share in zip(shares.index, shares, strict=True):
        if share > 1:
            hint = "write shares such as 0.52, or 52%"
            file.complain(f"{feature} {value!r}: {share:g} is more than 1; {hint}")
    file.stop_if_bad()
    for feature, total in shares.groupby(level="feature", sort=False).sum().items():
        if abs(total - 1) > SHARE_SUM_TOLERANCE + 1e-9:
            file.complain(
                f"{feature}: the shares add up to {total:.4g}, expected 1 "
                f"(up to {SHARE_SUM_TOLERANCE:g} more or less are put down to rounding)"
            )
    file.stop_if_bad()


def _refuse_absent(file: CsvFile, wanted: pd.DataFrame, present: set[tuple[str, str]]) -> None:
    """Refuse a target for people who do not come."""
    for label, target, line in wanted[["target", "line"]].itertuples(name=None):
        if target > 0 and label not in present:
            file.complain(
                f"nobody has {label[0]} {label[1]!r}, but its target is {target:.3g} "
                f"(line {line} of the targets)"
            )
    file.stop_if_bad()

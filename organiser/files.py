"""An organiser's two CSV files, read with care.

**Targets**: a row per value of each feature. Either `feature, value, min, max` in seats, as the
sortition community writes it: then these ranges are the band that the committee keeps to, and the
target lies as far up its range as makes the feature's seats add up. Or `feature, value, target`,
the target being a share of the committee (0.52, 52 %, or any counts that shares can be made of).

**Volunteers**: either shares, `feature, value, share`, taken as independent; or a table of people,
a row each, with a column per feature (other columns are ignored; `count` says how many people a row
stands for). Where values are ranges of numbers, ages and years of birth will do. People who left
out an answer are left out and counted.

A table of some hundred people does not know the shares of hundreds of types. They are mixed with
the product of the table's marginals, as `committees.beyond.estimate.shrink` says. A group that
nobody in the table belongs to, though the ranges allow for it, gets a small share: it may still
call.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from committees.beyond.estimate import shrink
from committees.checks import SHARE_SUM_TOLERANCE, BoolArray, FloatArray, check_size
from committees.lp import MAX_TYPES_CVXPY
from committees.problem import Problem
from organiser import ages
from organiser.csvfile import COUNTS, SHARES, CsvFile, same_word, unknown
from organiser.ranges import Seats, nearest_ranges, smallest_change

#: What people write who do not want to answer.
NO_ANSWER = {"", "-", "?", "n/a", "na", "none", "not stated", "unknown", "keine angabe"}
NO_ANSWER |= {"prefer not to say", "prefer not to answer", "rather not say"}


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
    seats : two tuples of int, per value, or None
        The fewest and the most seats of each value, if the file has ranges.
    flex : two tuples of int, per value, or None
        How far these may be relaxed, if the file says so.
    """

    problem: Problem
    summary: str
    absent: BoolArray
    seats: Seats | None = None
    flex: Seats | None = None


def read_assembly(
    targets: str | Path, volunteers: str | Path, size: int | None = None, year: int | None = None
) -> Assembly:
    """Read who is wanted and who comes.

    Parameters
    ----------
    targets, volunteers : str or Path
        CSV files as described at the top of this module; what is wrong with one is a `BadFile`.
    size : int, optional
        The number of seats; ranges of seats must leave room for a committee of this size.
    year : int, optional
        The year of the assembly, from which years of birth are counted; this year by default.
    """
    if size is not None:
        check_size(size)
    file = CsvFile(targets)
    wanted, seats, flex = _read_targets(file, size)
    features = {
        str(feature): own.index.get_level_values("value").to_list()
        for feature, own in wanted.groupby(level="feature", sort=False)
    }
    n_types = math.prod(map(len, features.values()))
    if n_types > MAX_TYPES_CVXPY:
        raise file.refuse(f"makes {n_types:,} types, more than {MAX_TYPES_CVXPY:,}")
    offered = CsvFile(volunteers)
    optional = wanted["target"].to_numpy() == 0 if seats is None else np.array(seats[0]) == 0
    told = [f"Read {file.name} and {offered.name}"]
    column = next((name for name in SHARES if name in offered.header), None)
    if column and {"feature", "value"} <= set(offered.header):
        shares = _read_shares(offered, features, column)
        p = Problem.from_marginals(wanted["target"], _allow(offered, wanted, shares, optional)).p
        told.append("Volunteers are given as shares, so their features count as independent")
        absent = np.zeros(n_types, dtype=bool)
    else:
        frame, people = _read_people(offered, features, year or datetime.date.today().year)
        anybody = Problem(wanted["target"], np.full(n_types, 1 / n_types))
        counts = frame.groupby(list(features))["count"].sum()
        observed = anybody.align(counts / people, "people")
        presence = anybody.marginals(observed)
        shares = _allow(offered, wanted, pd.Series(presence, anybody.labels), optional, people)
        p, weight = shrink(anybody, observed, presence, people)
        for code in np.flatnonzero(presence == 0):
            p = _with_share(anybody, p, int(code), float(shares.iloc[code]))
        absent = observed == 0
        told.append(
            f"{people:,} people in the table of volunteers. Of {n_types:,} types {absent.sum():,} "
            f"do not occur in it; its frequencies of types were mixed, {weight:.0%}, with what "
            "independent features would give"
        )
    summary = ". ".join([*told, *file.notes, *offered.notes]) + "."
    problem = Problem(wanted["target"], p)
    if seats is not None and size is not None and (change := nearest_ranges(problem, size, seats)):
        raise file.refuse(f"no {size} of the people who may come fit these ranges; {change}")
    return Assembly(problem, summary, absent, seats, flex)


def _read_targets(
    file: CsvFile, size: int | None
) -> tuple[pd.DataFrame, Seats | None, Seats | None]:
    """The columns `target` and `line`, indexed by (feature, value); the ranges; how far they go."""
    column = next((name for name in SHARES if name in file.header), "target")
    if {"min", "max"} <= set(file.header):
        if "target" in file.header:
            raise file.refuse("has a target, and min and max as well; keep one or the other")
        return _read_ranges(file, size)
    expected = "the columns feature, value, target (or feature, value, min, max)"
    wanted = file.per_value([column], expected).rename(columns={column: "target"})
    wanted["target"] = _as_shares(file, wanted["target"], column)
    return wanted, None, None


def _read_ranges(file: CsvFile, size: int | None) -> tuple[pd.DataFrame, Seats, Seats | None]:
    """The same for ranges of seats."""
    expected, limits = "the columns feature, value, min, max", ["min flex", "max flex"]
    ranges = file.per_value(["min", "max"], expected, limits)
    for (feature, value), (_, row) in zip(ranges.index, ranges.iterrows(), strict=True):
        where, numbers = f"line {row['line']:g}: {feature} {value!r}", row.drop("line")
        if (numbers % 1 != 0).any():
            file.complain(f"{where}: min and max are seats, expected whole numbers")
        elif row["min"] > row["max"]:
            file.complain(f"{where}: min {row['min']:g} is larger than max {row['max']:g}")
    file.stop_if_bad()
    ranges["target"] = 0.0
    for feature, own in ranges.groupby(level="feature", sort=False):
        low, high = own["min"].to_numpy(), own["max"].to_numpy()
        seats = float(low.sum() + high.sum()) / 2 if size is None else size
        if not low.sum() <= seats <= high.sum() or seats == 0:
            told = f"{feature}: min and max allow from {low.sum():g} to {high.sum():g} seats in all"
            file.complain(f"{told}, expected {size or 'some'}{smallest_change(own, size or 1)}")
            continue
        width = high.sum() - low.sum()
        exact = low + (high - low) * ((seats - low.sum()) / width if width else 0)
        ranges.loc[own.index, "target"] = exact / seats
    file.stop_if_bad()

    def pair(*columns: str) -> Seats:
        fewest, most = (tuple(int(n) for n in ranges[column]) for column in columns)
        return fewest, most

    has_flex = {*limits} <= set(ranges.columns)
    return ranges, pair("min", "max"), pair(*limits) if has_flex else None


def _read_shares(file: CsvFile, features: dict[str, list[str]], column: str) -> pd.Series:
    """The volunteers' shares, indexed by (feature, value) as in the targets."""
    given = file.per_value([column], "the columns feature, value, share")
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
    series = pd.Series({label: shares[label] for label in known.values()}, name="share")
    return _as_shares(file, series.rename_axis(["feature", "value"]), column)


def _read_people(
    file: CsvFile, features: dict[str, list[str]], year: int
) -> tuple[pd.DataFrame, int]:
    """The people by feature and value as in the targets, and how many they are."""
    columns = {feature: same_word(feature) for feature in features}
    expected = "a column for each feature, or the columns feature, value, share"
    weighted = "count" in file.header and "count" not in columns.values()
    file.require([*columns.values(), *(["count"] if weighted else [])], expected)
    spelling = {f: {same_word(value): value for value in vs} for f, vs in features.items()}
    found: list[dict[str, str | int]] = []
    people = left_out = 0
    for line, row in file.rows:
        person: dict[str, str | int] = {}
        for feature, column in columns.items():
            word = same_word(row[column])
            value = spelling[feature].get(word) or ages.find(word, features[feature], year)
            if value is not None:
                person[feature] = value
            elif word not in NO_ANSWER:
                told = unknown("value", row[column], features[feature])
                file.complain(f"line {line}: {feature}: {told}")
        person["count"] = count = file.count(line, row["count"]) if weighted else 1
        if len(person) <= len(columns):
            left_out += count
        elif count:
            people += count
            found.append(person)
    file.stop_if_bad()
    if not people:
        raise file.refuse("has nobody who answered everything: expected at least one person")
    if left_out:
        file.notes.append(f"{left_out:,} people in {file.name} left out an answer: not counted")
    return pd.DataFrame(found), people


def _as_shares(file: CsvFile, numbers: pd.Series, column: str) -> pd.Series:
    """Shares that add up to one: of shares, per cents or counts, whatever was rounded."""
    shares = numbers.astype(float)
    for feature, own in numbers.groupby(level="feature", sort=False):
        total, whole = float(own.sum()), 100.0 if own.sum() > 2 else 1.0
        # Rounded to so many digits, each number may be off by half a unit of the last one.
        unit = next(u for u in (0.01, 0.001, 0.0001) if _is_multiple(own / whole, u))
        room = max(SHARE_SUM_TOLERANCE, unit / 2 * len(own)) + 1e-9
        if column in COUNTS and total > 0:
            whole = total
        elif abs(total / whole - 1) > room:
            hint = "; call the column count if these are counts" if total > 2 else ""
            file.complain(
                f"{feature}: the shares add up to {total:.4g}, expected {whole:g} "
                f"(up to {whole * room:.2g} more or less are put down to rounding){hint}"
            )
        elif abs(total / whole - 1) > SHARE_SUM_TOLERANCE:
            said = f"{file.name}: {feature} adds up to {total:.4g}, not {whole:g}"
            file.notes.append(f"{said}, which was put down to rounding")
            whole = total
        shares[own.index] = own / whole
    file.stop_if_bad()
    return shares


def _is_multiple(numbers: pd.Series, unit: float) -> bool:
    """Whether these numbers have no more digits than this unit; of the smallest all do."""
    return unit < 0.001 or bool(np.allclose(numbers / unit, np.round(numbers / unit), atol=1e-6))


def _allow(
    file: CsvFile, wanted: pd.DataFrame, shares: pd.Series, optional: BoolArray, people: int = 1000
) -> pd.Series:
    """A small share for groups that nobody belongs to; if they must have seats, that is refused."""
    shares = shares.copy()
    small = 1 / (people + 1)
    for label, is_optional in zip(wanted.index, optional, strict=True):
        if shares[label] > 0 or wanted.loc[label, "target"] == 0:
            continue
        if not is_optional:
            file.complain(
                f"nobody has {label[0]} {label[1]!r}, but it must have seats "
                f"(line {wanted.loc[label, 'line']:g} of the targets): give its share among those "
                "who may come, in a file of shares, or a range that begins at 0"
            )
        same = shares.index.get_level_values(0) == label[0]
        shares[same] *= 1 - small
        shares[label] = small
        file.notes.append(
            f"Nobody in {file.name} has {label[0]} {label[1]!r}: it counts as one in {people + 1:,}"
        )
    file.stop_if_bad()
    return shares


def _with_share(problem: Problem, p: FloatArray, code: int, share: float) -> FloatArray:
    """The distribution with so many people of a value that nobody has, else like all others."""
    feature = problem.labels[code][0]
    own = problem.labels.get_level_values(0) == feature
    marginals = np.where(own, 0.0, problem.marginals(p))
    marginals[code] = 1.0
    return (1 - share) * p + share * problem.product_over_values(marginals)

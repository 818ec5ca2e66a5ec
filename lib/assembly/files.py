r"""An organiser's two CSV files, read with care.

**Targets**: a row per value of each feature, with the columns `feature, value, target`, the target
being a share of the committee. Or, as the sortition community writes it, `feature, value, min, max`
in seats: the target then lies as far up its range as makes the feature's seats add up, in the
middle if no committee size is given, and a tolerance is found with which the ranges are kept.

**Volunteers**: either shares, `feature, value, share`, taken as independent; or a table of people,
a row each, with a column per feature (other columns are ignored; `count` says how many people a row
stands for).

A table of some hundred people does not know the shares of hundreds of types. They are mixed with
the product of the table's marginals, as `committees.beyond.shrinkage` says.

What is wrong in a file is said in words and with the line, as much as can be told at once. What
cannot be mistaken just works: a byte-order mark, empty lines, spaces around words, capital letters,
kinds of dashes, semicolons between columns.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assembly.csvfile import BadFile, Lines, Table, perhaps, same_word
from committees.beyond.shrinkage import shrink
from committees.checks import (
    SHARE_SUM_TOLERANCE,
    BoolArray,
    FloatArray,
    Shares,
    check_size,
    check_type_count,
)
from committees.problem import Problem

#: An organiser's assembly has no more types than this; with more, a plan takes very long.
MOST_TYPES = 1_000_000

#: How far from its target a share may end, if nothing else is said.
TOLERANCE = 0.02


@dataclass(frozen=True, eq=False)
class Assembly:
    """An assembly to be recruited.

    Attributes
    ----------
    problem
        Targets, and the distribution of the volunteers.
    files
        The names of the two files.
    people, rows
        How many people the table of volunteers has, and in how many rows; None if it gives shares.
    independence
        The weight that independence was given beside such a table (lambda in `shrinkage`).
    unmet
        Which types nobody in the table has; None if there is no table.
    tolerance
        If the targets are ranges of seats, the largest tolerance with which `Resolving` keeps to
        all of them, given the committee's size; None if they are shares.
    """

    problem: Problem
    files: tuple[str, str]
    people: int | None = None
    rows: int | None = None
    independence: float | None = None
    unmet: BoolArray | None = None
    tolerance: float | None = None

    @property
    def usual_tolerance(self) -> float:
        """The tolerance to take unless another is asked for: one that keeps to the ranges."""
        return TOLERANCE if self.tolerance is None else min(self.tolerance, TOLERANCE)

    def __str__(self) -> str:
        """Where targets and the distribution of the volunteers come from, in words."""
        read = "Read {} and {}. ".format(*self.files)
        if self.people is None:
            return f"{read}Volunteers are given as shares, so their features count as independent."
        unmet = 0 if self.unmet is None else int(self.unmet.sum())
        counted = f" (its column 'count' added up, over {self.rows:,} rows)"
        return (
            f"{read}People in the table of volunteers: {self.people:,}"
            f"{counted if self.people != self.rows else ''}. Types: {len(self.problem.p):,}, "
            f"of which {unmet:,} are nobody's in the table. What it says of the types was mixed "
            f"with {self.independence:.2%} of what independent features would give."
        )


def read_assembly(targets: str | Path, volunteers: str | Path, size: int | None = None) -> Assembly:
    """Read who is wanted and who comes.

    Parameters
    ----------
    targets, volunteers
        CSV files as described at the top of this module.
    size
        The number of seats, if known; it matters where the targets are given as a range of seats.
    """
    if size is not None:
        check_size(size)
    wanted, lines, tolerance = _read_targets(Table(targets), size)
    types = check_type_count([len(values) for values in wanted.values()])
    if types > MOST_TYPES:
        raise BadFile([f"{Path(targets).name}: makes {types:,} types, more than {MOST_TYPES:,}"])
    table = Table(volunteers)
    files = (Path(targets).name, table.name)
    if {"feature", "value", "share"} <= set(table.header):
        shares = _read_marginals(table, wanted)
        _refuse_absent(wanted, shares, lines, table)
        return Assembly(Problem.from_marginals(wanted, shares), files, tolerance=tolerance)
    counts = _read_people(table, wanted)
    joint = counts / counts.sum()
    features = list(wanted)
    margins = [_margin(joint, axis) for axis in range(joint.ndim)]
    shares = {
        f: dict(zip(wanted[f], m, strict=True)) for f, m in zip(features, margins, strict=True)
    }
    _refuse_absent(wanted, shares, lines, table)
    product = Problem.from_marginals(wanted, shares).p
    p, weight = shrink(joint.ravel(), product, float(counts.sum()))
    unmet = joint.ravel() == 0
    people = round(counts.sum())
    return Assembly(Problem(wanted, p), files, people, len(table.rows), weight, unmet, tolerance)


def _margin(joint: FloatArray, axis: int) -> FloatArray:
    return np.asarray(joint.sum(axis=tuple(a for a in range(joint.ndim) if a != axis)))


def _read_targets(
    table: Table, size: int | None
) -> tuple[dict[str, dict[str, float]], Lines, float | None]:
    """The target shares, the lines where each value is spoken of, and the tolerance of ranges."""
    if {"min", "max"} <= set(table.header):
        if "target" in table.header:
            table.complain("has a target, and min and max as well; keep one or the other")
            table.stop_if_bad()
        return _read_ranges(table, size)
    shares, lines = table.numbers(["target"])
    single = {f: {v: n[0] for v, n in values.items()} for f, values in shares.items()}
    return _shares(table, single), lines, None


def _read_ranges(
    table: Table, size: int | None
) -> tuple[dict[str, dict[str, float]], Lines, float | None]:
    ranges, lines = table.numbers(["min", "max"])
    wanted: dict[str, dict[str, float]] = {}
    room = 1.0
    for feature, values in ranges.items():
        low, high = np.array(list(values.values())).T
        for value, (least, most) in values.items():
            where = f"line {lines[feature, value]}: {feature} {value!r}"
            if least != round(least) or most != round(most):
                table.complain(f"{where}: min and max are seats, expected whole numbers")
            elif least > most:
                table.complain(f"{where}: min {least:g} is larger than max {most:g}")
        seats = float(low.sum() + high.sum()) / 2 if size is None else size
        if not low.sum() <= seats <= high.sum() or seats == 0:
            table.complain(
                f"{feature}: between {low.sum():g} and {high.sum():g} seats in all, "
                f"which leaves no committee of {seats:g}"
            )
            continue
        width = high.sum() - low.sum()
        exact = low + (high - low) * ((seats - low.sum()) / width if width else 0)
        wanted[feature] = dict(zip(values, (exact / seats).tolist(), strict=True))
        # The band is rounded to whole seats: it leaves a range where it reaches the next seat.
        room = min(room, float(np.minimum(high + 1 - exact, exact - low + 1).min()) / seats)
    table.stop_if_bad()
    return wanted, lines, max(0.0, float(np.floor((room - 1e-6) * 1e4) / 1e4))


def _read_marginals(table: Table, wanted: Shares) -> dict[str, dict[str, float]]:
    given, lines = table.numbers(["share"])
    known = {same_word(feature): feature for feature in given}
    shares: dict[str, dict[str, float]] = {}
    for feature, values in wanted.items():
        if same_word(feature) not in known:
            table.complain(f"no shares for the feature {feature!r}{perhaps(feature, given)}")
            continue
        own = {same_word(value): value for value in values}
        theirs = given[known[same_word(feature)]]
        shares[feature] = {}
        for value, (share,) in theirs.items():
            if same_word(value) in own:
                shares[feature][own[same_word(value)]] = share
            else:
                line = lines[known[same_word(feature)], value]
                table.complain(f"line {line}: {_no_target(feature, value, values)}")
        for value in values:
            if value not in shares[feature]:
                table.complain(f"no share for {feature} {value!r}, which has a target")
    table.stop_if_bad()
    return _shares(table, shares)


def _read_people(table: Table, wanted: Shares) -> FloatArray:
    """How many people of each type there are; an axis per feature."""
    columns = {feature: same_word(feature) for feature in wanted}
    for feature, column in columns.items():
        if column not in table.header:
            table.complain(
                f"no column for the feature {feature!r}{perhaps(column, table.header)}; expected "
                "a column per feature, or the columns feature, value and share"
            )
    table.stop_if_bad()
    table.once([*columns.values(), "count"])
    counts = np.zeros([len(values) for values in wanted.values()])
    positions = {f: {same_word(v): i for i, v in enumerate(vs)} for f, vs in wanted.items()}
    weighted = "count" in table.header and "count" not in columns.values()
    for line, row in table.rows:
        place = []
        for feature, column in columns.items():
            if not row[column]:
                table.complain(f"line {line}: {feature} is empty")
            elif same_word(row[column]) not in positions[feature]:
                table.complain(f"line {line}: {_no_target(feature, row[column], wanted[feature])}")
            else:
                place.append(positions[feature][same_word(row[column])])
        weight = table.people(line, row["count"]) if weighted else 1.0
        if len(place) == counts.ndim:
            counts[tuple(place)] += weight
    if not counts.sum() and not table.complaints:
        table.complain("there is nobody in it")
    table.stop_if_bad()
    return counts


def _shares(table: Table, shares: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Shares of one, feature by feature; what rounding has left over is spread."""
    for feature, values in shares.items():
        total = sum(values.values())
        if max(values.values()) > 1:
            value = max(values, key=values.__getitem__)
            table.complain(
                f"{feature} {value!r}: {values[value]:g} is more than 1; "
                "write shares such as 0.52, or 52%"
            )
        elif abs(total - 1) > SHARE_SUM_TOLERANCE + 1e-9:
            table.complain(
                f"{feature}: the shares add up to {total:.4g}, expected 1 "
                f"(up to {SHARE_SUM_TOLERANCE:g} more or less are put down to rounding)"
            )
    table.stop_if_bad()
    return {
        f: {value: share / sum(vs.values()) for value, share in vs.items()}
        for f, vs in shares.items()
    }


def _refuse_absent(wanted: Shares, offered: Shares, lines: Lines, table: Table) -> None:
    for feature, values in wanted.items():
        for value, target in values.items():
            if target > 0 and not offered[feature][value] > 0:
                table.complain(
                    f"nobody has {feature} {value!r}, but its target is {target:.3g} "
                    f"(line {lines[feature, value]} of the targets)"
                )
    table.stop_if_bad()


def _no_target(feature: str, value: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(
        same_word(value), keys := {same_word(v): v for v in known}, n=1
    )
    hint = (
        f"perhaps {keys[close[0]]!r} is meant" if close else f"known are {', '.join(keys.values())}"
    )
    return f"{feature} {value!r} has no target; {hint}"

"""Array types, and refusals: a `ValueError` that names the argument and says what was expected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from math import inf, prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])

#: `{feature: {value: share}}`.
Shares = Mapping[str, Mapping[str, float]]

#: Larger committees are refused: rounding errors of seats must stay below `greedy.ROUNDING`.
MAX_SEATS = 10**6

#: More types than this do not fit into memory, with what must be computed from them.
MAX_TYPES = 20_000_000

#: Shares printed with three digits may add up to 0.999: up to here they are rescaled to one.
SHARE_SUM_TOLERANCE = 0.002


def frozen(array: Array) -> Array:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def check_extra(package: str, extra: str) -> None:
    """Refuse to go on without a package that only an extra of this project installs."""
    if find_spec(package) is None:
        raise ImportError(
            f"{package} is not installed; this needs the extra `{extra}`: "
            f"pip install 'committees[{extra}]'"
        )


# --- Single numbers and words


def check_integer(name: str, value: object, least: int, most: float = inf) -> None:
    """Refuse anything but a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}: expected a whole number of at least {least}, got {value!r}")
    if value > most:
        raise ValueError(f"{name}: expected a whole number of at most {most:,}, got {value!r}")


def check_size(size: object) -> None:
    """Refuse anything but the size of a committee."""
    check_integer("size", size, 1, MAX_SEATS)


def check_number(
    name: str, value: object, least: float, most: float = inf, *, ends: bool = True
) -> None:
    """Refuse anything but a finite number from `least` to `most`, these included if `ends`."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        is_inside = least < value < most
        is_end = ends and value in (least, most)
        if (is_inside or is_end) and value < inf:
            return
    raise ValueError(f"{name}: expected a number {_range(least, most, ends)}, got {value!r}")


def _range(least: float, most: float, ends: bool) -> str:
    """From `least` to `most`, in words."""
    if most == inf:
        return f"of at least {least:g}" if ends else f"above {least:g}"
    return f"from {least:g} to {most:g}" if ends else f"between {least:g} and {most:g}"


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse anything but one of these words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected {' or '.join(map(repr, choices))}, got {value!r}")


# --- Shares and distributions


def check_type_count(shape: Sequence[int]) -> int:
    """Refuse more types than fit into memory; `shape` is the number of values of each feature."""
    n_types = prod(shape)
    if n_types > MAX_TYPES:
        raise ValueError(
            f"features: {len(shape)} of them make more types than the {MAX_TYPES:,} that fit "
            "into memory"
        )
    return n_types


def check_shares(shares: Shares | pd.Series, what: str) -> pd.Series:
    """Refuse anything but shares that sum to one for each feature; messages call them `what`.

    Returns
    -------
    Series
        The shares indexed by (feature, value); those of a feature sum to one.
    """
    series = _share_series(shares, what)
    if series.empty:
        raise ValueError(f"{what}s: there are none")
    repeated = series.index[series.index.duplicated()]
    if len(repeated):
        feature, value = repeated[0]
        raise ValueError(f"feature {feature!r}, value {value!r}: has two {what}s")
    parts = []
    for feature, part in series.groupby(level="feature", sort=False):
        names = [f"feature {feature!r}, value {value!r}" for _, value in part.index]
        numbers = check_distribution(
            part.to_numpy(), f"feature {feature!r}", names.__getitem__, what
        )
        parts.append(pd.Series(numbers, part.index))
    return pd.concat(parts).rename(what)


def _share_series(shares: Shares | pd.Series, what: str) -> pd.Series:
    """Shares in either form as a Series of float, indexed by (feature, value) in words."""
    labels = []
    numbers = []
    for feature, value, share in _entries(shares, what):
        labels.append((str(feature), str(value)))
        try:
            numbers.append(float(share))
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"feature {str(feature)!r}, value {str(value)!r}: "
                f"the {what} {share!r} is not a number"
            ) from None
    if not labels:
        return pd.Series(dtype=float)
    index = pd.MultiIndex.from_tuples(labels, names=["feature", "value"])
    return pd.Series(numbers, index)


def _entries(shares: Any, what: str) -> list[tuple[Any, Any, Any]]:
    """All (feature, value, share) of shares in either form."""
    if isinstance(shares, pd.Series) and shares.index.nlevels == 2:
        return [(*label, share) for label, share in zip(shares.index, shares, strict=True)]
    if not isinstance(shares, Mapping):
        raise ValueError(
            f"{what}s: expected {{feature: {{value: {what}}}}}, or a Series indexed by "
            f"(feature, value), got {shares!r}"
        )
    entries = []
    for feature, values in shares.items():
        if not isinstance(values, Mapping | pd.Series) or not len(values):
            raise ValueError(
                f"feature {feature!r}: expected a {what} for each of its values, got {values!r}"
            )
        entries += [(feature, value, share) for value, share in values.items()]
    return entries


def check_distribution(
    shares: FloatArray, name: str, name_of: Callable[[int], str], what: str = "probability"
) -> FloatArray:
    """Refuse anything but shares, shape (n,), that sum to one; rescale a sum off by rounding.

    All together are called `name` in messages, the one at a position `name_of(position)`, and each
    a `what`. What already sums to one is returned as it is, bit for bit, and read-only.
    """
    is_bad = ~((shares >= 0) & np.isfinite(shares))
    if is_bad.any():
        position = int(is_bad.argmax())
        share = shares[position]
        if np.isnan(share):
            raise ValueError(f"{name_of(position)}: the {what} is missing")
        raise ValueError(
            f"{name_of(position)}: the {what} is {share:g}, expected a number from 0 to 1"
        )
    total = float(shares.sum())
    if abs(total - 1) > SHARE_SUM_TOLERANCE + 1e-9:
        plural = "probabilities" if what == "probability" else f"{what}s"
        in_percent = ": shares, not per cent" if abs(total - 100) < 1 else ""
        raise ValueError(f"{name}: the {plural} sum to {total:.4g}, expected 1{in_percent}")
    if abs(total - 1) < 1e-12:
        return frozen(shares)
    return frozen(shares / total)


# --- Tables of people


def count_people(
    frame: pd.DataFrame, features: Mapping[str, Sequence[str]], missing: str = "refuse"
) -> FloatArray:
    """Count the people of each type in a table, and refuse it if it is not as `from_table` says."""
    check_choice("missing", missing, ("refuse", "drop"))
    if not isinstance(frame, pd.DataFrame) or frame.empty:
        raise ValueError("the table of people: expected a DataFrame with at least one row")
    frame = frame.rename(columns=str)
    if frame.columns.has_duplicates:
        repeated = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"the table of people: two columns are called {repeated!r}")
    absent = [feature for feature in features if feature not in frame.columns]
    if absent:
        columns = ", ".join(map(repr, frame.columns))
        raise ValueError(f"feature {absent[0]!r}: is not a column of the table ({columns})")
    if missing == "drop":
        frame = frame.dropna(subset=list(features))
        if frame.empty:
            raise ValueError("the table of people: nobody in it has answered everything")
    shape = tuple(len(values) for values in features.values())
    n_types = check_type_count(shape)
    positions = tuple(_positions(frame[feature], values) for feature, values in features.items())
    type_ids = np.ravel_multi_index(positions, shape)
    weights = _people_per_row(frame, is_feature="count" in features)
    return np.bincount(type_ids, weights=weights, minlength=n_types).astype(float)


def _positions(answers: pd.Series, values: Sequence[str]) -> IntArray:
    """Where each answer stands among the values of its feature."""
    feature = answers.name
    if answers.isna().any():
        row = answers.index[answers.isna()][0]
        raise ValueError(f"feature {feature!r}, row {row}: is missing")
    words = answers.astype(str)
    positions = pd.Index(values).get_indexer(pd.Index(words))
    is_unknown = positions < 0
    if is_unknown.any():
        row = answers.index[is_unknown][0]
        word = words[is_unknown].iloc[0]
        expected = " or ".join(map(repr, values))
        raise ValueError(
            f"feature {feature!r}, row {row}: unknown value {word!r}, expected {expected}"
        )
    return np.asarray(positions, dtype=np.intp)


def _people_per_row(frame: pd.DataFrame, is_feature: bool) -> FloatArray:
    """The column `count`, unless a feature has this name; a person per row without one."""
    if "count" not in frame.columns or is_feature:
        return np.ones(len(frame))
    counts = pd.to_numeric(frame["count"], errors="coerce").to_numpy(dtype=float)
    for row, count in zip(frame.index, counts, strict=True):
        check_number(f"column 'count', row {row}", float(count), 0)
    if not counts.any():
        raise ValueError("column 'count': the counts sum to 0, expected at least one")
    return counts

"""Array types, and refusals: a `ValueError` that names the argument and says what was expected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
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
        inside = least <= value <= most if ends else least < value < most
        if inside and value < inf:
            return
    asked = f"from {least:g} to {most:g}" if ends else f"between {least:g} and {most:g}"
    asked = f"{'of at least' if ends else 'above'} {least:g}" if most == inf else asked
    raise ValueError(f"{name}: expected a number {asked}, got {value!r}")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse anything but one of these words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected {' or '.join(map(repr, choices))}, got {value!r}")


def check_type_count(shape: Sequence[int]) -> int:
    """Refuse more types than fit into memory; `shape` is the number of values of each feature."""
    if prod(shape) > MAX_TYPES:
        raise ValueError(
            f"features: {len(shape)} of them make more types than the {MAX_TYPES:,} that fit "
            "into memory"
        )
    return prod(shape)


def check_shares(shares: Shares | pd.Series, what: str) -> pd.Series:
    """Refuse anything but shares that sum to one for each feature; messages call them `what`.

    Returns
    -------
    Series
        The shares indexed by (feature, value); those of a feature sum to one.
    """
    if isinstance(shares, pd.Series) and shares.index.nlevels == 2:
        items = [(*label, share) for label, share in zip(shares.index, shares, strict=True)]
    elif isinstance(shares, Mapping):
        items = []
        for feature, values in shares.items():
            if not isinstance(values, Mapping | pd.Series) or not len(values):
                each = f"expected a {what} for each of its values"
                raise ValueError(f"feature {feature!r}: {each}, got {values!r}")
            items += [(feature, value, share) for value, share in values.items()]
    else:
        raise ValueError(
            f"{what}s: expected {{feature: {{value: {what}}}}}, or a Series indexed by "
            f"(feature, value), got {shares!r}"
        )
    found: dict[str, dict[str, float]] = {}
    for feature, value, share in items:
        values = found.setdefault(str(feature), {})
        if str(value) in values:
            raise ValueError(f"feature {feature!r}, value {value!r}: has two {what}s")
        try:
            values[str(value)] = float(share)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"feature {feature!r}, value {value!r}: the {what} {share!r} is not a number"
            ) from None
    if not found:
        raise ValueError(f"{what}s: there are none")
    parts = []
    for feature, values in found.items():
        names = [f"feature {feature!r}, value {value!r}" for value in values]
        numbers = np.array(list(values.values()))
        parts.append(check_distribution(numbers, f"feature {feature!r}", names.__getitem__, what))
    labels = [(feature, value) for feature, values in found.items() for value in values]
    index = pd.MultiIndex.from_tuples(labels, names=["feature", "value"])
    return pd.Series(np.concatenate(parts), index, name=what)


def count_people(frame: pd.DataFrame, features: Mapping[str, Sequence[str]]) -> FloatArray:
    """Count the people of each type in a table, and refuse it if it is not as `from_table` says."""
    if not isinstance(frame, pd.DataFrame) or frame.empty:
        raise ValueError("the table of people: expected a DataFrame with at least one row")
    frame = frame.rename(columns=str)
    for twice in frame.columns[frame.columns.duplicated()]:
        raise ValueError(f"the table of people: two columns are called {twice!r}")
    positions = []
    for feature, values in features.items():
        if feature not in frame.columns:
            known = ", ".join(map(repr, frame.columns))
            raise ValueError(f"feature {feature!r}: is not a column of the table ({known})")
        for row in frame.index[frame[feature].isna()]:
            raise ValueError(f"feature {feature!r}, row {row}: is missing")
        words = pd.Index(frame[feature].astype(str))
        positions.append(pd.Index(values).get_indexer(words))
        for row in np.flatnonzero(positions[-1] < 0).tolist():
            wrong = f"unknown value '{words[row]}', expected {' or '.join(map(repr, values))}"
            raise ValueError(f"feature {feature!r}, row {frame.index[row]}: {wrong}")
    counts = np.ones(len(frame))
    if "count" in frame.columns and "count" not in features:
        counts = pd.to_numeric(frame["count"], errors="coerce").to_numpy(dtype=float)
        for row, count in zip(frame.index, counts, strict=True):
            check_number(f"column 'count', row {row}", float(count), 0)
        if not counts.any():
            raise ValueError("column 'count': the counts sum to 0, expected at least one")
    shape = tuple(len(values) for values in features.values())
    n_types = check_type_count(shape)
    type_ids = np.ravel_multi_index(tuple(positions), shape)
    return np.bincount(type_ids, weights=counts, minlength=n_types).astype(float)


def check_distribution(
    shares: FloatArray, name: str, name_of: Callable[[int], str], what: str = "probability"
) -> FloatArray:
    """Refuse anything but shares, shape (n,), that sum to one; rescale a sum off by rounding.

    All together are called `name` in messages, the one at a position `name_of(position)`, and each
    a `what`. What already sums to one is returned as it is, bit for bit, and read-only.
    """
    bad = ~((shares >= 0) & np.isfinite(shares))
    if bad.any():
        position = int(np.argmax(bad))
        value = shares[position]
        wrong = "is missing" if np.isnan(value) else f"is {value:g}, expected a number from 0 to 1"
        raise ValueError(f"{name_of(position)}: the {what} {wrong}")
    total = float(shares.sum())
    if abs(total - 1) > SHARE_SUM_TOLERANCE + 1e-9:
        plural = "probabilities" if what == "probability" else f"{what}s"
        raise ValueError(f"{name}: the {plural} sum to {total:.4g}, expected 1")
    return frozen(shares if abs(total - 1) < 1e-12 else shares / total)

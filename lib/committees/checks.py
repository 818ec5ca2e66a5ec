"""What bad input gets: a `ValueError` that names the culprit and says what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Shares = Mapping[str, Mapping[str, float]]
Array = TypeVar("Array", bound=npt.NDArray[Any])

#: More types than this do not fit into memory, with what must be computed from them.
MOST_TYPES = 20_000_000

#: No committee is larger: counts of its seats must fit into floating-point numbers, exactly.
MOST_SEATS = 10**9

#: numpy's arrays have no more axes than this.
MOST_FEATURES = 64

#: Shares printed with three digits may add up to 0.999: up to here they are rescaled to one.
ROUNDING = 0.002


def frozen(array: Array) -> Array:
    """Make an array that cannot be written to any more."""
    array.flags.writeable = False
    return array


def whole(name: str, value: object, least: int, most: float = inf) -> None:
    """Refuse what is not a whole number of at least `least`, and at most `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}: expected a whole number of at least {least}, got {value!r}")
    if value > most:
        raise ValueError(f"{name}: expected a whole number of at most {most:,}, got {value!r}")


def check_size(size: object) -> None:
    """Refuse what is not the size of a committee."""
    whole("size", size, 1, MOST_SEATS)


def number(name: str, value: object, least: float, most: float = inf, *, ends: bool = True) -> None:
    """Refuse what is not a finite number from `least` to `most`, with or without these."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        inside = least <= value <= most if ends else least < value < most
        if inside and value < inf:
            return
    asked = f"from {least:g} to {most:g}" if ends else f"between {least:g} and {most:g}"
    asked = f"of at least {least:g}" if most == inf else asked
    raise ValueError(f"{name}: expected a number {asked}, got {value!r}")


def one_of(name: str, value: object, choice: tuple[str, str]) -> None:
    """Refuse what is neither of two words."""
    if value not in choice:
        raise ValueError(f"{name}: expected {choice[0]!r} or {choice[1]!r}, got {value!r}")


def number_of_types(features: Mapping[str, tuple[str, ...]]) -> int:
    """How many types there are, if not too many."""
    if len(features) > MOST_FEATURES:
        raise ValueError(f"features: expected at most {MOST_FEATURES}, got {len(features)}")
    types = prod(len(values) for values in features.values())
    if types > MOST_TYPES:
        raise ValueError(
            f"features: {len(features)} of them make more types than the {MOST_TYPES:,} that fit "
            "into memory"
        )
    return types


def features_of(shares: pd.Series | pd.Index) -> dict[str, tuple[str, ...]]:
    """The features and their values, in order, from an index of (feature, value)."""
    features: dict[str, list[str]] = {}
    for feature, value in shares.index if isinstance(shares, pd.Series) else shares:
        features.setdefault(feature, []).append(value)
    return {feature: tuple(values) for feature, values in features.items()}


def product_of(per_value: FloatArray, features: Mapping[str, tuple[str, ...]]) -> FloatArray:
    """Multiply numbers given for each value into one for each type."""
    product, start = np.ones(1), 0
    for values in features.values():
        own = per_value[start : start + len(values)]
        product, start = np.multiply.outer(product, own).ravel(), start + len(values)
    return product


def checked_shares(shares: Shares | pd.Series, what: str) -> pd.Series:
    """Check `{feature: {value: share}}` and return it as a Series indexed by (feature, value)."""
    if not isinstance(shares, Mapping | pd.Series):
        raise ValueError(f"{what}s: expected {{feature: {{value: {what}}}}}, got {shares!r}")
    if isinstance(shares, pd.Series):
        if shares.index.nlevels != 2:
            raise ValueError(f"{what}s: expected a Series indexed by (feature, value)")
        pairs = zip(shares.index.to_list(), shares.to_list(), strict=True)
        items = [(str(feature), str(value), share) for (feature, value), share in pairs]
    else:
        for feature, values in shares.items():
            if not isinstance(values, Mapping | pd.Series) or not len(values):
                raise ValueError(
                    f"feature {feature!r}: expected a {what} for each of its values, got {values!r}"
                )
        items = [
            (str(feature), str(value), share)
            for feature, values in shares.items()
            for value, share in values.items()
        ]
    if not items:
        raise ValueError(f"{what}s: there are none")
    seen: dict[str, dict[str, float]] = {}
    for feature, value, share in items:
        values = seen.setdefault(feature, {})
        if value in values:
            raise ValueError(f"feature {feature!r}, value {value!r}: has two {what}s")
        try:
            values[value] = float(share)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"feature {feature!r}, value {value!r}: the {what} {share!r} is not a number"
            ) from None
    pieces = []
    for feature, values in seen.items():
        names = [f"feature {feature!r}, value {value!r}" for value in values]
        array = np.array(list(values.values()))
        pieces.append(distribution(array, f"feature {feature!r}", names.__getitem__, what))
    labels = [(feature, value) for feature, values in seen.items() for value in values]
    index = pd.MultiIndex.from_tuples(labels, names=["feature", "value"])
    return pd.Series(np.concatenate(pieces), index, name=what)


def distribution(
    array: FloatArray, whole: str, name: Callable[[int], str], what: str = "probability"
) -> FloatArray:
    """Check that these are shares of one; rescale what rounding has left of or put on top of it."""
    bad = ~((array >= 0) & np.isfinite(array))
    if bad.any():
        position = int(np.argmax(bad))
        value = array[position]
        wrong = "is missing" if np.isnan(value) else f"is {value:g}, expected a number from 0 to 1"
        raise ValueError(f"{name(position)}: the {what} {wrong}")
    total = float(array.sum())
    if abs(total - 1) > ROUNDING + 1e-9:
        plural = "probabilities" if what == "probability" else f"{what}s"
        raise ValueError(f"{whole}: the {plural} sum to {total:.4g}, expected 1")
    # What already sums to one up to arithmetic noise is left alone, bit for bit.
    return frozen(array if abs(total - 1) < 1e-12 else array / total)


def weights_of(frame: pd.DataFrame) -> FloatArray | None:
    """The column `count` of a table of people, if there is one."""
    if "count" not in frame.columns:
        return None
    weights = pd.to_numeric(frame["count"], errors="coerce").to_numpy(dtype=float)
    bad = ~((weights >= 0) & np.isfinite(weights))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"column 'count', row {frame.index[row]}: {frame['count'].iloc[row]!r} "
            "is not a number of people"
        )
    if weights.sum() <= 0:
        raise ValueError("column 'count': the counts sum to 0, expected at least one person")
    return np.asarray(weights, dtype=float)

r"""The problem: who is wanted, and who comes.

A volunteer has $d$ **features**; feature $i$ takes one of $D_i$ **values**. A **type**
$x = (x^1, \dots, x^d)$ is one combination of values, so there are $D_1 \cdots D_d$ types.
Volunteers arrive one by one, their types drawn independently from a distribution $p$.
The committee should hold a share $\rho^i_j$ (the **target**) of people with value $j$ of feature
$i$. A committee $C$ with shares $\lambda^i_j(C)$ has the **representation loss**

$$\|\lambda(C) - \rho\|_\infty = \max_{i,j} |\lambda^i_j(C) - \rho^i_j|.$$

This is Section 3.1 of the paper. A `Problem` is checked when it is made, and cannot change: nothing
that receives one needs to check again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Shares = Mapping[str, Mapping[str, float]]
Array = TypeVar("Array", bound=npt.NDArray[Any])

#: Shares printed with three digits may add up to 0.999: up to here they are rescaled to one.
ROUNDING = 0.002


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Features with their values, target shares, and the distribution of the volunteers' types.

    Parameters
    ----------
    targets
        `{feature: {value: share}}`, or a Series indexed by (feature, value). Its order is the order
        of features and values everywhere else.
    p
        The probability of each type, in the order of `types` (the last feature varies fastest).

    See `from_marginals` and `from_table` for friendlier ways to make one.
    """

    targets: pd.Series
    p: FloatArray

    def __init__(self, targets: Shares | pd.Series, p: npt.ArrayLike) -> None:
        checked = _shares(targets, "target")
        object.__setattr__(self, "targets", checked)
        n_types = int(np.prod([len(values) for values in self.features.values()]))
        array = np.array(p, dtype=float)
        if array.shape != (n_types,):
            raise ValueError(
                f"p: expected one probability for each of the {n_types} types, "
                f"got an array of shape {array.shape}"
            )
        checked_p = _distribution(array, "p", lambda kind: f"type {self.index[kind]}")
        object.__setattr__(self, "p", checked_p)
        absent = (self.presence <= 0) & (self.target > 0)
        if absent.any():
            feature, value = self.targets.index[int(np.argmax(absent))]
            raise ValueError(
                f"feature {feature!r}, value {value!r}: the target is "
                f"{self.targets.loc[(feature, value)]:.3g}, but no volunteer has this value"
            )

    @classmethod
    def from_marginals(cls, targets: Shares | pd.Series, marginals: Shares | pd.Series) -> Problem:
        """Make a problem whose features are independent among the volunteers."""
        wanted, offered = _shares(targets, "target"), _shares(marginals, "share")
        for one, other, where in (
            (wanted, offered, "the volunteers' shares"),
            (offered, wanted, "the targets"),
        ):
            features = set(other.index.get_level_values(0))
            for feature, value in one.index.difference(other.index, sort=False):
                what = f"feature {feature!r}" + (
                    f", value {value!r}" if feature in features else ""
                )
                raise ValueError(f"{what}: is missing from {where}")
        offered = offered.loc[wanted.index]
        return cls(wanted, _product(offered.to_numpy(), _features(wanted)))

    @classmethod
    def from_table(cls, targets: Shares | pd.Series, frame: pd.DataFrame) -> Problem:
        """Make a problem from a table of people, a row each and a column per feature.

        Other columns are ignored, except `count`: with it, a row stands for that many people.
        """
        wanted = _shares(targets, "target")
        features = _features(wanted)
        if frame.empty:
            raise ValueError("the table of people is empty")
        missing = [feature for feature in features if feature not in frame.columns]
        if missing:
            raise ValueError(
                f"feature {missing[0]!r}: the table of people has no such column "
                f"(it has {', '.join(map(repr, frame.columns))})"
            )
        codes = []
        for feature, values in features.items():
            column = frame[feature]
            code = pd.Index(values).get_indexer(pd.Index(column.astype(str)))
            if (code < 0).any():
                row = int(np.argmax(code < 0))
                raise ValueError(
                    f"feature {feature!r}, row {frame.index[row]}: {column.iloc[row]!r} is none "
                    f"of the values {', '.join(map(repr, values))}"
                )
            codes.append(code)
        weights = _weights(frame)
        shape = tuple(len(values) for values in features.values())
        kinds = np.ravel_multi_index(tuple(codes), shape)
        counts = np.bincount(kinds, weights=weights, minlength=int(np.prod(shape)))
        return cls(wanted, counts / counts.sum())

    @cached_property
    def features(self) -> dict[str, tuple[str, ...]]:
        """The features in order, each with its values in order."""
        return _features(self.targets)

    @cached_property
    def types(self) -> pd.DataFrame:
        """The types: a row each, a column per feature."""
        return self.index.to_frame(index=False)

    @cached_property
    def index(self) -> pd.MultiIndex:
        """The types as an index, for Series that hold one number per type."""
        return pd.MultiIndex.from_product(list(self.features.values()), names=list(self.features))

    @cached_property
    def target(self) -> FloatArray:
        """The targets as a plain array, one entry per value of each feature."""
        return _frozen(self.targets.to_numpy(dtype=float, copy=True))

    @cached_property
    def sizes(self) -> IntArray:
        """For each entry of `target`, the number of values its feature has."""
        counts = [len(values) for values in self.features.values()]
        return _frozen(np.repeat(counts, counts).astype(np.intp))

    @cached_property
    def codes(self) -> IntArray:
        """For each type (row) and feature (column), the position of its value in `target`."""
        counts = [len(values) for values in self.features.values()]
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        grid = np.indices(counts).reshape(len(counts), -1).T + first
        return _frozen(np.ascontiguousarray(grid, dtype=np.intp))

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Which value (row) is had by which type (column): a sparse matrix of zeros and ones."""
        n_types, d = self.codes.shape
        columns = np.repeat(np.arange(n_types), d)
        ones = np.ones(n_types * d)
        return sparse.csr_array(
            (ones, (self.codes.ravel(), columns)), shape=(len(self.target), n_types)
        )

    @cached_property
    def presence(self) -> FloatArray:
        """The share of volunteers who have each value: the marginals of p."""
        return _frozen(np.asarray(self.incidence @ self.p, dtype=float))

    def by_type(self, per_value: FloatArray) -> FloatArray:
        """Multiply numbers given for each value into one for each type."""
        return _product(per_value, self.features)

    def profile(self, counts: npt.ArrayLike) -> pd.Series:
        """The share of each value in a committee with these counts per type."""
        array = np.asarray(counts, dtype=float)
        if array.shape != self.p.shape:
            raise ValueError(
                f"counts: expected one number for each of the {len(self.p)} types, "
                f"got an array of shape {array.shape}"
            )
        if not (array >= 0).all() or array.sum() <= 0:
            raise ValueError("counts: expected numbers of people, at least one of them above zero")
        return pd.Series(self.incidence @ array / array.sum(), self.targets.index, name="share")

    def loss(self, counts: npt.ArrayLike) -> float:
        """The representation loss of a committee with these counts per type."""
        return float(np.abs(self.profile(counts).to_numpy() - self.target).max())

    def loss_of_kinds(self, kinds: IntArray) -> float:
        """The representation loss of the committee of these people, given as positions in `types`.

        The same number as `loss`, without a pass over all types.
        """
        seats = np.bincount(self.codes[kinds].ravel(), minlength=len(self.target))
        return float(np.abs(seats / len(kinds) - self.target).max())

    @cached_property
    def _digest(self) -> bytes:
        names = repr(list(self.targets.index)).encode()
        return hashlib.sha256(names + self.target.tobytes() + self.p.tobytes()).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.targets, self.p)

    def __repr__(self) -> str:
        features = ", ".join(f"{feature} {len(v)}" for feature, v in self.features.items())
        return f"Problem({features})"


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _features(shares: pd.Series) -> dict[str, tuple[str, ...]]:
    features: dict[str, list[str]] = {}
    for feature, value in shares.index:
        features.setdefault(feature, []).append(value)
    return {feature: tuple(values) for feature, values in features.items()}


def _product(per_value: FloatArray, features: Mapping[str, tuple[str, ...]]) -> FloatArray:
    ends = np.cumsum([len(values) for values in features.values()])
    return np.asarray(reduce(np.multiply.outer, np.split(per_value, ends[:-1])).ravel())


def _shares(shares: Shares | pd.Series, what: str) -> pd.Series:
    """Check `{feature: {value: share}}` and return it as a Series indexed by (feature, value)."""
    if isinstance(shares, pd.Series):
        if shares.index.nlevels != 2:
            raise ValueError(f"{what}s: expected a Series indexed by (feature, value)")
        pairs = zip(shares.index.to_list(), shares.to_list(), strict=True)
        items = [(str(feature), str(value), share) for (feature, value), share in pairs]
    else:
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
        except (TypeError, ValueError):
            raise ValueError(
                f"feature {feature!r}, value {value!r}: the {what} {share!r} is not a number"
            ) from None
    pieces = []
    for feature, values in seen.items():
        names = [f"feature {feature!r}, value {value!r}" for value in values]
        array = np.array(list(values.values()))
        array = _distribution(array, f"feature {feature!r}", names.__getitem__, what)
        index = pd.MultiIndex.from_product([[feature], values], names=["feature", "value"])
        pieces.append(pd.Series(array, index, name=what))
    joined = pd.concat(pieces)
    values_only = _frozen(joined.to_numpy(copy=True))
    return pd.Series(values_only, joined.index, name=what, copy=False)


def _distribution(
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
    return _frozen(array if abs(total - 1) < 1e-12 else array / total)


def _weights(frame: pd.DataFrame) -> FloatArray | None:
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

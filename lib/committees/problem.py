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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from committees.checks import (
    FloatArray,
    IntArray,
    Shares,
    checked_shares,
    distribution,
    features_of,
    frozen,
    number_of_types,
    product_of,
    weights_of,
)

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["FloatArray", "IntArray", "Problem", "Shares"]


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

    values: pd.MultiIndex
    target: FloatArray
    p: FloatArray

    def __init__(self, targets: Shares | pd.Series, p: npt.ArrayLike) -> None:
        checked = checked_shares(targets, "target")
        object.__setattr__(self, "values", checked.index)
        object.__setattr__(self, "target", frozen(checked.to_numpy(dtype=float, copy=True)))
        n_types = number_of_types(self.features)
        if np.shape(p) != (n_types,) and not isinstance(p, pd.Series):
            raise ValueError(
                f"p: expected one probability for each of the {n_types} types, "
                f"got an array of shape {np.shape(p)}"
            )
        array = distribution(self.by_label(p, "p"), "p", lambda kind: f"type {self.index[kind]}")
        object.__setattr__(self, "p", array)
        absent = (self.presence <= 0) & (self.target > 0)
        if absent.any():
            feature, value = self.values[int(np.argmax(absent))]
            raise ValueError(
                f"feature {feature!r}, value {value!r}: the target is "
                f"{self.target[np.argmax(absent)]:.3g}, but no volunteer has this value"
            )

    @classmethod
    def from_marginals(cls, targets: Shares | pd.Series, marginals: Shares | pd.Series) -> Problem:
        """Make a problem whose features are independent among the volunteers."""
        wanted, offered = checked_shares(targets, "target"), checked_shares(marginals, "share")
        for one, other, where in (
            (wanted, offered, "the volunteers' shares"),
            (offered, wanted, "the targets"),
        ):
            known = set(other.index.get_level_values(0))
            for feature, value in one.index.difference(other.index, sort=False):
                what = f"feature {feature!r}" + (f", value {value!r}" if feature in known else "")
                raise ValueError(f"{what}: is missing from {where}")
        offered = offered.loc[wanted.index]
        features = features_of(wanted)
        number_of_types(features)
        return cls(wanted, product_of(offered.to_numpy(), features))

    @classmethod
    def from_table(cls, targets: Shares | pd.Series, frame: pd.DataFrame) -> Problem:
        """Make a problem from a table of people, a row each and a column per feature.

        Other columns are ignored, except `count`: with it, a row stands for that many people.
        """
        wanted = checked_shares(targets, "target")
        features = features_of(wanted)
        if not isinstance(frame, pd.DataFrame):
            raise ValueError(f"the table of people: expected a DataFrame, got {frame!r}")
        if frame.empty:
            raise ValueError("the table of people is empty")
        frame = frame.rename(columns=str)
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise ValueError(f"column {twice[0]!r}: is there twice in the table of people")
        missing = [feature for feature in features if feature not in frame.columns]
        if missing:
            raise ValueError(
                f"feature {missing[0]!r}: the table of people has no such column "
                f"(it has {', '.join(map(repr, frame.columns))})"
            )
        codes = []
        for feature, values in features.items():
            column = frame[feature]
            if column.isna().any():
                row = frame.index[int(np.argmax(column.isna()))]
                raise ValueError(f"feature {feature!r}, row {row}: is missing")
            code = pd.Index(values).get_indexer(pd.Index(column.astype(str)))
            if (code < 0).any():
                row = int(np.argmax(code < 0))
                raise ValueError(
                    f"feature {feature!r}, row {frame.index[row]}: {column.iloc[row]!r} is none "
                    f"of the values {', '.join(map(repr, values))}"
                )
            codes.append(code)
        weights = None if "count" in features else weights_of(frame)
        number_of_types(features)
        shape = tuple(len(values) for values in features.values())
        kinds = np.ravel_multi_index(tuple(codes), shape)
        counts = np.bincount(kinds, weights=weights, minlength=int(np.prod(shape)))
        return cls(wanted, counts / counts.sum())

    @cached_property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """The features in order, each with its values in order."""
        return MappingProxyType(features_of(self.values))

    @property
    def targets(self) -> pd.Series:
        """The target shares, indexed by (feature, value)."""
        return pd.Series(self.target, self.values, name="target", copy=False)

    @property
    def types(self) -> pd.DataFrame:
        """The types: a row each, a column per feature."""
        return self.index.to_frame(index=False)

    @cached_property
    def index(self) -> pd.MultiIndex:
        """The types as an index, for Series that hold one number per type."""
        return pd.MultiIndex.from_product(list(self.features.values()), names=list(self.features))

    @cached_property
    def sizes(self) -> IntArray:
        """For each entry of `target`, the number of values its feature has."""
        return frozen(np.repeat(self.shape, self.shape).astype(np.intp))

    @cached_property
    def codes(self) -> IntArray:
        """For each type (row) and feature (column), the position of its value in `target`."""
        first = np.concatenate([[0], np.cumsum(self.shape)[:-1]])
        grid = np.indices(self.shape).reshape(len(self.shape), -1).T + first
        return frozen(np.ascontiguousarray(grid, dtype=np.intp))

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Which value (row) is had by which type (column): a sparse matrix of zeros and ones."""
        from scipy import sparse

        n_types, d = self.codes.shape
        columns = np.repeat(np.arange(n_types), d)
        ones = np.ones(n_types * d)
        return sparse.csr_array(
            (ones, (self.codes.ravel(), columns)), shape=(len(self.target), n_types)
        )

    @cached_property
    def presence(self) -> FloatArray:
        """The share of volunteers who have each value: the marginals of p."""
        return frozen(self.by_value(self.p))

    @cached_property
    def bottleneck(self) -> float:
        """No policy can accept more people of a value than come: the smallest such bound on g."""
        wanted = self.target > 0
        return float((self.presence[wanted] / self.target[wanted]).min())

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each feature has: types are the cells of an array of this shape."""
        return tuple(len(values) for values in self.features.values())

    def by_value(self, per_type: FloatArray) -> FloatArray:
        """Sum numbers given for each type over the types that have each value."""
        # One axis for the values of a feature, one for all before it and one for all after.
        cells = (per_type.reshape(-1, size, after) for size, after in self._layout())
        return np.concatenate([cell.sum(axis=2).sum(axis=0) for cell in cells])

    def sum_by_type(self, per_value: FloatArray) -> FloatArray:
        """Add numbers given for each value up to one for each type."""
        parts = np.split(per_value, np.cumsum(self.shape)[:-1])
        # From the last feature to the first, so that the long sums run along memory.
        return np.asarray(reduce(lambda sums, part: np.add.outer(part, sums), parts[::-1])).ravel()

    def _layout(self) -> Iterator[tuple[int, int]]:
        """For each feature, the number of its values and of the types that differ after it."""
        return zip(self.shape, len(self.p) // np.cumprod(self.shape), strict=True)

    def by_type(self, per_value: FloatArray) -> FloatArray:
        """Multiply numbers given for each value into one for each type."""
        return product_of(per_value, self.features)

    def by_label(self, numbers: npt.ArrayLike, name: str) -> FloatArray:
        """Put numbers per type in order: a Series by its labels, anything else as it stands."""
        if not isinstance(numbers, pd.Series):
            try:
                return np.array(numbers, dtype=float)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{name}: expected numbers: {error}") from None
        order: list[Any] = list(self.features)
        if len(order) > 1 and set(numbers.index.names) == set(order):
            numbers = numbers.reorder_levels(order)
        labels: pd.Index = self.index
        if len(order) == 1:
            labels = self.index.get_level_values(0)
            numbers = numbers.set_axis(numbers.index.get_level_values(0))
        unknown = numbers.index.difference(labels, sort=False)
        if len(unknown) or numbers.index.has_duplicates:
            wrong = unknown[0] if len(unknown) else numbers.index[numbers.index.duplicated()][0]
            raise ValueError(f"{name}: {wrong!r} is no type of this problem, or is there twice")
        return np.array(numbers.reindex(labels, fill_value=0), dtype=float)

    def profile(self, counts: npt.ArrayLike) -> pd.Series:
        """The share of each value in a committee with these counts per type."""
        array = self.by_label(counts, "counts")
        if array.shape != self.p.shape:
            raise ValueError(
                f"counts: expected one number for each of the {len(self.p)} types, "
                f"got an array of shape {array.shape}"
            )
        if not (array >= 0).all() or not 0 < array.sum() < np.inf:
            raise ValueError("counts: expected numbers of people, at least one of them above zero")
        return pd.Series(self.incidence @ array / array.sum(), self.values, name="share")

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
    def digest(self) -> str:
        """A fingerprint: equal problems have the same one, others another."""
        names = repr(list(self.values)).encode()
        return hashlib.sha256(names + self.target.tobytes() + self.p.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.targets, self.p)

    def __repr__(self) -> str:
        features = ", ".join(f"{feature} {len(v)}" for feature, v in self.features.items())
        return f"Problem({features})"

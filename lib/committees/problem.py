r"""Section 3.1: the targets and the volunteers.

A volunteer has $d$ **features**; feature $i$ takes one of $D_i$ **values**. A **type**
$x = (x^1, \dots, x^d)$ is one combination of values, so there are $D_1 \cdots D_d$ types.
Volunteers arrive one by one, their types drawn independently from a distribution $p$.
The committee should hold a share $\rho^i_j$ (the **target**) of people with value $j$ of feature
$i$. A committee $C$ with shares $\lambda^i_j(C)$ has the **representation loss**

$$\|\lambda(C) - \rho\|_\infty = \max_{i,j} |\lambda^i_j(C) - \rho^i_j|.$$

Arrays come in two layouts:

- *per type*, shape (number of types,): position `type_id` is row `type_id` of `Problem.types`, the
  last feature varying fastest;
- *per value*, shape (number of values of all features,): in the order of `Problem.labels`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from committees.checks import (
    FloatArray,
    IntArray,
    Shares,
    check_distribution,
    check_shares,
    check_type_count,
    count_people,
    frozen,
)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Problem:
    """Features with their values, target shares, and the distribution of the volunteers' types.

    A problem is checked when it is made and cannot change, so functions that take one need not
    check it. Names of features and values become strings; targets and probabilities whose sum is
    off by rounding are rescaled; unlike in the paper, a target may be 0.

    Parameters
    ----------
    targets : {feature: {value: share}} or Series indexed by (feature, value)
        The order of features and values here is their order everywhere else.
    p : array_like of float, shape (number of types,), or Series indexed by the types
        The probability of each type; a Series may leave out types that do not occur.

    Examples
    --------
    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.7, 0.3])
    >>> problem.loss([3, 1])
    0.25
    """

    labels: pd.MultiIndex  #: all (feature, value) pairs, in the layout of arrays per value
    rho: FloatArray  #: per value: the targets
    p: FloatArray  #: per type: the distribution of the volunteers

    def __init__(self, targets: Shares | pd.Series, p: npt.ArrayLike) -> None:
        checked = check_shares(targets, "target")
        set_field = object.__setattr__  # a frozen dataclass lets its fields be set like this alone
        set_field(self, "labels", checked.index)
        set_field(self, "rho", frozen(checked.to_numpy(copy=True)))
        check_type_count(self.shape)
        aligned = self.align(p, "p")
        set_field(self, "p", check_distribution(aligned, "p", lambda x: f"type {self.index[x]}"))
        is_absent = (self.presence <= 0) & (self.rho > 0)
        if is_absent.any():
            feature, value = self.labels[is_absent][0]
            target = self.rho[is_absent][0]
            raise ValueError(
                f"feature {feature!r}, value {value!r}: the target is {target:.3g}, "
                "but no volunteer has this value"
            )

    @classmethod
    def from_marginals(cls, targets: Shares | pd.Series, marginals: Shares | pd.Series) -> Problem:
        """Make a problem whose features are independent among the volunteers.

        Parameters
        ----------
        targets, marginals : {feature: {value: share}} or Series indexed by (feature, value)
            Shares of the committee and of the volunteers, for the same features and values.

        Examples
        --------
        >>> targets = {"gender": {"woman": 0.5, "man": 0.5}, "vote": {"yes": 0.4, "no": 0.6}}
        >>> shares = {"gender": {"woman": 0.7, "man": 0.3}, "vote": {"yes": 0.5, "no": 0.5}}
        >>> Problem.from_marginals(targets, shares).p.round(2).tolist()
        [0.35, 0.35, 0.15, 0.15]
        """
        wanted = check_shares(targets, "target")
        offered = check_shares(marginals, "marginal")
        unmatched = wanted.index.symmetric_difference(offered.index, sort=False)
        if len(unmatched):
            feature, value = unmatched[0]
            where = "targets" if (feature, value) in offered.index else "marginals"
            raise ValueError(f"feature {feature!r}, value {value!r}: is missing from the {where}")
        features = values_by_feature(wanted.index)
        check_type_count([len(values) for values in features.values()])
        parts = [offered[feature].loc[list(values)] for feature, values in features.items()]
        p = reduce(np.multiply.outer, [part.to_numpy() for part in parts]).ravel()
        return cls(wanted, p)

    @classmethod
    def from_table(
        cls,
        targets: Shares | pd.Series,
        frame: pd.DataFrame,
        missing: Literal["refuse", "drop"] = "refuse",
    ) -> Problem:
        """Make a problem from a table of people.

        Parameters
        ----------
        targets : {feature: {value: share}} or Series indexed by (feature, value)
        frame : DataFrame
            A row per person and a column per feature. With a column `count`, a row stands for that
            many people. Other columns are ignored.
        missing : {"refuse", "drop"}
            What becomes of people who left out an answer.

        Examples
        --------
        >>> people = pd.DataFrame({"gender": ["woman", "man"], "count": [7, 3]})
        >>> Problem.from_table({"gender": {"woman": 0.5, "man": 0.5}}, people).p.tolist()
        [0.7, 0.3]
        """
        wanted = check_shares(targets, "target")
        people = count_people(frame, values_by_feature(wanted.index), missing)
        return cls(wanted, people / people.sum())

    @cached_property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """The features in order, each with its values in order."""
        return MappingProxyType(values_by_feature(self.labels))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each feature has: types are the cells of an array of this shape."""
        return tuple(len(values) for values in self.features.values())

    @property
    def targets(self) -> pd.Series:
        """The targets `rho` with their labels."""
        return pd.Series(self.rho, self.labels, name="target", copy=False)

    @cached_property
    def index(self) -> pd.MultiIndex:
        """The types as an index, for a Series that holds one number per type."""
        return pd.MultiIndex.from_product(list(self.features.values()), names=list(self.features))

    @property
    def types(self) -> pd.DataFrame:
        """The types: a row each, a column per feature."""
        return self.index.to_frame(index=False)

    @cached_property
    def n_values(self) -> IntArray:
        """Per value: the number of values that its feature has."""
        return frozen(np.repeat(self.shape, self.shape).astype(np.intp))

    @cached_property
    def codes(self) -> IntArray:
        """Shape (number of types, d): the position in `labels` of each type's value."""
        first_of_feature = np.cumsum([0, *self.shape[:-1]])
        value_of_feature = np.indices(self.shape, dtype=np.intp).reshape(len(self.shape), -1).T
        # Column by column in memory, as the transposed array is: sums over values are faster so.
        return frozen(value_of_feature + first_of_feature)

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Shape (number of values, number of types): 1 where the type has the value, sparse."""
        n_types, d = self.codes.shape
        rows = self.codes.ravel()
        columns = np.repeat(np.arange(n_types), d)
        ones = np.ones(n_types * d)
        return sparse.csr_array((ones, (rows, columns)), shape=(len(self.rho), n_types))

    @cached_property
    def presence(self) -> FloatArray:
        """Per value: the share of the volunteers who have it, the marginals of p."""
        return frozen(self.marginals(self.p))

    @cached_property
    def bottleneck(self) -> float:
        """An upper bound on the rate of any policy that meets the targets: presence / target."""
        is_wanted = self.rho > 0
        return float((self.presence[is_wanted] / self.rho[is_wanted]).min())

    def marginals(self, per_type: FloatArray) -> FloatArray:
        """Per value: the sum of numbers per type over the types that have the value."""
        return np.asarray(self.incidence @ per_type)

    def sum_over_values(self, per_value: FloatArray) -> FloatArray:
        """Per type: the sum of numbers per value over the values that the type has."""
        return np.asarray(per_value[self.codes].sum(axis=1))

    def product_over_values(self, per_value: FloatArray) -> FloatArray:
        """Per type: the product of numbers per value over the values that the type has."""
        return np.asarray(per_value[self.codes].prod(axis=1))

    def type_of(self, person: Mapping[str, str]) -> int:
        """The position among `types` of a person, given a value of each feature.

        >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.7, 0.3])
        >>> problem.type_of({"gender": "man"})
        1
        """
        if set(person) != set(self.features):
            expected = ", ".join(map(repr, self.features))
            raise ValueError(f"person: expected a value of each of {expected}, got {dict(person)}")
        values = tuple(str(person[feature]) for feature in self.features)
        (type_id,) = self.index.get_indexer(pd.MultiIndex.from_tuples([values]))
        if type_id < 0:
            raise ValueError(f"person: {dict(person)} has a value that is not of this problem")
        return int(type_id)

    def align(self, numbers: npt.ArrayLike, name: str) -> FloatArray:
        """Numbers per type as an array: a Series is put in order by its labels."""
        if isinstance(numbers, pd.Series):
            numbers = self._in_order_of_types(numbers, name)
        try:
            array = np.array(numbers, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: expected numbers: {error}") from None
        n_types = math.prod(self.shape)
        if array.shape != (n_types,):
            raise ValueError(
                f"{name}: expected one number for each of the {n_types} types, "
                f"got an array of shape {array.shape}"
            )
        return array

    def _in_order_of_types(self, numbers: pd.Series, name: str) -> pd.Series:
        labels = numbers.index.to_frame(index=False).astype(str)
        if set(numbers.index.names) == set(self.features):
            labels = labels[list(self.features)]
        index = pd.MultiIndex.from_frame(labels)
        if labels.shape[1] != len(self.shape) or not index.isin(self.index).all():
            raise ValueError(f"{name}: has labels that are not types of this problem")
        if index.has_duplicates:
            raise ValueError(f"{name}: {index[index.duplicated()][0]} comes twice")
        return numbers.set_axis(index).reindex(self.index, fill_value=0)

    def profile(self, counts: npt.ArrayLike) -> pd.Series:
        """The share of each value in a committee, given its counts per type."""
        checked = self.align(counts, "counts")
        if not (checked >= 0).all() or not 0 < checked.sum() < np.inf:
            raise ValueError("counts: expected numbers of people, at least one of them above zero")
        shares = self.marginals(checked) / checked.sum()
        return pd.Series(shares, self.labels, name="share")

    def loss(self, counts: npt.ArrayLike) -> float:
        """The representation loss of a committee, given its counts per type."""
        return float(np.abs(self.profile(counts).to_numpy() - self.rho).max())

    def committee_loss(self, type_ids: IntArray) -> float:
        """The representation loss, given the type of each member: not empty, and not checked."""
        seats = np.bincount(self.codes[type_ids].ravel(), minlength=len(self.rho))
        return float(np.abs(seats / len(type_ids) - self.rho).max())

    @cached_property
    def digest(self) -> str:
        """A fingerprint: equal problems have equal ones, different problems different ones."""
        names = repr(list(self.labels)).encode()
        return hashlib.sha256(names + self.rho.tobytes() + self.p.tobytes()).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.targets, self.p)  # the rest is computed again where it is needed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        sizes = [f"{feature} {len(values)}" for feature, values in self.features.items()]
        return f"Problem({', '.join(sizes)})"


def values_by_feature(labels: pd.Index) -> dict[str, tuple[str, ...]]:
    """The features and their values, in order, from an index of (feature, value)."""
    features: dict[str, list[str]] = {}
    for feature, value in labels:
        features.setdefault(feature, []).append(value)
    return {feature: tuple(values) for feature, values in features.items()}

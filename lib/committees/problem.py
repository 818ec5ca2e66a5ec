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
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any

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
        own = vars(self)  # the only way to set attributes: see __setattr__
        own.update(labels=checked.index, rho=frozen(checked.to_numpy(dtype=float, copy=True)))
        check_type_count(self.shape)
        own["p"] = check_distribution(self.align(p, "p"), "p", lambda x: f"type {self.index[x]}")
        for absent in np.flatnonzero((self.presence <= 0) & (self.rho > 0)).tolist():  # the first
            feature, value = self.labels[absent]
            raise ValueError(
                f"feature {feature!r}, value {value!r}: the target is {self.rho[absent]:.3g}, "
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
        wanted, offered = check_shares(targets, "target"), check_shares(marginals, "marginal")
        for feature, value in wanted.index.symmetric_difference(offered.index, sort=False):
            where = "targets" if (feature, value) in offered.index else "marginals"
            raise ValueError(f"feature {feature!r}, value {value!r}: is missing from the {where}")
        features = _features(wanted.index)
        check_type_count([len(values) for values in features.values()])
        parts = [offered[feature].loc[list(values)] for feature, values in features.items()]
        return cls(wanted, reduce(np.multiply.outer, [s.to_numpy() for s in parts]).ravel())

    @classmethod
    def from_table(cls, targets: Shares | pd.Series, frame: pd.DataFrame) -> Problem:
        """Make a problem from a table of people.

        Parameters
        ----------
        targets : {feature: {value: share}} or Series indexed by (feature, value)
        frame : DataFrame
            A row per person and a column per feature. With a column `count`, a row stands for that
            many people. Other columns are ignored.

        Examples
        --------
        >>> people = pd.DataFrame({"gender": ["woman", "man"], "count": [7, 3]})
        >>> Problem.from_table({"gender": {"woman": 0.5, "man": 0.5}}, people).p.tolist()
        [0.7, 0.3]
        """
        wanted = check_shares(targets, "target")
        people = count_people(frame, _features(wanted.index))
        return cls(wanted, people / people.sum())

    @cached_property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """The features in order, each with its values in order."""
        return MappingProxyType(_features(self.labels))

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
        first = np.concatenate([[0], np.cumsum(self.shape)[:-1]])
        grid = np.indices(self.shape).reshape(len(self.shape), -1).T + first
        return frozen(np.ascontiguousarray(grid, dtype=np.intp))

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Shape (number of values, number of types): 1 where the type has the value, sparse."""
        n_types, d = self.codes.shape
        columns, ones = np.repeat(np.arange(n_types), d), np.ones(n_types * d)
        shape = (len(self.rho), n_types)
        return sparse.csr_array((ones, (self.codes.ravel(), columns)), shape=shape)

    @cached_property
    def presence(self) -> FloatArray:
        """Per value: the share of the volunteers who have it, the marginals of p."""
        return frozen(self.marginals(self.p))

    @cached_property
    def bottleneck(self) -> float:
        """An upper bound on the rate of any policy that meets the targets: presence / target."""
        wanted = self.rho > 0
        return float((self.presence[wanted] / self.rho[wanted]).min())

    def marginals(self, per_type: FloatArray) -> FloatArray:
        """Per value: the sum of numbers per type over the types that have the value."""
        # One axis for the values of a feature, one for all before it and one for all after.
        after = len(per_type) // np.cumprod(self.shape)
        cells = (per_type.reshape(-1, n, m) for n, m in zip(self.shape, after, strict=True))
        return np.concatenate([cell.sum(axis=2).sum(axis=0) for cell in cells])

    def sum_over_values(self, per_value: FloatArray) -> FloatArray:
        """Per type: the sum of numbers per value over the values that the type has."""
        parts = np.split(per_value, np.cumsum(self.shape)[:-1])
        # From the last feature to the first, so that the long sums run along memory.
        return np.asarray(reduce(lambda sums, part: np.add.outer(part, sums), parts[::-1])).ravel()

    def product_over_values(self, per_value: FloatArray) -> FloatArray:
        """Per type: the product of numbers per value over the values that the type has."""
        parts = np.split(per_value, np.cumsum(self.shape)[:-1])
        return np.asarray(reduce(np.multiply.outer, parts)).ravel()

    def align(self, numbers: npt.ArrayLike, name: str) -> FloatArray:
        """Numbers per type as an array: a Series is put in order by its labels."""
        if isinstance(numbers, pd.Series):
            given = numbers.index.to_frame(index=False).astype(str)
            if set(numbers.index.names) == set(self.features):
                given = given[list(self.features)]
            index = pd.MultiIndex.from_frame(given)
            if given.shape[1] != len(self.shape) or not index.isin(self.index).all():
                raise ValueError(f"{name}: has labels that are not types of this problem")
            if index.has_duplicates:
                raise ValueError(f"{name}: {index[index.duplicated()][0]} comes twice")
            numbers = numbers.set_axis(index).reindex(self.index, fill_value=0)
        try:
            array = np.array(numbers, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: expected numbers: {error}") from None
        if array.shape != (math.prod(self.shape),):
            raise ValueError(
                f"{name}: expected one number for each of the {math.prod(self.shape)} types, "
                f"got an array of shape {array.shape}"
            )
        return array

    def profile(self, counts: npt.ArrayLike) -> pd.Series:
        """The share of each value in a committee, given its counts per type."""
        array = self.align(counts, "counts")
        if not (array >= 0).all() or not 0 < array.sum() < np.inf:
            raise ValueError("counts: expected numbers of people, at least one of them above zero")
        return pd.Series(self.incidence @ array / array.sum(), self.labels, name="share")

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

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: a Problem cannot be changed; make a new one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.targets, self.p)

    def __repr__(self) -> str:
        return f"Problem({', '.join(f'{f} {len(v)}' for f, v in self.features.items())})"


def _features(labels: pd.Index) -> dict[str, tuple[str, ...]]:
    """The features and their values, in order, from an index of (feature, value)."""
    features: dict[str, list[str]] = {}
    for feature, value in labels:
        features.setdefault(feature, []).append(value)
    return {feature: tuple(values) for feature, values in features.items()}

"""Section 6 and Appendix D: the paper's data, as problems ready to be solved.

`data/README.md` says where each file comes from, and what in it is printed and what inferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from committees.bayesnet import Edge, joints
from committees.problem import Problem

_PACKAGED = Path(__file__).resolve().parent / "data"
_CHECKOUT = Path(__file__).resolve().parents[2] / "data"

#: Where the data are: beside an installed library, or in the checkout.
DATA = _PACKAGED if _PACKAGED.exists() else _CHECKOUT

Table = TypeVar("Table", pd.DataFrame, pd.Series)

#: The features that the Adult data share with the Brexit assembly.
ADULT_FEATURES = ["ethnicity", "social class", "age", "gender"]

#: The two structures that stand for the paper's weak and strong dependence; see appendix D.
NETWORKS: dict[str, list[Edge]] = {
    "weak": [("age", "gender")],
    "strong": list(combinations(["age", "gender", "ethnicity", "social class"], 2)),
}


def brexit(features: Sequence[str] | None = None) -> Problem:
    """The 2017 Citizens' Assembly on Brexit, features taken as independent.

    Parameters
    ----------
    features : sequence of str, optional
        Which features to keep, in this order; all six by default. The paper's two smaller
        configurations are `["ethnicity", "social class", "gender"]` and all but `"region"`.

    >>> brexit(["gender", "age"])
    Problem(gender 2, age 3)
    """
    rows = choose_features(brexit_table().set_index(["feature", "value"]), features)
    return Problem.from_marginals(rows["target"], rows["share"])


def choose_features(table: Table, features: Sequence[str] | None) -> Table:
    """The rows of these features, in this order, of a table indexed by feature and value."""
    if features is None:
        return table
    if isinstance(features, str) or not isinstance(features, Iterable):
        raise ValueError(f"features: expected a list of names, got {features!r}")
    chosen = list(features)
    known = list(table.index.unique(level="feature"))
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise ValueError(f"features: unknown {unknown[0]!r}, expected {', '.join(known)}")
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"features: expected some different features, got {chosen}")
    rows: Table = pd.concat([table.loc[[feature]] for feature in chosen])
    return rows


def brexit_table() -> pd.DataFrame:
    """Table 2 of the paper as printed: feature, value, target, share among the volunteers."""
    return pd.read_csv(DATA / "brexit.csv")


def adult(network: str | Sequence[Edge] = "weak") -> Problem:
    """The Adult data with Table 2's targets; p is a Bayesian network's joint distribution.

    Parameters
    ----------
    network : {"weak", "strong"} or sequence of (str, str)
        The edges (from, to) between the features ethnicity, social class, age and gender; the
        empty list makes them independent.
    """
    edges: Any = NETWORKS.get(network) if isinstance(network, str) else network
    if not isinstance(edges, Iterable):
        known = " or ".join(map(repr, NETWORKS))
        raise ValueError(f"network: expected {known} or a list of edges, got {network!r}")
    wanted = brexit(ADULT_FEATURES)
    (p,) = joints(adult_people(), [list(edges)], wanted.features)
    return Problem(wanted.targets, p)


def adult_people() -> pd.DataFrame:
    """The Adult data with the paper's recoding to the features of the Brexit assembly."""
    raw = pd.read_csv(DATA / "adult.csv.gz")
    return pd.DataFrame(
        {
            "ethnicity": np.where(raw["race"] == "White", "white", "non-white"),
            "social class": np.where(raw["income"] == ">50K", "ABC1", "C2DE"),
            "age": np.select([raw["age"] < 35, raw["age"] < 55], ["18-34", "35-54"], "55+"),
            "gender": raw["sex"].str.lower(),
        }
    )

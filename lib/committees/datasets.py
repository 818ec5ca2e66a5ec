"""The paper's data, as problems ready to be solved.

`data/README.md` says where each file comes from, and what in it is printed and what inferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from committees.problem import Problem

DATA = Path(__file__).resolve().parents[2] / "data"


def brexit_table() -> pd.DataFrame:
    """Table 2 of the paper as printed: feature, value, target, share among the volunteers."""
    return pd.read_csv(DATA / "brexit.csv")


def brexit(features: Sequence[str] | None = None) -> Problem:
    """The 2017 Citizens' Assembly on Brexit, features taken as independent (paper, Section 6).

    Parameters
    ----------
    features
        Which features to keep, in this order; all six by default. The paper's two smaller
        configurations are `["ethnicity", "social class", "gender"]` and all but `"region"`.
    """
    table = brexit_table().set_index(["feature", "value"])
    known = list(table.index.unique(level="feature"))
    if isinstance(features, str):
        raise ValueError(f"features: expected a list of names, got the text {features!r}")
    chosen = known if features is None else list(features)
    for feature in chosen:
        if feature not in known:
            raise ValueError(
                f"feature {feature!r}: is none of the Brexit assembly's, "
                f"which are {', '.join(map(repr, known))}"
            )
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"features: expected some different features, got {chosen}")
    rows = pd.concat([table.loc[[feature]] for feature in chosen])
    return Problem.from_marginals(rows["target"], rows["share"])

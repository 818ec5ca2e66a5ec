"""The paper's data, as problems ready to be solved.

`data/README.md` says where each file comes from, and what in it is printed and what inferred.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from committees.problem import Problem

DATA = Path(__file__).resolve().parents[2] / "data"


#: The features that the Adult data share with the Brexit assembly.
ADULT_FEATURES = ["ethnicity", "social class", "age", "gender"]

#: UCI's files of the Adult data, and how many people are in each.
ADULT_RAW = {"adult.data": 32_561, "adult.test": 16_281}


def read_raw_adult(folder: Path) -> pd.DataFrame:
    """Age, race, sex and income of all 48,842 people, from UCI's two files."""
    columns = {0: "age", 8: "race", 9: "sex", 14: "income"}
    parts = []
    for name, people in ADULT_RAW.items():
        part = pd.read_csv(
            folder / name,
            header=None,
            usecols=list(columns),
            skiprows=1 if name == "adult.test" else 0,  # a remark
            skipinitialspace=True,
        ).rename(columns=columns)
        if len(part) != people:
            raise ValueError(f"{name}: has {len(part)} people, expected {people}")
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    frame["income"] = frame["income"].str.rstrip(".")  # a dot ends the lines of adult.test
    return frame


def write_adult(frame: pd.DataFrame, path: Path) -> None:
    """Write the table so that the same people give the same bytes."""
    text = frame.to_csv(index=False, lineterminator="\n").encode()
    path.write_bytes(gzip.compress(text, mtime=0))


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


#: The two structures that stand for the paper's weak and strong dependence; see appendix D.
NETWORKS: dict[str, list[tuple[str, str]]] = {
    "weak": [("age", "gender")],
    "strong": [
        ("age", "social class"),
        ("gender", "social class"),
        ("ethnicity", "social class"),
        ("age", "gender"),
        ("age", "ethnicity"),
        ("gender", "ethnicity"),
    ],
}


def adult(network: str | Sequence[tuple[str, str]] = "weak") -> Problem:
    """The Adult data with Table 2's targets; p is a Bayesian network's joint (Appendix D).

    Parameters
    ----------
    network
        `"weak"`, `"strong"`, or a list of edges (from, to) between the features ethnicity, social
        class, age and gender; the empty list makes them independent.
    """
    from committees.bayesnet import joint  # imports pgmpy, which takes a while

    if isinstance(network, str) or not isinstance(network, Iterable):
        if network not in NETWORKS:
            known = " or ".join(map(repr, NETWORKS))
            raise ValueError(f"network: expected {known} or a list of edges, got {network!r}")
        network = NETWORKS[network]
    targets = brexit(ADULT_FEATURES).targets
    features = brexit(ADULT_FEATURES).features
    return Problem(targets, joint(adult_people(), network, features))


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
    if isinstance(features, str) or not isinstance(features, Iterable | None):
        raise ValueError(f"features: expected a list of names, got {features!r}")
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

"""Measure every claim again with other seeds, for the page of the ledger.

Makes `data/ledger_seeds.csv` anew. `make check` measures one of the seeds, and compares.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from committees.datasets import DATA
from companion.claims import ledger
from companion.runs import Runs

SEEDS = (1, 2, 3, 4, 5)
FILE = DATA / "ledger_seeds.csv"


def measure(seeds: tuple[int, ...] = SEEDS) -> pd.DataFrame:
    """The ledgers of these seeds below each other: seed, id, measured, ±, verdict, undecided."""
    ledgers = pd.concat({seed: ledger(Runs(seed=seed)) for seed in seeds}, names=["seed"])
    return ledgers[["measured", "±", "verdict", "undecided"]].reset_index()


def changed(found: pd.DataFrame, stored: pd.DataFrame) -> list[str]:
    """A sentence for each verdict, value or interval that is not the stored one.

    Values count as equal if they agree in five digits: the file has six.
    """
    both = found.merge(stored, on=["seed", "id"], how="outer", suffixes=("", " stored"))
    sentences = []
    for column in ("verdict", "measured", "±"):
        now = both[column]
        then = both[f"{column} stored"]
        if column == "verdict":
            same = now == then
        else:
            same = np.isclose(now, then, rtol=1e-5, atol=1e-9, equal_nan=True)
        for _, row in both[~same].iterrows():
            where = f"seed {row['seed']}, {row['id']}"
            stored_value = row[f"{column} stored"]
            sentences.append(f"{where}: {column} is {stored_value} in the file, {row[column]} now")
    return sentences


if __name__ == "__main__":
    measure().to_csv(FILE, index=False, float_format="%.6g", lineterminator="\n")

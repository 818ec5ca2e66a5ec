"""Measure every claim again with other seeds, for the page of the ledger.

Makes `data/ledger_seeds.csv` anew. `make check` measures one of the seeds, and compares.
"""

from __future__ import annotations

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
    """A sentence for each verdict that is not the stored one."""
    both = found.merge(stored, on=["seed", "id"], how="outer", suffixes=("", " stored"))
    rows = both[both["verdict"] != both["verdict stored"]]
    return [
        f"seed {row['seed']}, {row['id']}: {row['verdict']}, stored is {row['verdict stored']}"
        for _, row in rows.iterrows()
    ]


if __name__ == "__main__":
    measure().to_csv(FILE, index=False, float_format="%.6g", lineterminator="\n")

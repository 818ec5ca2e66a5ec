"""The stored table of offline selection, held to what can be computed without the other package."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from committees import datasets
from committees.beyond.limits import hindsight
from committees.greedy import band_loss
from committees.volunteers import stream

BREXIT = datasets.brexit()
TABLE = pd.read_csv(datasets.DATA / "offline.csv")


@pytest.mark.parametrize("row", TABLE.to_dict("records"), ids=lambda row: f"stream {row['stream']}")
def test_offline_pool_is_the_hindsight_limit_on_the_same_stream(row):
    size, tolerance, pool = row["size"], row["tolerance"], row["pool"]
    type_ids = stream(BREXIT, 300, np.random.default_rng([row["seed"], row["stream"]]))
    assert hindsight(BREXIT, size, tolerance, type_ids) == pool
    assert row["one person fewer"].startswith(f"no panel of {size} among {pool - 1} people")
    assert row["panel's loss"] <= band_loss(BREXIT, size, tolerance) + 1e-12
    assert 0 < row["smallest chance"] <= size / pool


def test_offline_table_is_that_of_the_chapters_parameters():
    assert TABLE["stream"].tolist() == [0, 1, 2]
    assert TABLE[["size", "tolerance", "seed"]].drop_duplicates().values.tolist() == [
        [50, 0.02, 2021]
    ]

"""The comparison of strategies beyond the paper: what is stored, and what follows from it."""

from __future__ import annotations

import pandas as pd
import pytest

import beyond
from committees import CMDP, Greedy
from committees.beyond import Foresight, Prices
from committees.greedy import band_loss
from rivals import Tailoring

STORED = pd.read_csv(beyond.FILE)
PROBLEMS = beyond.problems()


@pytest.mark.parametrize(
    "rule", [CMDP(), Prices(), Greedy(0.02), Foresight(0.02), Tailoring(0.02)], ids=str
)
def test_stored_numbers_are_those_of_the_tool(rule):
    name, size = "Brexit, three features", 20
    row = STORED[STORED["problem"] == name].set_index(["strategy", "size"]).loc[(rule.name, size)]
    found = beyond.measure(name, PROBLEMS[name], rule, row["tolerance"], size)
    for column in ("screened", "screened ±", "loss", "loss ±", "runs", "largest loss"):
        assert found[column] == pytest.approx(row[column], rel=1e-5), column


def test_strategies_of_the_tool_are_all_stored():
    stored = set(STORED[["problem", "strategy", "size"]].itertuples(False, None))
    for name in PROBLEMS:
        for size in beyond.SIZES:
            for rule, _ in beyond.strategies(name, size):
                assert (name, rule.name, size) in stored


def test_foresight_never_ended_outside_its_band():
    rows = STORED[STORED["family"].str.startswith("Foresight")]
    assert len(rows) > 60
    for row in rows.itertuples():
        most = band_loss(PROBLEMS[row.problem], row.size, row.tolerance)
        assert STORED.loc[row.Index, "largest loss"] <= most * (1 + 1e-5) + 1e-9


def test_tailoring_never_ended_outside_its_band():
    rows = STORED[STORED["family"] == "Tailoring"]
    assert len(rows) == 6 * (3 + 3 + 1 + 1)
    for row in rows.itertuples():
        most = band_loss(PROBLEMS[row.problem], row.size, row.tolerance)
        assert STORED.loc[row.Index, "largest loss"] <= most * (1 + 1e-5) + 1e-9


def test_foresight_is_nowhere_two_per_cent_above_resolving():
    """Why Resolving went: where it is above at all, this is by less than that."""
    key = ["problem", "size", "tolerance"]
    ours, old = (STORED[STORED["family"] == name] for name in ("Foresight", "Resolving"))
    both = ours.merge(old, on=key, suffixes=("", " old"))
    assert len(both) >= 6 * 4 * 3
    assert (both["screened"] <= 1.02 * both["screened old"]).all()

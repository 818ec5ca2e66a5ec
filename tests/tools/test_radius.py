"""What the grid of radii says of the paper's claims is all there, and is what is measured."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import radius
from companion import cache
from companion.claims import load

STORED = pd.read_csv(radius.FILE)
TOUCHED = {claim.id: claim for claim in load() if claim.fitted}


def within(row):
    least, most = TOUCHED[row["id"]].other_limits
    return least <= row["value"] <= most


def test_radius_has_a_row_per_belief_scale_and_claim():
    rows = list(STORED[["belief", "scale", "id"]].itertuples(index=False, name=None))
    assert rows == list(product(radius.BELIEFS, radius.SCALES, TOUCHED))
    assert len(TOUCHED) >= 5


def test_radius_holds_where_the_value_is_within_the_limits():
    """As the file's values are rounded, one on a limit may be either."""
    limits = {limit for claim in TOUCHED.values() for limit in claim.other_limits}
    clear = STORED[~STORED["value"].isin(limits)]
    assert list(clear["holds"]) == [within(row) for _, row in clear.iterrows()]
    assert len(clear) > 0.95 * len(STORED)
    for _, rows in STORED.groupby("id"):  # the scale matters to every one of them
        assert set(rows["holds"]) == {True, False}


def test_radius_intervals_are_of_random_numbers():
    assert (STORED["±"] > 0).all()
    assert np.isfinite(STORED[["value", "±"]]).all(axis=None)


def test_radius_the_larger_the_fewer_people_and_the_larger_the_loss():
    """Optimism accepts people; from one end of the grid to the other, for both beliefs."""
    for belief in radius.BELIEFS:
        ends = STORED[(STORED["belief"] == belief) & STORED["scale"].isin([0.02, 1.0])]
        small, large = (rows.set_index("id")["value"] for _, rows in ends.groupby("scale"))
        assert small["a2-people"] > large["a2-people"] >= 2500
        for name in ("a2-three", "a2-margin", "adult-loss-strong"):
            assert small[name] < large[name]


@pytest.mark.slow
def test_radius_measures_what_is_stored(monkeypatch, tmp_path):
    """Within the intervals of both; that of 14 numbers three are not has a chance of 3 %."""
    monkeypatch.setattr(cache, "CACHE", tmp_path)
    found = radius.measure((0.1,), known=20, learning=10)
    keys = ["belief", "scale", "id"]
    both = found.merge(STORED, on=keys, suffixes=("", " stored"))
    assert list(both.columns[:6]) == list(STORED.columns)
    assert len(found) == len(both) == len(radius.BELIEFS) * len(TOUCHED)
    assert [bool(holds) for holds in found["holds"]] == [within(row) for _, row in found.iterrows()]
    apart = (both["value"] - both["value stored"]).abs()
    near = apart <= np.hypot(both["±"], both["± stored"])
    assert near.sum() >= len(both) - 2

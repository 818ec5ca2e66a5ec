"""Offline selection by another project's software, on the same streams."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from committees import datasets
from committees.beyond.limits import hindsight
from committees.greedy import band
from committees.volunteers import stream
from offline import NoPanel, maximin_chances, panel

PROBLEM = datasets.brexit(["ethnicity", "age", "gender"])


@pytest.mark.parametrize("run", range(3))
def test_its_smallest_pool_is_the_hindsight_limit(run):
    type_ids = stream(PROBLEM, 200, np.random.default_rng(run))
    first = hindsight(PROBLEM, 15, 0.02, type_ids)
    chosen = panel(PROBLEM, 15, 0.02, type_ids[:first])
    low, high = band(PROBLEM, 15, 0.02)
    seats = np.bincount(PROBLEM.codes[type_ids[chosen]].ravel(), minlength=len(low))
    assert len(set(chosen)) == 15
    assert ((low <= seats) & (seats <= high)).all()
    with pytest.raises(NoPanel, match=f"no panel of 15 among {first - 1} people"):
        panel(PROBLEM, 15, 0.02, type_ids[: first - 1])


def test_chances_add_up_to_the_seats_and_depend_on_the_seed_alone():
    type_ids = stream(PROBLEM, 40, np.random.default_rng(4))
    chances = maximin_chances(PROBLEM, 10, 0.1, type_ids, seed=1)
    assert chances.sum() == pytest.approx(10)
    assert chances.min() > 0
    np.testing.assert_array_equal(chances, maximin_chances(PROBLEM, 10, 0.1, type_ids, seed=1))


def test_without_the_package_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sortition_algorithms", None)
    with pytest.raises(RuntimeError, match="sortition-algorithms is not installed"):
        panel(PROBLEM, 5, 0.1, np.zeros(9, dtype=np.intp))

"""How the cost grows: the stored numbers are those of the tool, and its shortcuts are right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import growth
from committees.beyond import limits
from committees.volunteers import stream

STORED = pd.read_csv(growth.FILE).set_index(["case", "tolerance", "size"])
EQUAL = growth.halves(0.25, 0.25)


@pytest.mark.parametrize("case", list(growth.CASES))
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_stored_numbers_are_those_of_the_tool(case, tolerance):
    exact = ["fluid", "optimal", "coin", "threshold"]
    found = pd.Series(growth.measure(case, 20, tolerance, streams=2)).reindex(exact).astype(float)
    stored = STORED.loc[(case, tolerance, 20), exact].astype(float)
    pd.testing.assert_series_equal(found, stored, check_names=False, rtol=1e-5)


def test_hindsight_by_counting_pairs_is_that_of_the_integer_program():
    for rng in np.random.default_rng(8).spawn(20):
        people = stream(EQUAL, 300, rng)
        both, first, second, none = (np.cumsum(people == x) for x in range(4))
        pairs = np.minimum(both, none) + np.minimum(first, second)
        assert limits.hindsight(EQUAL, 8, 0, people) == int(pairs.searchsorted(4)) + 1


def test_a_tolerance_takes_the_cost_of_one_bottleneck_and_not_that_of_two():
    above = (STORED["optimal"] - STORED["fluid"]).unstack("size")
    assert above.loc[("one bottleneck", 0.05), 320] < 0.005
    two = above.loc[("two equal bottlenecks", 0.05)]
    assert 1.9 < two[320] / two[80] < 2.1  # like the root of the seats


def test_coin_and_threshold_are_never_better_than_the_best_rule():
    rules = STORED[["coin", "threshold"]].dropna().sub(STORED["optimal"].dropna(), axis=0).dropna()
    assert (rules > 0).all(axis=None)


def test_plan_fills_the_seats_and_the_needs():
    first, second = np.array([[3]]), np.array([[2]])
    share = growth.plan(first, second, 6, EQUAL.p)[:, 0, 0]
    seats = share * EQUAL.p
    seats *= 6 / seats.sum()
    np.testing.assert_allclose([seats[0] + seats[1], seats[0] + seats[2]], [3, 2], atol=1e-6)

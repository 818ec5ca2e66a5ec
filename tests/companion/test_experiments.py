"""What the book states about its simulations is computed as it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from test_claims import paper_is_right

from committees import CMDP, RLCMDP, Greedy, datasets, simulate
from committees.lp import best_policy
from companion import experiments

SIX = datasets.brexit()
THREE = datasets.brexit(experiments.THREE_FEATURES)
SMALL = {"runs": 3, "seed": 1, "sizes": [5, 8]}
ALONE = {**SMALL, "workers": 1}


def test_the_figures_are_simulations():
    strategies = [Greedy(0.02), Greedy(0.05), CMDP()]
    one = experiments.figure_1(**ALONE, features=["age"])
    pd.testing.assert_frame_equal(one, simulate(strategies, datasets.brexit(["age"]), **ALONE))
    two = experiments.figure_2(**ALONE, scales=[0.5], five=["age", "vote"])
    strategies.append(RLCMDP(scale=0.5))
    pd.testing.assert_frame_equal(two["three"], simulate(strategies, THREE, **ALONE))
    larger = datasets.brexit(["age", "vote"])
    pd.testing.assert_frame_equal(two["five"], simulate(strategies, larger, **ALONE))
    four = experiments.figure_4(**SMALL, scales=[0.5])
    for name in ("weak", "strong"):
        expected = simulate([CMDP(), RLCMDP(scale=0.5)], datasets.adult(name), **ALONE)
        pd.testing.assert_frame_equal(four[name], expected)


def test_statements_about_figure_1():
    """The table of a world in which the paper's numbers are exact gives them back."""
    found = experiments.figure_1_statements(paper_is_right("RL-CMDP")["figure_1"])
    assert found["times 0.05"] == found["times 0.05, most"] == pytest.approx(10)
    assert found["times 0.02, small"] == pytest.approx(100)
    assert found["loss higher from"] == 250
    assert found["0.02 better up to"] == 1000
    assert found["margin at least"] == pytest.approx(0.05 * np.sqrt(5) - 0.02)
    assert found["margin at most"] == pytest.approx(0.025 - 0.02)
    assert found["people for 200"] == pytest.approx(500)
    assert found["slope spread"] == pytest.approx(0)


@pytest.mark.parametrize(
    ("which", "column", "factor"),
    [
        (None, None, 1),
        ("three", "loss", 1.2),  # below 0.05 only from 2,500 seats on
        ("three", "loss", 2),  # never below 0.05
        ("three", "loss", 0.1),  # always below 0.05
        ("five", "loss", 1.2),
        ("five", "screened", 1.15),
        ("five", "screened", 0.85),
    ],
)
def test_statements_about_figure_2(which, column, factor):
    """They agree with the paper in that world, and no longer if one of them is changed."""
    tables = paper_is_right("RL-CMDP")["figure_2"]
    if which:
        own = tables[which]["strategy"] == "RL-CMDP"
        tables[which].loc[own, column] *= factor
    found = experiments.figure_2_statements(tables["three"], tables["five"], {"RL-CMDP": "it"})
    assert bool(found["agrees"]["it"]) == (which is None)


def test_a_small_support_and_the_same_marginals_without_one():
    few, every = experiments.small_support(5, 4, seed=3)
    assert np.count_nonzero(few.p) == 4
    allowed = few.product_over_values((few.presence > 0).astype(float))
    assert ((every.p > 0) == (allowed > 0)).all()
    assert every.presence == pytest.approx(few.presence)
    assert every.targets.equals(few.targets)
    assert best_policy(few).rate > 0  # the targets can be met by the few


def test_limits_are_a_row_each_and_in_order():
    found = experiments.limits(SIX, [20, 40], [0.0, 0.1], runs=4, seed=1)
    table = found.set_index(["limit", "size", "tolerance"])
    assert len(table) == 2 * 2 * 2
    fluid, hindsight = table.loc["fluid limit"], table.loc["hindsight limit"]
    assert (hindsight["people"] >= 0.8 * fluid["people"]).all()  # four streams only
    for size in (20, 40):
        assert hindsight["people"][size, 0.1] < hindsight["people"][size, 0.0]
        assert hindsight["loss"][size, 0.1] > hindsight["loss"][size, 0.0]


def test_coverage_counts_the_runs_with_the_truth_inside():
    arguments = {"size": 30, "runs": 8, "seed": 1}
    assert experiments.coverage(RLCMDP(), THREE, **arguments) == 1
    assert experiments.coverage(RLCMDP(scale=1e-6), THREE, **arguments) == 0
    assert 0 < experiments.coverage(RLCMDP(scale=0.17), THREE, **arguments) < 1


def test_factors_of_tolerance():
    tolerances = {"strict": 0.0, "anybody": 1.0}
    found = experiments.tolerance_factors(tolerances, **ALONE, features=["gender", "age"])
    assert list(found.index) == ["strict", "anybody"]
    assert list(found.columns) == [5, 8]
    assert (found.loc["strict"] > 1).all()
    assert (found.loc["anybody"] < 1).all()  # it takes everybody

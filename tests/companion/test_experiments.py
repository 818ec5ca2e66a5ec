"""What the book states about its simulations is computed as it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from committees import CMDP, RLCMDP, Greedy, datasets, simulate
from committees.lp import best_policy
from companion import cache, experiments
from companion.intervals import means
from worlds import paper_is_right

SIX = datasets.brexit()
THREE = datasets.brexit(experiments.THREE_FEATURES)
SMALL = {"runs": 3, "seed": 1, "sizes": [5, 8]}
ALONE = {**SMALL, "workers": 1}


def mean(frame):
    return means(frame)["mean"]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "CACHE", tmp_path)


def test_figures_are_simulations():
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


def test_figure_1_statements_are_the_paper_s():
    """The table of a world in which the paper's numbers are exact gives them back."""
    found = experiments.figure_1_statements(mean(paper_is_right("RL-CMDP")["figure_1"]))
    assert found.loose_times == found.loose_times_most == pytest.approx(10)
    assert found.strict_times_small == pytest.approx(100)
    assert found.loose_loss_higher_from == 250
    assert found.margin_smallest == pytest.approx(0.05 * np.sqrt(5) - 0.02)
    assert found.margin_largest == pytest.approx(0.025 - 0.02)
    assert found.screened_for_200 == pytest.approx(500)
    assert found.per_seat_spread == pytest.approx(0)


def test_figure_1_statements_need_no_particular_size_or_tolerance():
    strategies = [Greedy(0.1), Greedy(0.3), CMDP()]
    frame = simulate(strategies, datasets.brexit(["age"]), [150], runs=4, workers=1)
    found = experiments.figure_1_statements(mean(frame), [0.3, 0.1])
    screened = frame.groupby("strategy")["screened"].mean()
    assert found.strict_times_small == screened["Greedy 0.1"] / screened["CMDP"]
    assert found.loose_times == screened["Greedy 0.3"] / screened["CMDP"]


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
def test_figure_2_statements_agree_only_with_the_paper(which, column, factor):
    """They agree with the paper in that world, and no longer if one of them is changed."""
    tables = paper_is_right("RL-CMDP")["figure_2"]
    if which:
        own = tables[which]["strategy"] == "RL-CMDP"
        tables[which].loc[own, column] *= factor
    three, five = mean(tables["three"]), mean(tables["five"])
    found = experiments.figure_2_statements(three, five, {"RL-CMDP": "it"})
    assert bool(found["agrees"]["it"]) == (which is None)


def test_small_support_has_the_same_marginals_as_the_problem_without_one():
    few, every = experiments.small_support(5, 4, seed=3)
    assert np.count_nonzero(few.p) == 4
    allowed = few.product_over_values((few.presence > 0).astype(float))
    assert ((every.p > 0) == (allowed > 0)).all()
    assert every.presence == pytest.approx(few.presence)
    assert every.targets.equals(few.targets)
    assert best_policy(few).rate > 0  # the targets can be met by the few


@pytest.mark.parametrize("least", [1, 2, 977])
def test_first_is_the_first(least):
    assert experiments.first(lambda people: people >= least) == least


def test_first_refuses_what_never_holds():
    with pytest.raises(ValueError, match="it does not even hold for 1,000,000,000 people"):
        experiments.first(lambda _: False)


def test_limits_are_a_row_each_and_in_order():
    found = experiments.limits(SIX, [20, 40], [0.0, 0.1], runs=4, seed=1)
    table = found.set_index(["limit", "size", "tolerance"])
    assert len(table) == 2 * 2 * 2
    fluid, hindsight = table.loc["fluid limit"], table.loc["hindsight limit"]
    assert (hindsight["screened"] >= 0.8 * fluid["screened"]).all()  # four streams only
    for size in (20, 40):
        assert hindsight["screened"][size, 0.1] < hindsight["screened"][size, 0.0]
        assert hindsight["loss"][size, 0.1] > hindsight["loss"][size, 0.0]


def test_coverage_counts_the_runs_with_the_truth_inside():
    arguments = {"size": 30, "runs": 8, "seed": 1}
    assert experiments.coverage(RLCMDP(), THREE, **arguments) == 1
    assert experiments.coverage(RLCMDP(scale=1e-6), THREE, **arguments) == 0
    assert 0 < experiments.coverage(RLCMDP(scale=0.17), THREE, **arguments) < 1

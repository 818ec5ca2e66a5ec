"""What the book states about its simulations is computed as it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from committees import CMDP, RLCMDP, Greedy, PlugIn, datasets, recruit, simulate
from committees.lp import best_policy
from committees.testing import check_strategy
from committees.theory import regret_path
from companion import cache, experiments
from companion.intervals import means, share_error
from worlds import paper_is_right

SIX = datasets.brexit()
THREE = datasets.brexit(experiments.THREE_FEATURES)
GENDER = datasets.brexit(["gender"])
SMALL = {"runs": 3, "seed": 1, "sizes": [5, 8]}
ALONE = {**SMALL, "workers": 1}


def mean(frame):
    return means(frame)["mean"]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "CACHE", tmp_path)


def test_everybody_is_a_strategy_that_rejects_nobody():
    check_strategy(experiments.Everybody(), GENDER)
    frame = simulate(experiments.Everybody(), SIX, [40], runs=5, seed=1)
    assert set(frame["screened"]) == set(frame["expected"]) == {40}


def test_figures_are_simulations():
    strategies = [Greedy(0.02), Greedy(0.05), CMDP()]
    one = experiments.figure_1(**ALONE, features=["age"])
    pd.testing.assert_frame_equal(one, simulate(strategies, datasets.brexit(["age"]), **ALONE))
    two = experiments.figure_2(**ALONE, learners=[RLCMDP(scale=0.5)], five=["age", "vote"])
    strategies.append(RLCMDP(scale=0.5))
    pd.testing.assert_frame_equal(two["three"], simulate(strategies, THREE, **ALONE))
    larger = datasets.brexit(["age", "vote"])
    pd.testing.assert_frame_equal(two["five"], simulate(strategies, larger, **ALONE))
    learners = [RLCMDP(scale=0.5), PlugIn()]
    four = experiments.figure_4(**SMALL, learners=learners)
    for name in ("weak", "strong"):
        expected = simulate([CMDP(), *learners], datasets.adult(name), **ALONE)
        pd.testing.assert_frame_equal(four[name], expected)


def test_figure_1_statements_are_the_paper_s():
    """The table of a world in which the paper's numbers are exact gives them back."""
    found = experiments.figure_1_statements(mean(paper_is_right("RL-CMDP")["figure_1"]))
    assert found["loose times"] == pytest.approx(10)
    assert found["strict times"] == pytest.approx(100)
    assert found["first margin"] == pytest.approx(0.05 * np.sqrt(5) - 0.02)
    assert found["last margin"] == pytest.approx(0.025 - 0.02)


def test_figure_1_statements_need_no_particular_size_or_tolerance():
    strategies = [Greedy(0.1), Greedy(0.3), CMDP()]
    frame = simulate(strategies, datasets.brexit(["age"]), [150], runs=4, workers=1)
    found = experiments.figure_1_statements(mean(frame), [0.3, 0.1])
    people, loss = (frame.groupby("strategy")[name].mean() for name in ("expected", "loss"))
    assert found["strict times"] == pytest.approx(people["Greedy 0.1"] / people["CMDP"])
    assert found["loose times"] == pytest.approx(people["Greedy 0.3"] / people["CMDP"])
    margin = loss["CMDP"] - loss["Greedy 0.1"]
    assert (found["first margin"], found["last margin"]) == pytest.approx((margin, margin))


def test_long_runs_are_the_paths_of_recruitments():
    """After so many people: what `regret_path` has at the last of them who was accepted."""
    found = experiments.long_runs(GENDER, PlugIn(), 3000, 2, seed=5)
    assert list(found.index) == [(run, t) for run in (0, 1) for t in (30, 300, 3000)]
    rate = best_policy(GENDER).rate
    for run, rng in enumerate(np.random.default_rng(5).spawn(2)):
        path = regret_path(GENDER, recruit(PlugIn(), GENDER, int(3000 * (rate + 0.2)), rng))
        for people in (30, 300, 3000):
            until = path.loc[:people].iloc[-1]
            row = found.loc[run, people]
            assert row["regret"] == pytest.approx(rate * people - until["accepted"])
            assert row["violation"] == pytest.approx(until["violation"])
            assert row["loss"] == pytest.approx(until["violation"] / until["accepted"])


def test_long_runs_are_long_enough_if_everybody_is_accepted():
    """RL-CMDP accepts everybody while its ball holds every distribution."""
    found = experiments.long_runs(datasets.brexit(), RLCMDP(), 300, 1, seed=1)
    rate = best_policy(datasets.brexit()).rate
    assert found["regret"][0, 300] == pytest.approx(300 * (rate - 1))


def test_small_support_has_the_same_marginals_as_the_problem_without_one():
    few, every = experiments.small_support(5, 4, seed=3)
    assert np.count_nonzero(few.p) == 4
    allowed = few.product_over_values((few.presence > 0).astype(float))
    assert ((every.p > 0) == (allowed > 0)).all()
    assert every.presence == pytest.approx(few.presence)
    assert every.targets.equals(few.targets)
    assert best_policy(few).rate > 0  # the targets can be met by the few


def test_coverage_counts_the_runs_with_the_truth_inside():
    arguments = {"size": 30, "runs": 8, "seed": 1}
    assert experiments.coverage(RLCMDP(), THREE, **arguments) == (1, share_error(8, 8))
    assert experiments.coverage(RLCMDP(scale=1e-6), THREE, **arguments)[0] == 0
    share, error = experiments.coverage(RLCMDP(scale=0.17), THREE, **arguments)
    assert 0 < share < 1
    assert error == share_error(round(8 * share), 8)

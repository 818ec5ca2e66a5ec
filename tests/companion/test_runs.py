"""The simulations that measurements share are those of the chapters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from committees import CMDP, Greedy, datasets, simulate
from companion import cache, experiments
from companion.runs import Runs
from radius import VertexRLCMDP


def _two_sizes(figure):
    return lambda *arguments, **options: figure(*arguments, sizes=(5, 8), **options)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Figures of two small sizes."""
    monkeypatch.setattr(cache, "CACHE", tmp_path)
    for name in ("figure_1", "figure_2", "figure_4"):
        figure = getattr(experiments, name)
        monkeypatch.setattr(experiments, name, _two_sizes(figure))


def test_runs_are_the_figures_of_so_many_runs(small):
    runs = Runs(known=3, learning=2, seed=1)
    strategies = [Greedy(0.02), Greedy(0.05), CMDP()]
    expected = simulate(strategies, datasets.brexit(), [5, 8], 3, 1, workers=1)
    pd.testing.assert_frame_equal(runs.figure_1, expected)
    names = ["RL-CMDP", "RL-CMDP ×0.075"]
    assert [learner.name for learner in runs.learners] == names
    for frame in (*runs.figure_2.values(), *runs.figure_4.values()):
        assert set(frame["run"]) == {0, 1}
        assert {"Greedy 0.02", "Greedy 0.05", *names, "everybody"} <= set(frame["strategy"])


def test_runs_with_others_leave_the_figure_as_it_is(small):
    """What is simulated beside the figure changes nothing in it."""
    runs = Runs(learning=2, seed=1)
    alone = experiments.figure_2(2, 1, runs.learners)
    for name, frame in runs.figure_2.items():
        rest = frame.query("strategy != 'everybody'").reset_index(drop=True)
        pd.testing.assert_frame_equal(rest, alone[name])


def test_runs_at_250_are_four_times_as_many(small):
    runs = Runs(known=3, seed=1)
    expected = simulate(strategies := [Greedy(0.05), CMDP()], datasets.brexit(), 250, 12, 1)
    assert len(runs.at_250) == 12 * len(strategies)
    pd.testing.assert_frame_equal(runs.at_250, expected)


def test_runs_take_another_scale_and_another_learner(small):
    runs = Runs(learning=2, seed=1, scale=0.5, learner=VertexRLCMDP)
    assert [learner.name for learner in runs.learners] == ["RL-CMDP", "RL-CMDP by vertex ×0.5"]
    assert "RL-CMDP by vertex ×0.5" in set(runs.figure_2["three"]["strategy"])


def test_runs_with_the_printed_radius_twice_simulate_it_once(small):
    runs = Runs(learning=2, seed=1, scale=1.0)
    for frame in (*runs.figure_2.values(), *runs.figure_4.values()):
        assert len(frame.query("strategy == 'RL-CMDP'")) == 2 * 2


def test_runs_have_generators_and_a_problem_of_their_own():
    runs = Runs(seed=3)
    first, second = (rng.random() for rng in runs.generators(2))
    assert first == np.random.default_rng(3).spawn(1)[0].random() != second
    pd.testing.assert_index_equal(
        runs.three.labels.unique(0), pd.Index(experiments.THREE_FEATURES, name="feature")
    )

"""The simulations that measurements share are those of the chapters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from committees import RLCMDP, recruit
from companion import cache, experiments
from companion.intervals import means
from companion.runs import Runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "CACHE", tmp_path_factory.mktemp("cache"))
        patch.setattr(experiments, "FIGURE_1_SIZES", (5, 8))
        for name in ("figure_1", "figure_2", "figure_4"):
            figure = getattr(experiments, name)
            patch.setattr(experiments, name, lambda *a, figure=figure: figure(*a, sizes=(5, 8)))
        found = Runs(runs=3, seed=1)
        for name in ("figure_1", "figure_2", "figure_4"):
            getattr(found, name)
        yield found


def test_runs_are_the_figures_of_so_many_runs(runs):
    for frame in (runs.figure_1, *runs.figure_2.values(), *runs.figure_4.values()):
        assert set(frame["run"]) == {0, 1, 2}
    assert list(runs.learners.values()) == ["RL-CMDP", "RL-CMDP ×0.1"]
    assert set(runs.learners.values()) <= set(runs.figure_2["five"]["strategy"])


def test_runs_make_the_statements_of_the_chapters(runs):
    mean = means(runs.figure_1)["mean"]
    found = runs.figure_1_statements["value"]
    assert found["loose_times"] == pytest.approx(experiments.figure_1_statements(mean).loose_times)
    three, five = (means(runs.figure_2[name])["mean"] for name in ("three", "five"))
    names = {name: name for name in runs.learners.values()}
    table = experiments.figure_2_statements(three, five, names)
    for name in names:
        for column in ("margin", "screened", "Greedy 0.02"):
            found = runs.figure_2_statements["value"][name, column]
            assert found == pytest.approx(table.loc[name, column])
    assert (runs.figure_2_statements["error"].drop("below 0.05 from", level=1) >= 0).all()


def test_runs_are_recruitments_of_the_seed():
    runs = Runs(seed=3)
    first = recruit(RLCMDP(), runs.three, 500, np.random.default_rng(3).spawn(1)[0])
    np.testing.assert_array_equal(runs.recruitments[0].type_ids, first.type_ids)
    assert len(runs.recruitments) == 20
    pd.testing.assert_index_equal(
        runs.three.labels.unique(0), pd.Index(experiments.THREE_FEATURES, name="feature")
    )

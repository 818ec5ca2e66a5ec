"""Intervals are as wide as they should be."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from committees import CMDP, Greedy, datasets, simulate
from companion.intervals import STANDARD_ERRORS, half_width, jackknife, means, over_runs, summary


def test_half_width_is_that_of_a_normal_distribution():
    assert pytest.approx(stats.norm.ppf(0.975), abs=1e-4) == STANDARD_ERRORS
    values = [1.0, 4.0, 2.0, 9.0]
    expected = 1.96 * np.std(values, ddof=1) / 2
    for kind in (list, tuple, np.array, pd.Series):
        assert half_width(kind(values)) == pytest.approx(expected)
    assert math.isnan(half_width([1.0]))


def test_means_are_of_each_strategy_and_size():
    frame = correlated(30, 1)
    found = means(frame)
    own = frame.query("strategy == 'one'")
    assert found["mean"]["screened"]["one", 10] == pytest.approx(own["screened"].mean())
    assert found["±"]["loss"]["one", 10] == pytest.approx(half_width(own["loss"]))


def test_summary_is_the_means_and_their_errors():
    frame = simulate([Greedy(0.1), CMDP()], datasets.brexit(["age"]), [9, 3], runs=6, workers=1)
    table = summary(frame, figure="1")
    columns = ["figure", "strategy", "size", "screened", "screened ±", "loss", "loss ±"]
    assert list(table.columns) == columns
    assert list(table["strategy"]) == ["Greedy 0.1", "Greedy 0.1", "CMDP", "CMDP"]
    assert list(table["size"]) == [3, 9, 3, 9]
    last = frame[(frame["strategy"] == "CMDP") & (frame["size"] == 9)]
    assert table["screened"].iloc[-1] == last["screened"].mean()
    assert table["loss ±"].iloc[-1] == pytest.approx(1.96 * last["loss"].std() / math.sqrt(6))


def draws(runs, rng, shared=1.0, tables=1):
    """Two numbers per run that have much, or nothing, in common; shape (2, runs, tables)."""
    common = shared * rng.normal(size=(runs, tables))
    means = np.array([40.0, 20.0])[:, None, None]
    return means + common + rng.normal(scale=0.5, size=(2, runs, tables))


def correlated(runs, seed, shared=1.0):
    """A table of two strategies with such numbers."""
    one, other = draws(runs, np.random.default_rng(seed), shared)
    rows = [
        (name, 10, run, float(x), float(x) / 100)
        for name, screened in (("one", one), ("other", other))
        for run, x in enumerate(screened.ravel())
    ]
    return pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])


def left_out(values):
    """The mean without each run, shape (runs, tables)."""
    return (values.sum(axis=0) - values) / (len(values) - 1)


def one_of(frame, name, column="screened"):
    return tuple(over_runs(lambda mean: mean[column][name], frame).iloc[-1])


@pytest.mark.parametrize("shared", [0.0, 3.0])
def test_jackknife_covers_a_ratio(shared):
    """In 95 % of tables; of 400 that is 380, and fewer than 366 have a chance of 0.1 %."""
    one, other = draws(50, np.random.default_rng(1), shared, tables=400)
    value = one.mean(axis=0) / other.mean(axis=0)
    error = jackknife(left_out(one) / left_out(other))
    assert 366 <= (abs(value - 2) <= error).sum() <= 394


def test_over_runs_is_the_jackknife_of_a_ratio():
    frame = correlated(50, 5, shared=3.0)
    found = over_runs(lambda mean: mean["screened"]["one"] / mean["screened"]["other"], frame)
    one, other = draws(50, np.random.default_rng(5), shared=3.0)
    assert found["value"].iloc[0] == pytest.approx(one.mean() / other.mean())
    error = jackknife(left_out(one) / left_out(other)).item()
    assert found["error"].iloc[0] == pytest.approx(error)


def test_over_runs_of_a_mean_is_the_usual_error():
    frame = correlated(30, 1)
    value, error = one_of(frame, "one", "loss")
    own = frame.query("strategy == 'one'")["loss"]
    assert value == pytest.approx(own.mean())
    assert error == pytest.approx(1.96 * own.sem())


def test_over_runs_of_a_difference_is_the_error_of_the_runs_differences():
    frame = correlated(30, 2)
    table = over_runs(lambda mean: mean["screened"]["one"] - mean["screened"]["other"], frame)
    one, other = (frame.query("strategy == @name")["screened"] for name in ("one", "other"))
    error = table["error"].iloc[-1]
    assert error == pytest.approx(1.96 * stats.sem(one.to_numpy() - other.to_numpy()))
    alone = [one_of(frame, name)[1] for name in ("one", "other")]
    assert error < 0.8 * np.hypot(*alone)  # what they share does not count


def test_over_runs_gives_several_numbers_an_error_each():
    frame = correlated(30, 4)
    table = over_runs(lambda mean: mean["screened"].droplevel("size"), frame)
    for name in ("one", "other"):
        assert tuple(table.loc[name]) == pytest.approx(one_of(frame, name))


def test_over_runs_leaves_the_same_run_out_of_all_tables():
    """Of the sum of a table and its opposite nothing is left to chance."""
    frame = correlated(20, 3)
    opposite = frame.assign(screened=-frame["screened"])
    table = over_runs(lambda a, b: a["screened"]["one"] + b["screened"]["one"], frame, opposite)
    assert tuple(table.iloc[-1]) == pytest.approx((0, 0), abs=1e-12)

"""Intervals are as wide as they should be."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from committees import CMDP, Greedy, datasets, simulate
from committees.lp import best_policy
from companion.intervals import (
    half_width,
    jackknife,
    means,
    over_runs,
    share_error,
    standard_errors,
    summary,
)

#: Of 1,000 intervals that hold the truth in 95 % of cases, so many do, but for a chance of 0.1 %.
MOST_OF_1000 = stats.binom.ppf([0.0005, 0.9995], 1000, 0.95)


@pytest.mark.parametrize(("n", "printed"), [(2, 12.706), (5, 2.776), (10, 2.262), (61, 2.0)])
def test_standard_errors_are_those_of_every_table_of_student_s_t(n, printed):
    assert standard_errors(n) == pytest.approx(printed, abs=6e-4)
    assert standard_errors(10**6) == pytest.approx(1.96, abs=1e-4)


@pytest.mark.parametrize("n", [3, 8])
def test_half_width_covers_a_mean_of_few(n):
    """With 1.96 instead of Student's t it would in 81 and 91 % of tables."""
    draws = np.random.default_rng(1).normal(7, 2, (1000, n))
    covered = sum(abs(row.mean() - 7) <= half_width(row) for row in draws)
    assert MOST_OF_1000[0] <= covered <= MOST_OF_1000[1]


def test_half_width_takes_any_numbers():
    values = [1.0, 4.0, 2.0, 9.0]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    for kind in (list, tuple, np.array, pd.Series):
        assert half_width(kind(values)) == pytest.approx((high - low) / 2)
    assert math.isnan(half_width([1.0]))


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.983, 0.995, 1.0])
@pytest.mark.parametrize("n", [200, 1000])
def test_share_error_covers(n, share):
    """The probability is a sum over the binomial law; that of the textbook falls to 0.63."""
    count = np.arange(n + 1)
    law = stats.binom.pmf(count, n, share)
    holds = [abs(k / n - share) <= share_error(int(k), n) for k in count]
    assert law @ holds >= 0.93
    textbook = abs(count / n - share) <= 1.96 * np.sqrt(count / n * (1 - count / n) / n)
    if (n, share) == (200, 0.995):
        assert law @ textbook == pytest.approx(0.63, abs=0.01)


def test_share_error_is_close_to_the_textbook_s_for_a_share_in_the_middle():
    assert share_error(500, 1000) == pytest.approx(1.96 * np.sqrt(0.25 / 1000), rel=0.01)
    assert 0 < share_error(0, 300) == pytest.approx(share_error(300, 300))


def test_means_are_of_each_strategy_and_size():
    frame = correlated(30, 1)
    found = means(frame)
    own = frame.query("strategy == 'one'")
    assert found["mean"]["screened"]["one", 10] == pytest.approx(own["screened"].mean())
    assert found["±"]["loss"]["one", 10] == pytest.approx(half_width(own["loss"]))


def test_means_of_people_are_of_those_expected_unless_they_are_to_be_counted():
    frame = correlated(30, 1).assign(expected=lambda frame: 3 * frame["screened"])
    own = frame.query("strategy == 'one'")
    counted = (own["screened"].mean(), half_width(own["screened"]))
    expected = (3 * counted[0], 3 * counted[1])
    for people, numbers in ((["expected"], expected), ([], expected), (["screened"], counted)):
        table = means(frame, *people)
        assert list(table["mean"]) == list(table["±"]) == ["screened", "loss"]
        assert table.loc[("one", 10), ("mean", "screened")] == pytest.approx(numbers[0])
        assert table.loc[("one", 10), ("±", "screened")] == pytest.approx(numbers[1])
        options = {"people": people[0]} if people else {}
        jackknifed = over_runs(lambda mean: mean["screened"]["one"], frame, **options)
        assert tuple(jackknifed.iloc[-1]) == pytest.approx(numbers)


def test_means_name_the_column_that_is_not_there():
    counted = correlated(30, 1).drop(columns="expected")
    with pytest.raises(ValueError, match="people: the table has no column 'expected'"):
        means(counted)
    with pytest.raises(ValueError, match="people: the table has no column 'expected'"):
        over_runs(lambda mean: mean["loss"], counted)


def test_summary_is_the_means_and_their_errors():
    age = datasets.brexit(["age"])
    frame = simulate([Greedy(0.1), CMDP()], age, [9, 3], runs=6, workers=1)
    table = summary(frame, figure="1")
    columns = ["figure", "strategy", "size", "screened", "screened ±", "loss", "loss ±"]
    assert list(table.columns) == columns
    assert list(table["strategy"]) == ["Greedy 0.1", "Greedy 0.1", "CMDP", "CMDP"]
    assert list(table["size"]) == [3, 9, 3, 9]
    last = frame[(frame["strategy"] == "CMDP") & (frame["size"] == 9)]
    assert table["screened"].iloc[-1] == pytest.approx(9 / best_policy(age).rate)
    assert table["loss ±"].iloc[-1] == pytest.approx(2.571 * last["loss"].std() / 6**0.5, rel=1e-3)


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
    frame = pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])
    return frame.assign(expected=frame["screened"])


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
    assert error == pytest.approx(2.0452 * own.sem(), rel=1e-4)  # Student's t, 29 degrees


def test_over_runs_of_a_difference_is_the_error_of_the_runs_differences():
    frame = correlated(30, 2)
    table = over_runs(lambda mean: mean["screened"]["one"] - mean["screened"]["other"], frame)
    one, other = (frame.query("strategy == @name")["screened"] for name in ("one", "other"))
    error = table["error"].iloc[-1]
    assert error == pytest.approx(half_width(one.to_numpy() - other.to_numpy()))
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
    opposite = frame.assign(expected=-frame["expected"])
    table = over_runs(lambda a, b: a["screened"]["one"] + b["screened"]["one"], frame, opposite)
    assert tuple(table.iloc[-1]) == pytest.approx((0, 0), abs=1e-12)

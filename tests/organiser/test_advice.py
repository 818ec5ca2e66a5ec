"""The advice agrees with recruitments, and with solving again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from committees import CMDP, Greedy, Problem, datasets, simulate
from committees.beyond import FairCMDP
from committees.lp import best_policy
from organiser.advice import expectations, in_words, relaxations
from samples import random_problem


@pytest.mark.parametrize("size", [25, pytest.param(60, marks=pytest.mark.slow)])
def test_expectations_agree_with_recruitments(millbrook, size):
    """1,000 other recruitments, one volunteer at a time.

    Means within 4.5 standard errors, shares below the quantiles within 4.5 standard deviations of
    both samples: fewer than one false alarm in ten thousand runs of this test.
    """
    problem = millbrook.problem
    strategies = [CMDP(), Greedy(0.1)]
    frame = simulate(strategies, problem, size, runs=400, seed=1, workers=1)
    table = expectations(frame, problem, strategies)
    assert list(table.index) == [strategy.name for strategy in strategies]
    frame = simulate(strategies, problem, size, 1000, 2, step_by_step=True, workers=1)
    for strategy in strategies:
        own, row = frame[frame["strategy"] == strategy.name], table.loc[strategy.name]
        runs = np.inf if isinstance(strategy, CMDP) else 400
        spread = own["screened"].std() * np.sqrt(1 / 1000 + 1 / runs)
        assert abs(own["screened"].mean() - row["screened"]) < 4.5 * spread
        for label, q in (("50%", 0.5), ("90%", 0.9), ("99%", 0.99)):
            below = (own["screened"] <= row[label]).mean()
            error = np.sqrt(q * (1 - q) * (1 / 1000 + 1 / runs))
            at = (own["screened"] == round(row[label])).mean()
            assert q - 4.5 * error - 1 / 400 < below < q + 4.5 * error + at + 1 / 400
        error = own["loss"].std() * np.sqrt(1 / 1000 + 1 / 400)
        assert abs(own["loss"].mean() - row["loss"]) < 4.5 * error


def test_expectations_are_exact_for_every_fixed_policy(millbrook):
    """CMDP and its fair variant accept at the same rate, whatever was simulated."""
    strategies = [CMDP(), FairCMDP()]
    frame = simulate(strategies, millbrook.problem, 20, runs=2, seed=1, workers=1)
    table = expectations(frame, millbrook.problem, strategies)
    rate = best_policy(millbrook.problem).rate
    np.testing.assert_allclose(table["screened"], 20 / rate, rtol=1e-6)
    assert table.loc["CMDP", "50%":"99%"].tolist() == table.loc["CMDP fair", "50%":"99%"].tolist()


@pytest.mark.parametrize("name", ["brexit", "millbrook", "adult"])
def test_relaxations_agree_with_solving_again(millbrook, name):
    problem = {
        "brexit": datasets.brexit(),
        "millbrook": millbrook.problem,
        "adult": datasets.adult("strong"),
    }[name]
    little = relaxations(problem, 100, step=1e-6)
    np.testing.assert_allclose(little["saved"], little["promised"], rtol=1e-4, atol=1e-8)
    point = relaxations(problem, 100, step=0.01)
    assert (point["saved"] <= point["promised"] + 1e-9).all()
    assert point["promised"].max() > 1
    assert point["promised"].is_monotonic_decreasing


def test_relaxations_move_the_others_in_proportion():
    problem = Problem.from_marginals(
        {"a": {"x": 0.5, "y": 0.3, "z": 0.2}}, {"a": {"x": 0.1, "y": 0.6, "z": 0.3}}
    )
    moved = pd.Series([0.49, 0.306, 0.204], problem.labels)
    table = relaxations(problem, 10).set_index("value")
    fewer = 10 / best_policy(problem).rate - 10 / best_policy(Problem(moved, problem.p)).rate
    assert table.loc["x", "saved"] == pytest.approx(fewer)
    assert fewer == pytest.approx(10 * 0.01 / 0.1)
    alone = Problem.from_marginals({"a": {"x": 1.0}}, {"a": {"x": 1.0}})
    assert relaxations(alone, 10)["saved"].tolist() == [0]


def test_relaxations_begin_with_the_largest_saving():
    draws = [np.random.default_rng(seed) for seed in range(20)]
    tables = [relaxations(random_problem(rng, [2, 3, 3]), 50, 0.05) for rng in draws]
    assert all(table["saved"].is_monotonic_decreasing for table in tables)
    assert not all(table["promised"].is_monotonic_decreasing for table in tables)


def test_relaxations_of_one_target_may_clash_with_another():
    """If women are all old and men all young, the shares of both must move together."""
    half = {"woman": 0.5, "man": 0.5}
    problem = Problem({"gender": half, "age": {"old": 0.5, "young": 0.5}}, [0.5, 0, 0, 0.5])
    table = relaxations(problem, 10)
    assert table["saved"].tolist() == [-np.inf] * 4
    assert in_words(table, 10) == ["No single target holds the recruitment up."]


def test_in_words_tells_what_is_saved(millbrook):
    first, *_ = in_words(relaxations(millbrook.problem, 60), 60)
    assert first.startswith(
        "Lowering the target of age 16-29 from 21.7% to 20.7% would save 1.3 of"
    )
    assert first.endswith("(not the 5.0 of the first step: others run short next).")
    fair = Problem.from_marginals({"a": {"x": 0.5, "y": 0.5}}, {"a": {"x": 0.5, "y": 0.5}})
    assert in_words(relaxations(fair, 60), 60) == ["No single target holds the recruitment up."]

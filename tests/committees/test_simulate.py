"""The two simulators have the same law, and a broken one is caught."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from committees import (
    CMDP,
    DeadEnd,
    Greedy,
    Problem,
    Recruitment,
    datasets,
    recruit,
    simulate,
    simulation,
)
from laws import LEVEL, observe, p_value, slow
from samples import problems, random_problem

PROBLEMS = {
    "two features, dependent": ([2, 3], False),
    "three features, dependent": ([2, 2, 2], False),
    "one feature with 8 values": ([8], False),
    "8 values and two more features, independent": ([8, 2, 2], True),
}


def counts_failures_instead_of_trials(strategy, problem, size, rng):
    found = recruit(strategy, problem, size, rng)
    return replace(found, screened=np.maximum(found.screened - np.arange(1, size + 1), 1))


def forgets_to_weigh_by_acceptance(strategy, problem, size, rng):
    acceptance = strategy.start(problem, size).acceptance
    found = recruit(strategy, problem, size, rng)
    open_types = np.flatnonzero(acceptance)
    weights = problem.p[open_types] / problem.p[open_types].sum()
    return replace(found, type_ids=rng.choice(open_types, size, p=weights))


def notices_full_quotas_one_person_late(strategy, problem, size, rng):
    """Keeps drawing from the old probabilities once after each change."""
    session = strategy.start(problem, size)
    type_ids, screened, seen = [], [], 0
    stale = session.acceptance
    while len(type_ids) < size:
        weights = problem.p * stale
        stale = session.acceptance
        seen += rng.geometric(min(1.0, weights.sum()))
        type_id = rng.choice(len(weights), p=weights / weights.sum())
        session.see(np.array([type_id]), np.array([True]))
        type_ids.append(type_id)
        screened.append(seen)
    return Recruitment(np.array(type_ids), np.array(screened), session)


@pytest.mark.no_cover
@pytest.mark.parametrize("strategy", [Greedy(0.0), Greedy(0.1), CMDP()], ids=str)
@pytest.mark.parametrize("which", PROBLEMS)
def test_both_simulators_have_the_same_law(strategy, which):
    sizes, independent = PROBLEMS[which]
    problem = random_problem(np.random.default_rng(5), sizes, independent=independent)
    one = observe(recruit, strategy, problem, 10, seed=1)
    other = observe(slow, strategy, problem, 10, seed=2)
    assert p_value(one, other) > LEVEL


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("broken", "strategy"),
    [
        (counts_failures_instead_of_trials, CMDP()),
        (forgets_to_weigh_by_acceptance, CMDP()),
        (notices_full_quotas_one_person_late, Greedy(0.0)),
    ],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_a_broken_simulator_fails_the_same_test(broken, strategy):
    problem = datasets.brexit(features=["age", "gender"])
    one = observe(broken, strategy, problem, 10, seed=1)
    other = observe(slow, strategy, problem, 10, seed=2)
    assert p_value(one, other) <= LEVEL


@given(problems(max_features=2), st.integers(1, 12), st.integers(0, 999), st.booleans())
@settings(max_examples=40)
def test_committees_are_full_and_people_are_counted(problem, size, seed, step_by_step):
    for strategy in (Greedy(0.3), CMDP()):
        rng = np.random.default_rng(seed)
        found = recruit(strategy, problem, size, rng, step_by_step=step_by_step)
        assert len(found.type_ids) == len(found.screened) == size
        assert (np.diff(found.screened, prepend=0) >= 1).all()
        assert (problem.p[found.type_ids] > 0).all()


def test_the_table_is_tidy():
    problem = datasets.brexit(features=["gender", "age"])
    frame = simulate([Greedy(0.05), CMDP()], problem, sizes=[20, 10, 20], runs=3, seed=7)
    assert list(frame) == ["strategy", "size", "run", "screened", "loss"]
    expected = [
        (strategy, size, run)
        for strategy in ("Greedy 0.05", "CMDP")
        for size in (10, 20)
        for run in range(3)
    ]
    assert list(frame.iloc[:, :3].itertuples(index=False, name=None)) == expected
    assert (frame["screened"] >= frame["size"]).all()
    assert frame["loss"].between(0, 1).all()
    for sizes in ({20, 10}, (size for size in (10, 20)), np.array([10, 20])):
        again = simulate([Greedy(0.05), CMDP()], problem, sizes=sizes, runs=3, seed=7)
        pd.testing.assert_frame_equal(again, frame)


def test_a_run_depends_on_nothing_but_strategy_problem_size_and_seed():
    problem = datasets.brexit(features=["gender", "age"])
    whole = simulate([Greedy(0.05), CMDP()], problem, [10, 20], runs=12, seed=7)

    def same_rows(frame):
        rows = frame.merge(whole, on=["strategy", "size", "run"], validate="one_to_one")
        assert len(rows) == len(frame)
        return (rows["screened_x"] == rows["screened_y"]).all() and (
            rows["loss_x"] == rows["loss_y"]
        ).all()

    assert same_rows(simulate(CMDP(), problem, [20], runs=12, seed=7))
    assert same_rows(simulate(CMDP(), problem, [10], runs=12, seed=7))
    assert same_rows(simulate(Greedy(0.05), problem, [10], runs=5, seed=7))
    assert not same_rows(simulate([CMDP()], problem, [20], runs=12, seed=8))


def test_workers_do_not_change_the_result(monkeypatch):

    problem = datasets.brexit(features=["gender", "age"])
    arguments = ([Greedy(0.05), CMDP()], problem, [10, 20])
    alone = simulate(*arguments, runs=11, workers=1)
    with ThreadPoolExecutor(2) as pool:
        pd.testing.assert_frame_equal(simulate(*arguments, runs=11, executor=pool), alone)
    monkeypatch.setattr(simulation, "PATIENCE", 0.0)  # never alone
    pd.testing.assert_frame_equal(simulate(*arguments, runs=11, workers=2), alone)


def test_where_there_is_one_core_nobody_is_called(monkeypatch):
    def nobody(workers):
        raise AssertionError("a pool was started")

    monkeypatch.setattr(simulation, "PATIENCE", 0.0)
    monkeypatch.setattr(simulation, "pool", nobody)
    arguments = [Greedy(0), datasets.brexit(["gender"]), 6]
    with pytest.raises(AssertionError, match="pool"):
        simulate(*arguments, runs=3, workers=2)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert len(simulate(*arguments, runs=3)) == 3


def test_a_dead_end_is_said_not_waited_for():
    """All women are young: with half the seats for each, Greedy may run out of people to accept."""
    halves = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
    problem = Problem(halves, [0.3, 0.4, 0.0, 0.3])
    for step_by_step in (False, True):
        with pytest.raises(DeadEnd, match=r"Greedy 0: after \d+ of 6 seats it would accept nobody"):
            simulate(Greedy(0), problem, 6, runs=50, step_by_step=step_by_step, workers=1)


def test_long_work_shows_a_bar_in_a_terminal_only(capsys):
    simulate(CMDP(), datasets.brexit(features=["gender"]), 10, runs=20)
    assert capsys.readouterr().err == ""


def test_waits_beyond_counting_are_a_dead_end_too():
    """Six values of one in a thousand each: the last seat may take 10^18 people."""
    names = [f"f{i}" for i in range(6)]
    problem = Problem.from_marginals(
        {name: {"a": 0.5, "b": 0.5} for name in names},
        {name: {"a": 0.999, "b": 0.001} for name in names},
    )
    with pytest.raises(DeadEnd, match="fewer than one person in 1e"):
        simulate(Greedy(0), problem, 20, runs=3)

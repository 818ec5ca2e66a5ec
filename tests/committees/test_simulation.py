"""Many recruitments: one row each, whatever process makes it."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest

from committees import (
    CMDP,
    RLCMDP,
    DeadEnd,
    Greedy,
    PlugIn,
    Problem,
    Session,
    datasets,
    simulate,
    simulation,
)


def test_simulate_returns_a_tidy_table():
    problem = datasets.brexit(features=["gender", "age"])
    frame = simulate([Greedy(0.05), CMDP()], problem, sizes=[20, 10, 20], runs=3, seed=7)
    assert list(frame) == ["strategy", "size", "run", "screened", "loss", "expected"]
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


def test_simulate_runs_depend_on_strategy_problem_size_and_seed_only():
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


@pytest.mark.parametrize("strategies", [[Greedy(0.05), CMDP()], [RLCMDP(scale=0.1), PlugIn()]])
def test_simulate_does_not_depend_on_workers(strategies, monkeypatch):
    arguments = (strategies, datasets.brexit(features=["gender", "age"]), [10, 20])
    alone = simulate(*arguments, runs=11, workers=1)
    monkeypatch.setattr(simulation, "POOL_START_SECONDS", 0.0)  # start processes at once
    pd.testing.assert_frame_equal(simulate(*arguments, runs=11, workers=2), alone)
    pd.testing.assert_frame_equal(simulate(*arguments, runs=11, workers=-1), alone)
    with joblib.parallel_config(backend="threading"):
        pd.testing.assert_frame_equal(simulate(*arguments, runs=11, workers=2), alone)


#: All women are young: with half the seats for each, Greedy may run out of people to accept.
HALVES = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
STICKY = Problem(HALVES, [0.3, 0.4, 0.0, 0.3])


@pytest.mark.parametrize("step_by_step", [False, True])
def test_simulate_raises_dead_end(step_by_step):
    with pytest.raises(DeadEnd, match=r"Greedy 0: after \d+ of 6 seats it would accept nobody"):
        simulate(Greedy(0), STICKY, 6, runs=50, step_by_step=step_by_step, workers=1)


@pytest.mark.parametrize("step_by_step", [False, True])
def test_simulate_makes_dead_ends_rows(step_by_step):
    """Whatever is not stuck is as ever, and the exact share of those that are stuck is met."""
    options = {"runs": 400, "step_by_step": step_by_step, "workers": 1, "dead_ends": "rows"}
    frame = simulate([Greedy(0), CMDP()], STICKY, [2, 4], **options, measures={"two": lambda *_: 2})
    assert list(frame)[-1] == "two"
    stuck = frame["screened"].isna()
    assert frame.loc[stuck, "strategy"].eq("Greedy 0").all()
    for column in ("loss", "expected", "two"):
        assert (frame[column].isna() == stuck).all()
    # Of two seats, the first goes to (M, J) with probability 0.4, and nobody can have the second.
    share = stuck[frame["strategy"].eq("Greedy 0") & frame["size"].eq(2)].mean()
    assert abs(share - 0.4) < 4 * (0.4 * 0.6 / 400) ** 0.5
    alone = simulate(CMDP(), STICKY, [2, 4], runs=400, step_by_step=step_by_step, workers=1)
    pd.testing.assert_frame_equal(
        frame[frame["strategy"] == "CMDP"].reset_index(drop=True)[list(alone)].astype(alone.dtypes),
        alone,
    )


def test_simulate_keeps_the_beginning_of_a_recruitment_that_gets_stuck():
    """A rule that does not look at the size, and accepts nobody after three seats."""

    class ThreeSession(Session):
        seated = 0

        def see(self, type_ids, accepted):
            self.seated += int(accepted[0])
            return 1

        @property
        def acceptance(self):
            return np.full(4, float(self.seated < 3))

    class Three(CMDP):
        family = "Three"

        def start(self, problem, size):
            return ThreeSession()

    frame = simulate(Three(), STICKY, [1, 2, 3, 5, 9], runs=5, dead_ends="rows", workers=1)
    assert (frame["screened"].notna() == (frame["size"] <= 3)).all()
    short = simulate(Three(), STICKY, [1, 2, 3], runs=5, workers=1)
    again = frame[frame["size"] <= 3].reset_index(drop=True).astype(short.dtypes)
    pd.testing.assert_frame_equal(again, short)


def test_simulate_has_rows_even_if_all_are_stuck():
    targets = {"gender": {"M": 1.0, "F": 0.0}, "age": {"S": 0.0, "J": 1.0}}
    nobody = Problem(targets, [0.5, 0, 0, 0.5])
    frame = simulate(Greedy(0), nobody, 4, runs=3, dead_ends="rows")
    assert list(frame) == simulation.COLUMNS
    assert frame["screened"].isna().sum() == len(frame) == 3


@pytest.mark.parametrize("step_by_step", [False, True])
def test_simulate_measures_each_committee(step_by_step, monkeypatch):
    """From the counts per type of the very committee; in other processes, too."""
    problem = datasets.brexit(["gender", "age"])
    own = {"again": lambda problem, counts: problem.loss(counts), "n": lambda _, n: n.sum()}
    options = {"runs": 12, "seed": 7, "step_by_step": step_by_step}
    arguments = [Greedy(0.05), CMDP(), RLCMDP(scale=0.1)], problem, [10, 20]
    frame = simulate(*arguments, **options, measures=own, workers=1)
    assert frame["again"].to_numpy() == pytest.approx(frame["loss"].to_numpy())
    assert (frame["n"] == frame["size"]).all()
    pd.testing.assert_frame_equal(frame[simulation.COLUMNS], simulate(*arguments, **options))
    monkeypatch.setattr(simulation, "POOL_START_SECONDS", 0.0)
    pd.testing.assert_frame_equal(simulate(*arguments, **options, measures=own, workers=2), frame)


@pytest.mark.parametrize(("runs", "tasks"), [(1, 1), (9, 9), (20, 10), (25, 13), (1000, 10)])
def test_simulate_shares_out_the_runs_of_a_strategy(runs, tasks, monkeypatch):
    """In tasks of equal length but the last, so that every process has something to do."""
    shared_out = []

    def keep(tasks, workers):
        shared_out.extend(tasks)
        return []

    monkeypatch.setattr(simulation, "_all_rows", keep)
    simulate(CMDP(), datasets.brexit(["gender"]), 10, runs=runs)
    assert len(shared_out) == tasks
    assert [run for task in shared_out for run in task.runs] == list(range(runs))
    assert len({len(task.runs) for task in shared_out[:-1]}) <= 1


def test_simulate_shows_no_bar_outside_a_terminal(capsys):
    simulate(CMDP(), datasets.brexit(features=["gender"]), 10, runs=20)
    assert capsys.readouterr().err == ""


def test_simulate_raises_dead_end_before_endless_waits():
    """Six values of one in a thousand each: the last seat may take 10^18 people."""
    names = [f"f{i}" for i in range(6)]
    problem = Problem.from_marginals(
        {name: {"a": 0.5, "b": 0.5} for name in names},
        {name: {"a": 0.999, "b": 0.001} for name in names},
    )
    with pytest.raises(DeadEnd, match="fewer than one person in 1e"):
        simulate(Greedy(0), problem, 20, runs=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": [10, 0]}, "size: expected a whole number of at least 1, got 0"),
        ({"sizes": 2.5}, r"size: expected a whole number of at least 1, got 2\.5"),
        ({"sizes": []}, "sizes: there are none"),
        ({"runs": 0}, "runs: expected a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ({"workers": 0}, "workers: expected a whole number of at least 1, got 0"),
        ({"workers": -2}, "workers: expected a whole number of at least 1, got -2"),
        ({"strategies": []}, "strategies: there are none"),
        ({"strategies": [CMDP(), CMDP()]}, "strategies: two have the same name: CMDP, CMDP"),
        ({"strategies": CMDP}, "strategy: expected one such as CMDP"),
        ({"measures": {"loss": max}}, "measures: 'loss' is a column already"),
        ({"dead_ends": True}, "dead_ends: expected 'raise' or 'rows', got True"),
        ({"strategies": ["CMDP"]}, r"strategy: expected one such as CMDP\(\), got 'CMDP'"),
    ],
)
def test_simulate_refuses_bad_arguments(arguments, message):
    problem = datasets.brexit(["gender"])
    good = {"strategies": CMDP(), "problem": problem, "sizes": 4, "runs": 1}
    simulate(**good)
    with pytest.raises(ValueError, match=message):
        simulate(**{**good, **arguments})


@pytest.mark.slow
def test_simulate_on_a_dask_cluster_is_the_same(monkeypatch):
    """Two worker processes behind a scheduler that is reached over TCP."""
    distributed = pytest.importorskip("distributed")
    arguments = ([Greedy(0.05), RLCMDP(scale=0.1)], datasets.brexit(["gender", "age"]), [10, 20])
    alone = simulate(*arguments, runs=6, workers=1)
    monkeypatch.setattr(simulation, "POOL_START_SECONDS", 0.0)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, protocol="tcp", dashboard_address=None
    )
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        pd.testing.assert_frame_equal(simulate(*arguments, runs=6), alone)

"""What is simulated once is what `simulate` gives, and is never out of date."""

from __future__ import annotations

import pandas as pd
import pytest

from committees import CMDP, RLCMDP, Greedy, datasets, simulate
from companion import cache
from companion.cache import cache_folder, simulate_once

PROBLEM = datasets.brexit(["age", "gender"])
STRATEGIES = [Greedy(0.1), CMDP(), RLCMDP(scale=0.1)]
SMALL = {"sizes": [9, 4, 9], "runs": 3, "seed": 1}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def simulated(monkeypatch):
    """The names of the strategies that are simulated, not read."""
    names = []

    def spy(strategies, *arguments, **options):
        names.extend(strategy.name for strategy in strategies)
        return simulate(strategies, *arguments, **options)

    monkeypatch.setattr(cache, "simulate", spy)
    return names


def test_simulate_once_is_simulate(simulated):
    for strategies in (STRATEGIES[:2], STRATEGIES, STRATEGIES[::-1], STRATEGIES[2:]):
        expected = simulate(strategies, PROBLEM, **SMALL)
        pd.testing.assert_frame_equal(simulate_once(strategies, PROBLEM, **SMALL), expected)
    assert simulated == [strategy.name for strategy in STRATEGIES]  # each of them once


def test_simulate_once_tells_everything_apart(simulated):
    """Another strategy with the same name, problem, size, number of runs or seed."""

    class Other(CMDP):
        pass

    calls = [
        ([CMDP()], PROBLEM, SMALL),
        ([Other()], PROBLEM, SMALL),
        ([CMDP()], datasets.brexit(["gender", "age"]), SMALL),
        ([CMDP()], PROBLEM, {**SMALL, "sizes": [9]}),
        ([CMDP()], PROBLEM, {**SMALL, "runs": 2}),
        ([CMDP()], PROBLEM, {**SMALL, "seed": 2}),
    ]
    for strategies, problem, options in calls * 2:
        expected = simulate(strategies, problem, **options)
        pd.testing.assert_frame_equal(simulate_once(strategies, problem, **options), expected)
    assert len(simulated) == len(calls)


def test_simulate_once_does_without_a_folder(monkeypatch, tmp_path, simulated):
    (tmp_path / "file").touch()
    monkeypatch.setattr(cache, "CACHE", tmp_path / "file" / "cache")
    for _ in range(2):
        found = simulate_once(STRATEGIES, PROBLEM, **SMALL, workers=1)
        pd.testing.assert_frame_equal(found, simulate(STRATEGIES, PROBLEM, **SMALL))
    assert len(simulated) == 2 * len(STRATEGIES)


def test_simulate_once_does_without_a_damaged_file(folder, simulated):
    expected = simulate_once(STRATEGIES, PROBLEM, **SMALL)
    files = sorted(folder.rglob("output.pkl"))
    assert len(files) == len(STRATEGIES)
    files[0].write_bytes(files[0].read_bytes()[:-9])
    files[1].write_text("something else")
    for _ in range(2):
        pd.testing.assert_frame_equal(simulate_once(STRATEGIES, PROBLEM, **SMALL), expected)
    assert len(simulated) == len(STRATEGIES) + 2


def test_simulate_once_refuses_what_simulate_refuses():
    simulate_once([CMDP()], PROBLEM, **SMALL)
    with pytest.raises(ValueError, match="CMDP"):
        simulate_once([CMDP(), CMDP()], PROBLEM, **SMALL)
    with pytest.raises(ValueError, match="size"):
        simulate_once([CMDP()], PROBLEM, [0], 3, 1)


def test_cache_folder_changes_with_what_computes(tmp_path):
    for name in ("lib/room/module.py", "data/table.csv", "requirements.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    seen = {cache_folder(tmp_path)}
    for name in ("lib/room/module.py", "data/table.csv", "requirements.lock", "data/new.csv"):
        (tmp_path / name).write_text("2")
        seen.add(cache_folder(tmp_path))
    assert len(seen) == 5
    (tmp_path / "lib/room/__pycache__").mkdir()
    (tmp_path / "lib/room/__pycache__/module.pyc").write_text("3")
    (tmp_path / "chapter.ipynb").write_text("4")
    assert cache_folder(tmp_path) in seen
    assert seen.pop().parent == tmp_path / "_build" / "cache"


def test_compute_once_keeps_what_it_computes_apart():
    """By function, problem, strategy and numbers; read again, it is not computed again."""
    computed = []

    def seats(problem, strategy, size, seed):
        computed.append((size, seed))
        return simulate(strategy, problem, size, 1, seed)

    def people(problem, strategy, size, seed):
        return seats(problem, strategy, size, seed)[["screened"]]

    other = datasets.brexit(["gender"])
    calls = [
        (seats, PROBLEM, CMDP(), 5, 1),
        (people, PROBLEM, CMDP(), 5, 1),
        (seats, other, CMDP(), 5, 1),
        (seats, PROBLEM, Greedy(0.1), 5, 1),
        (seats, PROBLEM, CMDP(), 6, 1),
        (seats, PROBLEM, CMDP(), 5, 2),
    ]
    for function, *arguments in calls * 2:
        before = len(computed)
        expected = function(*arguments)
        del computed[before:]
        pd.testing.assert_frame_equal(cache.compute_once(function, *arguments), expected)
    assert len(computed) == len(calls)

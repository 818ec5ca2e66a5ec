"""What no strategy can beat: each limit against brute force, and in its place among the others."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import Greedy, Problem, datasets, recruit, simulate
from committees.beyond import Foresight
from committees.beyond.limits import (
    fewest_screened,
    fluid,
    has_committee,
    hindsight,
    optimal_table,
)
from committees.greedy import band, band_loss
from committees.lp import best_policy
from committees.volunteers import stream
from samples import problems, random_problem

THREE = datasets.brexit(["ethnicity", "social class", "gender"])


def by_recursion(problem, size, tolerance):
    """The value of the best rule by definition: all committees as multisets, all sets of types."""
    low, high = band(problem, size, tolerance)
    type_ids = np.flatnonzero(problem.p > 0)
    known: dict[tuple[int, ...], float] = {}

    def value(committee):
        if committee in known:
            return known[committee]
        if len(committee) == size:
            seats = np.bincount(problem.codes[list(committee)].ravel(), minlength=len(low))
            found = 0.0 if ((low <= seats) & (seats <= high)).all() else np.inf
        else:
            after = [value(tuple(sorted((*committee, type_id)))) for type_id in type_ids]
            found = np.inf
            for mask in range(1, 2 ** len(type_ids)):
                chosen = [i for i in range(len(type_ids)) if mask >> i & 1]
                p = problem.p[type_ids[chosen]]
                found = min(found, (1 + float(p @ [after[i] for i in chosen])) / p.sum())
        known[committee] = found
        return found

    return value(())


@pytest.mark.parametrize(
    ("sizes", "size", "tolerance"),
    [
        ([2, 2], 6, 0.0),
        ([2, 2], 7, 0.1),
        ([3], 6, 0.0),
        ([2, 3], 4, 0.1),
        ([1, 2], 5, 0.2),
        ([1], 3, 0.0),
    ],
)
def test_optimal_table_is_the_definition(sizes, size, tolerance):
    problem = random_problem(np.random.default_rng(size), sizes)
    expected = by_recursion(problem, size, tolerance)
    assert np.isfinite(expected)
    assert fewest_screened(problem, size, tolerance) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.05])
def test_limits_are_in_order(tolerance):
    """Fluid and hindsight below the optimum, Foresight above it (4.5 standard errors)."""
    best = fewest_screened(THREE, 50, tolerance)
    assert fluid(THREE, 50, tolerance) <= best
    streams = [stream(THREE, 1000, np.random.default_rng([1, run])) for run in range(150)]
    runs = [hindsight(THREE, 50, tolerance, type_ids) for type_ids in streams]
    error = np.std(runs) / np.sqrt(150)
    assert fluid(THREE, 50, tolerance) < np.mean(runs) + 4.5 * error
    assert np.mean(runs) < best + 4.5 * error
    frame = simulate(Foresight(tolerance), THREE, 50, 400, 7, workers=1)
    assert frame["screened"].mean() > best - 4.5 * frame["screened"].sem()


def test_fewest_screened_falls_with_the_tolerance():
    people = [fewest_screened(THREE, 30, t) for t in (0, 0.05, 0.1, 0.3, 1)]
    assert people == sorted(people, reverse=True)
    assert people[-1] == pytest.approx(30)
    assert people[0] > 40


@given(problem=problems(max_features=2, max_values=3), size=st.integers(1, 8))
def test_fluid_is_below_the_optimum(problem, size):
    for tolerance in (0.0, 0.1):
        assert fluid(problem, size, tolerance) <= fewest_screened(problem, size, tolerance) + 1e-7


def test_fluid_without_rounding_is_the_papers_rate():
    """Where the targets are whole numbers of seats and the tolerance is 0, T = K / g*."""
    problem = Problem.from_marginals(
        {"a": {"x": 0.5, "y": 0.5}, "b": {"u": 0.3, "v": 0.7}},
        {"a": {"x": 0.2, "y": 0.8}, "b": {"u": 0.4, "v": 0.6}},
    )
    assert fluid(problem, 10, 0) == pytest.approx(10 / best_policy(problem).rate)


def test_has_committee_finds_one_where_there_are_some():
    """Every set of people of the right size, against the integer program."""
    rng = np.random.default_rng(3)
    seen = set()
    for trial in range(60):
        problem = random_problem(rng, [2, 3] if trial % 2 else [2, 2, 2])
        low, high = band(problem, 4, 0.05)
        type_ids = rng.choice(len(problem.p), 7)
        expected = False
        for chosen in combinations(type_ids, 4):
            seats = np.bincount(problem.codes[list(chosen)].ravel(), minlength=len(low))
            expected |= bool(((low <= seats) & (seats <= high)).all())
        assert has_committee(problem, 4, 0.05, type_ids) == expected
        seen.add(expected)
    assert seen == {True, False}


def test_has_committee_counts_whole_people():
    """Half of each of four people would meet every target; no two whole ones do."""
    half = {"yes": 0.5, "no": 0.5}
    problem = Problem.from_marginals(dict.fromkeys("abc", half), dict.fromkeys("abc", half))
    type_ids = np.array([0b001, 0b010, 0b100, 0b111])
    assert not has_committee(problem, 2, 0, type_ids)
    assert has_committee(problem, 2, 0, np.append(type_ids, 0b110))


def test_hindsight_is_the_first_moment():
    for run in range(10):
        type_ids = stream(THREE, 400, np.random.default_rng(run))
        found = hindsight(THREE, 20, 0.0, type_ids)
        assert has_committee(THREE, 20, 0.0, type_ids[:found])
        assert not has_committee(THREE, 20, 0.0, type_ids[: found - 1])
        assert hindsight(THREE, 20, 0.0, type_ids[:found]) == found
    for too_few in (0, 1, 19, found - 1):
        with pytest.raises(ValueError, match=f"among {too_few} people there is no committee"):
            hindsight(THREE, 20, 0.0, type_ids[:too_few])


@pytest.mark.parametrize("strategy", [Greedy(0.05), Foresight(0.02)], ids=str)
def test_hindsight_is_before_everybody_on_the_same_stream(strategy):
    for run in range(10):
        found = recruit(strategy, THREE, 30, np.random.default_rng(run), step_by_step=True)
        type_ids = stream(THREE, int(found.screened[-1]), np.random.default_rng(run))
        np.testing.assert_array_equal(type_ids[found.screened - 1], found.type_ids)
        assert hindsight(THREE, 30, 0.1, type_ids) <= found.screened[-1]


def test_optimal_table_refuses_what_it_cannot_hold():
    for size in (50, 100, 500, 1000):  # more cells than 64 bits can count
        with pytest.raises(
            ValueError, match=r"the table of all committees has \d(\.\d)?e\+\d+ cells"
        ):
            optimal_table(datasets.brexit(), size, 0.05)
    holes = Problem({"a": {"x": 0.5, "y": 0.5}, "b": {"u": 0.25, "v": 0.75}}, [0.5, 0, 0, 0.5])
    assert fewest_screened(holes, 4, 0) == np.inf


@pytest.mark.parametrize(
    ("size", "tolerance", "message"),
    [
        (0, 0.1, "size: expected a whole number of at least 1, got 0"),
        (2.5, 0.1, "size: expected a whole number of at least 1, got 2.5"),
        (10, -1, "tolerance: expected a number from 0 to 1, got -1"),
        (10, np.nan, "tolerance: expected a number from 0 to 1, got nan"),
    ],
)
def test_limits_refuse_a_bad_size_or_tolerance(size, tolerance, message):
    problem = datasets.brexit(["gender"])
    for use in (band, band_loss, fluid, fewest_screened):
        with pytest.raises(ValueError, match=re.escape(message)):
            use(problem, size, tolerance)

"""The two ways to recruit a committee have the same law, and fill it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import (
    CMDP,
    RLCMDP,
    DeadEnd,
    Greedy,
    PlugIn,
    Problem,
    datasets,
    recruit,
    recruitment,
    simulate,
)
from committees.exact import expected_screened
from committees.testing import check_strategy
from samples import problems, random_problem

PROBLEMS = {
    "two features, dependent": ([2, 3], False),
    "three features, dependent": ([2, 2, 2], False),
    "one feature with 8 values": ([8], False),
    "8 values and two more features, independent": ([8, 2, 2], True),
}

THREE = datasets.brexit(features=["ethnicity", "social class", "gender"])


@pytest.mark.parametrize("strategy", [Greedy(0.0), Greedy(0.1), CMDP()], ids=str)
@pytest.mark.parametrize("which", PROBLEMS)
def test_recruit_has_the_law_of_step_by_step(strategy, which):
    """12 comparisons; were seeds drawn anew, sound code would fail in 12 of 1,000 test runs."""
    sizes, independent = PROBLEMS[which]
    problem = random_problem(np.random.default_rng(5), sizes, independent=independent)
    check_strategy(strategy, problem)


@given(problems(max_features=2), st.integers(1, 12), st.integers(0, 999), st.booleans())
def test_recruit_fills_committees_and_counts_people(problem, size, seed, step_by_step):
    for strategy in (Greedy(0.3), CMDP()):
        rng = np.random.default_rng(seed)
        found = recruit(strategy, problem, size, rng, step_by_step=step_by_step)
        assert len(found.type_ids) == len(found.screened) == size
        assert (np.diff(found.screened, prepend=0) >= 1).all()
        assert (problem.p[found.type_ids] > 0).all()


@pytest.mark.parametrize("strategy", [PlugIn(), RLCMDP(scale=0.1)], ids=str)
@pytest.mark.parametrize("size", [1, 7, 200])
def test_recruit_stops_a_learner_at_the_last_seat(strategy, size):
    """Whom it would see next is not seen: as many are noted as step by step, and seated."""
    found = recruit(strategy, THREE, size, 3)
    assert len(found.type_ids) == len(found.screened) == size
    last = found.session.episodes[-1]
    slow = recruit(strategy, THREE, size, 3, step_by_step=True)
    np.testing.assert_array_equal(found.screened, slow.screened)
    assert last.start == slow.session.episodes[-1].start <= found.screened[-1] + 1


@pytest.mark.parametrize("step_by_step", [False, True])
def test_recruit_stops_where_nobody_can_still_be_accepted(step_by_step):
    """No junior man exists: once two women and a senior man are seated, nobody fits."""
    halves = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
    problem = Problem(halves, [0.4, 0, 0.3, 0.3])
    with pytest.raises(DeadEnd, match=r"Greedy 0: after \d of 4 seats it would accept nobody"):
        simulate(Greedy(0), problem, 4, runs=30, step_by_step=step_by_step, workers=1)


def test_recruit_stops_a_learner_that_cannot_fill_its_committee(monkeypatch):
    monkeypatch.setattr(recruitment, "MAX_SEEN_BY_LEARNER", 2000)
    impossible = {"gender": {"M": 0.2, "F": 0.8}, "age": {"S": 0.5, "J": 0.5}}
    problem = Problem(impossible, [0.5, 0.2, 0, 0.3])
    with pytest.raises(DeadEnd, match=r"plug-in: has seen 2,\d+ people for \d+ of 500 seats"):
        recruit(PlugIn(), problem, 500, np.random.default_rng(0))
    with pytest.raises(DeadEnd, match=r"plug-in: has seen 2,\d+ people for \d+ of 500 seats"):
        recruit(PlugIn(), problem, 500, np.random.default_rng(0), step_by_step=True)


def test_expected_has_the_mean_of_screened_and_varies_less():
    """Against the exact expectation; a wrong mean is missed in fewer than 1 of 10,000 seeds."""
    problem = datasets.brexit(["age", "gender"])
    exact = expected_screened(Greedy(0.1), problem, 6)
    frame = simulate(Greedy(0.1), problem, 6, runs=4000, seed=5)
    for column in ("expected", "screened"):
        assert abs(frame[column].mean() - exact) < 4 * frame[column].sem()
    assert frame["expected"].var() < 0.8 * frame["screened"].var()
    cmdp = simulate(CMDP(), problem, [3, 6], runs=5, seed=5)
    rate = CMDP().policy(problem).rate
    assert cmdp["expected"].to_numpy() == pytest.approx(cmdp["size"].to_numpy() / rate)


@pytest.mark.parametrize("strategy", [Greedy(0.1), RLCMDP()])
def test_expected_is_screened_where_everybody_is_drawn(strategy):
    frame = simulate(strategy, datasets.brexit(["gender"]), 9, runs=3, seed=5, step_by_step=True)
    assert (frame["expected"] == frame["screened"]).all()

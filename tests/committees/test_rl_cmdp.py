"""RL-CMDP, against Algorithm 1 read literally."""

from __future__ import annotations

from itertools import islice

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import (
    CMDP,
    RLCMDP,
    PlugIn,
    Problem,
    datasets,
    recruit,
    simulate,
)
from committees.lp import solve
from committees.optimism import OptimisticLP, interval_lp, l1_lp
from committees.rl_cmdp import bernstein_radius, l1_radius
from committees.volunteers import Volunteers
from samples import random_problem

THREE = datasets.brexit(features=["ethnicity", "social class", "gender"])

PROBLEM = datasets.brexit(["gender", "age", "vote"])

LEARNERS = [
    RLCMDP(scale=0.1),
    RLCMDP(),
    RLCMDP(confidence="bernstein", scale=0.2),
    PlugIn(),
]


def people(problem, seed, number):
    """The first so many people of a stream, with their coins."""
    return zip(*islice(Volunteers(problem, seed), number), strict=True)


def algorithm_1(problem, type_ids, delta, scale):
    """Algorithm 1, line by line: for each episode its start, and the program's value and policy.

    The policy is None where the optimum is not unique.
    """
    n = dict.fromkeys(range(len(problem.p)), 0)
    t, episodes = 0, []
    while t < len(type_ids):
        start, before = t + 1, dict(n)
        if start == 1:
            value, policy = 1.0, np.ones(len(problem.p))
        else:
            estimate = np.array([before[x] / (start - 1) for x in before])
            radius = scale * l1_radius(len(problem.p), start - 1, delta)
            value, policy = algorithm_1_policy(problem, estimate, radius)
        episodes.append((start, value, policy))
        while t < len(type_ids):
            x = type_ids[t]
            t += 1
            n[x] += 1
            if n[x] >= 2 * before[x]:
                break
    return episodes


def algorithm_1_policy(problem, estimate, radius):

    program = l1_lp(problem, estimate, radius)
    value = solve(program)
    accept, reject = (v for v in program.variables() if v.name() in ("accept", "reject"))
    if radius >= 2:
        return value, None
    mu = cp.hstack([accept, reject])
    # Unique if no generic objective can move the solution away from itself at the optimal value.
    fixed = [*program.constraints, cp.sum(accept) >= value - 1e-9]
    direction = np.random.default_rng(0).normal(size=2 * len(estimate))
    ends = []
    for sign in (1, -1):
        cp.Problem(cp.Maximize(sign * direction @ mu), fixed).solve(solver=cp.HIGHS)
        ends.append(np.array(mu.value))
    if np.abs(ends[0] - ends[1]).max() > 1e-6:
        return value, None
    a, r = np.split(ends[0], 2)
    total = a + r
    return value, np.where(total > 1e-7, a / np.where(total > 1e-7, total, 1), 0.5)


@pytest.mark.parametrize("sizes", [[2], [3], [2, 2], [3, 2]])
@pytest.mark.parametrize("scale", [0.0, 0.05, 0.2])
def test_rlcmdp_is_algorithm_1(sizes, scale):
    problem = random_problem(np.random.default_rng(sum(sizes)), sizes)
    type_ids, coins = people(problem, seed=1, number=200)
    expected = algorithm_1(problem, type_ids, 0.05, scale)
    session = RLCMDP(scale=scale).start(problem, 200)
    policies = [session.acceptance]
    decisions = []
    for type_id, coin in zip(type_ids, coins, strict=True):
        decisions.append(coin < session.acceptance[type_id])
        session.see(np.array([type_id]), np.array([decisions[-1]]))
        if session.acceptance is not policies[-1]:
            policies.append(session.acceptance)
    found = [(e.start, e.rate) for e in session.episodes if e.start <= len(type_ids)]
    assert [start for start, _ in found] == [start for start, _, _ in expected]
    np.testing.assert_allclose([v for _, v in found], [v for _, v, _ in expected], atol=1e-7)
    unique = 0
    ends = [start for start, _, _ in expected[1:]] + [len(type_ids) + 1]
    for (start, _, policy), end, ours in zip(expected, ends, policies, strict=False):
        if policy is None:
            continue
        unique += 1
        np.testing.assert_allclose(ours, policy, atol=1e-5)
        for t in range(start - 1, end - 1):
            if abs(coins[t] - policy[type_ids[t]]) > 1e-4:
                assert decisions[t] == (coins[t] < policy[type_ids[t]])
    # With several features the optimum is rarely unique; with one, or no radius, it mostly is.
    assert unique >= (3 if scale == 0 or len(sizes) == 1 else 1)


@pytest.mark.parametrize("strategy", LEARNERS, ids=str)
def test_learning_session_in_blocks_is_step_by_step(strategy):
    """Block by block or person by person: the very same committee, people and episodes."""
    for seed in range(3):
        one = recruit(strategy, THREE, 60, np.random.default_rng(seed))
        other = recruit(strategy, THREE, 60, np.random.default_rng(seed), step_by_step=True)
        np.testing.assert_array_equal(one.type_ids, other.type_ids)
        np.testing.assert_array_equal(one.screened, other.screened)
        starts = [[e.start for e in found.session.episodes] for found in (one, other)]
        last = one.screened[-1]
        assert [s for s in starts[0] if s <= last] == [s for s in starts[1] if s <= last]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_learning_session_ends_an_episode_when_a_count_doubles(type_ids):
    problem = Problem({"a": dict.fromkeys("wxyz", 0.25)}, np.full(4, 0.25))
    session = PlugIn().start(problem, 1)
    counts, before, starts = [0] * 4, [0] * 4, [1]
    for t, type_id in enumerate(type_ids, start=1):
        session.see(np.array([type_id]), np.array([True]))
        counts[type_id] += 1
        if counts[type_id] >= max(1, 2 * before[type_id]):
            before = list(counts)
            starts.append(t + 1)
    assert [e.start for e in session.episodes] == starts
    np.testing.assert_array_equal(session.episodes[-1].counts, before)


def test_rlcmdp_decides_what_the_paper_leaves_open():
    """Nothing known: everybody. A ball that holds everything: everybody. Never seen: a coin."""
    session = RLCMDP().start(THREE, 100)
    assert (session.acceptance == 1).all()
    session.see(np.array([0]), np.array([True]))
    assert session.episodes[-1].radius > 2
    assert (session.acceptance == 1).all()
    plug_in = PlugIn().start(THREE, 100)
    assert (plug_in.acceptance == 1).all()
    plug_in.see(np.array([0]), np.array([True]))
    assert plug_in.acceptance[0] == 0  # one type alone cannot have the target shares
    assert (plug_in.acceptance[1:] == 0.5).all()


def test_radii_are_the_formulas():
    assert l1_radius(8, 0, 0.05) == np.inf
    assert l1_radius(8, 99, 0.05) == pytest.approx(np.sqrt(16 * np.log(48 * 9900 / 0.05) / 99))
    weight = np.log(6 * 2 * 101 / 0.05) / 100
    np.testing.assert_allclose(
        bernstein_radius(np.array([0.2, 0.0]), 100, 0.05),
        [np.sqrt(2 * 0.16 * weight) + 7 / 3 * weight, 7 / 3 * weight],
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0}, "delta: expected a number between 0 and 1, got 0"),
        ({"confidence": "l2"}, "confidence: expected 'l1' or 'bernstein', got 'l2'"),
        ({"scale": -1}, "scale: expected a number of at least 0, got -1"),
        ({"scale": float("nan")}, "scale: expected a number of at least 0, got nan"),
    ],
)
def test_rlcmdp_refuses_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        RLCMDP(**arguments)


def test_rlcmdp_takes_its_parameters_by_name():
    """One would think that a single number is the scale, and it would be delta."""
    with pytest.raises(TypeError, match="positional"):
        RLCMDP(0.1)


def test_name_tells_variants_apart():
    variants = [
        RLCMDP(),
        RLCMDP(scale=0.1),
        RLCMDP(delta=0.1),
        RLCMDP(confidence="bernstein"),
        PlugIn(),
    ]
    assert len({strategy.name for strategy in variants}) == len(variants)


def test_learning_session_solves_one_program_per_episode():
    """A guard against slowness that cannot flake: programs solved in a run with 384 types."""
    problem = datasets.brexit()
    solved = []
    original = OptimisticLP._solve
    try:
        OptimisticLP._solve = lambda self, *a: solved.append(1) or original(self, *a)
        found = recruit(RLCMDP(scale=0.1), problem, 1000, np.random.default_rng(0))
    finally:
        OptimisticLP._solve = original
    informed = [e for e in found.session.episodes if e.radius < 2]
    assert len(solved) == len(informed)
    assert len(found.session.episodes) < len(problem.p) * np.log2(found.screened[-1])


def test_plug_in_converges_to_cmdp():
    frame = simulate([PlugIn(), CMDP()], THREE, 2000, runs=20, seed=5)
    screened = frame.groupby("strategy")["screened"].mean()
    assert screened["plug-in"] == pytest.approx(screened["CMDP"], rel=0.05)


def test_rl_cmdp_is_the_papers_unless_told_otherwise():
    """With the radius of Lemma 3 as it stands, in its name as well."""
    assert RLCMDP() == RLCMDP(delta=0.05, confidence="l1", scale=1.0)
    assert RLCMDP().name == "RL-CMDP"
    session = RLCMDP().start(THREE, 9)
    session.see(np.arange(2), np.array([True, False]))
    assert [episode.radius for episode in session.episodes] == [np.inf, l1_radius(8, 1, 0.05)]


def test_rl_cmdp_b_solves_the_program_over_its_intervals():
    strategy = RLCMDP(confidence="bernstein", scale=0.05)
    episodes = recruit(strategy, THREE, 300, 4).session.episodes
    assert len(episodes) > 5
    for episode in episodes[1:]:
        seen = episode.start - 1
        estimate = episode.counts / seen
        radius = 0.05 * bernstein_radius(estimate, seen, 0.05)
        low = np.maximum(estimate - radius, 0)
        high = np.minimum(estimate + radius, 1)
        assert episode.rate == pytest.approx(solve(interval_lp(THREE, low, high)), abs=1e-8)
        assert ((low - 1e-9 <= episode.belief) & (episode.belief <= high + 1e-9)).all()

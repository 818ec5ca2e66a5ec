"""RL-CMDP against slow, literal statements of what it does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from committees import (
    CMDP,
    RLCMDP,
    PlugIn,
    Problem,
    datasets,
    recruit,
    simulate,
    simulation,
    theory,
)
from committees.lp import best_policy, solve
from committees.optimism import OptimisticLP, PrintedLP, interval_lp, l1_lp, printed_lp
from committees.rl_cmdp import bernstein_radius, l1_radius
from committees.simulation import _Stream
from committees.theory import covers, episode_sums, regret_path
from samples import problems, random_problem

THREE = datasets.brexit(features=["ethnicity", "social class", "gender"])
LEARNERS = [
    RLCMDP(scale=0.1),
    RLCMDP(),
    RLCMDP(confidence="bernstein", scale=0.2),
    RLCMDP(lp="printed"),
    PlugIn(),
]


@st.composite
def estimates(draw):
    """A problem, and what some people from it say of p."""
    problem = draw(problems(max_features=2, max_values=4))
    seen = draw(st.integers(1, 300))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return problem, rng.multinomial(seen, problem.p) / seen, seen


# The programs


@given(estimates(), st.lists(st.floats(0, 3), min_size=1, max_size=3))
@settings(max_examples=40)
def test_the_smaller_program_is_the_l1_program(known, radii):
    """Also when one model answers several questions in a row."""
    problem, estimate, _ = known
    model = OptimisticLP(problem)
    for radius in radii:
        found = model.over_l1_ball(estimate, radius)
        assert found.rate == pytest.approx(solve(l1_lp(problem, estimate, radius)), abs=1e-8)
        mass, belief = found.mass, found.belief
        assert mass.sum() == pytest.approx(found.rate, abs=1e-9)
        np.testing.assert_allclose(
            problem.incidence @ mass, problem.rho * found.rate, rtol=0, atol=1e-9
        )
        assert belief.sum() == pytest.approx(1, abs=1e-9)
        assert (belief >= mass - 1e-12).all()
        assert np.abs(belief - estimate).sum() <= radius + 1e-9


@given(estimates(), st.floats(0, 1))
@settings(max_examples=40)
def test_the_smaller_program_is_the_interval_program(known, scale):
    problem, estimate, seen = known
    reach = scale * bernstein_radius(estimate, seen, 0.05)
    low, high = np.maximum(estimate - reach, 0), np.minimum(estimate + reach, 1)
    found = OptimisticLP(problem).over_intervals(estimate, low, high)
    assert found.rate == pytest.approx(solve(interval_lp(problem, low, high)), abs=1e-8)
    assert found.belief.sum() == pytest.approx(1, abs=1e-9)
    assert (found.belief >= np.maximum(found.mass, low) - 1e-9).all()
    assert (found.belief <= high + 1e-9).all()


@given(estimates(), st.floats(0, 6))
@settings(max_examples=40)
def test_the_printed_program_is_what_is_printed(known, radius):
    problem, estimate, _ = known
    found = PrintedLP(problem).over_l1_ball(estimate, radius)
    assert found.rate == pytest.approx(solve(printed_lp(problem, estimate, radius)), abs=1e-7)


@given(estimates(), st.floats(0, 2))
@settings(max_examples=80)
def test_the_printed_program_is_not_optimistic(known, radius):
    """Theorem (appendix B): up to radius 2 it has the value of the plug-in program."""
    problem, estimate, _ = known
    plug_in = OptimisticLP(problem).over_l1_ball(estimate, 0.0)
    assert PrintedLP(problem).over_l1_ball(estimate, radius).rate == pytest.approx(
        plug_in.rate, abs=1e-8
    )


def test_the_printed_program_can_be_optimistic_beyond_radius_2():
    """One feature, two values: the value is 2 min(q + b/2 - b/radius), rising in b beyond 2."""
    problem = Problem({"a": {"x": 0.5, "y": 0.5}}, [0.9, 0.1])
    model = PrintedLP(problem)
    estimate = np.array([0.9, 0.1])
    assert model.over_l1_ball(estimate, 2.0).rate == pytest.approx(0.2, abs=1e-9)
    assert model.over_l1_ball(estimate, 2.6).rate > 0.25


@given(estimates())
@settings(max_examples=30)
def test_optimism_pays_and_more_of_it_pays_more(known):
    problem, estimate, _ = known
    model = OptimisticLP(problem)
    rates = [model.over_l1_ball(estimate, radius).rate for radius in (0, 0.1, 0.5, 1, 2)]
    assert (np.diff(rates) >= -1e-9).all()
    assert rates[-1] == pytest.approx(1, abs=1e-9)  # every distribution is possible
    distance = np.abs(estimate - problem.p).sum()
    assert model.over_l1_ball(estimate, distance).rate >= best_policy(problem).rate - 1e-9


# The algorithm


def people(problem, seed, number):
    """The first so many people of a stream, with their coins."""
    stream = _Stream(problem, np.random.default_rng(seed))
    type_ids, coins = [], []
    while len(type_ids) < number:
        type_id, coin = stream.next(1)
        type_ids.append(int(type_id[0]))
        coins.append(float(coin[0]))
        stream.skip(1)
    return type_ids, coins


def literal(problem, type_ids, delta, scale):
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
            value, policy = literal_policy(problem, estimate, radius)
        episodes.append((start, value, policy))
        while t < len(type_ids):
            x = type_ids[t]
            t += 1
            n[x] += 1
            if n[x] >= 2 * before[x]:
                break
    return episodes


def literal_policy(problem, estimate, radius):
    import cvxpy as cp

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
def test_the_library_runs_algorithm_1(sizes, scale):
    problem = random_problem(np.random.default_rng(sum(sizes)), sizes)
    type_ids, coins = people(problem, seed=1, number=200)
    expected = literal(problem, type_ids, 0.05, scale)
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
def test_blocks_change_nothing(strategy):
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
@settings(max_examples=60)
def test_an_episode_ends_when_a_count_doubles(type_ids):
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


def test_what_the_paper_leaves_open():
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


def test_radii():
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
        ({"lp": "own"}, "lp: expected 'corrected' or 'printed', got 'own'"),
        ({"lp": "printed", "confidence": "bernstein"}, "lp: 'printed' goes with confidence='l1'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        RLCMDP(**arguments)


def test_names_tell_strategies_apart():
    variants = [
        RLCMDP(),
        RLCMDP(scale=0.1),
        RLCMDP(delta=0.1),
        RLCMDP(confidence="bernstein"),
        RLCMDP(confidence="bernstein", constants=(1.0, 1.0)),
        RLCMDP(lp="printed"),
        PlugIn(),
    ]
    assert len({str(strategy) for strategy in variants}) == len(variants)


def test_workers_do_not_change_the_result(monkeypatch):
    arguments = ([RLCMDP(scale=0.1), PlugIn()], THREE, [20, 100])
    alone = simulate(*arguments, runs=6, workers=1)
    monkeypatch.setattr(simulation, "PATIENCE", 0.0)
    pd.testing.assert_frame_equal(simulate(*arguments, runs=6, workers=2), alone)


def test_everybody_meets_the_same_people():
    """Strategies that see everybody see the same stream, so that they can be compared on it."""
    first = recruit(RLCMDP(), THREE, 40, np.random.default_rng(9))
    second = recruit(PlugIn(), THREE, 40, np.random.default_rng(9))
    type_ids, _ = people(THREE, 9, int(second.screened[-1]))
    for found in (first, second):
        assert [type_ids[t - 1] for t in found.screened] == list(found.type_ids)


def test_one_program_per_episode():
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


# What the paper proves of it


@pytest.mark.parametrize("confidence", ["l1", "bernstein"])
@pytest.mark.parametrize("problem", [THREE, random_problem(np.random.default_rng(2), [2, 3])])
def test_confidence_sets_cover_the_truth(confidence, problem):
    """In at least 1 - delta/3 of the runs, in every episode.

    Sets that covered with exactly that probability would fail here in fewer than 1 of 10,000 seeds.
    """
    delta, runs = 0.3, 200
    strategy = RLCMDP(delta=delta, confidence=confidence)
    covered = sum(
        covers(problem, recruit(strategy, problem, 200, np.random.default_rng(s)).session.episodes)
        for s in range(runs)
    )
    assert stats.binom.cdf(covered, runs, 1 - delta / 3) > 1e-4


def test_coverage_is_not_vacuous():
    """Sets a twentieth of the size do miss the truth."""
    strategy = RLCMDP(scale=0.05)
    runs = [recruit(strategy, THREE, 200, np.random.default_rng(s)) for s in range(20)]
    assert sum(covers(THREE, found.session.episodes) for found in runs) <= 5


@pytest.mark.parametrize("power", [6, 10, 14])
def test_episode_sums_of_a_single_type(power):
    """Counts double each time: the sums tend to (sqrt 2 + 1) sqrt T and log2 T, above the print."""
    problem = Problem({"a": {"x": 1.0}}, [1.0])
    session = PlugIn().start(problem, 1)
    horizon, seen = 2**power, 0
    while seen < horizon:
        seen += session.see(np.zeros(horizon - seen, dtype=np.intp), np.ones(horizon - seen, bool))
    root, harmonic = episode_sums(session.episodes, horizon)
    assert root > 2 * np.sqrt(horizon)
    assert root <= (np.sqrt(2) + 1) * np.sqrt(horizon)
    assert root >= (np.sqrt(2) + 1) * (np.sqrt(horizon) - 1) - 1e-9
    assert harmonic == pytest.approx(power)
    assert harmonic > np.log(horizon)


@given(problems(max_features=2, max_values=4), st.integers(2, 400), st.integers(0, 999))
@settings(max_examples=50)
def test_episode_sums_never_exceed_the_mended_constants(problem, horizon, seed):
    session = PlugIn().start(problem, 1)
    type_ids = np.random.default_rng(seed).choice(len(problem.p), horizon, p=problem.p)
    seen = 0
    while seen < horizon:
        seen += session.see(type_ids[seen:], np.ones(horizon - seen, dtype=bool))
    root, harmonic = episode_sums(session.episodes, horizon)
    assert root <= (np.sqrt(2) + 1) * np.sqrt(horizon) + 1e-9
    assert harmonic <= np.log2(horizon) + 1e-9


@pytest.mark.parametrize("confidence", ["l1", "bernstein"])
def test_regret_and_violation_stay_below_their_bounds(confidence):
    """With probability 1 - delta; the bounds are so wide that no run comes near."""
    strategy = RLCMDP(confidence=confidence)
    for seed in range(5):
        found = recruit(strategy, THREE, 400, np.random.default_rng(seed))
        along = regret_path(THREE, found)
        for name, bound in (("regret", theory.regret), ("violation", theory.violation)):
            limit = [bound(THREE, t, 0.05, "corrected", confidence) for t in along.index]
            assert (along[name] <= limit).all()
        last = along.iloc[-1]
        loss = THREE.committee_loss(found.type_ids)
        assert loss == pytest.approx(last["violation"] / last["accepted"], abs=1e-9)
        assert loss <= theory.rl_loss(THREE, int(along.index[-1]), 0.05, best_policy(THREE).rate)


def test_mended_bounds_are_the_larger_ones():
    for confidence in ("l1", "bernstein"):
        for bound in (theory.regret, theory.violation):
            printed = bound(THREE, 1000, 0.05, "paper", confidence)
            assert bound(THREE, 1000, 0.05, "corrected", confidence) > printed
    n, t, delta = 8, 1000, 0.05
    expected = 4 * np.sqrt(n * np.log(6 * n * t * (t - 1) / delta) * t)
    expected += np.sqrt(2 * t * np.log(3 / delta))
    assert theory.regret(THREE, t, delta, "paper") == pytest.approx(expected)


def test_the_plug_in_policy_converges_to_cmdp():
    frame = simulate([PlugIn(), CMDP()], THREE, 2000, runs=20, seed=5)
    screened = frame.groupby("strategy")["screened"].mean()
    assert screened["plug-in"] == pytest.approx(screened["CMDP"], rel=0.05)


@pytest.mark.parametrize("wrong", ["ab", (1.0,), (-1.0, 2.0), (1.0, np.nan), [1.0, 2.0]])
def test_constants_are_two_numbers(wrong):
    with pytest.raises(ValueError, match="constants: expected"):
        RLCMDP(confidence="bernstein", constants=wrong)
    names = {str(RLCMDP(confidence="bernstein", constants=c)) for c in [(1.0, 1.0), (2.0, 2.0)]}
    assert names == {"RL-CMDP-B B=1, 1", "RL-CMDP-B B=2, 2"}


def test_a_learner_that_cannot_fill_its_committee_says_so(monkeypatch):
    import committees.simulation as recruitment

    monkeypatch.setattr(recruitment, "PATIENT_WITH_LEARNERS", 2000)
    impossible = {"gender": {"M": 0.2, "F": 0.8}, "age": {"S": 0.5, "J": 0.5}}
    problem = Problem(impossible, [0.5, 0.2, 0, 0.3])
    from committees import DeadEnd

    with pytest.raises(DeadEnd, match=r"plug-in: has seen 2,\d+ people for \d+ of 500 seats"):
        recruit(PlugIn(), problem, 500, np.random.default_rng(0))
    with pytest.raises(DeadEnd, match=r"plug-in: has seen 2,\d+ people for \d+ of 500 seats"):
        recruit(PlugIn(), problem, 500, np.random.default_rng(0), step_by_step=True)

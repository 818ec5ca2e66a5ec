"""What the paper proves, on many random problems."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from committees import (
    CMDP,
    RLCMDP,
    Greedy,
    PlugIn,
    Problem,
    Recruitment,
    datasets,
    recruit,
    simulate,
    theory,
)
from committees.lp import best_policy
from committees.rl_cmdp import l1_radius
from committees.theory import LearningBounds, covers, episode_sums, regret_path
from samples import problems, random_problem

THREE = datasets.brexit(features=["ethnicity", "social class", "gender"])


@given(problems(max_values=8), st.integers(1, 200), st.floats(0, 0.2), st.integers(0, 2**32 - 1))
def test_greedy_loss_is_never_exceeded(problem, size, tolerance, seed):
    found = recruit(Greedy(tolerance), problem, size, np.random.default_rng(seed))
    assert (
        problem.committee_loss(found.type_ids)
        <= theory.greedy_loss(problem, size, tolerance) + 1e-9
    )


def test_greedy_loss_counts_what_it_says():
    """Of the largest feature, here with eight values, all but one."""
    assert theory.greedy_loss(datasets.brexit(), 100, 0.02) == pytest.approx(0.07 + 0.02)


@pytest.mark.parametrize("union", ["printed", "sharp"])
@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_cmdp_loss_covers(union, delta):
    """The bound holds in at least 1 - delta of the runs.

    A bound that held in exactly 1 - delta of all runs would fail here with probability below 1e-4.
    """
    for problem in (datasets.brexit(), random_problem(np.random.default_rng(3), [8, 2])):
        frame = simulate(CMDP(), problem, [20, 100, 500], runs=1000, seed=3)
        for size, losses in frame.groupby("size")["loss"]:
            covered = (losses <= theory.cmdp_loss(problem, size, delta, union)).sum()
            assert stats.binom.cdf(covered, 1000, 1 - delta) > 1e-4


def test_cmdp_loss_refuses_an_unknown_version():
    with pytest.raises(ValueError, match="version: expected 'printed' or 'sharp', got 'half'"):
        theory.cmdp_loss(datasets.brexit(), 50, 0.05, "half")


def test_cmdp_loss_counts_what_it_says():
    problem = datasets.brexit()
    at_100 = theory.cmdp_loss(problem, 100, 0.05)
    assert at_100 == pytest.approx(np.sqrt(np.log(2 * 13 / 0.05) / 200))
    assert theory.cmdp_loss(problem, 100, 0.05, "sharp") == pytest.approx(
        np.sqrt(np.log(2 * 10 / 0.05) / 200)
    )
    with pytest.raises(ValueError, match="delta: expected a number between 0 and 1, got 0"):
        theory.cmdp_loss(problem, 100, 0)


@pytest.mark.parametrize(
    ("values", "sizes"), [(2, (1, 9, 40)), (3, (5, 25)), (4, (12,)), (5, (8,))]
)
def test_cmdp_loss_holds_exactly(values, sizes):
    """One feature, every committee: P[loss >= l] is at most 2 ceil(D / 2) exp(-2 K l^2), each l.

    The counts of a feature's values are multinomial: no chance is involved here. That the printed
    factor, D - 1, is at least ceil(D / 2) makes Proposition 2 true as printed.
    """
    rng = np.random.default_rng(values)
    for size in sizes:
        grid = np.indices([size + 1] * (values - 1)).reshape(values - 1, -1).T
        grid = grid[grid.sum(axis=1) <= size]
        counts = np.column_stack([grid, size - grid.sum(axis=1)])
        for target in [np.full(values, 1 / values), *rng.dirichlet(np.ones(values), 40)]:
            chance = stats.multinomial.pmf(counts, size, target)
            losses = np.abs(counts / size - target).max(axis=1)
            order = np.argsort(-losses)
            at_least = np.cumsum(chance[order])
            bound = 2 * ((values + 1) // 2) * np.exp(-2 * size * losses[order] ** 2)
            assert (at_least <= bound + 1e-12).all()
    assert all((n + 1) // 2 <= n - 1 for n in range(2, 100))


def test_rejections_are_negative_binomial():
    """Chi-square goodness of fit at level 1e-3: tau - K is negative binomial, tau + K is not."""
    problem = datasets.brexit(features=["age", "gender"])
    policy = CMDP().policy(problem)
    size, runs = 12, 4000
    law = theory.rejections(policy, size)
    screened = simulate(CMDP(), problem, size, runs=runs, seed=11)["screened"].to_numpy()
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 15)))

    def p_value(draws):
        bins = np.concatenate([[-np.inf], edges, [np.inf]])
        seen = np.histogram(draws, np.concatenate([[-1e9], edges + 0.5, [1e9]]))[0]
        expected = runs * np.diff(law.cdf(bins))
        return stats.chisquare(seen, expected).pvalue

    assert p_value(screened - size) > 1e-3
    assert p_value(screened + size) < 1e-12
    assert size + law.mean() == pytest.approx(size / policy.rate)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0}, "delta: expected a number between 0 and 1, got 0"),
        ({"delta": 2}, "delta: expected a number between 0 and 1, got 2"),
        ({"version": "Paper"}, "version: expected 'printed' or 'sharp', got 'Paper'"),
        ({"confidence": "L1"}, "confidence: expected 'l1' or 'bernstein', got 'L1'"),
    ],
)
def test_bounds_refuse_bad_arguments(arguments, message):
    problem = datasets.brexit(["gender"])
    with pytest.raises(ValueError, match=re.escape(message)):
        LearningBounds(problem, **arguments)
    bounds = LearningBounds(problem)
    for bound in (bounds.regret, bounds.violation):
        with pytest.raises(ValueError, match="horizon: expected a whole number of at least 1"):
            bound(0)
    with pytest.raises(ValueError, match="rate: expected a number from 0 to 1, got 2"):
        bounds.loss(100, 2)
    for loss, more in ((theory.greedy_loss, 0.1), (theory.cmdp_loss, 0.05)):
        with pytest.raises(ValueError, match="size: expected a whole number of at least 1, got -5"):
            loss(problem, -5, more)
    with pytest.raises(ValueError, match="tolerance: expected a number from 0 to 1, got -1"):
        theory.greedy_loss(problem, 5, -1)


@pytest.mark.parametrize("confidence", ["l1", "bernstein"])
@pytest.mark.parametrize("problem", [THREE, random_problem(np.random.default_rng(2), [2, 3])])
def test_covers_in_at_least_1_minus_delta_of_the_runs(confidence, problem):
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


def test_covers_fails_for_small_sets():
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
def test_episode_sums_never_exceed_the_corrected_constants(problem, horizon, seed):
    session = PlugIn().start(problem, 1)
    type_ids = np.random.default_rng(seed).choice(len(problem.p), horizon, p=problem.p)
    seen = 0
    while seen < horizon:
        seen += session.see(type_ids[seen:], np.ones(horizon - seen, dtype=bool))
    root, harmonic = episode_sums(session.episodes, horizon)
    assert root <= (np.sqrt(2) + 1) * np.sqrt(horizon) + 1e-9
    assert harmonic <= np.log2(horizon) + 1e-9


@given(problems(max_features=2, max_values=4), st.integers(2, 400), st.integers(0, 999))
def test_the_radii_of_all_episodes_and_the_first_person_stay_below_the_sharp_term(
    problem, horizon, seed
):
    """What the sharp proof sums: 1 for the first person, then beta for everybody else."""
    session = PlugIn().start(problem, 1)
    type_ids = np.random.default_rng(seed).choice(len(problem.p), horizon, p=problem.p)
    seen = 0
    while seen < horizon:
        seen += session.see(type_ids[seen:], np.ones(horizon - seen, dtype=bool))
    starts = np.array([e.start for e in session.episodes if e.start <= horizon])
    lengths = np.diff(np.append(starts, horizon + 1))
    n, delta = len(problem.p), 0.05
    radii = [l1_radius(n, start - 1, delta) for start in starts[1:]]
    term = (2 + np.sqrt(2)) * np.sqrt(n * np.log(6 * n * horizon * (horizon - 1) / delta) * horizon)
    assert lengths[0] == 1
    assert 1 + lengths[1:] @ radii <= term + 1e-9


@given(st.integers(1, 12), st.integers(0, 999))
def test_rates_under_two_distributions_differ_by_half_their_distance(n, seed):
    """The step by which the printed constants hold: a range of one, and two distributions."""
    rng = np.random.default_rng(seed)
    one, other = rng.dirichlet(np.full(n, 0.3), 2)
    contribution = rng.random(n) - rng.random()
    assert abs(contribution @ (one - other)) <= np.abs(one - other).sum() / 2 + 1e-12


@pytest.mark.parametrize("confidence", ["l1", "bernstein"])
def test_regret_and_violation_bound_every_run(confidence):
    """With probability 1 - delta for each T: runs of one binary feature, where the bounds bind.

    At the end the bound is a third of what accepting everybody would violate, or less.
    """
    problem = datasets.brexit(["gender"])
    rate = best_policy(problem).rate
    for seed in range(3):
        found = recruit(
            RLCMDP(confidence=confidence), problem, 100_000, np.random.default_rng(seed)
        )
        along = regret_path(problem, found).iloc[1::500]
        for version in theory.VERSIONS:
            bounds = LearningBounds(problem, 0.05, version, confidence)
            for name in ("regret", "violation"):
                limit = np.array([getattr(bounds, name)(int(t)) for t in along.index])
                assert (along[name] <= limit).all()
            assert limit[-1] < along.index[-1] * abs(problem.p - problem.rho).max()
        loss = problem.committee_loss(found.type_ids)
        assert loss <= bounds.loss(int(found.screened[-1]), rate) < 0.5
        last = regret_path(problem, found).iloc[-1]
        assert loss == pytest.approx(last["violation"] / last["accepted"], abs=1e-9)


def test_regret_path_by_hand():
    """Half are women, a quarter of those who come: at best every second person is accepted."""
    problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, [0.25, 0.75])
    committee = Recruitment(np.array([1, 1, 0]), np.array([1, 4, 10]), np.zeros(3), None)
    path = regret_path(problem, committee)
    assert path.index.tolist() == [1, 4, 10]
    assert path["accepted"].tolist() == [1, 2, 3]
    assert path["regret"].tolist() == pytest.approx([0.5 - 1, 2 - 2, 5 - 3])
    assert path["violation"].tolist() == pytest.approx([0.5, 1, 0.5])


@pytest.mark.parametrize("confidence", ["l1", "bernstein"])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-3, 1e-9])
@pytest.mark.parametrize("values", [[2], [3], [5], [2, 2], [3, 3], [2, 3, 8, 2], [2] * 9, [5000]])
def test_bounds_as_printed_hold_for_all_horizons_at_once(values, delta, confidence):
    """Chance at each horizon T with delta / (T (T - 1)): these add up to delta."""
    targets = {f"feature {i}": even_shares(n) for i, n in enumerate(values)}
    problem = Problem(targets, np.full(np.prod(values), 1 / np.prod(values)))
    printed, sharp = (LearningBounds(problem, delta, v, confidence) for v in theory.VERSIONS)
    m = sum(theory.SHARP.deviations(n) for n in values)
    for horizon in np.geomspace(2, 1e12, 25).astype(np.int64).tolist():
        half = horizon / 2
        pairs = horizon * (horizon - 1)
        for name, events in (("regret", 3), ("violation", 6 * m)):
            once = np.sqrt(half * np.log(events / delta))
            always = np.sqrt(half * np.log(events * pairs / delta))
            proved = getattr(sharp, name)(horizon) - once + always
            assert proved <= getattr(printed, name)(horizon)


def even_shares(n_values):
    return {f"value {j}": 1 / n_values for j in range(n_values)}


def test_bounds_count_what_they_say():
    n, t, delta = 8, 1000, 0.05
    log_term = np.log(6 * n * t * (t - 1) / delta)
    printed, sharp = (LearningBounds(THREE, delta, version) for version in theory.VERSIONS)
    first, second = 4 * np.sqrt(n * log_term * t), (2 + np.sqrt(2)) * np.sqrt(n * log_term * t)
    assert printed.regret(t) == pytest.approx(first + np.sqrt(2 * t * np.log(3 / delta)))
    assert sharp.regret(t) == pytest.approx(second + np.sqrt(t / 2 * np.log(3 / delta)))
    assert printed.violation(t) == pytest.approx(first + np.sqrt(2 * t * np.log(18 / delta)))
    assert sharp.violation(t) == pytest.approx(second + np.sqrt(t / 2 * np.log(18 / delta)))


def test_bounds_with_intervals_count_what_they_say():
    n, t, delta = 8, 1000, 0.05
    log_term = np.log(6 * n * t / delta)
    printed, sharp = (LearningBounds(THREE, delta, v, "bernstein") for v in theory.VERSIONS)
    slow, fast = np.sqrt(2 * n * log_term * t), 7 / 3 * n * log_term
    first = 4 * slow + 2 * np.log(t) * fast
    second = (1 + np.sqrt(2)) * slow + np.log2(t) * fast
    assert printed.regret(t) == pytest.approx(first + np.sqrt(2 * t * np.log(3 / delta)))
    assert sharp.regret(t) == pytest.approx(second + np.sqrt(t / 2 * np.log(3 / delta)))


@given(
    problems(), st.integers(2, 10**6), st.floats(1e-6, 0.999), st.sampled_from(["l1", "bernstein"])
)
def test_bounds_as_printed_are_at_least_the_sharp_ones(problem, horizon, delta, confidence):
    """So that whatever proves the sharp ones proves the printed ones."""
    printed, sharp = (LearningBounds(problem, delta, v, confidence) for v in theory.VERSIONS)
    assert printed.regret(horizon) >= sharp.regret(horizon)
    assert printed.violation(horizon) >= sharp.violation(horizon)
    assert theory.cmdp_loss(problem, 9, delta) >= theory.cmdp_loss(problem, 9, delta, "sharp")

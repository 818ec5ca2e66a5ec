"""Measurements of Section 5, Appendices B and C, and of what Section 6 says of the bounds."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np

from committees import RLCMDP, PlugIn, Problem, datasets, rl_cmdp
from committees.checks import FloatArray
from committees.lp import best_policy
from committees.optimism import interval_lp, l1_lp
from committees.rl_cmdp import Episode, LearningSession
from committees.simulation import Recruitment, recruit, simulate
from committees.theory import LearningBounds, cmdp_loss, episode_sums
from companion.cache import simulate_once
from companion.experiments import FIVE_FEATURES, coverage, long_runs, small_support
from companion.intervals import half_width, share_error
from companion.measurements.registry import claim
from companion.printed import PrintedLP
from companion.runs import Measurement, Runs

#: People seen in runs that are long enough for the bounds to say something; and how many runs.
HORIZON = 10**6
LONG_RUNS = 5
#: Seats of the committees on which violations of many and of few types are compared.
MANY_SEATS = 100_000

Confidence = Literal["l1", "bernstein"]

# The confidence sets and the program


def _covered(runs: Runs, confidence: Confidence) -> Measurement:
    learner = RLCMDP(delta=runs.delta, confidence=confidence)
    share, error = coverage(learner, runs.three, 300, 300, runs.seed)
    return Measurement(share, error)


@claim("lemma-3")
def lemma_3(runs: Runs) -> Measurement:
    return _covered(runs, "l1")


@claim("bernstein-coverage")
def bernstein_coverage(runs: Runs) -> Measurement:
    return _covered(runs, "bernstein")


@claim("extended-lp")
def extended_lp(runs: Runs) -> Measurement:
    """Of the episodes whose ball holds p: the share in which the program's value is at least g*."""
    best = best_policy(runs.three).rate
    model = PrintedLP(runs.three)
    learner = RLCMDP(
        delta=runs.delta, scale=0.3
    )  # a ball that holds p, and is small enough to matter
    printed = []
    corrected = []
    for rng in runs.generators(5):
        recruitment = recruit(learner, runs.three, 500, rng)
        for episode, estimate in _episodes(recruitment):
            if np.abs(estimate - runs.three.p).sum() <= episode.radius:
                rate = model.over_l1_ball(estimate, float(episode.radius)).rate
                printed.append(rate >= best - 1e-9)
                corrected.append(episode.rate >= best - 1e-9)
    return Measurement(float(np.mean(printed)), other=float(np.mean(corrected)))


def _episodes(recruitment: Recruitment) -> list[tuple[Episode, FloatArray]]:
    """All episodes but the first, before which nobody was seen, each with its estimate of p."""
    assert isinstance(recruitment.session, LearningSession)
    later = recruitment.session.episodes[1:]
    return [(episode, episode.counts / (episode.start - 1)) for episode in later]


@claim("good-event")
def good_event(runs: Runs) -> Measurement:
    """Does the event give the proof its first step, a believed rate of at least g*?

    On the same episodes, of sets small enough to miss the truth now and then: those in which the
    belief lies in its set (as printed: all of them), and those in which the truth does.
    """
    best = best_policy(runs.three).rate
    learner = RLCMDP(delta=runs.delta, scale=0.1)
    optimistic = []
    covered = []
    for rng in runs.generators(20):
        recruitment = recruit(learner, runs.three, 300, rng)
        for episode, estimate in _episodes(recruitment):
            assert np.abs(episode.belief - estimate).sum() <= min(episode.radius, 2) + 1e-9
            optimistic.append(episode.rate >= best - 1e-9)
            covered.append(np.abs(estimate - runs.three.p).sum() <= episode.radius)
    implied = np.array(optimistic)[np.array(covered)]
    return Measurement(float(np.mean(optimistic)), other=float(implied.mean()))


_SMALL = datasets.brexit(["gender"])
_HALF = np.full(2, 0.5)
_SIMPLE = interval_lp(_SMALL, 0 * _HALF, _HALF)
_EXTENDED = l1_lp(_SMALL, _HALF, 1.0)


@claim("bernstein-simpler")
def bernstein_simpler(runs: Runs) -> Measurement:
    few = _SIMPLE.size_metrics.num_scalar_variables
    many = _EXTENDED.size_metrics.num_scalar_variables
    return Measurement(float(few / many))


# Theorems 1 and 2, where their bounds say something: after a million people


def _of_bound(
    runs: Runs, problem: Problem, what: str, confidence: Confidence = "l1"
) -> Measurement:
    """Regret, violation or loss over its printed bound: the largest of the long runs.

    The bound can fail if it is below what accepting everybody would do (regret, violation), or 1.
    """
    rate = best_policy(problem).rate
    bounds = LearningBounds(problem, runs.delta, "printed", confidence)
    if what == "loss":
        limit = bounds.loss(HORIZON, rate)
        of_everybody = 1.0
    else:
        limit = getattr(bounds, what)(HORIZON)
        of_everybody = HORIZON * rate
    learner = RLCMDP(delta=runs.delta, confidence=confidence)
    long = long_runs(problem, learner, HORIZON, LONG_RUNS, runs.seed)[what]
    largest = float(long.xs(HORIZON, level=1).max())
    return Measurement(largest / limit, can_fail=limit < of_everybody)


@claim("theorem-1-regret")
def theorem_1_regret(runs: Runs) -> Measurement:
    return _of_bound(runs, runs.three, "regret")


@claim("theorem-1-violation")
def theorem_1_violation(runs: Runs) -> Measurement:
    return _of_bound(runs, runs.three, "violation")


@claim("theorem-1-loss")
def theorem_1_loss(runs: Runs) -> Measurement:
    return _of_bound(runs, runs.three, "loss")


@claim("theorem-2-regret")
def theorem_2_regret(runs: Runs) -> Measurement:
    return _of_bound(runs, _SMALL, "regret", "bernstein")


@claim("theorem-2-violation")
def theorem_2_violation(runs: Runs) -> Measurement:
    return _of_bound(runs, _SMALL, "violation", "bernstein")


@claim("theorem-2-loss")
def theorem_2_loss(runs: Runs) -> Measurement:
    return _of_bound(runs, _SMALL, "loss", "bernstein")


@claim("a2-better-than-bound")
def a2_better_than_bound(runs: Runs) -> Measurement:
    return _of_bound(runs, datasets.brexit(FIVE_FEATURES), "loss")


@claim("adult-better-than-bound")
def adult_better_than_bound(runs: Runs) -> Measurement:
    return _of_bound(runs, datasets.adult("strong"), "loss")


def _growth(runs: Runs, what: str) -> FloatArray:
    """By how many powers of ten regret or loss grows from a hundred thousand people to a million.

    Of the long runs, ndarray of float, per run.
    """
    learner = RLCMDP(delta=runs.delta)
    long = long_runs(_SMALL, learner, HORIZON, LONG_RUNS, runs.seed)[what].abs()
    tenfold = long.xs(HORIZON, level=1) / long.xs(HORIZON // 10, level=1)
    return np.asarray(np.log10(tenfold))


@claim("rate-gap")
def rate_gap(runs: Runs) -> Measurement:
    slopes = _growth(runs, "regret") - 1  # per person
    return Measurement(float(slopes.mean()), half_width(slopes))


@claim("loss-rate")
def loss_rate(runs: Runs) -> Measurement:
    slopes = _growth(runs, "loss")
    return Measurement(float(slopes.mean()), half_width(slopes))


@claim("loss-and-rate")
def loss_and_rate(runs: Runs) -> Measurement:
    """The slope of the loss in the best rate, and of its bound; one feature, rates 0.2 and 0.8."""
    losses = []
    limits = []
    for women in (0.1, 0.4):
        problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, [women, 1 - women])
        frame = simulate(RLCMDP(delta=runs.delta), problem, 100_000, 4, runs.seed)
        bounds = LearningBounds(problem, runs.delta)
        losses.append(np.log(frame["loss"] * frame["screened"] ** 0.5))
        limits.append(np.log(bounds.loss(10**13, 2 * women)))
    slopes = (losses[1] - losses[0]) / np.log(4)
    slope_of_bound = (limits[1] - limits[0]) / np.log(4)
    return Measurement(float(slopes.mean()), half_width(slopes), float(slope_of_bound))


@claim("ignorance-factor")
def ignorance_factor(runs: Runs) -> Measurement:
    """The ratio of the bounds with and without p, at 10^12 people over that at 10^8."""
    problem = runs.three
    n = len(problem.p)
    rate = best_policy(problem).rate
    bounds = LearningBounds(problem, runs.delta)
    one_seat = cmdp_loss(problem, 1, runs.delta)
    factors = []
    logs = []
    for people in (10**8, 10**12):
        factors.append(bounds.loss(people, rate) / one_seat * (rate * people) ** 0.5)
        logs.append(np.log(n * people / runs.delta) ** 0.5)
    growth = factors[1] / factors[0]
    return Measurement(growth, other=growth * logs[0] / logs[1])


@claim("types-unavoidable")
def types_unavoidable(runs: Runs) -> Measurement:
    """Violation over the root of the people seen, with 384 types over that with 8: plug-in."""
    many = _violations(runs, datasets.brexit())
    few = _violations(runs, runs.three)
    ratio = many.mean() / few.mean()
    errors = [half_width(values) / values.mean() for values in (many, few)]
    error = sum(error**2 for error in errors) ** 0.5
    return Measurement(float(ratio), float(ratio * error))


def _violations(runs: Runs, problem: Problem) -> FloatArray:
    """Violation of large committees over the root of the people seen, per run."""
    frame = simulate_once([PlugIn()], problem, [MANY_SEATS], LONG_RUNS, runs.seed)
    return np.asarray(frame["loss"] * MANY_SEATS / frame["screened"] ** 0.5)


# The steps of the proofs


def _single_type(horizon: int) -> tuple[float, float]:
    """The two sums over episodes when everybody is of the same type."""
    session = PlugIn().start(Problem({"planet": {"Earth": 1.0}}, [1.0]), 1)
    seen = 0
    while seen < horizon:
        left = np.zeros(horizon - seen, dtype=np.intp)
        seen += session.see(left, left == 0)
    return episode_sums(session.episodes, horizon)


#: Of 2^16 people of one type: the first sum over the root of the people, and the second.
_ROOT_SUM = _single_type(2**16)[0] / 2**8
_SUM = _single_type(2**16)[1]


@claim("theorem-1-constant")
def theorem_1_constant(runs: Runs) -> Measurement:
    """Each person costs a radius, half of the distance that the proof counts."""
    return Measurement(float(2**0.5 * _ROOT_SUM))


@claim("episode-sum")
def episode_sum(runs: Runs) -> Measurement:
    return Measurement(float(_ROOT_SUM), other=float(_ROOT_SUM))


@claim("bernstein-sum")
def bernstein_sum(runs: Runs) -> Measurement:
    return Measurement(float(_SUM / np.log(2**16)), other=float(_SUM / 16))


def _martingales(runs: Runs) -> FloatArray:
    """A row per run, a column per person: the rate minus whether the person is accepted."""
    policy = best_policy(runs.three)
    rng = np.random.default_rng(runs.seed)
    type_ids = rng.choice(len(runs.three.p), (400, 1000), p=runs.three.p)
    accepted = rng.random(type_ids.shape) < policy.acceptance.to_numpy()[type_ids]
    return np.asarray(policy.rate - accepted)


@claim("azuma")
def azuma(runs: Runs) -> Measurement:
    limit = np.sqrt(2 * 1000 * np.log(1 / 0.05))
    below = _martingales(runs).sum(axis=1) <= limit
    return Measurement(float(below.mean()), share_error(int(below.sum()), len(below)))


@claim("azuma-absolute")
def azuma_absolute(runs: Runs) -> Measurement:
    limit = np.sqrt(2 * 1000 * np.log(2 / 0.05))
    draws = _martingales(runs)
    sum_of_absolutes = np.abs(draws).sum(axis=1)
    absolute_of_sum = np.abs(draws.sum(axis=1))
    printed = (sum_of_absolutes <= limit).mean()
    corrected = (absolute_of_sum <= limit).mean()
    return Measurement(float(printed), other=float(corrected))


# Appendix C


@claim("bernstein-radius")
def bernstein_radius(runs: Runs) -> Measurement:
    """As printed the divisor is min(1, seen) = 1, so that only the logarithm changes."""
    p = runs.three.p
    delta = runs.delta
    printed = np.log(6 * len(p) * 1001 / delta) / np.log(6 * len(p) * 101 / delta)
    early = rl_cmdp.bernstein_radius(p, 100, delta)
    late = rl_cmdp.bernstein_radius(p, 1000, delta)
    return Measurement(float(printed), other=float((late / early).max()))


def _second_term(people: int) -> float:
    """The second term of Theorem 2's bound over the first, if 4 of 128 types occur."""
    first = np.sqrt(4 * np.log(4 * people / 0.05) / people)
    return float(128 * np.log(128 * people / 0.05) ** 2 / people / first)


@claim("bernstein-second-term")
def bernstein_second_term(runs: Runs) -> Measurement:
    return Measurement(_second_term(10**9), other=_second_term(10**6))


@lru_cache(maxsize=1)
def _advantage(runs: Runs) -> FloatArray:
    """Logarithms of RL-CMDP's loss over RL-CMDP-B's: a row per pair of `small_support`."""
    learners = [RLCMDP(delta=runs.delta), RLCMDP(delta=runs.delta, confidence="bernstein")]
    first = 1000 * runs.seed
    rows = []
    for number in range(first, first + 100):
        row = []
        for problem in small_support(7, 4, number):
            losses = simulate(learners, problem, 10_000, 1, number)["loss"]
            row.append(float(np.log(losses[0] / losses[1])))
        rows.append(row)
    return np.array(rows)


def _geometric(logs: FloatArray) -> Measurement:
    """The geometric mean of numbers with these logarithms."""
    mean = float(np.exp(logs.mean()))
    return Measurement(mean, mean * half_width(logs))


@claim("bernstein-support")
def bernstein_support(runs: Runs) -> Measurement:
    return _geometric(_advantage(runs)[:, 0])


@claim("bernstein-reason")
def bernstein_reason(runs: Runs) -> Measurement:
    """The advantage with few types over that with independent features."""
    return _geometric(-np.diff(_advantage(runs))[:, 0])

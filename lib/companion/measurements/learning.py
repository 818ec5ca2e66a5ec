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
from companion.experiments import FIVE_FEATURES, THREE_FEATURES, coverage, long_runs, small_support
from companion.intervals import half_width, share_error
from companion.printed import PrintedLP
from companion.runs import Measure, Measurement, Runs, exact

#: Runs long enough for the bounds to say something: people seen, and how many runs.
HORIZON, LONG_RUNS = 10**6, 5
#: Seats of the committees on which violations of many and of few types are compared.
MANY_SEATS = 100_000

# The confidence sets and the program


def _covered(confidence: Literal["l1", "bernstein"]) -> Measure:
    def measure(runs: Runs) -> Measurement:
        learner = RLCMDP(delta=runs.delta, confidence=confidence)
        return Measurement(*coverage(learner, runs.three, 300, 300, runs.seed))

    return measure


lemma_3 = _covered("l1")
bernstein_coverage = _covered("bernstein")


def extended_lp(runs: Runs) -> Measurement:
    """Of the episodes whose ball holds p: the share in which the program's value is at least g*."""
    best, printed, corrected = best_policy(runs.three).rate, [], []
    model = PrintedLP(runs.three)
    for rng in runs.generators(5):
        learner = RLCMDP(delta=runs.delta, scale=0.3)  # its sets cover p, and their bounds bind
        found = recruit(learner, runs.three, 500, rng)
        for episode, estimate in _episodes(found):
            if np.abs(estimate - runs.three.p).sum() <= episode.radius:
                rate = model.over_l1_ball(estimate, float(episode.radius)).rate
                printed.append(rate >= best - 1e-9)
                corrected.append(episode.rate >= best - 1e-9)
    return Measurement(float(np.mean(printed)), other=float(np.mean(corrected)))


def _episodes(found: Recruitment) -> list[tuple[Episode, FloatArray]]:
    """All episodes but the first, before which nobody was seen, each with its estimate of p."""
    assert isinstance(found.session, LearningSession)
    return [(e, e.counts / (e.start - 1)) for e in found.session.episodes[1:]]


def good_event(runs: Runs) -> Measurement:
    """Does the event give the proof its first step, a believed rate of at least g*?

    On the same episodes, of sets small enough to miss the truth now and then: those in which the
    belief lies in its set (as printed: all of them), and those in which the truth does.
    """
    best = best_policy(runs.three).rate
    optimistic, covered = [], []
    for rng in runs.generators(20):
        found = recruit(RLCMDP(delta=runs.delta, scale=0.1), runs.three, 300, rng)
        for episode, estimate in _episodes(found):
            assert np.abs(episode.belief - estimate).sum() <= min(episode.radius, 2) + 1e-9
            optimistic.append(episode.rate >= best - 1e-9)
            covered.append(np.abs(estimate - runs.three.p).sum() <= episode.radius)
    implied = np.array(optimistic)[np.array(covered)]
    return Measurement(float(np.mean(optimistic)), other=float(implied.mean()))


_SMALL, _HALF = datasets.brexit(["gender"]), np.full(2, 0.5)
_SIMPLE, _EXTENDED = interval_lp(_SMALL, 0 * _HALF, _HALF), l1_lp(_SMALL, _HALF, 1.0)
bernstein_simpler = exact(
    lambda: _SIMPLE.size_metrics.num_scalar_variables / _EXTENDED.size_metrics.num_scalar_variables
)

# Theorems 1 and 2, where their bounds say something: after a million people


def _of_bound(
    features: list[str], what: str, confidence: Literal["l1", "bernstein"] = "l1"
) -> Measure:
    """Measure regret, violation or loss over its printed bound: the largest of the long runs.

    The bound can fail if it is below what accepting everybody would do (regret, violation), or 1.
    """

    def measure(runs: Runs) -> Measurement:
        problem = datasets.brexit(features) if features else datasets.adult("strong")
        bounds = LearningBounds(problem, runs.delta, "printed", confidence)
        rate = best_policy(problem).rate
        limit = bounds.loss(HORIZON, rate) if what == "loss" else getattr(bounds, what)(HORIZON)
        learner = RLCMDP(delta=runs.delta, confidence=confidence)
        long = long_runs(problem, learner, HORIZON, LONG_RUNS, runs.seed)[what]
        can_fail = limit < (1 if what == "loss" else HORIZON * rate)
        return Measurement(float(long.xs(HORIZON, level=1).max()) / limit, can_fail=can_fail)

    return measure


theorem_1_regret = _of_bound(THREE_FEATURES, "regret")
theorem_1_violation = _of_bound(THREE_FEATURES, "violation")
theorem_1_loss = _of_bound(THREE_FEATURES, "loss")
theorem_2_regret = _of_bound(["gender"], "regret", "bernstein")
theorem_2_violation = _of_bound(["gender"], "violation", "bernstein")
theorem_2_loss = _of_bound(["gender"], "loss", "bernstein")
a2_better_than_bound = _of_bound(FIVE_FEATURES, "loss")
adult_better_than_bound = _of_bound([], "loss")


def _slope(what: str) -> Measure:
    """Measure a slope in logarithms between a hundred thousand and a million people."""

    def measure(runs: Runs) -> Measurement:
        learner = RLCMDP(delta=runs.delta)
        long = long_runs(_SMALL, learner, HORIZON, LONG_RUNS, runs.seed)[what].abs()
        tenfold = np.log10(long.xs(HORIZON, level=1) / long.xs(HORIZON // 10, level=1))
        slopes = tenfold - (what == "regret")  # per person
        return Measurement(float(slopes.mean()), half_width(slopes))

    return measure


rate_gap = _slope("regret")
loss_rate = _slope("loss")


def loss_and_rate(runs: Runs) -> Measurement:
    """The slope of the loss in the best rate, and of its bound; one feature, rates 0.2 and 0.8."""
    losses, limits = [], []
    for women in (0.1, 0.4):
        problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, [women, 1 - women])
        found = simulate(RLCMDP(delta=runs.delta), problem, 100_000, 4, runs.seed)
        losses.append(np.log(found["loss"] * found["screened"] ** 0.5))
        limits.append(np.log(LearningBounds(problem, runs.delta).loss(10**13, 2 * women)))
    slopes, other = ((pair[1] - pair[0]) / np.log(4) for pair in (losses, limits))
    return Measurement(float(slopes.mean()), half_width(slopes), float(other))


def ignorance_factor(runs: Runs) -> Measurement:
    """The ratio of the bounds with and without p, at 10^12 people over that at 10^8."""
    problem, rate = runs.three, best_policy(runs.three).rate
    n, bounds = len(problem.p), LearningBounds(problem, runs.delta)
    one_seat = cmdp_loss(problem, 1, runs.delta)
    factors = [bounds.loss(t, rate) / one_seat * (rate * t) ** 0.5 for t in (10**8, 10**12)]
    logs = [np.log(n * t / runs.delta) ** 0.5 for t in (10**8, 10**12)]
    return Measurement(factors[1] / factors[0], other=factors[1] / factors[0] * logs[0] / logs[1])


def types_unavoidable(runs: Runs) -> Measurement:
    """Violation over the root of the people seen, with 384 types over that with 8: plug-in."""
    found = []
    for problem in (datasets.brexit(), runs.three):
        frame = simulate_once([PlugIn()], problem, [MANY_SEATS], LONG_RUNS, runs.seed)
        found.append(frame["loss"] * MANY_SEATS / frame["screened"] ** 0.5)
    many, few = (values.mean() for values in found)
    error = sum((half_width(values) / values.mean()) ** 2 for values in found) ** 0.5
    return Measurement(float(many / few), float(many / few * error))


# The steps of the proofs


def _single_type(horizon: int) -> tuple[float, float]:
    """The two sums over episodes when everybody is of the same type."""
    session = PlugIn().start(Problem({"planet": {"Earth": 1.0}}, [1.0]), 1)
    seen = 0
    while seen < horizon:
        left = np.zeros(horizon - seen, dtype=np.intp)
        seen += session.see(left, left == 0)
    return episode_sums(session.episodes, horizon)


_ROOT_SUM, _SUM = _single_type(2**16)[0] / 2**8, _single_type(2**16)[1]
# Each person costs a radius, half of the distance that the proof counts: root 2 of its root.
theorem_1_constant = exact(lambda: 2**0.5 * _ROOT_SUM)
episode_sum = exact(lambda: _ROOT_SUM, lambda: _ROOT_SUM)
bernstein_sum = exact(lambda: _SUM / np.log(2**16), lambda: _SUM / 16)


def _martingales(runs: Runs) -> FloatArray:
    """A row per run, a column per person: the rate minus whether the person is accepted."""
    policy = best_policy(runs.three)
    rng = np.random.default_rng(runs.seed)
    type_ids = rng.choice(len(runs.three.p), (400, 1000), p=runs.three.p)
    accepted = rng.random(type_ids.shape) < policy.acceptance.to_numpy()[type_ids]
    return np.asarray(policy.rate - accepted)


def azuma(runs: Runs) -> Measurement:
    below = _martingales(runs).sum(axis=1) <= np.sqrt(2 * 1000 * np.log(1 / 0.05))
    return Measurement(float(below.mean()), share_error(int(below.sum()), len(below)))


def azuma_absolute(runs: Runs) -> Measurement:
    draws, limit = _martingales(runs), np.sqrt(2 * 1000 * np.log(2 / 0.05))
    inside, outside = np.abs(draws).sum(axis=1), np.abs(draws.sum(axis=1))
    return Measurement(float((inside <= limit).mean()), other=float((outside <= limit).mean()))


# Appendix C


def bernstein_radius(runs: Runs) -> Measurement:
    """As printed the divisor is min(1, seen) = 1, so that only the logarithm changes."""
    p, delta = runs.three.p, runs.delta
    printed = np.log(6 * len(p) * 1001 / delta) / np.log(6 * len(p) * 101 / delta)
    early, late = (rl_cmdp.bernstein_radius(p, seen, delta) for seen in (100, 1000))
    return Measurement(float(printed), other=float((late / early).max()))


def _second_term(people: int) -> float:
    """The second term of Theorem 2's bound over the first, if 4 of 128 types occur."""
    first = np.sqrt(4 * np.log(4 * people / 0.05) / people)
    return float(128 * np.log(128 * people / 0.05) ** 2 / people / first)


bernstein_second_term = exact(lambda: _second_term(10**9), lambda: _second_term(10**6))


@lru_cache(maxsize=1)
def _advantage(runs: Runs) -> FloatArray:
    """Logarithms of RL-CMDP's loss over RL-CMDP-B's: a row per pair of `small_support`."""
    learners = [RLCMDP(delta=runs.delta), RLCMDP(delta=runs.delta, confidence="bernstein")]
    rows = []
    for number in range(1000 * runs.seed, 1000 * runs.seed + 100):
        pair = small_support(7, 4, number)
        found = [simulate(learners, q, 10_000, 1, number)["loss"] for q in pair]
        rows.append([float(np.log(losses[0] / losses[1])) for losses in found])
    return np.array(rows)


def _geometric(logs: FloatArray) -> Measurement:
    mean = float(np.exp(logs.mean()))
    return Measurement(mean, mean * half_width(logs))


def bernstein_support(runs: Runs) -> Measurement:
    return _geometric(_advantage(runs)[:, 0])


def bernstein_reason(runs: Runs) -> Measurement:
    """The advantage with few types over that with independent features."""
    return _geometric(-np.diff(_advantage(runs))[:, 0])

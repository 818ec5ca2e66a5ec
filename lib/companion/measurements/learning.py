"""Measurements of Section 5, Appendices B and C, and of what Section 6 says of the bounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np

from committees import RLCMDP, PlugIn, Problem, Strategy, datasets, rl_cmdp
from committees.checks import FloatArray
from committees.lp import best_policy
from committees.optimism import interval_lp, l1_lp
from committees.recruitment import Recruitment, recruit
from committees.rl_cmdp import Episode, LearningSession
from committees.simulation import simulate
from committees.theory import LearningBounds, cmdp_loss, episode_sums
from companion.cache import simulate_once
from companion.experiments import FIVE_FEATURES, Everybody, coverage, long_runs, small_support
from companion.intervals import half_width, share_error
from companion.measurements.registry import claim
from companion.printed import PrintedLP, PrintedRLCMDP, printed_bernstein_radius
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

    The control is the same of a rule that accepts everybody. Theorem 2 is about an algorithm whose
    radius is printed with a slip: the value is that of the algorithm as printed, `other` that of
    the algorithm with the slip mended.
    """
    rate = best_policy(problem).rate
    bounds = LearningBounds(problem, runs.delta, "printed", confidence)
    limits = {
        "regret": bounds.regret(HORIZON),
        "violation": bounds.violation(HORIZON),
        "loss": bounds.loss(HORIZON, rate),
    }

    def largest(strategy: Strategy) -> float:
        long = long_runs(problem, strategy, HORIZON, LONG_RUNS, runs.seed)[what]
        return float(long.xs(HORIZON, level=1).max()) / limits[what]

    mended = largest(RLCMDP(delta=runs.delta, confidence=confidence))
    control = largest(Everybody())
    if confidence == "l1":
        return Measurement(mended, control=control)
    printed = largest(PrintedRLCMDP(delta=runs.delta, confidence=confidence))
    return Measurement(printed, other=mended, control=control)


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


def _growth(runs: Runs, what: str, strategy: Strategy) -> FloatArray:
    """By how many powers of ten regret or loss grows from a hundred thousand people to a million.

    Of the long runs, ndarray of float, per run.
    """
    long = long_runs(_SMALL, strategy, HORIZON, LONG_RUNS, runs.seed)[what].abs()
    tenfold = long.xs(HORIZON, level=1) / long.xs(HORIZON // 10, level=1)
    return np.asarray(np.log10(tenfold))


def _with_control(of_learner: FloatArray, of_everybody: FloatArray) -> Measurement:
    """The mean over runs of a number of RL-CMDP, and of a rule that accepts everybody."""
    return Measurement(
        float(of_learner.mean()),
        half_width(of_learner),
        control=float(of_everybody.mean()),
        control_error=half_width(of_everybody),
    )


@claim("rate-gap")
def rate_gap(runs: Runs) -> Measurement:
    per_person = _growth(runs, "regret", RLCMDP(delta=runs.delta)) - 1
    of_everybody = _growth(runs, "regret", Everybody()) - 1
    return _with_control(per_person, of_everybody)


@claim("loss-rate")
def loss_rate(runs: Runs) -> Measurement:
    slopes = _growth(runs, "loss", RLCMDP(delta=runs.delta))
    return _with_control(slopes, _growth(runs, "loss", Everybody()))


@claim("loss-and-rate")
def loss_and_rate(runs: Runs) -> Measurement:
    """The slope of the bound on the loss in the best rate, both in logarithms: 0.2 and 0.8."""
    limits = []
    for women in (0.1, 0.4):
        bounds = LearningBounds(_one_feature(women), runs.delta)
        limits.append(np.log(bounds.loss(10**13, 2 * women)))
    return Measurement(float((limits[1] - limits[0]) / np.log(4)))


def slope_of_loss(runs: Runs) -> tuple[float, float]:
    """The slope of the loss itself, of the same two problems, and its ±."""
    losses = []
    for women in (0.1, 0.4):
        frame = simulate(RLCMDP(delta=runs.delta), _one_feature(women), 100_000, 4, runs.seed)
        losses.append(np.log(frame["loss"] * frame["screened"] ** 0.5))
    slopes = (losses[1] - losses[0]) / np.log(4)
    return float(slopes.mean()), half_width(slopes)


def _one_feature(women: float) -> Problem:
    """As many women as men are wanted; this share of the volunteers are women."""
    return Problem({"gender": {"woman": 0.5, "man": 0.5}}, [women, 1 - women])


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
    """Each person costs a radius, half of the distance that the proof counts.

    Nothing here is left to an experiment: the sum is of one type, whose episodes are known.
    """
    return Measurement(float(2**0.5 * _ROOT_SUM), can_fail=False)


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
    """The radius after 1,000 people over that after 100, of the type for which it is largest."""
    p = runs.three.p

    def ratio(radius: Callable[[FloatArray, int, float], FloatArray]) -> float:
        late = radius(p, 1000, runs.delta)
        early = radius(p, 100, runs.delta)
        return float((late / early).max())

    printed = ratio(printed_bernstein_radius)
    return Measurement(printed, other=ratio(rl_cmdp.bernstein_radius))


def second_term(people: int) -> float:
    """The second term of Theorem 2's bound over the first, if 4 of 128 types occur."""
    first = np.sqrt(4 * np.log(4 * people / 0.05) / people)
    return float(128 * np.log(128 * people / 0.05) ** 2 / people / first)


@claim("bernstein-second-term")
def bernstein_second_term(runs: Runs) -> Measurement:
    return Measurement(second_term(HORIZON))


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

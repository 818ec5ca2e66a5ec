"""Measurements of what the paper proves of RL-CMDP: Section 5, Appendices B and C."""

from __future__ import annotations

import numpy as np
from scipy import stats

from committees import theory
from committees.checks import FloatArray
from committees.lp import best_policy
from committees.problem import Problem
from committees.rl_cmdp import RLCMDP, Episode, LearningSession, PlugIn, bernstein_radius
from committees.simulation import Recruitment, recruit, simulate
from committees.theory import episode_sums, regret_path
from companion import experiments
from companion.printed import PrintedLP
from companion.runs import Lab, Measurement, measures


@measures("lemma-3")
def _(lab: Lab) -> float:
    return experiments.coverage(RLCMDP(lab.delta), lab.three, 300, 200, lab.seed)


@measures("bernstein-coverage")
def _(lab: Lab) -> float:
    return experiments.coverage(RLCMDP(lab.delta, "bernstein"), lab.three, 300, 200, lab.seed)


@measures("extended-lp")
def _(lab: Lab) -> Measurement:
    best, printed, corrected = best_policy(lab.three).rate, [], []
    model = PrintedLP(lab.three)
    for found in lab.recruitments[:5]:
        for episode in _episodes(found)[1:]:
            estimate = episode.counts / (episode.start - 1)
            if np.abs(estimate - lab.three.p).sum() <= episode.radius:
                rate = model.over_l1_ball(estimate, float(episode.radius)).rate
                printed.append(rate >= best - 1e-9)
                corrected.append(episode.rate >= best - 1e-9)
    return Measurement(float(np.mean(printed)), corrected=float(np.mean(corrected)))


def _episodes(found: Recruitment) -> list[Episode]:
    assert isinstance(found.session, LearningSession)
    return found.session.episodes


@measures("good-event")
def _(lab: Lab) -> Measurement:
    """Does the event give the proof its first step, a believed rate of at least g*?

    On the same episodes, of sets small enough to miss the truth now and then: those in which the
    belief lies in its set (as printed: all of them), and those in which the truth does.
    """
    best = best_policy(lab.three).rate
    optimistic, covered = [], []
    for rng in lab.generators(20):
        found = recruit(RLCMDP(lab.delta, scale=lab.scale), lab.three, 300, rng)
        for episode in _episodes(found)[1:]:
            estimate = episode.counts / (episode.start - 1)
            assert np.abs(episode.belief - estimate).sum() <= min(episode.radius, 2) + 1e-9
            optimistic.append(episode.rate >= best - 1e-9)
            covered.append(np.abs(estimate - lab.three.p).sum() <= episode.radius)
    implied = np.array(optimistic)[np.array(covered)]
    return Measurement(float(np.mean(optimistic)), corrected=float(implied.mean()))


def _largest_ratio(lab: Lab, column: str, confidence: str = "l1") -> float:
    bound = getattr(theory, column)
    found = lab.recruitments
    if confidence == "bernstein":
        learner = RLCMDP(lab.delta, "bernstein")
        found = [recruit(learner, lab.three, 500, rng) for rng in lab.generators(10)]
    ratios = []
    for one in found:
        along = regret_path(lab.three, one).iloc[1:]
        limit = [bound(lab.three, t, lab.delta, "paper", confidence) for t in along.index]
        ratios.append((along[column] / limit).max())
    return float(max(ratios))


@measures("theorem-1-regret")
def _(lab: Lab) -> float:
    return _largest_ratio(lab, "regret")


@measures("theorem-1-violation")
def _(lab: Lab) -> float:
    return _largest_ratio(lab, "violation")


@measures("theorem-2-regret")
def _(lab: Lab) -> float:
    return _largest_ratio(lab, "regret", "bernstein")


@measures("theorem-1-loss")
def _(lab: Lab) -> float:
    rate = best_policy(lab.three).rate
    return max(
        lab.three.committee_loss(found.type_ids)
        / theory.rl_loss(lab.three, int(found.screened[-1]), lab.delta, rate, "paper")
        for found in lab.recruitments
    )


@measures("theorem-1-constant")
def _(lab: Lab) -> Measurement:
    """The factor that follows from the printed episode sum, and from the mended one."""
    radius = 2 * np.sqrt(2)
    sums = theory.EPISODE_SUM
    return Measurement(float(radius * sums["paper"]), corrected=float(radius * sums["corrected"]))


def _single_type(horizon: int) -> tuple[float, float]:
    session = PlugIn().start(Problem({"planet": {"Earth": 1.0}}, [1.0]), 1)
    seen = 0
    while seen < horizon:
        left = np.zeros(horizon - seen, dtype=np.intp)
        seen += session.see(left, left == 0)
    return episode_sums(session.episodes, horizon)


@measures("episode-sum")
def _(lab: Lab) -> Measurement:
    value = _single_type(2**16)[0] / 2**8
    return Measurement(value, corrected=value)


@measures("bernstein-sum")
def _(lab: Lab) -> Measurement:
    value = _single_type(2**16)[1]
    return Measurement(value / np.log(2**16), corrected=value / 16)


def _martingales(lab: Lab) -> FloatArray:
    policy = best_policy(lab.three)
    rng = np.random.default_rng(lab.seed)
    type_ids = rng.choice(len(lab.three.p), (400, 1000), p=lab.three.p)
    return np.asarray(
        policy.rate - (rng.random(type_ids.shape) < policy.acceptance.to_numpy()[type_ids])
    )


@measures("azuma")
def _(lab: Lab) -> float:
    sums = _martingales(lab).sum(axis=1)
    return float((sums <= np.sqrt(2 * 1000 * np.log(1 / 0.05))).mean())


@measures("azuma-absolute")
def _(lab: Lab) -> Measurement:
    draws, limit = _martingales(lab), np.sqrt(2 * 1000 * np.log(2 / 0.05))
    inside, outside = np.abs(draws).sum(axis=1), np.abs(draws.sum(axis=1))
    return Measurement(float((inside <= limit).mean()), corrected=float((outside <= limit).mean()))


@measures("bernstein-radius")
def _(lab: Lab) -> Measurement:
    """As printed the divisor is min(1, seen) = 1, so that only the logarithm changes."""
    p = lab.three.p
    printed = np.log(6 * len(p) * 1001 / lab.delta) / np.log(6 * len(p) * 101 / lab.delta)
    mended = bernstein_radius(p, 1000, lab.delta) / bernstein_radius(p, 100, lab.delta)
    return Measurement(float(printed), corrected=float(mended.max()))


@measures("bernstein-support")
def _(lab: Lab) -> Measurement:
    ratios = []
    for k in range(5):
        few, _all = experiments.small_support(7, 4, lab.seed + k)
        learners = [RLCMDP(lab.delta), RLCMDP(lab.delta, "bernstein")]
        loss = simulate(learners, few, 10_000, 4, lab.seed).groupby("strategy")["loss"].mean()
        ratios.append(loss[str(learners[0])] / loss[str(learners[1])])
    return Measurement(float(np.mean(ratios)), float(1.96 * stats.sem(ratios)))

"""Measurements of what the paper proves: Sections 3 to 5, Appendices B and C."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats

from committees import bounds, datasets, experiments
from committees.cmdp import CMDP
from committees.exact import expected_screened
from committees.greedy import Greedy
from committees.lp import best_policy
from committees.measures.lab import Lab, Measured, measures
from committees.optimism import PrintedLP
from committees.problem import FloatArray, Problem
from committees.recruitment import Recruitment, recruit
from committees.regret import episode_sums, path
from committees.rl_cmdp import RLCMDP, Episode, LearningSession, PlugIn, bernstein_radius
from committees.simulation import simulate


def example_1(rare: float) -> Problem:
    targets = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 3 / 4, "J": 1 / 4}}
    return Problem(targets, [1 / 2 - rare, 1 / 4, 1 / 4, rare])


def example_2() -> Problem:
    halves = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 1 / 2, "J": 1 / 2}}
    return Problem(halves, [1 / 3, 1 / 4, 1 / 4, 1 / 6])


def random_problems(rng: np.random.Generator, number: int) -> list[Problem]:
    """Problems with one to three dependent features, in which every type can occur."""
    found = []
    for _ in range(number):
        sizes = rng.integers(2, 6, size=rng.integers(1, 4))
        targets = {
            f"feature {i}": dict(zip("abcde", rng.dirichlet(np.full(n, 3.0)), strict=False))
            for i, n in enumerate(sizes)
        }
        p = rng.dirichlet(np.ones(int(np.prod(sizes)))) + 1e-3
        found.append(Problem(targets, p / p.sum()))
    return found


# Section 3


@measures("example-1-orders")
def _(lab: Lab) -> Measured:
    orders = len(set(permutations(["FS", "MS", "MS"])))
    return Measured(orders, corrected=orders)


@measures("example-1-bound")
def _(lab: Lab) -> float:
    rare = np.geomspace(1e-4, 1 / 6, 12)
    return float(min(6 * e * expected_screened(Greedy(0), example_1(e), 4) for e in rare))


@measures("example-1-unbounded")
def _(lab: Lab) -> float:
    return expected_screened(Greedy(0), example_1(1e-4), 4) / expected_screened(
        Greedy(0), example_1(1e-3), 4
    )


@measures("proposition-1")
def _(lab: Lab) -> float:
    rng = np.random.default_rng(lab.seed)
    excess = []
    for problem in random_problems(rng, 150):
        size, tolerance = int(rng.integers(1, 100)), float(rng.uniform(0, 0.2))
        found = recruit(Greedy(tolerance), problem, size, rng)
        limit = bounds.greedy_loss(problem, size, tolerance)
        excess.append(problem.loss_of_kinds(found.kinds) - limit)
    return max(excess)


# Section 4


@measures("lemma-1")
def _(lab: Lab) -> float:
    policies = [best_policy(q) for q in random_problems(np.random.default_rng(lab.seed), 30)]
    return max(q.problem.loss(q.composition) for q in policies)


@measures("lp-feasible")
def _(lab: Lab) -> float:
    return min(best_policy(q).rate for q in random_problems(np.random.default_rng(lab.seed), 30))


@measures("lemma-2-mean")
def _(lab: Lab) -> Measured:
    policy = best_policy(datasets.brexit())
    screened = simulate(CMDP(), datasets.brexit(), 100, 2000, lab.seed)["screened"].to_numpy()
    ratio = screened * policy.rate / 100
    return Measured(float(ratio.mean()), 1.96 * float(stats.sem(ratio)))


@measures("lemma-2-law")
def _(lab: Lab) -> Measured:
    size, problem = 20, lab.three
    screened = simulate(CMDP(), problem, size, 4000, lab.seed)["screened"].to_numpy()
    law = bounds.rejections(best_policy(problem), size)
    return Measured(_fit(law, screened + size), corrected=_fit(law, screened - size))


def _fit(law: stats.rv_frozen, draws: FloatArray) -> float:
    """The p-value of a chi-square test."""
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 12)))
    expected = len(draws) * np.diff(law.cdf(np.r_[-np.inf, edges, np.inf]))
    seen = np.histogram(draws, np.r_[-1e9, edges + 0.5, 1e9])[0]
    return float(stats.chisquare(seen, expected).pvalue)


@measures("proposition-2")
def _(lab: Lab) -> float:
    problem, covered = datasets.brexit(), []
    for size in (50, 250, 1000):
        loss = simulate(CMDP(), problem, size, 500, lab.seed)["loss"]
        covered.append((loss <= bounds.cmdp_loss(problem, size, 0.05)).mean())
    return float(min(covered))


@measures("proposition-2-rate")
def _(lab: Lab) -> Measured:
    rows = lab.figure_1[lab.figure_1["strategy"] == "CMDP"]
    line = stats.linregress(np.log(rows["size"]), np.log(rows["loss"]))
    return Measured(float(line.slope), 1.96 * float(line.stderr))


@measures("example-2-acceptance")
def _(lab: Lab) -> float:
    return float(best_policy(example_2()).acceptance["M", "S"])


@measures("example-2-rate")
def _(lab: Lab) -> float:
    return best_policy(example_2()).rate


@measures("example-2-composition")
def _(lab: Lab) -> float:
    return float(np.abs(best_policy(example_2()).composition - [0.2, 0.3, 0.3, 0.2]).max())


@measures("example-2-people")
def _(lab: Lab) -> float:
    return 1 / best_policy(example_2()).rate


# Section 5 and Appendices B and C


@measures("lemma-3")
def _(lab: Lab) -> float:
    return experiments.coverage(RLCMDP(lab.delta), lab.three, 300, 200, lab.seed)


@measures("bernstein-coverage")
def _(lab: Lab) -> float:
    return experiments.coverage(RLCMDP(lab.delta, "bernstein"), lab.three, 300, 200, lab.seed)


@measures("extended-lp")
def _(lab: Lab) -> Measured:
    best, printed, corrected = best_policy(lab.three).rate, [], []
    model = PrintedLP(lab.three)
    for found in lab.recruitments[:5]:
        for episode in _episodes(found)[1:]:
            estimate = episode.counts / (episode.start - 1)
            if np.abs(estimate - lab.three.p).sum() <= episode.radius:
                rate = model.over_l1_ball(estimate, float(episode.radius)).rate
                printed.append(rate >= best - 1e-9)
                corrected.append(episode.rate >= best - 1e-9)
    return Measured(float(np.mean(printed)), corrected=float(np.mean(corrected)))


def _episodes(found: Recruitment) -> list[Episode]:
    assert isinstance(found.session, LearningSession)
    return found.session.episodes


@measures("good-event")
def _(lab: Lab) -> Measured:
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
    return Measured(float(np.mean(optimistic)), corrected=float(implied.mean()))


def _largest_ratio(lab: Lab, column: str, confidence: str = "l1") -> float:
    bound = getattr(bounds, column)
    found = lab.recruitments
    if confidence == "bernstein":
        learner = RLCMDP(lab.delta, "bernstein")
        found = [recruit(learner, lab.three, 500, rng) for rng in lab.generators(10)]
    ratios = []
    for one in found:
        along = path(lab.three, one).iloc[1:]
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
        lab.three.loss_of_kinds(found.kinds)
        / bounds.rl_loss(lab.three, int(found.screened[-1]), lab.delta, rate, "paper")
        for found in lab.recruitments
    )


@measures("theorem-1-constant")
def _(lab: Lab) -> Measured:
    """The factor that follows from the printed episode sum, and from the mended one."""
    radius = 2 * np.sqrt(2)
    sums = bounds.EPISODE_SUM
    return Measured(float(radius * sums["paper"]), corrected=float(radius * sums["mended"]))


def _single_type(horizon: int) -> tuple[float, float]:
    session = PlugIn().start(Problem({"planet": {"Earth": 1.0}}, [1.0]), 1)
    seen = 0
    while seen < horizon:
        left = np.zeros(horizon - seen, dtype=np.intp)
        seen += session.see(left, left == 0)
    return episode_sums(session.episodes, horizon)


@measures("episode-sum")
def _(lab: Lab) -> Measured:
    value = _single_type(2**16)[0] / 2**8
    return Measured(value, corrected=value)


@measures("bernstein-sum")
def _(lab: Lab) -> Measured:
    value = _single_type(2**16)[1]
    return Measured(value / np.log(2**16), corrected=value / 16)


def _martingales(lab: Lab) -> FloatArray:
    policy = best_policy(lab.three)
    rng = np.random.default_rng(lab.seed)
    kinds = rng.choice(len(lab.three.p), (400, 1000), p=lab.three.p)
    return np.asarray(policy.rate - (rng.random(kinds.shape) < policy.acceptance.to_numpy()[kinds]))


@measures("azuma")
def _(lab: Lab) -> float:
    sums = _martingales(lab).sum(axis=1)
    return float((sums <= np.sqrt(2 * 1000 * np.log(1 / 0.05))).mean())


@measures("azuma-absolute")
def _(lab: Lab) -> Measured:
    draws, limit = _martingales(lab), np.sqrt(2 * 1000 * np.log(2 / 0.05))
    inside, outside = np.abs(draws).sum(axis=1), np.abs(draws.sum(axis=1))
    return Measured(float((inside <= limit).mean()), corrected=float((outside <= limit).mean()))


@measures("bernstein-radius")
def _(lab: Lab) -> Measured:
    """As printed the divisor is min(1, seen) = 1, so that only the logarithm changes."""
    p = lab.three.p
    printed = np.log(6 * len(p) * 1001 / lab.delta) / np.log(6 * len(p) * 101 / lab.delta)
    mended = bernstein_radius(p, 1000, lab.delta) / bernstein_radius(p, 100, lab.delta)
    return Measured(float(printed), corrected=float(mended.max()))


@measures("bernstein-support")
def _(lab: Lab) -> Measured:
    ratios = []
    for k in range(5):
        few, _all = experiments.small_support(7, 4, lab.seed + k)
        learners = [RLCMDP(lab.delta), RLCMDP(lab.delta, "bernstein")]
        loss = simulate(learners, few, 10_000, 4, lab.seed).groupby("strategy")["loss"].mean()
        ratios.append(loss[str(learners[0])] / loss[str(learners[1])])
    return Measured(float(np.mean(ratios)), float(1.96 * stats.sem(ratios)))

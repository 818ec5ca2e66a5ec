"""Measurements of what the paper proves: Sections 3 to 5, Appendices B and C."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats

from committees import CMDP, RLCMDP, Greedy, PlugIn, Problem, datasets, rl_cmdp, theory
from committees.checks import FloatArray
from committees.exact import expected_screened
from committees.lp import best_policy
from committees.rl_cmdp import Episode, LearningSession
from committees.simulation import Recruitment, recruit, simulate
from companion.experiments import coverage, small_support
from companion.intervals import STANDARD_ERRORS, half_width
from companion.printed import PrintedLP
from companion.runs import Measurement, Runs


def _example_1(rare: float) -> float:
    """People whom Greedy screens on average in Example 1, with junior women as rare as this."""
    targets = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 3 / 4, "J": 1 / 4}}
    return expected_screened(Greedy(0), Problem(targets, [1 / 2 - rare, 1 / 4, 1 / 4, rare]), 4)


def _example_2() -> Problem:
    halves = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 1 / 2, "J": 1 / 2}}
    return Problem(halves, [1 / 3, 1 / 4, 1 / 4, 1 / 6])


def _random_problems(rng: np.random.Generator, number: int) -> list[Problem]:
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


def example_1_orders(runs: Runs) -> Measurement:
    orders = len(set(permutations(["FS", "MS", "MS"])))
    return Measurement(orders, corrected=orders)


def example_1_bound(runs: Runs) -> Measurement:
    return Measurement(min(6 * rare * _example_1(rare) for rare in np.geomspace(1e-4, 1 / 6, 12)))


def example_1_unbounded(runs: Runs) -> Measurement:
    return Measurement(_example_1(1e-4) / _example_1(1e-3))


def proposition_1(runs: Runs) -> Measurement:
    rng = np.random.default_rng(runs.seed)
    excess = []
    for problem in _random_problems(rng, 150):
        size, tolerance = int(rng.integers(1, 100)), float(rng.uniform(0, 0.2))
        found = recruit(Greedy(tolerance), problem, size, rng)
        limit = theory.greedy_loss(problem, size, tolerance)
        excess.append(problem.committee_loss(found.type_ids) - limit)
    return Measurement(max(excess))


# Section 4


def lemma_1(runs: Runs) -> Measurement:
    policies = map(best_policy, _random_problems(np.random.default_rng(runs.seed), 30))
    return Measurement(max(q.problem.loss(q.composition) for q in policies))


def lp_feasible(runs: Runs) -> Measurement:
    problems = _random_problems(np.random.default_rng(runs.seed), 30)
    return Measurement(min(best_policy(problem).rate for problem in problems))


def lemma_2_mean(runs: Runs) -> Measurement:
    screened = simulate(CMDP(), datasets.brexit(), 100, 2000, runs.seed)["screened"]
    ratio = screened * best_policy(datasets.brexit()).rate / 100
    return Measurement(float(ratio.mean()), half_width(ratio))


def lemma_2_law(runs: Runs) -> Measurement:
    size = 20
    screened = simulate(CMDP(), runs.three, size, 4000, runs.seed)["screened"].to_numpy()
    law = theory.rejections(best_policy(runs.three), size)
    return Measurement(_fit(law, screened + size), corrected=_fit(law, screened - size))


def _fit(law: stats.rv_frozen, draws: FloatArray) -> float:
    """The p-value of a chi-square test."""
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 12)))
    expected = len(draws) * np.diff(law.cdf(np.r_[-np.inf, edges, np.inf]))
    seen = np.histogram(draws, np.r_[-1e9, edges + 0.5, 1e9])[0]
    return float(stats.chisquare(seen, expected).pvalue)


def proposition_2(runs: Runs) -> Measurement:
    problem, covered = datasets.brexit(), []
    for size in (50, 250, 1000):
        loss = simulate(CMDP(), problem, size, 500, runs.seed)["loss"]
        covered.append(float((loss <= theory.cmdp_loss(problem, size, 0.05)).mean()))
    return Measurement(min(covered))


def proposition_2_rate(runs: Runs) -> Measurement:
    rows = runs.figure_1[runs.figure_1["strategy"] == CMDP().name]
    line = stats.linregress(np.log(rows["size"]), np.log(rows["loss"]))
    return Measurement(float(line.slope), STANDARD_ERRORS * float(line.stderr))


def example_2_acceptance(runs: Runs) -> Measurement:
    return Measurement(float(best_policy(_example_2()).acceptance["M", "S"]))


def example_2_rate(runs: Runs) -> Measurement:
    return Measurement(best_policy(_example_2()).rate)


def example_2_composition(runs: Runs) -> Measurement:
    gap = best_policy(_example_2()).composition - [0.2, 0.3, 0.3, 0.2]
    return Measurement(float(np.abs(gap).max()))


def example_2_people(runs: Runs) -> Measurement:
    return Measurement(1 / best_policy(_example_2()).rate)


# Section 5, Appendices B and C


def lemma_3(runs: Runs) -> Measurement:
    return Measurement(coverage(RLCMDP(runs.delta), runs.three, 300, 200, runs.seed))


def bernstein_coverage(runs: Runs) -> Measurement:
    learner = RLCMDP(runs.delta, "bernstein")
    return Measurement(coverage(learner, runs.three, 300, 200, runs.seed))


def extended_lp(runs: Runs) -> Measurement:
    """Of the episodes whose ball holds p: the share in which the program's value is at least g*."""
    best, printed, corrected = best_policy(runs.three).rate, [], []
    model = PrintedLP(runs.three)
    for found in runs.recruitments[:5]:
        for episode, estimate in _episodes(found):
            if np.abs(estimate - runs.three.p).sum() <= episode.radius:
                rate = model.over_l1_ball(estimate, float(episode.radius)).rate
                printed.append(rate >= best - 1e-9)
                corrected.append(episode.rate >= best - 1e-9)
    return Measurement(float(np.mean(printed)), corrected=float(np.mean(corrected)))


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
        found = recruit(RLCMDP(runs.delta, scale=runs.scale), runs.three, 300, rng)
        for episode, estimate in _episodes(found):
            assert np.abs(episode.belief - estimate).sum() <= min(episode.radius, 2) + 1e-9
            optimistic.append(episode.rate >= best - 1e-9)
            covered.append(np.abs(estimate - runs.three.p).sum() <= episode.radius)
    implied = np.array(optimistic)[np.array(covered)]
    return Measurement(float(np.mean(optimistic)), corrected=float(implied.mean()))


def _largest_ratio(
    runs: Runs, column: str, found: list[Recruitment], confidence: str = "l1"
) -> Measurement:
    """The largest ratio, along these recruitments, of regret or violation to its printed bound."""
    bound, ratios = getattr(theory, column), []
    for recruitment in found:
        along = theory.regret_path(runs.three, recruitment).iloc[1:]
        limit = [bound(runs.three, t, runs.delta, "paper", confidence) for t in along.index]
        ratios.append(float((along[column] / limit).max()))
    return Measurement(max(ratios))


def theorem_1_regret(runs: Runs) -> Measurement:
    return _largest_ratio(runs, "regret", runs.recruitments)


def theorem_1_violation(runs: Runs) -> Measurement:
    return _largest_ratio(runs, "violation", runs.recruitments)


def theorem_2_regret(runs: Runs) -> Measurement:
    learner = RLCMDP(runs.delta, "bernstein")
    found = [recruit(learner, runs.three, 500, rng) for rng in runs.generators(10)]
    return _largest_ratio(runs, "regret", found, "bernstein")


def theorem_1_loss(runs: Runs) -> Measurement:
    rate = best_policy(runs.three).rate
    ratios = [
        runs.three.committee_loss(found.type_ids)
        / theory.rl_loss(runs.three, int(found.screened[-1]), runs.delta, rate, "paper")
        for found in runs.recruitments
    ]
    return Measurement(max(ratios))


def theorem_1_constant(runs: Runs) -> Measurement:
    """The factor that follows from the printed episode sum, and from the corrected one."""
    radius, sums = 2 * np.sqrt(2), theory.EPISODE_SUM
    return Measurement(float(radius * sums["paper"]), corrected=float(radius * sums["corrected"]))


def _single_type(horizon: int) -> tuple[float, float]:
    """The two sums over episodes when everybody is of the same type."""
    session = PlugIn().start(Problem({"planet": {"Earth": 1.0}}, [1.0]), 1)
    seen = 0
    while seen < horizon:
        left = np.zeros(horizon - seen, dtype=np.intp)
        seen += session.see(left, left == 0)
    return episode_sums(session.episodes, horizon)


def episode_sum(runs: Runs) -> Measurement:
    value = _single_type(2**16)[0] / 2**8
    return Measurement(value, corrected=value)


def bernstein_sum(runs: Runs) -> Measurement:
    value = _single_type(2**16)[1]
    return Measurement(float(value / np.log(2**16)), corrected=value / 16)


def _martingales(runs: Runs) -> FloatArray:
    """A row per run, a column per person: the rate minus whether the person is accepted."""
    policy = best_policy(runs.three)
    rng = np.random.default_rng(runs.seed)
    type_ids = rng.choice(len(runs.three.p), (400, 1000), p=runs.three.p)
    accepted = rng.random(type_ids.shape) < policy.acceptance.to_numpy()[type_ids]
    return np.asarray(policy.rate - accepted)


def azuma(runs: Runs) -> Measurement:
    sums = _martingales(runs).sum(axis=1)
    return Measurement(float((sums <= np.sqrt(2 * 1000 * np.log(1 / 0.05))).mean()))


def azuma_absolute(runs: Runs) -> Measurement:
    draws, limit = _martingales(runs), np.sqrt(2 * 1000 * np.log(2 / 0.05))
    inside, outside = np.abs(draws).sum(axis=1), np.abs(draws.sum(axis=1))
    return Measurement(float((inside <= limit).mean()), corrected=float((outside <= limit).mean()))


def bernstein_radius(runs: Runs) -> Measurement:
    """As printed the divisor is min(1, seen) = 1, so that only the logarithm changes."""
    p, delta = runs.three.p, runs.delta
    printed = np.log(6 * len(p) * 1001 / delta) / np.log(6 * len(p) * 101 / delta)
    early, late = (rl_cmdp.bernstein_radius(p, seen, delta) for seen in (100, 1000))
    return Measurement(float(printed), corrected=float((late / early).max()))


def bernstein_support(runs: Runs) -> Measurement:
    learners = [RLCMDP(runs.delta), RLCMDP(runs.delta, "bernstein")]
    ratios = []
    for k in range(5):
        few, _ = small_support(7, 4, runs.seed + k)
        loss = simulate(learners, few, 10_000, 4, runs.seed).groupby("strategy")["loss"].mean()
        ratios.append(loss[learners[0].name] / loss[learners[1].name])
    return Measurement(float(np.mean(ratios)), half_width(ratios))


def episode_sums(episodes: list[Episode], horizon: int) -> tuple[float, float]:
    """The sums over episodes of |E| / sqrt(start - 1) and of |E| / (start - 1), up to a horizon.

    The first episode, before which nobody has been seen, is left out, as its terms are infinite.
    """
    starts = np.array([episode.start for episode in episodes if episode.start <= horizon])
    lengths = np.diff(np.append(starts, horizon + 1))[1:]
    before = starts[1:] - 1
    return float((lengths / np.sqrt(before)).sum()), float((lengths / before).sum())

"""One measurement per claim of the ledger; see `committees.claims`.

A `Lab` holds what several measurements share, and computes it when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
import pandas as pd
from scipy import stats

from committees import bounds, datasets, experiments
from committees.exact import expected_screened
from committees.greedy import Greedy
from committees.lp import best_policy
from committees.optimism import PrintedLP
from committees.problem import FloatArray, Problem
from committees.recruitment import Recruitment, recruit
from committees.regret import episode_sums, path
from committees.rl_cmdp import RLCMDP, Episode, LearningSession, PlugIn, bernstein_radius
from committees.simulation import simulate


@dataclass(frozen=True)
class Measured:
    """A value; the half-width of its 95 % interval, if it is random; its corrected twin, if any."""

    value: float
    error: float = 0.0
    corrected: float | None = None


MEASURES: dict[str, Callable[[Lab], Measured]] = {}
Measure = Callable[["Lab"], Measured | float]


def measures(name: str) -> Callable[[Measure], Measure]:
    """Register a function as the measurement of a claim."""

    def register(function: Measure) -> Measure:
        def measured(lab: Lab) -> Measured:
            found = function(lab)
            return found if isinstance(found, Measured) else Measured(float(found))

        MEASURES[name] = measured
        return function

    return register


@dataclass(frozen=True)
class Lab:
    """The experiments that measurements share: so many runs each, from one seed."""

    runs: int = 50
    seed: int = 2021
    delta: float = 0.05
    scale: float = 0.1  # the radius that gives the paper's Figure 2

    @cached_property
    def figure_1(self) -> pd.DataFrame:
        return experiments.figure_1(self.runs, self.seed)

    @cached_property
    def figure_1_statements(self) -> dict[str, float]:
        return experiments.figure_1_statements(self.figure_1)

    @cached_property
    def figure_2(self) -> dict[float, dict[str, pd.DataFrame]]:
        return {s: experiments.figure_2(self.runs, self.seed, s) for s in (1.0, self.scale)}

    @cached_property
    def figure_2_statements(self) -> dict[float, dict[str, float]]:
        found = {}
        for s, frames in self.figure_2.items():
            names = {str(RLCMDP(scale=s)): "it"}
            table = experiments.figure_2_statements(frames["three"], frames["five"], names)
            found[s] = {str(name): float(table[name].iloc[0]) for name in table}
        return found

    @cached_property
    def figure_4(self) -> dict[float, dict[str, pd.DataFrame]]:
        return {s: experiments.figure_4(self.runs, self.seed, s) for s in (1.0, self.scale)}

    @cached_property
    def three(self) -> Problem:
        return datasets.brexit(experiments.THREE_FEATURES)

    @cached_property
    def recruitments(self) -> list[Recruitment]:
        """RL-CMDP as the theory has it, on three features."""
        return [recruit(RLCMDP(self.delta), self.three, 500, rng) for rng in self.generators(20)]

    def generators(self, number: int) -> list[np.random.Generator]:
        return list(np.random.default_rng(self.seed).spawn(number))

    def loss(self, frame: pd.DataFrame, strategy: str) -> pd.DataFrame:
        """Mean loss and its error, per size."""
        rows = experiments.means(frame).loc[strategy]
        return pd.DataFrame({"mean": rows["mean"]["loss"], "error": rows["±"]["loss"]})

    def people(self, frame: pd.DataFrame, strategy: str) -> pd.DataFrame:
        """Mean people screened and its error, per size."""
        rows = experiments.means(frame).loc[strategy]
        return pd.DataFrame({"mean": rows["mean"]["screened"], "error": rows["±"]["screened"]})


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
    for problem in random_problems(rng, 300):
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
    screened = simulate_cmdp(datasets.brexit(), 100, 4000, lab.seed)["screened"].to_numpy()
    ratio = screened * policy.rate / 100
    return Measured(float(ratio.mean()), 1.96 * float(stats.sem(ratio)))


@measures("lemma-2-law")
def _(lab: Lab) -> Measured:
    size, problem = 20, lab.three
    screened = simulate_cmdp(problem, size, 4000, lab.seed)["screened"].to_numpy()
    law = bounds.rejections(best_policy(problem), size)
    return Measured(_fit(law, screened + size), corrected=_fit(law, screened - size))


def _fit(law: stats.rv_frozen, draws: FloatArray) -> float:
    """The p-value of a chi-square test."""
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 12)))
    expected = len(draws) * np.diff(law.cdf(np.r_[-np.inf, edges, np.inf]))
    seen = np.histogram(draws, np.r_[-1e9, edges + 0.5, 1e9])[0]
    return float(stats.chisquare(seen, expected).pvalue)


def simulate_cmdp(problem: Problem, size: int, runs: int, seed: int) -> pd.DataFrame:
    from committees.cmdp import CMDP

    return simulate(CMDP(), problem, size, runs, seed)


@measures("proposition-2")
def _(lab: Lab) -> float:
    problem = datasets.brexit()
    covered = [
        (
            simulate_cmdp(problem, k, 1000, lab.seed)["loss"] <= bounds.cmdp_loss(problem, k, 0.05)
        ).mean()
        for k in (50, 250, 1000)
    ]
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
    for found in lab.recruitments[:5]:
        for episode in _episodes(found)[1:]:
            estimate = episode.counts / (episode.start - 1)
            if np.abs(estimate - lab.three.p).sum() <= episode.radius:
                model = PrintedLP(lab.three)
                printed.append(
                    model.over_l1_ball(estimate, float(episode.radius)).rate >= best - 1e-9
                )
                corrected.append(episode.rate >= best - 1e-9)
    return Measured(float(np.mean(printed)), corrected=float(np.mean(corrected)))


def _episodes(found: Recruitment) -> list[Episode]:
    assert isinstance(found.session, LearningSession)
    return found.session.episodes


@measures("good-event")
def _(lab: Lab) -> Measured:
    """With small sets p̃ is always inside, p is not: the printed event does not give the proof p."""
    implied = experiments.coverage(RLCMDP(lab.delta, scale=0.15), lab.three, 200, 50, lab.seed)
    inside = experiments.coverage(RLCMDP(lab.delta), lab.three, 200, 50, lab.seed)
    return Measured(implied, corrected=inside)


def _largest_ratio(lab: Lab, column: str, confidence: str = "l1") -> float:
    bound = getattr(bounds, column)
    version = "paper" if confidence == "l1" else "mended"
    found = lab.recruitments
    if confidence == "bernstein":
        learner = RLCMDP(lab.delta, "bernstein")
        found = [recruit(learner, lab.three, 500, rng) for rng in lab.generators(10)]
    ratios = []
    for one in found:
        along = path(lab.three, one).iloc[1:]
        limit = [bound(lab.three, t, lab.delta, version, confidence) for t in along.index]
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
        / bounds.rl_loss(lab.three, int(found.screened[-1]), lab.delta, rate)
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
    printed = np.log(6 * 8 * 1001 / lab.delta) / np.log(6 * 8 * 101 / lab.delta)
    p = lab.three.p
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


# Section 6


@measures("a1-greedy-05-people")
def _(lab: Lab) -> float:
    return lab.figure_1_statements["times 0.05"]


@measures("a1-greedy-02-people")
def _(lab: Lab) -> float:
    return lab.figure_1_statements["times 0.02, small"]


def _smallest_gap(lab: Lab, high: str, low: str, sizes: slice) -> Measured:
    one = lab.loss(lab.figure_1, high).loc[sizes]
    other = lab.loss(lab.figure_1, low).loc[sizes]
    gap = one["mean"] - other["mean"]
    error = np.hypot(one["error"].to_numpy(), other["error"].to_numpy())
    at = int(gap.to_numpy().argmin())
    return Measured(float(gap.iloc[at]), float(error[at]))


@measures("a1-greedy-05-loss")
def _(lab: Lab) -> Measured:
    return _smallest_gap(lab, "Greedy 0.05", "CMDP", slice(250, None))


@measures("a1-greedy-02-loss")
def _(lab: Lab) -> Measured:
    return _smallest_gap(lab, "CMDP", "Greedy 0.02", slice(None, 100))


@measures("a1-greedy-02-margin")
def _(lab: Lab) -> float:
    found = lab.figure_1_statements
    return found["margin at most"] / found["margin at least"]


@measures("a1-linear")
def _(lab: Lab) -> float:
    return lab.figure_1_statements["slope spread"]


@measures("a1-cmdp-people")
def _(lab: Lab) -> float:
    return lab.figure_1_statements["people for 200"]


def _both(lab: Lab, key: str) -> Measured:
    found = lab.figure_2_statements
    return Measured(float(found[1.0][key]), corrected=float(found[lab.scale][key]))


@measures("a2-three")
def _(lab: Lab) -> Measured:
    rows = {
        s: lab.loss(frames["three"], str(RLCMDP(scale=s))).loc[1500:]
        for s, frames in lab.figure_2.items()
    }
    most = {s: row["mean"].max() for s, row in rows.items()}
    return Measured(most[1.0], float(rows[lab.scale]["error"].max()), most[lab.scale])


@measures("a2-known")
def _(lab: Lab) -> Measured:
    """The loss falls like 1/√K: the size at which it would be 0.05, from that at 250 seats."""
    table = lab.loss(lab.figure_1, "CMDP")
    mean, error = float(table["mean"][250]), float(table["error"][250])
    size = 250 * (mean / 0.05) ** 2
    return Measured(size, 2 * size * error / mean)


@measures("a2-types")
def _(lab: Lab) -> float:
    frames = lab.figure_2[1.0]
    five, three = (lab.loss(frames[name], "RL-CMDP")["mean"].iloc[-1] for name in ("five", "three"))
    return float(five / three)


@measures("a2-small")
def _(lab: Lab) -> float:
    frame = lab.figure_2[1.0]["five"]
    learnt, greedy = (lab.loss(frame, s)["mean"].iloc[0] for s in ("RL-CMDP", "Greedy 0.02"))
    return float(learnt / greedy)


@measures("a2-margin")
def _(lab: Lab) -> Measured:
    return _both(lab, "margin")


@measures("a2-people")
def _(lab: Lab) -> Measured:
    return _both(lab, "people")


@measures("a2-efficiency")
def _(lab: Lab) -> Measured:
    return _both(lab, "Greedy 0.05")


@measures("a2-ignorance")
def _(lab: Lab) -> float:
    ratios = []
    for frame in lab.figure_2[1.0].values():
        ratios.append(
            lab.people(frame, "RL-CMDP")["mean"].iloc[-1]
            / lab.people(frame, "CMDP")["mean"].iloc[-1]
        )
    return float(max(ratios))


@measures("a2-better-than-bound")
def _(lab: Lab) -> float:
    frame = lab.figure_2[1.0]["three"]
    people = int(lab.people(frame, "RL-CMDP")["mean"].iloc[-1])
    limit = bounds.rl_loss(lab.three, people, lab.delta, best_policy(lab.three).rate)
    return float(lab.loss(frame, "RL-CMDP")["mean"].iloc[-1] / limit)


# Appendix D


@measures("table-2-sums")
def _(lab: Lab) -> Measured:
    printed = datasets.brexit_table().groupby("feature")[["target", "share"]].sum()
    problem = datasets.brexit()
    rescaled = problem.targets.groupby(level="feature").sum()
    off = float(np.abs(printed.to_numpy() - 1).max())
    return Measured(off, corrected=float(np.abs(rescaled.to_numpy() - 1).max()))


@measures("table-2-young")
def _(lab: Lab) -> float:
    table = datasets.brexit_table().set_index("value")
    return float(table["share"]["18-34"] / table["target"]["18-34"])


@measures("table-2-women")
def _(lab: Lab) -> float:
    share = datasets.brexit_table().set_index("value")["share"]
    return float(share["female"] / share["male"])


@measures("adult-size")
def _(lab: Lab) -> float:
    return len(datasets.adult_people())


def _ends(lab: Lab, scale: float, strategy: str, column: str) -> tuple[pd.Series, pd.Series]:
    frames = lab.figure_4[scale]
    table = lab.loss if column == "loss" else lab.people
    return table(frames["strong"], strategy).iloc[-1], table(frames["weak"], strategy).iloc[-1]


@measures("adult-people-known")
def _(lab: Lab) -> float:
    strong, weak = _ends(lab, 1.0, "CMDP", "people")
    return float(strong["mean"] / weak["mean"])


@measures("adult-loss-known")
def _(lab: Lab) -> Measured:
    strong, weak = _ends(lab, 1.0, "CMDP", "loss")
    return Measured(
        float(strong["mean"] - weak["mean"]), float(np.hypot(strong["error"], weak["error"]))
    )


@measures("adult-loss-unknown")
def _(lab: Lab) -> Measured:
    gaps = {}
    for scale in (1.0, lab.scale):
        strong, weak = _ends(lab, scale, str(RLCMDP(scale=scale)), "loss")
        gaps[scale] = float(strong["mean"] - weak["mean"])
    return Measured(gaps[1.0], float(np.hypot(strong["error"], weak["error"])), gaps[lab.scale])


@measures("adult-people-unknown")
def _(lab: Lab) -> Measured:
    ratios = {}
    for scale in (1.0, lab.scale):
        strong, weak = _ends(lab, scale, str(RLCMDP(scale=scale)), "people")
        ratios[scale] = float(strong["mean"] / weak["mean"])
    return Measured(ratios[1.0], corrected=ratios[lab.scale])


@measures("adult-loss-strong")
def _(lab: Lab) -> Measured:
    value, _weak = _ends(lab, 1.0, "RL-CMDP", "loss")
    scaled, _weak = _ends(lab, lab.scale, str(RLCMDP(scale=lab.scale)), "loss")
    return Measured(float(value["mean"]), float(scaled["error"]), float(scaled["mean"]))


@measures("adult-better-than-bound")
def _(lab: Lab) -> float:
    problem = datasets.adult("strong")
    loss, _weak = _ends(lab, 1.0, "RL-CMDP", "loss")
    people, _weak = _ends(lab, 1.0, "RL-CMDP", "people")
    rate = best_policy(problem).rate
    return float(loss["mean"] / bounds.rl_loss(problem, int(people["mean"]), lab.delta, rate))

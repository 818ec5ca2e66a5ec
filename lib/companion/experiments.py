"""The paper's experiments, and what the paper says of them: one computation for all pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd

from committees import CMDP, RLCMDP, Greedy, Problem, Session, Strategy, datasets, recruit
from committees.checks import BoolArray, IntArray
from committees.lp import best_policy
from committees.rl_cmdp import LearningSession
from committees.theory import covers
from companion.cache import compute_once, simulate_once
from companion.intervals import Means, share_error

#: The features of the paper's two configurations with an unknown distribution (Figure 2).
THREE_FEATURES = ["ethnicity", "social class", "gender"]
FIVE_FEATURES = ["ethnicity", "social class", "age", "gender", "vote"]
#: The committee sizes of the paper's figures.
FIGURE_1_SIZES = (50, 100, 150, 250, 500, 1000)
FIGURE_2_SIZES = (50, 100, 250, 500, 1000, 1500, 2000, 2500)
#: Greedy's tolerances in all of the paper's figures.
TOLERANCES = (0.02, 0.05)
#: Recruitments of each size for Figure 1, and for the figures with a strategy that learns; 50 in
#: the paper. Few would do for the others, but Greedy's people have a heavy tail.
RUNS_1, RUNS_2 = 1000, 200
#: The factor of RL-CMDP's radius for which most of the paper's numbers come out; see chapter 5.
SCALE = 0.075


@dataclass(frozen=True)
class Everybody(Strategy):
    """Accept whoever comes: the control of what the paper says of a strategy that learns."""

    sized: ClassVar[bool] = False
    family: ClassVar[str] = "everybody"

    def start(self, problem: Problem, size: int) -> Session:
        return _NoQuestions(problem)


class _NoQuestions(Session):
    """A recruitment in which everybody is accepted."""

    def __init__(self, problem: Problem) -> None:
        self.acceptance = np.ones(len(problem.p))

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        return len(type_ids)

    def leave(self, type_id: int) -> None:
        """Nothing changes: the next who comes is accepted."""


def figure_1(
    runs: int,
    seed: int,
    sizes: Sequence[int] = FIGURE_1_SIZES,
    features: Sequence[str] | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    workers: int | None = None,
) -> pd.DataFrame:
    """Greedy and CMDP on the Brexit assembly; in the paper with all six features."""
    strategies = [*map(Greedy, tolerances), CMDP()]
    return simulate_once(strategies, datasets.brexit(features), sizes, runs, seed, workers)


def figure_2(
    runs: int,
    seed: int,
    learners: Sequence[Strategy],
    sizes: Sequence[int] = FIGURE_2_SIZES,
    three: Sequence[str] = THREE_FEATURES,
    five: Sequence[str] = FIVE_FEATURES,
    tolerances: Sequence[float] = TOLERANCES,
    workers: int | None = None,
    others: Sequence[Strategy] = (),
) -> dict[str, pd.DataFrame]:
    """Learners beside Greedy and CMDP on two sets of features; in the paper three and five.

    `others` come last, simulated apart: the rest is what it is without them, and computed once.
    """
    frames = {}
    for name, features in (("three", three), ("five", five)):
        problem = datasets.brexit(features)
        strategies = [*map(Greedy, tolerances), CMDP(), *learners]
        frame = simulate_once(strategies, problem, sizes, runs, seed, workers)
        frames[name] = _with_others(frame, others, problem, sizes, runs, seed)
    return frames


def figure_4(
    runs: int,
    seed: int,
    learners: Sequence[Strategy],
    sizes: Sequence[int] = FIGURE_1_SIZES,
    others: Sequence[Strategy] = (),
) -> dict[str, pd.DataFrame]:
    """CMDP and learners on the Adult data with weak and with strong dependence; then `others`."""
    frames = {}
    for name in ("weak", "strong"):
        problem = datasets.adult(name)
        frame = simulate_once([CMDP(), *learners], problem, sizes, runs, seed)
        frames[name] = _with_others(frame, others, problem, sizes, runs, seed)
    return frames


def _with_others(
    frame: pd.DataFrame,
    others: Sequence[Strategy],
    problem: Problem,
    sizes: Sequence[int],
    runs: int,
    seed: int,
) -> pd.DataFrame:
    """A table of `simulate` with other strategies below, on the same streams of volunteers."""
    if not others:
        return frame
    below = simulate_once(list(others), problem, sizes, runs, seed)
    return pd.concat([frame, below], ignore_index=True)


def figure_1_statements(mean: Means, tolerances: Sequence[float] = TOLERANCES) -> dict[str, float]:
    """What the paper says of Figure 1, from the means of a table of `figure_1`.

    The strict Greedy is the one with the smallest tolerance (the paper's 0.02), the loose one that
    with the largest (its 0.05). Committees of up to 100 count as small, or else the smallest.
    """
    screened, loss = mean["screened"].unstack("strategy"), mean["loss"].unstack("strategy")
    strict, loose = Greedy(min(tolerances)).name, Greedy(max(tolerances)).name
    known = CMDP().name
    small = loss.index <= max(100, loss.index.min())
    margin, times = loss[known] - loss[strict], screened.div(screened[known], axis=0)
    return {
        "loose times": times[loose].mean(),  # as many people as CMDP, mean over the sizes
        "strict times": times[strict][small].mean(),
        "first margin": margin.iloc[0],  # CMDP's loss minus the strict one's
        "last margin": margin.iloc[-1],
    }


@lru_cache(maxsize=8)
def long_runs(
    problem: Problem, strategy: Strategy, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """Regret, violation and loss, per run after a hundredth, a tenth and all of so many people."""
    return compute_once(_long_runs, problem, strategy, horizon, runs, seed)


def _long_runs(
    problem: Problem, strategy: Strategy, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    rate, rows = best_policy(problem).rate, {}
    for run in range(runs):
        for share in (min(1, rate + 0.2), 1):  # all of the people, if the run was too short
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))
            found = recruit(strategy, problem, int(horizon * share), rng)
            if found.screened[-1] >= horizon:
                break
        for people in (horizon // 100, horizon // 10, horizon):
            accepted = int(found.screened.searchsorted(people, "right"))
            loss = problem.committee_loss(found.type_ids[:accepted])
            rows[run, people] = [rate * people - accepted, loss * accepted, loss]
    index = pd.MultiIndex.from_tuples(rows, names=["run", "people"])
    return pd.DataFrame(list(rows.values()), index, ["regret", "violation", "loss"])


def small_support(n_features: int, support: int, seed: int) -> tuple[Problem, Problem]:
    """Two problems with binary features, equal targets and equal marginals (Appendix C).

    In the first only `support` types occur, and the targets are the shares in another mixture of
    the same types. In the second the features are independent, so that all combinations of values
    that anybody has occur.
    """
    rng = np.random.default_rng(seed)
    grid = np.indices([2] * n_features).reshape(n_features, -1)
    chosen = rng.choice(grid.shape[1], support, replace=False)
    p = np.zeros(grid.shape[1])
    p[chosen] = rng.dirichlet(np.full(support, 3.0))
    wanted, offered = (
        {f"feature {i + 1}": {"no": 1 - y, "yes": y} for i, y in enumerate(np.round(shares, 12))}
        for shares in (grid[:, chosen] @ rng.dirichlet(np.ones(support)), grid @ p)
    )
    return Problem(wanted, p), Problem.from_marginals(wanted, offered)


def coverage(
    strategy: RLCMDP, problem: Problem, size: int, runs: int, seed: int
) -> tuple[float, float]:
    """The share of runs in which every episode's confidence set holds the truth, and its ±."""
    covered = 0
    for rng in np.random.default_rng(seed).spawn(runs):
        session = recruit(strategy, problem, size, rng).session
        assert isinstance(session, LearningSession)
        covered += covers(problem, session.episodes)
    return covered / runs, share_error(covered, runs)

r"""What an organiser asks before the first call: how many people, and what would make it fewer.

**People.** CMDP's number is known exactly: $K$ plus a negative binomial number of rejections. The
others are simulated.

**Relaxing a target.** With $T(\rho) = 1/g^*(\rho)$ people per seat and the points $\lambda$ of the
linear program (`committees.lp`), a small change $\delta$ of the targets changes $T$ by
$T\,\lambda \cdot \delta$: these are the shadow prices. $T$ is convex in the targets, so for changes
that are not small this promises too much rather than too little:
$T(\rho + \delta) \ge T(\rho)\,(1 + \lambda \cdot \delta)$.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from committees.cmdp import CMDP
from committees.lp import best_policy
from committees.problem import FloatArray, Problem
from committees.simulation import simulate
from committees.strategy import Strategy

QUANTILES = (0.5, 0.9, 0.99)


def expectations(
    strategies: Sequence[Strategy],
    problem: Problem,
    size: int,
    runs: int = 200,
    seed: int = 2021,
    workers: int | None = None,
) -> pd.DataFrame:
    """How many people to expect to contact, and what loss: a row per strategy.

    Columns: people on average, the numbers that suffice in 50, 90 and 99 % of all recruitments, the
    loss on average and the largest in nine of ten.
    """
    frame = simulate(strategies, problem, size, runs, seed, workers=workers)
    rows = {}
    for strategy in strategies:
        own = frame[frame["strategy"] == str(strategy)]
        people: Sequence[float] = [own["screened"].mean(), *own["screened"].quantile(QUANTILES)]
        if isinstance(strategy, CMDP):
            rejected = stats.nbinom(size, best_policy(problem).rate)
            people = [size + rejected.mean(), *(size + rejected.ppf(QUANTILES))]
        rows[str(strategy)] = [*people, own["loss"].mean(), own["loss"].quantile(0.9)]
    columns = ["people", *(f"{q:.0%}" for q in QUANTILES), "loss", "loss 90%"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("strategy")


def relaxations(problem: Problem, size: int, points: float = 0.01) -> pd.DataFrame:
    """What asking for a little less of each value would save, in people for the whole committee.

    The other values of the feature share what the one gives up, in proportion to their targets.

    Returns
    -------
    A row per value, the largest saving first: its target, the saving that the shadow price promises
    and the saving found by solving again. A negative saving is a cost.
    """
    policy = best_policy(problem)
    people = size / policy.rate
    rows = []
    for position, (feature, value) in enumerate(problem.values):
        change = _give_up(problem, position, points)
        promised = -people * float(policy.points.to_numpy() @ change)
        moved = Problem(pd.Series(problem.target + change, problem.values), problem.p)
        found = people - size / best_policy(moved).rate
        rows.append((feature, value, problem.target[position], promised, found))
    frame = pd.DataFrame(rows, columns=["feature", "value", "target", "promised", "saved"])
    return frame.sort_values("promised", ascending=False, kind="stable", ignore_index=True)


def _give_up(problem: Problem, position: int, points: float) -> FloatArray:
    """The change of the targets when one value asks for less and its feature's others for more."""
    feature = problem.values.get_level_values(0)
    others = np.asarray(feature == feature[position])
    others[position] = False
    share = np.where(others, problem.target, 0.0)
    step = min(points, problem.target[position])
    if not share.sum():
        return np.zeros_like(share)
    change = step * share / share.sum()
    change[position] = -step
    return np.asarray(change)

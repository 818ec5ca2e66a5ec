"""The paper's experiments, and what the paper says of them.

The functions here turn the tables of `simulate` into the quantities that the paper states, so that
every place of the book that speaks of them uses the same numbers.
"""

from __future__ import annotations

import itertools
from bisect import bisect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from committees import CMDP, RLCMDP, Greedy, Problem, datasets, recruit
from committees.beyond.limits import fluid, hindsight
from committees.greedy import band_loss
from committees.rl_cmdp import Episode, LearningSession
from committees.volunteers import stream
from companion.cache import simulate_once
from companion.intervals import Means

#: The features of the paper's two configurations with an unknown distribution (Figure 2).
THREE_FEATURES = ["ethnicity", "social class", "gender"]
FIVE_FEATURES = ["ethnicity", "social class", "age", "gender", "vote"]
#: The committee sizes of the paper's figures.
FIGURE_1_SIZES = (50, 100, 150, 250, 500, 1000)
FIGURE_2_SIZES = (50, 100, 250, 500, 1000, 1500, 2000, 2500)
#: Greedy's tolerances in all of the paper's figures.
TOLERANCES = (0.02, 0.05)


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
    scales: Sequence[float],
    sizes: Sequence[int] = FIGURE_2_SIZES,
    three: Sequence[str] = THREE_FEATURES,
    five: Sequence[str] = FIVE_FEATURES,
    tolerances: Sequence[float] = TOLERANCES,
    workers: int | None = None,
) -> dict[str, pd.DataFrame]:
    """RL-CMDP beside Greedy and CMDP on two sets of features; in the paper three and five."""
    learners = [RLCMDP(scale=scale) for scale in scales]
    strategies = [*map(Greedy, tolerances), CMDP(), *learners]
    return {
        name: simulate_once(strategies, datasets.brexit(features), sizes, runs, seed, workers)
        for name, features in (("three", three), ("five", five))
    }


def figure_4(
    runs: int, seed: int, scales: Sequence[float], sizes: Sequence[int] = FIGURE_1_SIZES
) -> dict[str, pd.DataFrame]:
    """CMDP and RL-CMDP on the Adult data with weak and with strong dependence."""
    strategies = [CMDP(), *(RLCMDP(scale=scale) for scale in scales)]
    return {
        name: simulate_once(strategies, datasets.adult(name), sizes, runs, seed)
        for name in ("weak", "strong")
    }


@dataclass(frozen=True)
class Figure1Statements:
    """What the paper says of Figure 1, measured.

    The strict Greedy is the one with the smallest tolerance (the paper's 0.02), the loose one that
    with the largest (its 0.05). Committees of up to 100 count as small, or else the smallest.
    """

    loose_times: float  #: how many times as many as CMDP the loose one screens, mean over sizes
    loose_times_most: float  #: the same, at the size where it is largest
    strict_times_small: float  #: the same of the strict one, the largest of the small sizes
    loose_loss_higher_from: float  #: the size from which on CMDP's loss is the lower one
    margin_smallest: float  #: CMDP's loss minus the strict one's, at the smallest size
    margin_largest: float  #: the same at the largest size
    screened_for_200: float  #: people whom CMDP screens for 200 seats
    per_seat_spread: float  #: the range of CMDP's people per seat over the sizes, over their mean


def figure_1_statements(mean: Means, tolerances: Sequence[float] = TOLERANCES) -> Figure1Statements:
    """What the paper says of Figure 1, from the means of a table of `figure_1`."""
    screened, loss = mean["screened"].unstack("strategy"), mean["loss"].unstack("strategy")
    strict, loose = Greedy(min(tolerances)).name, Greedy(max(tolerances)).name
    known = CMDP().name
    sizes = loss.index
    small = sizes <= max(100, sizes.min())
    higher = max(sizes[loss[known] >= loss[loose]], default=0)
    margin, per_seat = loss[known] - loss[strict], screened[known] / sizes
    times = screened[loose] / screened[known]
    return Figure1Statements(
        loose_times=float(times.mean()),
        loose_times_most=float(times.max()),
        strict_times_small=float((screened[strict] / screened[known])[small].max()),
        loose_loss_higher_from=float(sizes[sizes > higher].min()),
        margin_smallest=float(margin.iloc[0]),
        margin_largest=float(margin.iloc[-1]),
        screened_for_200=float(200 * per_seat.mean()),
        per_seat_spread=float(np.ptp(per_seat) / per_seat.mean()),
    )


def figure_2_statements(
    three: Means,
    five: Means,
    names: Mapping[str, Hashable],
    tolerances: Sequence[float] = TOLERANCES,
) -> pd.DataFrame:
    """The paper's statements about Figure 2, from means of its tables; `names` labels the learners.

    A row per learner: the size from which its loss with three features stays below 0.05; with five
    features and the last size (2,000 to 2,500), how much larger than the strict Greedy's its loss
    is, how many people it screens, and how many times as many the loose and the strict Greedy do;
    whether all agree with the paper: 1,500; 0.05 (within 0.01), 3,500 (within a tenth), 3.
    """
    strict, loose = Greedy(min(tolerances)).name, Greedy(max(tolerances)).name
    losses = three["loss"].unstack("strategy")
    last = five.xs(five.index.get_level_values("size").max(), level="size")
    rows = {}
    for name, label in names.items():
        high = max(losses.index[losses[name] >= 0.05], default=0)
        below = losses.index[losses.index > high]
        screened = last.loc[name, "screened"]
        row = {
            "below 0.05 from": below.min() if len(below) else float("nan"),
            "margin": last.loc[name, "loss"] - last.loc[strict, "loss"],
            "screened": screened,
            loose: last.loc[loose, "screened"] / screened,
            strict: last.loc[strict, "screened"] / screened,
        }
        row["agrees"] = bool(
            row["below 0.05 from"] == 1500
            and abs(row["margin"] - 0.05) <= 0.01
            and abs(screened - 3500) <= 350
            and row[loose] <= 3 <= row[strict]
        )
        rows[label] = row
    return pd.DataFrame.from_dict(rows, orient="index")


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


def first(holds: Callable[[int], bool], most: int = 10**9) -> int:
    """The first number of people for which something holds that holds for all larger ones too.

    >>> first(lambda people: people**2 > 50)
    8
    """
    if not holds(most):
        raise ValueError(f"it does not even hold for {most:,} people")
    return 1 + bisect(range(1, most), False, key=holds)


def limits(
    problem: Problem, sizes: Sequence[int], tolerances: Sequence[float], runs: int, seed: int
) -> pd.DataFrame:
    """People whom no strategy within the band can do without, on average: fluid and hindsight.

    A row per limit, size and tolerance, with the largest loss that the band allows.
    """
    enough = 1000 + 20 * max(sizes)
    streams = [stream(problem, enough, np.random.default_rng([seed, run])) for run in range(runs)]
    rows = []
    for size, tolerance in itertools.product(sizes, tolerances):
        loss = band_loss(problem, size, tolerance)
        floor = np.mean([hindsight(problem, size, tolerance, type_ids) for type_ids in streams])
        rows.append(("fluid limit", size, tolerance, fluid(problem, size, tolerance), loss))
        rows.append(("hindsight limit", size, tolerance, float(floor), loss))
    columns = ["limit", "size", "tolerance", "screened", "loss"]
    return pd.DataFrame(rows, columns=columns).sort_values("limit", kind="stable")


def coverage(strategy: RLCMDP, problem: Problem, size: int, runs: int, seed: int) -> float:
    """The share of runs in which the truth lies in the confidence set of every episode."""
    covered = 0
    for rng in np.random.default_rng(seed).spawn(runs):
        session = recruit(strategy, problem, size, rng).session
        assert isinstance(session, LearningSession)
        covered += covers(problem, session.episodes)
    return covered / runs


def covers(problem: Problem, episodes: Sequence[Episode]) -> bool:
    """Whether the true distribution lay in the confidence set of every episode."""
    gaps = [(np.abs(e.counts / (e.start - 1) - problem.p), e.radius) for e in episodes[1:]]
    return all(np.all((gap.sum() if np.isscalar(r) else gap) <= r) for gap, r in gaps)

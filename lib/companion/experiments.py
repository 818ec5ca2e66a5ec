"""What the paper says of its experiments, measured.

The functions here turn the tables of `simulate` into the quantities that the paper states, so that
every place of the book that speaks of them uses the same numbers.
"""

from __future__ import annotations

import itertools
from bisect import bisect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from committees import datasets
from committees.beyond.limits import fluid, hindsight
from committees.cmdp import CMDP
from committees.greedy import Greedy, band_loss
from committees.problem import Problem
from committees.rl_cmdp import RLCMDP, LearningSession
from committees.simulation import recruit, simulate
from committees.theory import covers
from committees.volunteers import stream

#: The features of the paper's two configurations with an unknown distribution (Figure 2).
THREE_FEATURES = ["ethnicity", "social class", "gender"]
FIVE_FEATURES = ["ethnicity", "social class", "age", "gender", "vote"]
#: The committee sizes of the paper's figures.
FIGURE_1_SIZES = (50, 100, 150, 250, 500, 1000)
FIGURE_2_SIZES = (50, 100, 250, 500, 1000, 1500, 2000, 2500)
#: Greedy's tolerances in all of the paper's figures.
TOLERANCES = (0.02, 0.05)

#: A table of means: a row per strategy and size, the columns screened and loss.
Means = Any


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean and half-width of the 95 % interval, per strategy and size, of people and loss."""
    grouped = frame.groupby(["strategy", "size"], sort=False)[["screened", "loss"]]
    return pd.concat({"mean": grouped.mean(), "±": 1.96 * grouped.sem()}, axis=1)


def summary(frame: pd.DataFrame, **labels: str) -> pd.DataFrame:
    """`means` as a flat table, a row per strategy and size, that begins with these labels."""
    found = means(frame)
    columns = {"people": "screened", "loss": "loss"}
    flat = {
        f"{name}{mark}": found[type_id][column]
        for name, column in columns.items()
        for mark, type_id in (("", "mean"), (" ±", "±"))
    }
    table = pd.DataFrame(flat).reset_index()
    return pd.DataFrame(labels, table.index).join(table)


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
    return simulate(strategies, datasets.brexit(features), sizes, runs, seed, workers=workers)


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
        name: simulate(strategies, datasets.brexit(features), sizes, runs, seed, workers=workers)
        for name, features in (("three", three), ("five", five))
    }


def figure_4(
    runs: int, seed: int, scales: Sequence[float], sizes: Sequence[int] = FIGURE_1_SIZES
) -> dict[str, pd.DataFrame]:
    """CMDP and RL-CMDP on the Adult data with weak and with strong dependence."""
    strategies = [CMDP(), *(RLCMDP(scale=scale) for scale in scales)]
    return {
        name: simulate(strategies, datasets.adult(name), sizes, runs, seed)
        for name in ("weak", "strong")
    }


def figure_1_statements(
    frame: pd.DataFrame, tolerances: Sequence[float] = TOLERANCES
) -> dict[str, float]:
    """What the paper says of Figure 1, measured on a table of `figure_1`.

    The smallest of the tolerances takes the part of the paper's 0.02, the largest that of its 0.05.
    Committees of up to 100 count as small, or else the smallest there are.
    """
    return figure_1_from_means(means(frame)["mean"], tolerances)


def figure_1_from_means(mean: Means, tolerances: Sequence[float] = TOLERANCES) -> dict[str, float]:
    """The same of a table of means: `means(frame)["mean"]`."""
    people, loss = mean["screened"].unstack("strategy"), mean["loss"].unstack("strategy")
    sizes = loss.index
    strict, loose = str(Greedy(min(tolerances))), str(Greedy(max(tolerances)))
    small = sizes <= max(100, sizes.min())
    better = sizes[loss["CMDP"] >= loss[loose]]
    worse = sizes[loss["CMDP"] <= loss[strict]]
    margin = loss["CMDP"] - loss[strict]
    return {
        "times 0.05": float((people[loose] / people["CMDP"]).mean()),
        "times 0.05, most": float((people[loose] / people["CMDP"]).max()),
        "times 0.02, small": float((people[strict] / people["CMDP"])[small].max()),
        "loss higher from": float(sizes[sizes > (better.max() if len(better) else 0)].min()),
        "0.02 better up to": float(sizes[sizes < (worse.min() if len(worse) else np.inf)].max()),
        "margin at least": float(margin.iloc[0]),
        "margin at most": float(margin.iloc[-1]),
        "people for 200": float(200 * (people["CMDP"] / sizes).mean()),
        "slope spread": float(np.ptp(people["CMDP"] / sizes) / (people["CMDP"] / sizes).mean()),
    }


def figure_2_statements(
    three: pd.DataFrame,
    five: pd.DataFrame,
    names: Mapping[str, Hashable],
    tolerances: Sequence[float] = TOLERANCES,
) -> pd.DataFrame:
    """The paper's three statements about Figure 2, for each of several learners.

    Parameters
    ----------
    three, five
        Tables of `simulate` with three and with five features, that hold the learners and
        Greedy. The last size should be 2,000 to 2,500.
    names
        The learners: name in the tables, and label in the result.
    tolerances
        Greedy's: the smallest takes the part of the paper's 0.02, the largest that of its 0.05.

    Returns
    -------
    A row per learner: the size from which its mean loss with three features stays below 0.05; with
    five features and the last size, how much larger than Greedy 0.02's its loss is, how many people
    it screens, and how many times as many Greedy 0.05 and Greedy 0.02 do; and whether these agree
    with the paper: 1,500 seats; 0.05 (within 0.01) and 3,500 people (within a tenth); 3 times.
    """
    return figure_2_from_means(means(three)["mean"], means(five)["mean"], names, tolerances)


def figure_2_from_means(
    three: Means,
    five: Means,
    names: Mapping[str, Hashable],
    tolerances: Sequence[float] = TOLERANCES,
) -> pd.DataFrame:
    """The same of tables of means."""
    strict, loose = str(Greedy(min(tolerances))), str(Greedy(max(tolerances)))
    losses = three["loss"].unstack("strategy")
    last = five.xs(five.index.get_level_values("size").max(), level="size")
    rows = {}
    for name, label in names.items():
        high = losses.index[losses[name] >= 0.05]
        below = losses.index[losses.index > (high.max() if len(high) else 0)]
        people = last.loc[name, "screened"]
        row = {
            "below 0.05 from": below.min() if len(below) else float("nan"),
            "margin": last.loc[name, "loss"] - last.loc[strict, "loss"],
            "people": people,
            loose: last.loc[loose, "screened"] / people,
            strict: last.loc[strict, "screened"] / people,
        }
        row["agrees"] = bool(
            row["below 0.05 from"] == 1500
            and abs(row["margin"] - 0.05) <= 0.01
            and abs(people - 3500) <= 350
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
    """The first number of people for which something holds that holds for all larger ones too."""
    if not holds(most):
        raise ValueError(f"it does not even hold for {most:,} people")
    return 1 + bisect(range(1, most), False, key=holds)


def limits(
    problem: Problem, sizes: Sequence[int], tolerances: Sequence[float], runs: int, seed: int
) -> pd.DataFrame:
    """People that no strategy within the band can do without, on average: fluid and hindsight.

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
    columns = ["limit", "size", "tolerance", "people", "loss"]
    return pd.DataFrame(rows, columns=columns).sort_values("limit", kind="stable")


def coverage(strategy: RLCMDP, problem: Problem, size: int, runs: int, seed: int) -> float:
    """The share of runs in which the truth lies in the confidence set of every episode."""
    covered = 0
    for rng in np.random.default_rng(seed).spawn(runs):
        session = recruit(strategy, problem, size, rng).session
        assert isinstance(session, LearningSession)
        covered += covers(problem, session.episodes)
    return covered / runs


def tolerance_factors(
    tolerances: Mapping[str, float],
    runs: int,
    seed: int,
    sizes: Sequence[int],
    features: Sequence[str] | None = None,
    workers: int | None = None,
) -> pd.DataFrame:
    """How many times as many people as CMDP Greedy screens, per tolerance and size, on average."""
    problem = datasets.brexit(features)
    greedy = {label: Greedy(tolerance) for label, tolerance in tolerances.items()}
    frame = simulate([CMDP(), *greedy.values()], problem, sizes, runs, seed, workers=workers)
    people = means(frame)["mean"]["screened"].unstack("size")
    return pd.DataFrame(
        {label: people.loc[str(g)] / people.loc["CMDP"] for label, g in greedy.items()}
    ).T

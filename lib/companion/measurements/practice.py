"""Measurements of what the paper reports: Section 6 and Appendix D."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from committees import datasets, theory
from committees.lp import best_policy
from committees.problem import Problem
from companion.experiments import Means
from companion.runs import Lab, Measurement, measures, over_runs


def _both(table: pd.DataFrame) -> Measurement:
    """A table of two numbers: with the radius as printed, and with the scaled one."""
    return Measurement(*table.iloc[0], *table.iloc[1])


def _last(lab: Lab, column: str) -> Callable[[Means], pd.Series]:
    """Both learners' means at the largest size."""
    return lambda mean: pd.Series([mean[column][name].iloc[-1] for name in lab.learners.values()])


def _of_bound(lab: Lab, problem: Problem, frame: pd.DataFrame) -> Measurement:
    """RL-CMDP's loss at the largest size, as a share of the paper's bound after as many people."""
    rate = best_policy(problem).rate

    def share(mean: Means) -> dict[str, float]:
        loss, people = mean.loc["RL-CMDP"].iloc[-1]
        return {"": loss / theory.rl_loss(problem, int(people), lab.delta, rate, "paper")}

    return Measurement(*over_runs(share, frame).iloc[0])


# Section 6


@measures("a1-greedy-05-people")
def _(lab: Lab) -> Measurement:
    return Measurement(*lab.figure_1_measured.loc["times 0.05"])


@measures("a1-greedy-02-people")
def _(lab: Lab) -> Measurement:
    times = over_runs(
        lambda mean: mean["screened"]["Greedy 0.02"] / mean["screened"]["CMDP"], lab.figure_1
    ).loc[:100]
    return Measurement(*times.iloc[int(times["value"].argmax())])


def _smallest_gap(lab: Lab, high: str, low: str, sizes: slice) -> Measurement:
    gap = over_runs(lambda mean: mean["loss"][high] - mean["loss"][low], lab.figure_1).loc[sizes]
    return Measurement(*gap.iloc[int(gap["value"].argmin())])


@measures("a1-greedy-05-loss")
def _(lab: Lab) -> Measurement:
    return _smallest_gap(lab, "Greedy 0.05", "CMDP", slice(250, None))


@measures("a1-greedy-02-loss")
def _(lab: Lab) -> Measurement:
    return _smallest_gap(lab, "CMDP", "Greedy 0.02", slice(None, 100))


@measures("a1-greedy-02-margin")
def _(lab: Lab) -> Measurement:
    def left_of_margin(mean: Means) -> dict[str, float]:
        margin = mean["loss"]["CMDP"] - mean["loss"]["Greedy 0.02"]
        return {"": margin.iloc[-1] / margin.iloc[0]}

    return Measurement(*over_runs(left_of_margin, lab.figure_1).iloc[0])


@measures("a1-linear")
def _(lab: Lab) -> Measurement:
    return Measurement(*lab.figure_1_measured.loc["slope spread"])


@measures("a1-cmdp-people")
def _(lab: Lab) -> float:
    return 200 / best_policy(datasets.brexit()).rate


@measures("a2-three")
def _(lab: Lab) -> Measurement:
    worst = []
    for name in lab.learners.values():
        losses = over_runs(lambda mean, name=name: mean["loss"][name], lab.figure_2["three"])
        large = losses.loc[1500:]
        worst.append(large.iloc[[int(large["value"].argmax())]])
    return _both(pd.concat(worst))


@measures("a2-known")
def _(lab: Lab) -> Measurement:
    """The loss falls like 1/√K: the size at which it would be 0.05, from that at 250 seats."""
    sizes = over_runs(lambda mean: 250 * (mean["loss"]["CMDP"] / 0.05) ** 2, lab.figure_1)
    return Measurement(*sizes.loc[250])


@measures("a2-types")
def _(lab: Lab) -> Measurement:
    times = over_runs(
        lambda five, three: five["loss"]["RL-CMDP"] / three["loss"]["RL-CMDP"],
        lab.figure_2["five"],
        lab.figure_2["three"],
    )
    return Measurement(*times.iloc[-1])


@measures("a2-small")
def _(lab: Lab) -> Measurement:
    times = over_runs(
        lambda mean: mean["loss"]["RL-CMDP"] / mean["loss"]["Greedy 0.02"], lab.figure_2["five"]
    )
    return Measurement(*times.iloc[0])


@measures("a2-margin")
def _(lab: Lab) -> Measurement:
    return _both(lab.figure_2_measured.loc[pd.IndexSlice[:, "margin"], :])


@measures("a2-people")
def _(lab: Lab) -> Measurement:
    return _both(lab.figure_2_measured.loc[pd.IndexSlice[:, "people"], :])


@measures("a2-efficiency")
def _(lab: Lab) -> Measurement:
    return _both(lab.figure_2_measured.loc[pd.IndexSlice[:, "Greedy 0.05"], :])


@measures("a2-ignorance")
def _(lab: Lab) -> Measurement:
    def times(*means: Means) -> pd.Series:
        ratios = [mean["screened"]["RL-CMDP"] / mean["screened"]["CMDP"] for mean in means]
        return pd.Series([ratio.iloc[-1] for ratio in ratios])

    table = over_runs(times, *lab.figure_2.values())
    return Measurement(*table.iloc[int(table["value"].argmax())])


@measures("a2-better-than-bound")
def _(lab: Lab) -> Measurement:
    return _of_bound(lab, lab.three, lab.figure_2["three"])


# Appendix D


@measures("table-2-sums")
def _(lab: Lab) -> Measurement:
    printed = datasets.brexit_table().groupby("feature")[["target", "share"]].sum()
    problem = datasets.brexit()
    rescaled = problem.targets.groupby(level="feature").sum()
    off = float(np.abs(printed.to_numpy() - 1).max())
    return Measurement(off, corrected=float(np.abs(rescaled.to_numpy() - 1).max()))


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


# With strong dependence, and with weak: at the largest size.


def _strong_and_weak(lab: Lab) -> tuple[pd.DataFrame, pd.DataFrame]:
    return lab.figure_4["strong"], lab.figure_4["weak"]


@measures("adult-people-known")
def _(lab: Lab) -> Measurement:
    times = over_runs(
        lambda strong, weak: strong["screened"]["CMDP"] / weak["screened"]["CMDP"],
        *_strong_and_weak(lab),
    )
    return Measurement(*times.iloc[-1])


@measures("adult-loss-known")
def _(lab: Lab) -> Measurement:
    gap = over_runs(
        lambda strong, weak: strong["loss"]["CMDP"] - weak["loss"]["CMDP"], *_strong_and_weak(lab)
    )
    return Measurement(*gap.iloc[-1])


@measures("adult-loss-unknown")
def _(lab: Lab) -> Measurement:
    last = _last(lab, "loss")
    return _both(over_runs(lambda strong, weak: last(strong) - last(weak), *_strong_and_weak(lab)))


@measures("adult-people-unknown")
def _(lab: Lab) -> Measurement:
    last = _last(lab, "screened")
    return _both(over_runs(lambda strong, weak: last(strong) / last(weak), *_strong_and_weak(lab)))


@measures("adult-loss-strong")
def _(lab: Lab) -> Measurement:
    return _both(over_runs(_last(lab, "loss"), lab.figure_4["strong"]))


@measures("adult-better-than-bound")
def _(lab: Lab) -> Measurement:
    return _of_bound(lab, datasets.adult("strong"), lab.figure_4["strong"])

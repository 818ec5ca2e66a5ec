"""Measurements of what the paper reports: Section 6 and Appendix D."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from committees import bounds, datasets
from committees.lp import best_policy
from committees.measures.lab import Lab, Means, Measured, measures, over_runs
from committees.problem import Problem


def _both(
    lab: Lab,
    of: Callable[[str], Callable[..., Any]],
    *frames: pd.DataFrame,
    pick: Callable[[Means], Any] | None = None,
) -> Measured:
    """The same for the radius as printed and for the scaled one: given the learner's name."""
    printed, scaled = (over_runs(of(name), *frames, pick=pick) for name in lab.learners.values())
    return Measured(*printed, *scaled)


def _of_bound(lab: Lab, problem: Problem, frame: pd.DataFrame) -> Measured:
    """RL-CMDP's loss at the largest size, as a share of the paper's bound after as many people."""
    rate = best_policy(problem).rate

    def share(mean: Means) -> float:
        people, loss = (mean[what, "RL-CMDP"].iloc[-1] for what in ("screened", "loss"))
        return float(loss / bounds.rl_loss(problem, int(people), lab.delta, rate, "paper"))

    return Measured(*over_runs(share, frame))


# Section 6


@measures("a1-greedy-05-people")
def _(lab: Lab) -> Measured:
    def times(mean: Means) -> float:
        return float((mean["screened", "Greedy 0.05"] / mean["screened", "CMDP"]).mean())

    return Measured(*over_runs(times, lab.figure_1))


@measures("a1-greedy-02-people")
def _(lab: Lab) -> Measured:
    def times(mean: Means) -> Any:
        return (mean["screened", "Greedy 0.02"] / mean["screened", "CMDP"]).loc[:100]

    return Measured(*over_runs(times, lab.figure_1, pick=pd.Series.idxmax))


@measures("a1-greedy-05-loss")
def _(lab: Lab) -> Measured:
    def gap(mean: Means) -> Any:
        return (mean["loss", "Greedy 0.05"] - mean["loss", "CMDP"]).loc[250:]

    return Measured(*over_runs(gap, lab.figure_1, pick=pd.Series.idxmin))


@measures("a1-greedy-02-loss")
def _(lab: Lab) -> Measured:
    def gap(mean: Means) -> Any:
        return (mean["loss", "CMDP"] - mean["loss", "Greedy 0.02"]).loc[:100]

    return Measured(*over_runs(gap, lab.figure_1, pick=pd.Series.idxmin))


@measures("a1-greedy-02-margin")
def _(lab: Lab) -> Measured:
    def left_of_margin(mean: Means) -> float:
        margin = mean["loss", "CMDP"] - mean["loss", "Greedy 0.02"]
        return float(margin.iloc[-1] / margin.iloc[0])

    return Measured(*over_runs(left_of_margin, lab.figure_1))


@measures("a1-linear")
def _(lab: Lab) -> Measured:
    def spread(mean: Means) -> float:
        people = mean["screened", "CMDP"]
        per_seat = people / people.index
        return float(np.ptp(per_seat) / per_seat.mean())

    return Measured(*over_runs(spread, lab.figure_1))


@measures("a1-cmdp-people")
def _(lab: Lab) -> float:
    return 200 / best_policy(datasets.brexit()).rate


@measures("a2-three")
def _(lab: Lab) -> Measured:
    def losses(name: str) -> Callable[[Means], Any]:
        return lambda mean: mean["loss", name].loc[1500:]

    return _both(lab, losses, lab.figure_2["three"], pick=pd.Series.idxmax)


@measures("a2-known")
def _(lab: Lab) -> Measured:
    """The loss falls like 1/√K: the size at which it would be 0.05, from that at 250 seats."""
    return Measured(
        *over_runs(lambda mean: 250 * (mean["loss", "CMDP"][250] / 0.05) ** 2, lab.figure_1)
    )


@measures("a2-types")
def _(lab: Lab) -> Measured:
    def times(five: Means, three: Means) -> float:
        return float(five["loss", "RL-CMDP"].iloc[-1] / three["loss", "RL-CMDP"].iloc[-1])

    return Measured(*over_runs(times, lab.figure_2["five"], lab.figure_2["three"]))


@measures("a2-small")
def _(lab: Lab) -> Measured:
    def times(mean: Means) -> float:
        return float(mean["loss", "RL-CMDP"].iloc[0] / mean["loss", "Greedy 0.02"].iloc[0])

    return Measured(*over_runs(times, lab.figure_2["five"]))


@measures("a2-margin")
def _(lab: Lab) -> Measured:
    def above_greedy(name: str) -> Callable[[Means], float]:
        return lambda mean: (mean["loss", name] - mean["loss", "Greedy 0.02"]).iloc[-1]

    return _both(lab, above_greedy, lab.figure_2["five"])


@measures("a2-people")
def _(lab: Lab) -> Measured:
    return _both(
        lab, lambda name: lambda mean: mean["screened", name].iloc[-1], lab.figure_2["five"]
    )


@measures("a2-efficiency")
def _(lab: Lab) -> Measured:
    def times(name: str) -> Callable[[Means], float]:
        return lambda mean: (mean["screened", "Greedy 0.05"] / mean["screened", name]).iloc[-1]

    return _both(lab, times, lab.figure_2["five"])


@measures("a2-ignorance")
def _(lab: Lab) -> Measured:
    def times(*means: Means) -> Any:
        return pd.Series(
            [(mean["screened", "RL-CMDP"] / mean["screened", "CMDP"]).iloc[-1] for mean in means]
        )

    return Measured(*over_runs(times, *lab.figure_2.values(), pick=pd.Series.idxmax))


@measures("a2-better-than-bound")
def _(lab: Lab) -> Measured:
    return _of_bound(lab, lab.three, lab.figure_2["three"])


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


# With strong dependence, and with weak: at the largest size.


def _difference(what: str, name: str) -> Callable[[Means, Means], float]:
    return lambda strong, weak: strong[what, name].iloc[-1] - weak[what, name].iloc[-1]


def _ratio(what: str, name: str) -> Callable[[Means, Means], float]:
    return lambda strong, weak: strong[what, name].iloc[-1] / weak[what, name].iloc[-1]


def _strong_and_weak(lab: Lab) -> tuple[pd.DataFrame, pd.DataFrame]:
    return lab.figure_4["strong"], lab.figure_4["weak"]


@measures("adult-people-known")
def _(lab: Lab) -> Measured:
    return Measured(*over_runs(_ratio("screened", "CMDP"), *_strong_and_weak(lab)))


@measures("adult-loss-known")
def _(lab: Lab) -> Measured:
    return Measured(*over_runs(_difference("loss", "CMDP"), *_strong_and_weak(lab)))


@measures("adult-loss-unknown")
def _(lab: Lab) -> Measured:
    return _both(lab, lambda name: _difference("loss", name), *_strong_and_weak(lab))


@measures("adult-people-unknown")
def _(lab: Lab) -> Measured:
    return _both(lab, lambda name: _ratio("screened", name), *_strong_and_weak(lab))


@measures("adult-loss-strong")
def _(lab: Lab) -> Measured:
    return _both(lab, lambda name: lambda mean: mean["loss", name].iloc[-1], lab.figure_4["strong"])


@measures("adult-better-than-bound")
def _(lab: Lab) -> Measured:
    return _of_bound(lab, datasets.adult("strong"), lab.figure_4["strong"])

"""Measurements of what the paper reports: Section 6 and Appendix D."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pandas as pd

from committees import bounds, datasets
from committees.lp import best_policy
from committees.measures.lab import Lab, Measured, measures

T = TypeVar("T", pd.Series, pd.DataFrame)


def _ratio(one: T, other: T) -> T:
    """The ratio of two means, with its error; of two tables, size by size."""
    ratio = one["mean"] / other["mean"]
    error = np.hypot(one["error"], ratio * other["error"]) / np.abs(other["mean"])
    return type(one)({"mean": ratio, "error": error})


def _difference(one: T, other: T) -> T:
    """The difference of two means, with its error; of two tables, size by size."""
    error = np.hypot(one["error"], other["error"])
    return type(one)({"mean": one["mean"] - other["mean"], "error": error})


# Section 6


@measures("a1-greedy-05-people")
def _(lab: Lab) -> Measured:
    table = _ratio(lab.people(lab.figure_1, "Greedy 0.05"), lab.people(lab.figure_1, "CMDP"))
    error = np.sqrt((table["error"] ** 2).sum()) / len(table)
    return Measured(lab.figure_1_statements["times 0.05"], float(error))


@measures("a1-greedy-02-people")
def _(lab: Lab) -> Measured:
    table = _ratio(lab.people(lab.figure_1, "Greedy 0.02"), lab.people(lab.figure_1, "CMDP"))
    small = table.loc[:100]
    error = small["error"].iloc[int(small["mean"].to_numpy().argmax())]
    return Measured(lab.figure_1_statements["times 0.02, small"], float(error))


def _smallest_gap(lab: Lab, high: str, low: str, sizes: slice) -> Measured:
    gap = _difference(lab.loss(lab.figure_1, high), lab.loss(lab.figure_1, low)).loc[sizes]
    return Measured(*gap.iloc[int(gap["mean"].argmin())])


@measures("a1-greedy-05-loss")
def _(lab: Lab) -> Measured:
    return _smallest_gap(lab, "Greedy 0.05", "CMDP", slice(250, None))


@measures("a1-greedy-02-loss")
def _(lab: Lab) -> Measured:
    return _smallest_gap(lab, "CMDP", "Greedy 0.02", slice(None, 100))


@measures("a1-greedy-02-margin")
def _(lab: Lab) -> Measured:
    margin = _difference(lab.loss(lab.figure_1, "CMDP"), lab.loss(lab.figure_1, "Greedy 0.02"))
    return Measured(*_ratio(margin.iloc[-1], margin.iloc[0]))


@measures("a1-linear")
def _(lab: Lab) -> Measured:
    people = lab.people(lab.figure_1, "CMDP")
    per_seat = people.div(people.index, axis="index").sort_values("mean")
    spread = _difference(per_seat.iloc[-1], per_seat.iloc[0]) / per_seat["mean"].mean()
    return Measured(*spread)


@measures("a1-cmdp-people")
def _(lab: Lab) -> float:
    return 200 / best_policy(datasets.brexit()).rate


def _both(lab: Lab, key: str, error: Callable[[str], float]) -> Measured:
    """A statement about Figure 2 for the radius as printed and for the scaled one."""
    found = {
        scale: (lab.figure_2_statements[scale][key], error(name))
        for scale, name in lab.learners.items()
    }
    return Measured(*found[1.0], *found[lab.scale])


def _last(table: pd.DataFrame) -> float:
    """The error of a mean at the largest size."""
    return float(table["error"].iloc[-1])


@measures("a2-three")
def _(lab: Lab) -> Measured:
    worst = {}
    for scale, name in lab.learners.items():
        rows = lab.loss(lab.figure_2["three"], name).loc[1500:]
        row = rows.iloc[int(rows["mean"].argmax())]
        worst[scale] = (float(row["mean"]), float(row["error"]))
    return Measured(*worst[1.0], *worst[lab.scale])


@measures("a2-known")
def _(lab: Lab) -> Measured:
    """The loss falls like 1/√K: the size at which it would be 0.05, from that at 250 seats."""
    table = lab.loss(lab.figure_1, "CMDP")
    mean, error = float(table["mean"][250]), float(table["error"][250])
    size = 250 * (mean / 0.05) ** 2
    return Measured(size, 2 * size * error / mean)


@measures("a2-types")
def _(lab: Lab) -> Measured:
    five, three = (lab.loss(lab.figure_2[name], "RL-CMDP").iloc[-1] for name in ("five", "three"))
    return Measured(*_ratio(five, three))


@measures("a2-small")
def _(lab: Lab) -> Measured:
    frame = lab.figure_2["five"]
    learnt, greedy = (lab.loss(frame, name).iloc[0] for name in ("RL-CMDP", "Greedy 0.02"))
    return Measured(*_ratio(learnt, greedy))


@measures("a2-margin")
def _(lab: Lab) -> Measured:
    five = lab.figure_2["five"]
    greedy = _last(lab.loss(five, "Greedy 0.02"))
    return _both(lab, "margin", lambda name: float(np.hypot(_last(lab.loss(five, name)), greedy)))


@measures("a2-people")
def _(lab: Lab) -> Measured:
    return _both(lab, "people", lambda name: _last(lab.people(lab.figure_2["five"], name)))


@measures("a2-efficiency")
def _(lab: Lab) -> Measured:
    five = lab.figure_2["five"]
    greedy = lab.people(five, "Greedy 0.05")
    return _both(lab, "Greedy 0.05", lambda name: _last(_ratio(greedy, lab.people(five, name))))


@measures("a2-ignorance")
def _(lab: Lab) -> Measured:
    ratios = []
    for frame in lab.figure_2.values():
        learnt, known = (lab.people(frame, name).iloc[-1] for name in ("RL-CMDP", "CMDP"))
        ratios.append(_ratio(learnt, known))
    return Measured(*max(ratios, key=lambda ratio: ratio["mean"]))


@measures("a2-better-than-bound")
def _(lab: Lab) -> Measured:
    frame = lab.figure_2["three"]
    people = int(lab.people(frame, "RL-CMDP")["mean"].iloc[-1])
    rate = best_policy(lab.three).rate
    limit = bounds.rl_loss(lab.three, people, lab.delta, rate, "paper")
    return Measured(*(lab.loss(frame, "RL-CMDP").iloc[-1] / limit))


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


def _ends(lab: Lab, strategy: str, column: str) -> tuple[pd.Series, pd.Series]:
    """The last row of a strategy's table, with strong and with weak dependence."""
    frames, table = lab.figure_4, lab.loss if column == "loss" else lab.people
    return table(frames["strong"], strategy).iloc[-1], table(frames["weak"], strategy).iloc[-1]


@measures("adult-people-known")
def _(lab: Lab) -> Measured:
    return Measured(*_ratio(*_ends(lab, "CMDP", "people")))


@measures("adult-loss-known")
def _(lab: Lab) -> Measured:
    return Measured(*_difference(*_ends(lab, "CMDP", "loss")))


@measures("adult-loss-unknown")
def _(lab: Lab) -> Measured:
    gaps = {scale: _difference(*_ends(lab, name, "loss")) for scale, name in lab.learners.items()}
    return Measured(*gaps[1.0], *gaps[lab.scale])


@measures("adult-people-unknown")
def _(lab: Lab) -> Measured:
    ratios = {scale: _ratio(*_ends(lab, name, "people")) for scale, name in lab.learners.items()}
    return Measured(*ratios[1.0], *ratios[lab.scale])


@measures("adult-loss-strong")
def _(lab: Lab) -> Measured:
    strong = {scale: _ends(lab, name, "loss")[0] for scale, name in lab.learners.items()}
    found = {scale: (float(row["mean"]), float(row["error"])) for scale, row in strong.items()}
    return Measured(*found[1.0], *found[lab.scale])


@measures("adult-better-than-bound")
def _(lab: Lab) -> float:
    problem = datasets.adult("strong")
    loss, _weak = _ends(lab, "RL-CMDP", "loss")
    people, _weak = _ends(lab, "RL-CMDP", "people")
    rate = best_policy(problem).rate
    limit = bounds.rl_loss(problem, int(people["mean"]), lab.delta, rate, "paper")
    return float(loss["mean"] / limit)

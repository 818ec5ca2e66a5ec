"""Measurements of what the paper reports: Section 6, Appendix D, and the introduction.

Most are a number computed from tables of means by (strategy, size), with the columns loss and
screened. Where a strategy learns, `own` is its name, and there are two numbers: for RL-CMDP with
the radius as printed, and with the scaled one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from committees import CMDP, RLCMDP, Greedy, datasets
from committees.lp import best_policy
from companion.experiments import figure_1_statements
from companion.intervals import Means, over_runs
from companion.runs import Measure, Measurement, Runs, exact

STRICT, LOOSE, KNOWN = Greedy(0.02).name, Greedy(0.05).name, CMDP().name


def _known(table: str, number: Callable[[Means], float]) -> Measure:
    """Measure a number of the strategies that do not learn, from a table of `Runs`."""

    def measure(runs: Runs) -> Measurement:
        return Measurement(
            *over_runs(lambda mean: {"": number(mean)}, getattr(runs, table)).iloc[0]
        )

    return measure


def _learnt(figure: str, tables: str, number: Callable[..., float]) -> Measure:
    """Measure a number for both learners, from tables of `Runs.figure_2` or `Runs.figure_4`."""

    def measure(runs: Runs) -> Measurement:
        names = [learner.name for learner in runs.learners]
        frames = [getattr(runs, figure)[name] for name in tables.split()]
        found = over_runs(lambda *means: {own: number(own, *means) for own in names}, *frames)
        return Measurement(*found.loc[names[0]], *found.loc[names[1]])

    return measure


_three = partial(_learnt, "figure_2", "three")
_five = partial(_learnt, "figure_2", "five")
_adult = partial(_learnt, "figure_4", "strong weak")


def _smallest_gap(table: str, high: str, low: str, most: int) -> Measure:
    """Measure one strategy's loss minus another's, where it is smallest: picked afterwards."""

    def measure(runs: Runs) -> Measurement:
        frame = getattr(runs, table)
        gap = over_runs(lambda mean: mean.loss[high] - mean.loss[low], frame).loc[:most]
        return Measurement(*gap.iloc[int(gap["value"].argmin())])

    return measure


def _fall(mean: Means, name: str) -> float:
    """How many powers of e a loss falls from 50 to 2,500 seats."""
    return float(np.log(mean.loss[name, 50] / mean.loss[name, 2500]))


def _slope(loss: Means) -> float:
    return float(np.polyfit(np.log(loss.index), np.log(loss), 1)[0])


def _margin(mean: Means, size: int) -> float:
    return float(mean.loss[KNOWN, size] - mean.loss[STRICT, size])


# Sections 4.2 and 6, and the introduction

proposition_2_rate = _known("figure_1", lambda mean: _slope(mean.loss[KNOWN]))
a1_linear = _known(
    "counted", lambda mean: mean.screened[KNOWN, 1000] / mean.screened[KNOWN, 50] / 20
)
a1_greedy_05_people = _known("figure_1", lambda mean: figure_1_statements(mean)["loose times"])
a1_greedy_02_people = _known("figure_1", lambda mean: figure_1_statements(mean)["strict times"])
more_people_closer = _smallest_gap("figure_1", LOOSE, STRICT, 1000)
a1_greedy_05_loss = _smallest_gap("at_250", LOOSE, KNOWN, 250)
a1_greedy_02_loss = _smallest_gap("figure_1", KNOWN, STRICT, 100)
a1_greedy_02_margin = _known("figure_1", lambda mean: _margin(mean, 1000) / _margin(mean, 50))
a2_known = _known("at_250", lambda mean: 250 * (mean.loss[KNOWN, 250] / 0.05) ** 2)
a2_three = _three(lambda own, mean: mean.loss[own, 1500])
a2_slower = _three(lambda own, mean: _fall(mean, own) / _fall(mean, KNOWN))
a2_small = _five(lambda own, mean: mean.loss[own, 50] / mean.loss[STRICT, 50])
a2_middle = _five(lambda own, mean: mean.loss[own, 500] / mean.loss[STRICT, 500])
a2_margin = _five(lambda own, mean: mean.loss[own, 2500] - mean.loss[STRICT, 2500])
a2_people = _five(lambda own, mean: mean.screened[own, 2500])
a2_efficiency = _five(lambda own, mean: mean.screened[STRICT, 2500] / mean.screened[own, 2500])
a2_ignorance = _five(lambda own, mean: mean.screened[own, 2500] / mean.screened[KNOWN, 2500])
a2_types = _learnt(
    "figure_2", "five three", lambda own, five, three: five.loss[own, 2500] / three.loss[own, 2500]
)


a1_cmdp_people = exact(lambda: 200 / best_policy(datasets.brexit()).rate)

# Appendix D

_TABLE_2 = datasets.brexit_table().set_index("value")
_SUMS = _TABLE_2.groupby("feature")[["target", "share"]].sum()
table_2_sums = exact(lambda: (_SUMS - 1).abs().to_numpy().max())
table_2_young = exact(lambda: _TABLE_2["share"]["18-34"] / _TABLE_2["target"]["18-34"])
table_2_women = exact(lambda: _TABLE_2["share"]["female"] / _TABLE_2["share"]["male"])
adult_size = exact(lambda: len(datasets.adult_people()))
adult_people_known = _adult(lambda _, x, y: x.screened[KNOWN, 1000] / y.screened[KNOWN, 1000])
adult_loss_known = _adult(lambda _, x, y: x.loss[KNOWN, 1000] - y.loss[KNOWN, 1000])
adult_loss_unknown = _adult(lambda own, x, y: x.loss[own, 1000] - y.loss[own, 1000])
adult_people_unknown = _adult(lambda own, x, y: x.screened[own, 1000] / y.screened[own, 1000])
adult_loss_strong = _adult(lambda own, x, y: x.loss[own, 1000])


def adult_similar(runs: Runs) -> Measurement:
    """As with independent features, of eight comparisons: how many hold.

    From 50 to 1,000 seats both losses fall; RL-CMDP's is larger, and it screens fewer.
    """
    holds, learner = 0, RLCMDP().name
    for frame in runs.figure_4.values():
        mean: Any = frame.groupby(["strategy", "size"])[["loss", "screened"]].mean()
        holds += sum(mean.loss[name, 50] > mean.loss[name, 1000] for name in (KNOWN, learner))
        holds += mean.loss[learner, 1000] > mean.loss[KNOWN, 1000]
        holds += mean.screened[learner, 1000] < mean.screened[KNOWN, 1000]
    return Measurement(int(holds))

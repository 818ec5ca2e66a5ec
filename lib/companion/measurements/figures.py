"""Measurements of what the paper reports: Section 6 and Appendix D."""

from __future__ import annotations

from collections.abc import Callable
from operator import sub, truediv

import numpy as np
import pandas as pd

from committees import CMDP, RLCMDP, Greedy, Problem, datasets, theory
from committees.lp import best_policy
from companion.intervals import Means, over_runs
from companion.runs import Measurement, Runs

_STRICT, _LOOSE = Greedy(0.02).name, Greedy(0.05).name
_CMDP, _RL_CMDP = CMDP().name, RLCMDP().name


def _ratio(frame: pd.DataFrame, column: str, one: str, other: str) -> pd.DataFrame:
    """One strategy's means over another's: a row per size, value and error."""
    return over_runs(lambda mean: mean[column][one] / mean[column][other], frame)


def _smallest_gap(frame: pd.DataFrame, high: str, low: str, sizes: slice) -> Measurement:
    """One strategy's loss minus another's, at the size where that is smallest."""
    gap = over_runs(lambda mean: mean["loss"][high] - mean["loss"][low], frame).loc[sizes]
    return Measurement(*gap.iloc[int(gap["value"].argmin())])


def _both(table: pd.DataFrame) -> Measurement:
    """Two rows of value and error: with the radius as printed, and with the scaled one."""
    return Measurement(*table.iloc[0], *table.iloc[1])


def _share_of_bound(runs: Runs, problem: Problem, frame: pd.DataFrame) -> Measurement:
    """RL-CMDP's loss at the largest size, over the paper's bound after as many people."""
    rate = best_policy(problem).rate

    def share(mean: Means) -> dict[str, float]:
        loss, screened = mean.loc[_RL_CMDP].iloc[-1]
        return {"": loss / theory.rl_loss(problem, int(screened), runs.delta, rate, "paper")}

    return Measurement(*over_runs(share, frame).iloc[0])


# Section 6


def a1_greedy_05_people(runs: Runs) -> Measurement:
    return Measurement(*runs.figure_1_statements.loc["loose_times"])


def a1_greedy_02_people(runs: Runs) -> Measurement:
    times = _ratio(runs.figure_1, "screened", _STRICT, _CMDP).loc[:100]
    return Measurement(*times.iloc[int(times["value"].argmax())])


def a1_greedy_05_loss(runs: Runs) -> Measurement:
    return _smallest_gap(runs.figure_1, _LOOSE, _CMDP, slice(250, None))


def a1_greedy_02_loss(runs: Runs) -> Measurement:
    return _smallest_gap(runs.figure_1, _CMDP, _STRICT, slice(None, 100))


def a1_greedy_02_margin(runs: Runs) -> Measurement:
    def left_of_margin(mean: Means) -> dict[str, float]:
        margin = mean["loss"][_CMDP] - mean["loss"][_STRICT]
        return {"": margin.iloc[-1] / margin.iloc[0]}

    return Measurement(*over_runs(left_of_margin, runs.figure_1).iloc[0])


def a1_linear(runs: Runs) -> Measurement:
    return Measurement(*runs.figure_1_statements.loc["per_seat_spread"])


def a1_cmdp_people(runs: Runs) -> Measurement:
    return Measurement(200 / best_policy(datasets.brexit()).rate)


def a2_three(runs: Runs) -> Measurement:
    worst = []
    for name in runs.learners.values():
        loss = over_runs(lambda mean, name=name: mean["loss"][name], runs.figure_2["three"])
        worst.append(loss.loc[[loss.loc[1500:, "value"].idxmax()]])
    return _both(pd.concat(worst))


def a2_known(runs: Runs) -> Measurement:
    """The loss falls like 1/√K: the size at which it would be 0.05, from that at 250 seats."""
    sizes = over_runs(lambda mean: 250 * (mean["loss"][_CMDP] / 0.05) ** 2, runs.figure_1)
    return Measurement(*sizes.loc[250])


def a2_types(runs: Runs) -> Measurement:
    frames = runs.figure_2["five"], runs.figure_2["three"]
    times = over_runs(lambda five, three: (five / three)["loss"][_RL_CMDP], *frames)
    return Measurement(*times.iloc[-1])


def a2_small(runs: Runs) -> Measurement:
    return Measurement(*_ratio(runs.figure_2["five"], "loss", _RL_CMDP, _STRICT).iloc[0])


def a2_margin(runs: Runs) -> Measurement:
    return _both(runs.figure_2_statements.loc[pd.IndexSlice[:, "margin"], :])


def a2_people(runs: Runs) -> Measurement:
    return _both(runs.figure_2_statements.loc[pd.IndexSlice[:, "screened"], :])


def a2_efficiency(runs: Runs) -> Measurement:
    return _both(runs.figure_2_statements.loc[pd.IndexSlice[:, _LOOSE], :])


def a2_ignorance(runs: Runs) -> Measurement:
    frames = runs.figure_2.values()
    last = [_ratio(frame, "screened", _RL_CMDP, _CMDP).iloc[-1] for frame in frames]
    return Measurement(*max(last, key=lambda row: row["value"]))


def a2_better_than_bound(runs: Runs) -> Measurement:
    return _share_of_bound(runs, runs.three, runs.figure_2["three"])


# Appendix D


def table_2_sums(runs: Runs) -> Measurement:
    printed = datasets.brexit_table().groupby("feature")[["target", "share"]].sum()
    rescaled = datasets.brexit().targets.groupby(level="feature").sum()
    off = [float(np.abs(sums.to_numpy() - 1).max()) for sums in (printed, rescaled)]
    return Measurement(off[0], corrected=off[1])


def table_2_young(runs: Runs) -> Measurement:
    table = datasets.brexit_table().set_index("value")
    return Measurement(float(table["share"]["18-34"] / table["target"]["18-34"]))


def table_2_women(runs: Runs) -> Measurement:
    share = datasets.brexit_table().set_index("value")["share"]
    return Measurement(float(share["female"] / share["male"]))


def adult_size(runs: Runs) -> Measurement:
    return Measurement(len(datasets.adult_people()))


def _strong_and_weak(
    runs: Runs, compare: Callable[[Means, Means], Means], column: str, *names: str
) -> pd.DataFrame:
    """Strategies on the Adult data with strong and with weak dependence, at the largest size."""

    def last(strong: Means, weak: Means) -> pd.Series:
        compared = compare(strong[column], weak[column])
        return pd.Series([compared[name].iloc[-1] for name in names])

    return over_runs(last, runs.figure_4["strong"], runs.figure_4["weak"])


def adult_people_known(runs: Runs) -> Measurement:
    return Measurement(*_strong_and_weak(runs, truediv, "screened", _CMDP).iloc[0])


def adult_loss_known(runs: Runs) -> Measurement:
    return Measurement(*_strong_and_weak(runs, sub, "loss", _CMDP).iloc[0])


def adult_loss_unknown(runs: Runs) -> Measurement:
    return _both(_strong_and_weak(runs, sub, "loss", *runs.learners.values()))


def adult_people_unknown(runs: Runs) -> Measurement:
    return _both(_strong_and_weak(runs, truediv, "screened", *runs.learners.values()))


def adult_loss_strong(runs: Runs) -> Measurement:
    return _both(_strong_and_weak(runs, lambda strong, _: strong, "loss", *runs.learners.values()))


def adult_better_than_bound(runs: Runs) -> Measurement:
    return _share_of_bound(runs, datasets.adult("strong"), runs.figure_4["strong"])

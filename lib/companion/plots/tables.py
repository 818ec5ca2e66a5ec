"""Pictures of results, by strategy and committee size.

Each `frame` is a table of `simulate`: DataFrame with the columns strategy, size, run, screened and
loss; `column` is "screened" or "loss". Bands and bars are the 95 % interval of the mean over runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from companion.intervals import Means, better_people, means, standard_errors
from companion.plots.style import LABELS, REFERENCE, palette


def curves(frame: pd.DataFrame, *, log: Sequence[str] = ("screened",)) -> Figure:
    """People screened and loss against the committee size; `log` has the logarithmic columns."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8))
    for ax, column in zip(axes, ["screened", "loss"], strict=True):
        lines(frame, column, ax)
        ax.set(**{"yscale": "log"} if column in log else {"ylim": (0, None)})
    axes[1].get_legend().remove()
    return figure


def lines(frame: pd.DataFrame, column: str, ax: Axes) -> None:
    """Draw the means of one column against the committee size."""
    look = {"palette": palette(frame["strategy"]), "markers": True, "dashes": False}
    look["err_style"] = "band" if frame["size"].nunique() > 1 else "bars"
    names = {"x": "size", "y": column, "hue": "strategy", "style": "strategy"}
    half = standard_errors(int(frame["run"].nunique()))
    sns.lineplot(better_people(frame), **names, **look, errorbar=("se", half), ax=ax)
    ax.set(xlabel=LABELS["size"], ylabel=LABELS[column])
    ax.legend(title=None)


def loss_and_bounds(frame: pd.DataFrame, bounds: Mapping[str, pd.Series]) -> Figure:
    """Losses of every run and on average, and bounds on them, against the committee size.

    `bounds` is `{name: Series indexed by size}`; one with the name of a strategy has its colour.
    """
    figure, ax = plt.subplots()
    lines(frame, "loss", ax)
    colours = palette(frame["strategy"])
    ax.scatter(frame["size"], frame["loss"], s=9, alpha=0.3, c=frame["strategy"].map(colours))
    dashes = itertools.cycle(["--", ":", "-."])
    for name, limit in bounds.items():
        is_own, colour = name in colours, colours.get(name, REFERENCE)
        style, label = ("--", f"bound for {name}") if is_own else (next(dashes), name)
        ax.plot(limit.sort_index(), style, marker="_", color=colour, label=label)
    ax.set_ylim(bottom=0)
    ax.legend(title=None)
    return figure


def per_seat(frame: pd.DataFrame) -> pd.DataFrame:
    """Means of screened, per seat and loss: DataFrame indexed by strategy and size."""
    mean: Means = means(frame)["mean"]
    seats = mean.index.get_level_values("size")
    return pd.DataFrame(mean.assign(**{"per seat": mean["screened"] / seats}))


def tradeoff(frame: pd.DataFrame) -> Figure:
    """People screened per seat against loss: every strategy a path, every size a point on it.

    The larger the committee, the larger its point; the name stands at the smallest.
    """
    figure, ax = plt.subplots(figsize=(6.4, 4.4))
    means, smallest = per_seat(frame), frame["size"].min()
    for name, colour in palette(frame["strategy"]).items():
        x, y = means.loc[name]["per seat"], means.loc[name]["loss"]
        ax.plot(x, y, color=colour, alpha=0.6, label=name)
        ax.scatter(x, y, s=20 * (x.index / smallest) ** 0.7, color=colour)
        at, near = (float(x.iloc[0]), float(y.iloc[0])), (-8, 9)
        ax.annotate(name, at, near, textcoords="offset points", color=colour, weight="bold")
    _per_seat_axis(ax)
    ax.set(xlim=(1, 2.2 * means["per seat"].max()), ylim=(0, 1.12 * means["loss"].max()))
    ax.set(ylabel=LABELS["loss"])
    return figure


def _per_seat_axis(ax: Axes) -> None:
    ax.set(xscale="log", xlabel="people screened per seat")
    marks = FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    ax.xaxis.set(major_locator=marks, major_formatter="{x:g}", minor_locator=NullLocator())

"""Pictures of tables: what many recruitments come to, by strategy and committee size.

Bands show the mean and its 95 % interval over runs. Of tables nothing but means is taken here.
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

from companion.plots.style import LABELS, REFERENCE, legend, palette, without_tolerance


def curves(frame: pd.DataFrame, *, log: Sequence[str] = ("screened",)) -> Figure:
    """People screened and loss against the committee size, side by side."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8))
    for ax, column in zip(axes, ["screened", "loss"], strict=True):
        lines(frame, column, ax)
        if column in log:
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
    axes[1].get_legend().remove()
    return figure


def lines(frame: pd.DataFrame, column: str, ax: Axes) -> None:
    """One column of a simulation's table against the committee size: mean and 95 % interval."""
    names = list(frame["strategy"].unique())
    sns.lineplot(
        frame,
        x="size",
        y=column,
        hue="strategy",
        palette=palette(names),
        style="strategy",
        markers=True,
        dashes=False,
        errorbar=("se", 1.96),
        err_style="band" if frame["size"].nunique() > 1 else "bars",
        ax=ax,
    )
    ax.set(xlabel=LABELS["size"], ylabel=LABELS[column])
    legend(ax)


def loss_and_bounds(frame: pd.DataFrame, bounds: Mapping[str, pd.Series]) -> Figure:
    """Losses of every run and on average, and bounds on them as functions of the committee size.

    A bound named like a strategy has its colour; any other is listed by its name. Where there are
    many strategies, their bounds are not listed again.
    """
    figure, ax = plt.subplots()
    lines(frame, "loss", ax)
    colours = palette(list(frame["strategy"].unique()))
    ax.scatter(frame["size"], frame["loss"], s=9, alpha=0.3, c=frame["strategy"].map(colours))
    dashes = itertools.cycle(["--", ":", "-."])
    for name, limit in bounds.items():
        own = colours.get(name)
        label = f"bound for {name}" if len(colours) < 4 else None
        ax.plot(
            limit.sort_index(),
            "--" if own else next(dashes),
            marker="_",
            color=own or REFERENCE,
            label=label if own else name,
        )
    ax.set_ylim(bottom=0)
    legend(ax)
    return figure


def against(tables: Mapping[str, pd.DataFrame], column: str, xlabel: str, ax: Axes) -> None:
    """Curves with their intervals: tables of `experiments.means`, indexed by the x axis."""
    for label, colour in palette(list(tables)).items():
        mean, error = tables[label]["mean"][column], tables[label]["±"][column]
        ax.errorbar(mean.index, mean, error, fmt="o-", color=colour, label=label)
    ax.set(xlabel=xlabel, ylabel=LABELS[column])
    ax.legend()


def tradeoff(frame: pd.DataFrame) -> Figure:
    """People screened per seat against loss: every strategy a path, every size a point on it.

    The larger the committee, the larger its point; the name stands at the smallest.
    """
    figure, ax = plt.subplots(figsize=(6.4, 4.4))
    means = per_seat(frame)
    sizes = sorted(frame["size"].unique())
    for name, colour in palette(list(frame["strategy"].unique())).items():
        path = means.loc[name]
        ax.plot(path["per seat"], path["loss"], color=colour, alpha=0.6, label=name)
        ax.scatter(
            path["per seat"], path["loss"], s=20 * (path.index / sizes[0]) ** 0.7, color=colour
        )
        ax.annotate(
            name,
            (float(path["per seat"].iloc[0]), float(path["loss"].iloc[0])),
            xytext=(-8, 9),
            textcoords="offset points",
            color=colour,
            weight="bold",
        )
    _per_seat_axis(ax)
    ax.set(
        ylabel=LABELS["loss"],
        ylim=(0, 1.12 * means["loss"].max()),
        xlim=(1, 2.2 * means["per seat"].max()),
    )
    return figure


def per_seat(frame: pd.DataFrame) -> pd.DataFrame:
    """The means of a simulation's table by strategy and size, with people per seat."""
    with_seats = frame.assign(**{"per seat": frame["screened"] / frame["size"]})
    columns = ["screened", "per seat", "loss"]
    return with_seats.groupby(["strategy", "size"], sort=False)[columns].mean()


def cloud(frame: pd.DataFrame) -> Figure:
    """People screened against loss: every committee a point, every strategy's mean a cross."""
    figure, ax = plt.subplots(figsize=(8, 4.6))
    for name, colour in palette(list(frame["strategy"].unique())).items():
        own = frame[frame["strategy"] == name]
        ax.scatter(own["screened"], own["loss"], s=14, alpha=0.35, color=colour, linewidth=0)
        mean = own[["screened", "loss"]].mean()
        ax.plot(*mean, "P", ms=12, color=colour, markeredgecolor="white", label=name)
    ax.set(xscale="log", xlabel=LABELS["screened"], ylabel=LABELS["loss"], ylim=(0, None))
    ax.legend()
    return figure


def frontier(frame: pd.DataFrame, limits: pd.DataFrame) -> Figure:
    """People screened per seat against loss, a panel per size; tolerances make paths.

    Parameters
    ----------
    frame
        A table of `simulate`.
    limits
        A row per size, tolerance and limit: people, and the largest loss that the band allows.
    """
    sizes = sorted(frame["size"].unique())
    figure, axes = plt.subplots(1, len(sizes), figsize=(10.5, 4), sharey=True, squeeze=False)
    for ax, size in zip(axes[0], sizes, strict=True):
        own = frame[frame["size"] == size]
        means = own.groupby("strategy", sort=False)[["screened", "loss"]].mean()
        families = [without_tolerance(name, "Resolving", "Greedy") for name in means.index]
        for family in dict.fromkeys(families):
            path = means[[name == family for name in families]]
            colour = palette([family])[family]
            ax.plot(path["screened"] / size, path["loss"], "o-", color=colour, label=family)
        dashes = itertools.cycle(["--", ":"])
        for name, limit in limits.groupby("limit", sort=False):
            here = limit[limit["size"] == size]
            style = {"linestyle": next(dashes), "color": REFERENCE, "label": name}
            ax.plot(here["people"] / size, here["loss"], **style)
        _per_seat_axis(ax)
        ax.set(title=f"{size} seats")
    axes[0, 0].set(ylabel=LABELS["loss"], ylim=(0, None))
    axes[0, -1].legend(fontsize="small")
    return figure


def _per_seat_axis(ax: Axes) -> None:
    ax.set(xscale="log", xlabel="people screened per seat")
    ax.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())

"""The pictures of the book: one style, one colour per strategy, everywhere.

Bands show the mean and its 95 % interval over runs. Of tables nothing but means is taken here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from committees.lp import Policy
from committees.problem import IntArray, Problem
from committees.recruitment import Recruitment
from committees.strategy import BoolArray

_BLIND_SAFE = sns.color_palette("colorblind")
#: Paul Tol's dark colours, safe as well.
_TOL = sns.color_palette(["#332288", "#882255", "#44AA99", "#999933", "#CC6677", "#888888"])
_COLOURS = {
    "Greedy 0": sns.color_palette(["#003f66"])[0],
    "Greedy 0.02": _BLIND_SAFE[0],
    "Greedy 0.05": _BLIND_SAFE[9],
    "Greedy": _BLIND_SAFE[0],
    "CMDP": _BLIND_SAFE[1],
    "RL-CMDP": _BLIND_SAFE[2],
    "RL-CMDP ×0.1": sns.color_palette(["#5b4a00"])[0],
    "RL-CMDP as printed": _BLIND_SAFE[3],
    "RL-CMDP-B": _BLIND_SAFE[5],
    "plug-in": _BLIND_SAFE[4],
    "Resolving": _TOL[0],
    "Resolving learning": _TOL[1],
    "CMDP fair": _TOL[2],
}
#: For strategies without a colour of their own: dark, safe, and unlike those above.
_SPARE = _TOL[3:]
#: For what is neither a strategy nor data: bounds, targets, quotas.
REFERENCE = "#444444"
#: For who is turned away.
PALE = "#d0d0d0"
#: For data of no strategy's: the volunteers, the values of a feature, a table as a map.
MAP = "crest"
LABELS = {
    "size": "committee size",
    "screened": "people screened",
    "loss": "representation loss",
}


def use_style() -> None:
    """Set the book's look; every notebook calls this once."""
    sns.set_theme(
        context="notebook",
        style="whitegrid",
        palette="colorblind",
        rc={
            "figure.figsize": (8, 4),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
        },
    )


def palette(names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """The colour of each strategy: the one it has in every chapter, or a spare one.

    Of two variants "CMDP, weak" and "CMDP, strong" the first is lighter.
    """
    strategies = list(dict.fromkeys(name.partition(", ")[0] for name in names))
    own = {name: _COLOURS.get(_family(name)) for name in strategies}
    strangers = list(own.values()).count(None)
    few = strangers <= len(_SPARE)
    spare = iter(_SPARE if few else sns.color_palette("husl", strangers))
    colours = {name: own[name] or next(spare) for name in strategies}
    found: dict[str, tuple[float, float, float]] = {}
    for name in names:
        strategy, _, variant = name.partition(", ")
        first = variant and not any(other.startswith(f"{strategy}, ") for other in found)
        colour = colours[strategy]
        r, g, b = sns.light_palette(colour, 3)[1][:3] if first else colour
        found[name] = (r, g, b)
    return found


def _family(name: str) -> str:
    """The name of a strategy without what does not change its colour."""
    return re.sub(r"^(Resolving) [\d.]+", r"\1", name.partition(" δ=")[0])


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
    _legend(ax)


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
    _legend(ax)
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


def _per_seat_axis(ax: Axes) -> None:
    ax.set(xscale="log", xlabel="people screened per seat")
    ax.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())


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
        families = [re.sub(r"^(Resolving|Greedy) [\d.]+", r"\1", name) for name in means.index]
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


def shares(problem: Problem) -> Figure:
    """Who is wanted and who comes, value by value."""
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.28 * len(problem.target)))
    labels = [_join(f"{feature}: {value}") for feature, value in problem.values]
    rows = np.arange(len(labels))[::-1]
    ax.hlines(rows, problem.presence, problem.target, color="0.75", zorder=1)
    ax.scatter(problem.target, rows, marker="|", s=160, linewidth=3, color=REFERENCE, zorder=3)
    ax.scatter(problem.presence, rows, color=sns.color_palette(MAP, 3)[1], zorder=2)
    ax.set(yticks=rows, yticklabels=labels, xlabel="share", xlim=(0, None))
    ax.set_ylim(-0.6, len(labels) - 0.4)
    figure.legend(
        [ax.collections[1], ax.collections[2]],
        ["target", "among the volunteers"],
        loc="outside upper right",
        ncols=2,
    )
    ax.grid(axis="y", visible=False)
    return figure


def acceptance_table(policy: Policy) -> pd.DataFrame:
    """The acceptance probabilities, with a row and a column for some of the features each.

    The two features with the most values make the rows, the others the columns.
    """
    by_size = sorted(policy.problem.features, key=lambda f: len(policy.problem.features[f]))
    rows = [f for f in by_size if f in by_size[-2:]] if len(by_size) > 2 else by_size[-1:]
    columns = [f for f in policy.problem.features if f not in rows]
    table = policy.acceptance.unstack(columns, sort=False) if columns else policy.acceptance
    table = pd.DataFrame(table)
    if len(rows) > 1:
        order = pd.MultiIndex.from_product([policy.problem.features[f] for f in rows], names=rows)
        table = table.reorder_levels(rows).reindex(order)
    return table


def acceptance_map(policy: Policy) -> Figure:
    """The acceptance table as a picture: dark is always, light is never."""
    table = acceptance_table(policy)
    size = (3.5 + 0.3 * table.shape[1], 2.2 + 0.25 * table.shape[0])
    figure, ax = plt.subplots(figsize=size)
    sns.heatmap(
        table,
        vmin=0,
        vmax=1,
        cmap=MAP,
        linewidths=0.5,
        cbar_kws={"label": "acceptance probability", "shrink": 0.6},
        ax=ax,
        xticklabels=[_join(column) for column in table.columns],
        yticklabels=[_join(row) for row in table.index],
    )
    names = [_join(tuple(filter(None, axis.names))) for axis in (table.columns, table.index)]
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.tick_params(axis="x", rotation=90)
    ax.tick_params(axis="y", rotation=0)
    return figure


def networks(
    structures: Mapping[str, Sequence[tuple[str, str]]], features: Sequence[str]
) -> Figure:
    """Bayesian networks, side by side, with the features at the same places."""
    import networkx as nx  # not every page needs it

    figure, axes = plt.subplots(1, len(structures), figsize=(9.5, 3.2))
    angles = np.linspace(0, 2 * np.pi, len(features), endpoint=False)
    places = {name: (np.cos(a), np.sin(a)) for name, a in zip(features, angles, strict=True)}
    for ax, (title, edges) in zip(np.atleast_1d(axes), structures.items(), strict=True):
        graph: nx.DiGraph = nx.DiGraph()
        graph.add_nodes_from(features)
        graph.add_edges_from(edges)
        nx.draw_networkx_edges(
            graph, places, ax=ax, node_size=4200, width=1.6, arrowsize=18, edge_color=REFERENCE
        )
        for name, place in places.items():
            box = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": REFERENCE}
            ax.text(*place, name, ha="center", va="center", bbox=box)
        ax.set(xlabel=title, xlim=(-1.6, 1.6), ylim=(-1.3, 1.3), xticks=[], yticks=[])
        sns.despine(ax=ax, left=True, bottom=True)
    return figure


def _legend(ax: Axes) -> None:
    """The legend, in small print and two columns if it is long."""
    long = len(ax.get_legend_handles_labels()[0]) > 7
    ax.legend(title=None, fontsize="x-small" if long else None, ncols=2 if long else 1)


def _join(label: object) -> str:
    text = " · ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    return text.replace("$", r"\$")  # a dollar would start a formula


def filling(
    problem: Problem, found: Recruitment, feature: str, limits: pd.Series | None = None
) -> Figure:
    """A committee filling up, seat by seat: the people of each value of one feature.

    Solid lines are seats taken, dotted ones the target (as a path from nothing to its share), and
    crosses the quotas, where there are any.
    """
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True)
    seats = np.arange(len(found.kinds) + 1)
    screened = np.r_[0, found.screened]
    values = problem.features[feature]
    colours = sns.color_palette(MAP, len(values))
    for value, colour in zip(values, colours, strict=True):
        row = problem.values.get_loc((feature, value))
        taken = np.r_[0, np.cumsum((problem.codes[found.kinds] == row).any(axis=1))]
        axes[0].step(seats, taken, color=colour, where="post", label=_join(value))
        axes[0].plot([0, seats[-1]], [0, problem.target[row] * seats[-1]], ":", color=colour)
        axes[1].step(screened, taken, color=colour, where="post")
        if limits is not None:
            for ax, end in zip(axes, (seats[-1], screened[-1]), strict=True):
                ax.plot(end, limits.iloc[row], "x", color=colour, markersize=9, mew=2)
    axes[0].set(xlabel="seats taken", ylabel="people accepted")
    axes[1].set(xlabel="people screened")
    axes[0].legend(title=_join(feature))
    return figure


def queue(problem: Problem, kinds: IntArray, accepted: BoolArray, name: str) -> Figure:
    """People in the order in which they came, and the committee that they make.

    Parameters
    ----------
    kinds, accepted
        The type of each person, and the decision.
    name
        The strategy that decided.
    """
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.8), width_ratios=[1, 1.3])
    x, y = places(len(kinds))
    colour = palette([name])[name]
    for some, shade, label in ((accepted, colour, "accepted"), (~accepted, PALE, "rejected")):
        axes[0].scatter(x[some], y[some], marker="s", s=110, color=shade, label=label)
    axes[0].set(xticks=[], yticks=[], xlabel="people in the order in which they came")
    axes[0].set(xlim=(-0.7, x.max() + 0.7), ylim=(y.max() + 0.7, -0.7))
    sns.despine(ax=axes[0], left=True, bottom=True)
    rows = np.arange(len(problem.target))
    seats = problem.incidence @ np.bincount(kinds[accepted], minlength=len(problem.p))
    axes[1].barh(rows, seats, color=colour, label="people accepted")
    goal = problem.target * accepted.sum()
    axes[1].plot(goal, rows, "|", ms=12, mew=3, color=REFERENCE, label="target")
    labels = [_join(f"{feature}: {value}") for feature, value in problem.values]
    axes[1].set(yticks=rows, yticklabels=labels, xlabel="people", ylim=(len(rows) - 0.4, -0.6))
    axes[1].grid(axis="y", visible=False)
    for ax in axes:
        handles, texts = ax.get_legend_handles_labels()
        ax.legend(handles, texts, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def places(people: int) -> tuple[IntArray, IntArray]:
    """Where each person of a queue stands: ten or more to a row, rows from top to bottom."""
    order = np.arange(people)
    width = max(10, int(np.sqrt(people)))
    return order % width, order // width

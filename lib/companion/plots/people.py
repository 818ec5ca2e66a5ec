"""Pictures of people: who is wanted and who comes, who is accepted, how a committee fills up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from committees.checks import BoolArray, IntArray
from committees.lp import Policy
from committees.problem import Problem
from committees.simulation import Recruitment
from companion.plots.style import MAP, PALE, REFERENCE, join, palette


def shares(problem: Problem) -> Figure:
    """Who is wanted and who comes, value by value."""
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.28 * len(problem.rho)))
    labels = [join(f"{feature}: {value}") for feature, value in problem.labels]
    rows = np.arange(len(labels))[::-1]
    ax.hlines(rows, problem.presence, problem.rho, color="0.75", zorder=1)
    ax.scatter(problem.rho, rows, marker="|", s=160, linewidth=3, color=REFERENCE, zorder=3)
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
        xticklabels=[join(column) for column in table.columns],
        yticklabels=[join(row) for row in table.index],
    )
    names = [join(tuple(filter(None, axis.names))) for axis in (table.columns, table.index)]
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


def filling(
    problem: Problem, found: Recruitment, feature: str, limits: pd.Series | None = None
) -> Figure:
    """A committee filling up, seat by seat: the people of each value of one feature.

    Solid lines are seats taken, dotted ones the target (as a path from nothing to its share), and
    crosses the quotas, where there are any.
    """
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True)
    seats = np.arange(len(found.type_ids) + 1)
    screened = np.r_[0, found.screened]
    values = problem.features[feature]
    colours = sns.color_palette(MAP, len(values))
    for value, colour in zip(values, colours, strict=True):
        row = problem.labels.get_loc((feature, value))
        taken = np.r_[0, np.cumsum((problem.codes[found.type_ids] == row).any(axis=1))]
        axes[0].step(seats, taken, color=colour, where="post", label=join(value))
        axes[0].plot([0, seats[-1]], [0, problem.rho[row] * seats[-1]], ":", color=colour)
        axes[1].step(screened, taken, color=colour, where="post")
        if limits is not None:
            for ax, end in zip(axes, (seats[-1], screened[-1]), strict=True):
                ax.plot(end, limits.iloc[row], "x", color=colour, markersize=9, mew=2)
    axes[0].set(xlabel="seats taken", ylabel="people accepted")
    axes[1].set(xlabel="people screened")
    axes[0].legend(title=join(feature))
    return figure


def queue(problem: Problem, type_ids: IntArray, accepted: BoolArray, name: str) -> Figure:
    """People in the order in which they came, and the committee that they make.

    Parameters
    ----------
    type_ids, accepted
        The type of each person, and the decision.
    name
        The strategy that decided.
    """
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.8), width_ratios=[1, 1.3])
    x, y = places(len(type_ids))
    colour = palette([name])[name]
    for some, shade, label in ((accepted, colour, "accepted"), (~accepted, PALE, "rejected")):
        axes[0].scatter(x[some], y[some], marker="s", s=110, color=shade, label=label)
    axes[0].set(xticks=[], yticks=[], xlabel="people in the order in which they came")
    axes[0].set(xlim=(-0.7, x.max() + 0.7), ylim=(y.max() + 0.7, -0.7))
    sns.despine(ax=axes[0], left=True, bottom=True)
    rows = np.arange(len(problem.rho))
    seats = problem.incidence @ np.bincount(type_ids[accepted], minlength=len(problem.p))
    axes[1].barh(rows, seats, color=colour, label="people accepted")
    goal = problem.rho * accepted.sum()
    axes[1].plot(goal, rows, "|", ms=12, mew=3, color=REFERENCE, label="target")
    labels = [join(f"{feature}: {value}") for feature, value in problem.labels]
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

"""Pictures of people: targets and volunteers, who is accepted, how a committee fills up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from committees.checks import BoolArray, IntArray
from committees.lp import Policy
from committees.problem import Problem
from committees.simulation import Recruitment
from companion.plots.style import MAP, PALE, REFERENCE, palette


def shares(problem: Problem) -> Figure:
    """The target of each value, and its share among the volunteers."""
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.28 * len(problem.rho)))
    rows = np.arange(len(problem.rho))[::-1]
    ax.hlines(rows, problem.presence, problem.rho, color="0.75", zorder=1)
    targets = ax.scatter(problem.rho, rows, s=160, c=REFERENCE, marker="|", linewidth=3, zorder=3)
    offered = ax.scatter(problem.presence, rows, color=sns.color_palette(MAP, 3)[1], zorder=2)
    ax.set(yticks=rows, yticklabels=_value_labels(problem), xlabel="share", xlim=(0, None))
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.grid(axis="y", visible=False)
    names = ["target", "among the volunteers"]
    figure.legend([targets, offered], names, loc="outside upper right", ncols=2)
    return figure


def acceptance_table(policy: Policy) -> pd.DataFrame:
    """The acceptance probabilities; the two features with the most values make the rows."""
    features, chances = policy.problem.features, policy.acceptance
    by_size = sorted(features, key=lambda feature: len(features[feature]))
    rows = by_size[-2:] if len(by_size) > 2 else by_size[-1:]
    columns = [feature for feature in features if feature not in rows]
    table = pd.DataFrame(chances.unstack(columns, sort=False) if columns else chances)
    if len(rows) > 1:
        order = pd.MultiIndex.from_product([features[row] for row in rows], names=rows)
        table = table.reorder_levels(rows).reindex(order)
    return table


def acceptance_map(policy: Policy) -> Figure:
    """The acceptance table as a picture: dark is always, light is never."""
    table = acceptance_table(policy)
    figure, ax = plt.subplots(figsize=(3.5 + 0.3 * table.shape[1], 2.2 + 0.25 * len(table)))
    columns, rows = ([_label(key) for key in axis] for axis in (table.columns, table.index))
    keys = {"xticklabels": columns, "yticklabels": rows}
    bar = {"label": "acceptance probability", "shrink": 0.6}
    sns.heatmap(table, vmin=0, vmax=1, cmap=MAP, linewidths=0.5, cbar_kws=bar, ax=ax, **keys)
    top, side = (_label(tuple(filter(None, axis.names))) for axis in (table.columns, table.index))
    ax.set(xlabel=top, ylabel=side)
    ax.tick_params(axis="x", rotation=90)
    ax.tick_params(axis="y", rotation=0)
    return figure


def networks(edges: Mapping[str, Sequence[tuple[str, str]]], features: Sequence[str]) -> Figure:
    """Bayesian networks side by side, `{title: edges (from, to)}`, features at the same places."""
    figure, axes = plt.subplots(1, len(edges), figsize=(9.5, 3.2), squeeze=False)
    angles = np.linspace(0, 2 * np.pi, len(features), endpoint=False)
    spots = {name: (np.cos(a), np.sin(a)) for name, a in zip(features, angles, strict=True)}
    arrows = {"node_size": 4200, "width": 1.6, "arrowsize": 18, "edge_color": REFERENCE}
    box = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": REFERENCE}
    for ax, title in zip(axes[0], edges, strict=True):
        nx.draw_networkx_edges(nx.DiGraph(edges[title]), spots, ax=ax, **arrows)
        for name, (x, y) in spots.items():
            ax.text(x, y, name, ha="center", va="center", bbox=box)
        ax.set(xlabel=title, xlim=(-1.6, 1.6), ylim=(-1.3, 1.3), xticks=[], yticks=[])
        sns.despine(ax=ax, left=True, bottom=True)
    return figure


def filling(problem: Problem, found: Recruitment, feature: str, limits: pd.Series) -> Figure:
    """A committee filling up, seat by seat: the people of each value of one feature.

    Solid lines are seats taken, dotted ones the path to the target, and crosses the `limits`:
    Series of int, per value, the quotas.
    """
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True)
    seats, screened = np.arange(len(found.type_ids) + 1), np.r_[0, found.screened]
    values = problem.features[feature]
    for value, colour in zip(values, sns.color_palette(MAP, len(values)), strict=True):
        row = problem.labels.get_loc((feature, value))
        taken = np.r_[0, np.cumsum((problem.codes[found.type_ids] == row).any(axis=1))]
        axes[0].step(seats, taken, color=colour, where="post", label=_label(value))
        axes[0].plot([0, seats[-1]], [0, problem.rho[row] * seats[-1]], ":", color=colour)
        axes[1].step(screened, taken, color=colour, where="post")
        for ax, end in zip(axes, (seats[-1], screened[-1]), strict=True):
            ax.plot(end, limits.iloc[row], "x", color=colour, markersize=9, mew=2)
    axes[0].set(xlabel="seats taken", ylabel="people accepted")
    axes[1].set(xlabel="people screened")
    axes[0].legend(title=_label(feature))
    return figure


def queue(problem: Problem, type_ids: IntArray, accepted: BoolArray, name: str) -> Figure:
    """People in the order in which they came, and the committee that they make.

    Parameters
    ----------
    type_ids, accepted : ndarray of int, ndarray of bool, per person
    name : str
        The strategy that decided.
    """
    figure, (crowd, bars) = plt.subplots(1, 2, figsize=(9.5, 4.8), width_ratios=[1, 1.3])
    (x, y), colour = positions(len(type_ids)), palette([name])[name]
    for who, shade, label in ((accepted, colour, "accepted"), (~accepted, PALE, "rejected")):
        crowd.scatter(x[who], y[who], marker="s", s=110, color=shade, label=label)
    crowd.set(xticks=[], yticks=[], xlabel="people in the order in which they came")
    crowd.set(xlim=(-0.7, x.max() + 0.7), ylim=(y.max() + 0.7, -0.7))
    sns.despine(ax=crowd, left=True, bottom=True)
    rows, goal = np.arange(len(problem.rho)), problem.rho * accepted.sum()
    seats = problem.incidence @ np.bincount(type_ids[accepted], minlength=len(problem.p))
    bars.barh(rows, seats, color=colour, label="people accepted")
    bars.plot(goal, rows, "|", ms=12, mew=3, color=REFERENCE, label="target")
    bars.set(yticks=rows, yticklabels=_value_labels(problem), xlabel="people")
    bars.set_ylim(len(rows) - 0.4, -0.6)
    bars.grid(axis="y", visible=False)
    for ax in (crowd, bars):
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def positions(people: int) -> tuple[IntArray, IntArray]:
    """The column and the row of each person of a queue, ten or more to a row."""
    order, width = np.arange(people), max(10, int(np.sqrt(people)))
    return order % width, order // width


def _value_labels(problem: Problem) -> list[str]:
    return [_label(f"{feature}: {value}") for feature, value in problem.labels]


def _label(words: object) -> str:
    """One or several words as a label; a dollar would start a formula."""
    text = " · ".join(map(str, words)) if isinstance(words, tuple) else str(words)
    return text.replace("$", r"\$")

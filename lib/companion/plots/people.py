"""Pictures of people: targets and volunteers, who is accepted, how a committee fills up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from committees.checks import BoolArray, IntArray
from committees.problem import Problem
from companion.plots.style import MAP, PALE, PANEL, REFERENCE, palette


def shares(problem: Problem) -> Figure:
    """The target of each value, and its share among the volunteers."""
    figure, ax = plt.subplots(figsize=(PANEL[0], 1.2 + 0.28 * len(problem.rho)))
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


def networks(edges: Mapping[str, Sequence[tuple[str, str]]], features: Sequence[str]) -> list[Axes]:
    """Bayesian networks, a panel each: `{title: edges (from, to)}`, features at the same places."""
    angles = np.linspace(0, 2 * np.pi, len(features), endpoint=False)
    spots = {name: (np.cos(a), np.sin(a)) for name, a in zip(features, angles, strict=True)}
    arrows = {"node_size": 4200, "width": 1.6, "arrowsize": 18, "edge_color": REFERENCE}
    box = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": REFERENCE}
    panels = [plt.subplots()[1] for _ in edges]
    for ax, title in zip(panels, edges, strict=True):
        nx.draw_networkx_edges(nx.DiGraph(edges[title]), spots, ax=ax, **arrows)
        for name, (x, y) in spots.items():
            ax.text(x, y, name, ha="center", va="center", bbox=box)
        ax.set(xlabel=title, xlim=(-1.6, 1.6), ylim=(-1.3, 1.3), xticks=[], yticks=[])
        sns.despine(ax=ax, left=True, bottom=True)
    return panels


def queue(problem: Problem, type_ids: IntArray, accepted: BoolArray, name: str) -> list[Axes]:
    """People in the order in which they came, and the committee that they make.

    Parameters
    ----------
    type_ids, accepted : ndarray of int, ndarray of bool, per person
    name : str
        The strategy that decided.
    """
    height = 1.2 + 0.28 * len(problem.rho)
    crowd, bars = panels = [plt.subplots(figsize=(PANEL[0], height))[1] for _ in range(2)]
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
    return panels


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

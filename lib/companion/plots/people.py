"""Pictures of people: targets and volunteers, who is accepted, how a committee fills up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from committees.checks import BoolArray, IntArray
from committees.problem import Problem
from companion.plots.style import MAP, PALE, PANEL, REFERENCE, Colour, palette


def shares(problem: Problem) -> Figure:
    """The target of each value, and its share among the volunteers."""
    figure, ax = plt.subplots(figsize=(PANEL[0], _height(problem)))
    rows = np.arange(len(problem.rho))[::-1]
    ax.hlines(rows, problem.presence, problem.rho, color="0.75", zorder=1)
    bar: dict[str, Any] = {"marker": "|", "s": 160, "linewidth": 3, "zorder": 3}
    targets = ax.scatter(problem.rho, rows, c=REFERENCE, **bar)
    dots = sns.color_palette(MAP, 3)[1]
    offered = ax.scatter(problem.presence, rows, color=dots, zorder=2)
    ax.set(xlabel="share", xlim=(0, None))
    ax.set(yticks=rows, yticklabels=_value_labels(problem))
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.grid(axis="y", visible=False)
    figure.legend(
        [targets, offered],
        ["target", "among the volunteers"],
        loc="outside upper right",
        ncols=2,
    )
    return figure


def networks(edges: Mapping[str, Sequence[tuple[str, str]]], features: Sequence[str]) -> list[Axes]:
    """Bayesian networks, a panel each: `{title: edges (from, to)}`, features at the same places."""
    import networkx as nx  # which takes every kernel longer to load than one page to draw

    spots = _on_a_circle(features)
    panels = [plt.subplots()[1] for _ in edges]
    for ax, (title, arrows) in zip(panels, edges.items(), strict=True):
        nx.draw_networkx_edges(
            nx.DiGraph(arrows),
            spots,
            ax=ax,
            node_size=4200,
            width=1.6,
            arrowsize=18,
            edge_color=REFERENCE,
        )
        box = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": REFERENCE}
        for name, (x, y) in spots.items():
            ax.text(x, y, name, ha="center", va="center", bbox=box)
        ax.set(xlabel=title, xticks=[], yticks=[])
        ax.set(xlim=(-1.6, 1.6), ylim=(-1.3, 1.3))
        sns.despine(ax=ax, left=True, bottom=True)
    return panels


def _on_a_circle(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """A place for each name, one after the other around a circle."""
    angles = np.linspace(0, 2 * np.pi, len(names), endpoint=False)
    spots = {}
    for name, angle in zip(names, angles, strict=True):
        spots[name] = (float(np.cos(angle)), float(np.sin(angle)))
    return spots


def queue(problem: Problem, type_ids: IntArray, accepted: BoolArray, name: str) -> list[Axes]:
    """People in the order in which they came, and the committee that they make.

    Parameters
    ----------
    type_ids, accepted : ndarray of int, ndarray of bool, per person
    name : str
        The strategy that decided.
    """
    size = (PANEL[0], _height(problem))
    _, crowd = plt.subplots(figsize=size)
    _, bars = plt.subplots(figsize=size)
    colour = palette([name])[name]
    _draw_crowd(crowd, accepted, colour)
    _draw_committee(bars, problem, type_ids[accepted], colour)
    for ax in (crowd, bars):
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return [crowd, bars]


def _draw_crowd(ax: Axes, accepted: BoolArray, colour: Colour) -> None:
    """A square for each person, in the order in which they came."""
    x, y = positions(len(accepted))
    square: dict[str, Any] = {"marker": "s", "s": 110}
    ax.scatter(x[accepted], y[accepted], color=colour, label="accepted", **square)
    ax.scatter(x[~accepted], y[~accepted], color=PALE, label="rejected", **square)
    ax.set(xticks=[], yticks=[], xlabel="people in the order in which they came")
    ax.set(xlim=(-0.7, x.max() + 0.7), ylim=(y.max() + 0.7, -0.7))
    sns.despine(ax=ax, left=True, bottom=True)


def _draw_committee(ax: Axes, problem: Problem, type_ids: IntArray, colour: Colour) -> None:
    """A bar for each value: the people of a committee who have it, and its target."""
    rows = np.arange(len(problem.rho))
    counts = np.bincount(type_ids, minlength=len(problem.p))
    ax.barh(rows, problem.incidence @ counts, color=colour, label="people accepted")
    targets = problem.rho * len(type_ids)
    ax.plot(targets, rows, "|", ms=12, mew=3, color=REFERENCE, label="target")
    ax.set(yticks=rows, yticklabels=_value_labels(problem), xlabel="people")
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)


def positions(people: int) -> tuple[IntArray, IntArray]:
    """The column and the row of each person of a queue, ten or more to a row."""
    order = np.arange(people)
    width = max(10, int(np.sqrt(people)))
    return order % width, order // width


def _height(problem: Problem) -> float:
    """Inches of a panel with a row for each value."""
    return 1.2 + 0.28 * len(problem.rho)


def _value_labels(problem: Problem) -> list[str]:
    """The values with their features; a dollar would start a formula."""
    labels = [f"{feature}: {value}" for feature, value in problem.labels]
    return [label.replace("$", r"\$") for label in labels]

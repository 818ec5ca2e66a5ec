"""Pictures of results, by strategy and committee size.

Each `frame` is a table of `simulate`: DataFrame with the columns strategy, size, run, screened,
loss and expected; `column` is "screened" or "loss". Bands and bars are the 95 % interval of the
mean over runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from companion.intervals import Means, People, means, standard_errors
from companion.plots.style import LABELS, PANEL, palette


def curves(frame: pd.DataFrame, *, log: Sequence[str] = ("screened",)) -> list[Axes]:
    """People screened and loss against the committee size; `log` has the logarithmic columns."""
    columns = ("screened", "loss")
    panels = [plt.subplots()[1] for _ in columns]
    for ax, column in zip(panels, columns, strict=True):
        lines(frame, column, ax)
        if column in log:
            ax.set_yscale("log")
        else:
            ax.set_ylim(0, None)
        legend_above(ax)
    return panels


def legend_above(ax: Axes) -> None:
    """Move the legend above the picture, two names to a line."""
    handles, labels = ax.get_legend_handles_labels()
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
    ax.figure.legend(handles, labels, loc="outside upper left", ncols=2, frameon=False)


def lines(frame: pd.DataFrame, column: str, ax: Axes, people: People = "expected") -> None:
    """Draw the means of one column against the committee size.

    People screened are counted by the column `people`, as in `companion.intervals.means`.
    """
    half = standard_errors(int(frame["run"].nunique()))
    single_size = frame["size"].nunique() == 1
    sns.lineplot(
        frame,
        x="size",
        y=people if column == "screened" else column,
        hue="strategy",
        style="strategy",
        palette=palette(frame["strategy"]),
        markers=True,
        dashes=False,
        errorbar=("se", half),
        err_style="bars" if single_size else "band",
        ax=ax,
    )
    ax.set(xlabel=LABELS["size"], ylabel=LABELS[column])
    ax.legend(title=None)


def per_seat(frame: pd.DataFrame) -> pd.DataFrame:
    """Means of screened, per seat and loss: DataFrame indexed by strategy and size."""
    mean: Means = means(frame)["mean"]
    seats = mean.index.get_level_values("size")
    return pd.DataFrame(mean.assign(**{"per seat": mean["screened"] / seats}))


def tradeoff(frame: pd.DataFrame, *, is_crowded: bool = False) -> Figure:
    """People screened per seat against loss: every strategy a path, every size a point on it.

    The larger the committee, the larger its point; the name stands at the smallest, or above the
    picture if that is crowded.
    """
    figure, ax = plt.subplots(figsize=(PANEL[0], 4.2))
    means = per_seat(frame)
    smallest = frame["size"].min()
    for name, colour in palette(frame["strategy"]).items():
        path = means.loc[name]
        people = path["per seat"]
        loss = path["loss"]
        ax.plot(people, loss, color=colour, alpha=0.6, label=name)
        ax.scatter(people, loss, s=20 * (path.index / smallest) ** 0.7, color=colour)
        if not is_crowded:
            start = (float(people.iloc[0]), float(loss.iloc[0]))
            look: dict[str, Any] = {
                "color": colour,
                "weight": "bold",
                "textcoords": "offset points",
            }
            ax.annotate(name, start, (-8, 9), **look)
    if is_crowded:
        legend_above(ax)
    _per_seat_axis(ax)
    ax.set_xlim(1, 2.2 * means["per seat"].max())
    ax.set_ylim(0, 1.12 * means["loss"].max())
    ax.set_ylabel(LABELS["loss"])
    return figure


def _per_seat_axis(ax: Axes) -> None:
    ax.set(xscale="log", xlabel="people screened per seat")
    marks = FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    ax.xaxis.set(major_locator=marks, major_formatter="{x:g}", minor_locator=NullLocator())

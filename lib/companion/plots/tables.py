"""Pictures of results, by strategy and committee size.

Each `frame` is a table of `simulate`: DataFrame with the columns strategy, size, run, screened,
loss and expected; `column` is "screened" or "loss". Bands and bars are the 95 % interval of the
mean over runs.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    panels = [plt.subplots()[1] for _ in range(2)]
    for ax, column in zip(panels, ("screened", "loss"), strict=True):
        lines(frame, column, ax)
        ax.set(**{"yscale": "log"} if column in log else {"ylim": (0, None)})
        legend_above(ax)
    return panels


def legend_above(ax: Axes) -> None:
    """Move the legend above the picture, two names to a line."""
    handles, labels = ax.get_legend_handles_labels()
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    ax.figure.legend(handles, labels, loc="outside upper left", ncols=2, frameon=False)


def lines(frame: pd.DataFrame, column: str, ax: Axes, people: People = "expected") -> None:
    """Draw the means of one column against the committee size.

    People screened are counted by the column `people`, as in `companion.intervals.means`.
    """
    look = {"palette": palette(frame["strategy"]), "markers": True, "dashes": False}
    look["err_style"] = "band" if frame["size"].nunique() > 1 else "bars"
    drawn = people if column == "screened" else column
    names = {"x": "size", "y": drawn, "hue": "strategy", "style": "strategy"}
    half = standard_errors(int(frame["run"].nunique()))
    sns.lineplot(frame, **names, **look, errorbar=("se", half), ax=ax)
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
    means, smallest = per_seat(frame), frame["size"].min()
    for name, colour in palette(frame["strategy"]).items():
        x, y = means.loc[name]["per seat"], means.loc[name]["loss"]
        ax.plot(x, y, color=colour, alpha=0.6, label=name)
        ax.scatter(x, y, s=20 * (x.index / smallest) ** 0.7, color=colour)
        at, near = (float(x.iloc[0]), float(y.iloc[0])), (-8, 9)
        if not is_crowded:
            ax.annotate(name, at, near, textcoords="offset points", color=colour, weight="bold")
    if is_crowded:
        legend_above(ax)
    _per_seat_axis(ax)
    ax.set(xlim=(1, 2.2 * means["per seat"].max()), ylim=(0, 1.12 * means["loss"].max()))
    ax.set(ylabel=LABELS["loss"])
    return figure


def _per_seat_axis(ax: Axes) -> None:
    ax.set(xscale="log", xlabel="people screened per seat")
    marks = FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    ax.xaxis.set(major_locator=marks, major_formatter="{x:g}", minor_locator=NullLocator())

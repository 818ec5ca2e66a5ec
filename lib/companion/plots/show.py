"""Show pictures: one or several panels, sharp at every size, with the numbers that they show.

Every open figure is a panel. In a notebook the panels stand side by side, as one picture. In the
book each is an image of its own, so that they stand one below the other on a phone. The numbers
are shown as well, as CSV: nobody sees them in a notebook, and the book has a link to them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

import IPython.display
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

#: Between two panels, in points.
GAP = 12.0
#: Of a point. The sizes of panels are in points, which inside a picture count in pixels.
PIXELS = 4 / 3

Table = pd.DataFrame | pd.Series


def show(drawn: Table | Mapping[str, Table]) -> None:
    """Show all open figures as the panels of one picture, and close them.

    Parameters
    ----------
    drawn : DataFrame or Series, or mapping of str to these
        The numbers that the figures show: one table, or several with their names.
    """
    figures = [plt.figure(number) for number in plt.get_fignums()]
    panels = [svg(figure, str(number)) for number, figure in enumerate(figures)]
    plt.close("all")
    plural = "s" if len(panels) > 1 else ""
    bundle = {
        "image/svg+xml": side_by_side(panels),
        "text/csv": as_csv(drawn),
        "text/plain": f"A picture with {len(panels)} panel{plural}.",
    }
    IPython.display.display(bundle, raw=True)


def as_csv(drawn: Table | Mapping[str, Table]) -> str:
    """Numbers as CSV; several tables one below the other, with their names in the first column.

    >>> seats = pd.Series([0.5, 1 / 3], pd.Index([10, 20], name="size"), name="loss")
    >>> print(as_csv({"mean": seats, "bound": 2 * seats}), end="")
    shown,size,loss
    mean,10,0.5
    mean,20,0.333333
    bound,10,1
    bound,20,0.666667
    """
    if isinstance(drawn, Mapping):
        parts = [_flat(table).assign(shown=name) for name, table in drawn.items()]
        table = pd.concat(parts, ignore_index=True)
        table.insert(0, "shown", table.pop("shown"))
    else:
        table = _flat(drawn)
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def _flat(table: Table) -> pd.DataFrame:
    """A table with its index as columns, if the index has a name, and one level of columns."""
    if isinstance(table, pd.Series):
        frame = table.to_frame("number" if table.name is None else table.name)
    else:
        frame = table
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    if frame.columns.nlevels > 1:
        heads = [" ".join(filter(None, map(str, words))) for words in frame.columns]
        frame = frame.set_axis(heads, axis="columns")
    return frame


def svg(figure: Figure, salt: str) -> str:
    """A figure as SVG, the same bytes each time; `salt` keeps names in it apart from others'."""
    file = io.StringIO()
    nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata=nothing)
    text = file.getvalue()
    text = re.sub(r"-?\d+\.\d{4,}", lambda number: f"{float(number[0]):.3f}", text)
    return text[text.index("<svg") :]


def side_by_side(panels: list[str]) -> str:
    """One SVG that holds these, from left to right."""
    boxes = [re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', panel) for panel in panels]
    sizes = np.array([[float(box[1]), float(box[2])] for box in boxes if box])
    width = sizes[:, 0].sum() + GAP * (len(panels) - 1)
    height = sizes[:, 1].max()
    left = np.cumsum(sizes[:, 0] + GAP) - sizes[:, 0] - GAP
    placed = [f'<svg class="panel" x="{x * PIXELS:.2f}" ' for x in left]
    inner = [panel.replace("<svg ", at, 1) for at, panel in zip(placed, panels, strict=True)]
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    size = f'width="{width:.2f}pt" height="{height:.2f}pt" '
    size += f'viewBox="0 0 {width * PIXELS:.2f} {height * PIXELS:.2f}"'
    return f"{head} {size}>\n{''.join(inner)}</svg>\n"

"""Show pictures: one or several panels, sharp at every size, with the numbers that they show.

Every open figure is a panel. In a notebook the panels stand side by side, as one picture. In the
book each is an image of its own, so that they stand one below the other on a phone. The numbers
that were drawn are in the picture, as CSV, and can be downloaded from the book.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import IPython.display
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FuncFormatter

#: Columns of the numbers drawn. Intervals, areas and rules reach from (x, y) to (x_to, y_to).
COLUMNS = ["panel", "shown as", "of", "x", "y", "x_to", "y_to"]
#: Between two panels, in points.
GAP = 12.0
#: Of a point. The sizes of panels are in points, which inside a picture count in pixels.
PIXELS = 4 / 3


def show() -> None:
    """Show all open figures as the panels of one picture, and close them."""
    figures = [plt.figure(number) for number in plt.get_fignums()]
    rows = [[number, *row] for number, f in enumerate(figures, 1) for row in drawn(f)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    csv = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    picture = side_by_side([svg(figure, str(k)) for k, figure in enumerate(figures)], csv)
    words = f"A picture with {len(figures)} panel{'s' * (len(figures) > 1)}."
    plt.close("all")
    IPython.display.display({"image/svg+xml": picture, "text/plain": words}, raw=True)


def svg(figure: Figure, salt: str) -> str:
    """A figure as SVG, the same bytes each time; `salt` keeps names in it apart from others'."""
    file = io.StringIO()
    nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata=nothing)
    text = file.getvalue()
    text = re.sub(r"-?\d+\.\d{4,}", lambda number: f"{float(number[0]):.3f}", text)
    return text[text.index("<svg") :]


def side_by_side(panels: list[str], csv: str) -> str:
    """One SVG that holds these, from left to right, and the numbers that they show."""
    boxes = [re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', panel) for panel in panels]
    sizes = np.array([[float(box[1]), float(box[2])] for box in boxes if box])
    width, height = sizes[:, 0].sum() + GAP * (len(panels) - 1), sizes[:, 1].max()
    left = np.cumsum(sizes[:, 0] + GAP) - sizes[:, 0] - GAP
    placed = [f'<svg class="panel" x="{x * PIXELS:.2f}" ' for x in left]
    inner = [panel.replace("<svg ", at, 1) for at, panel in zip(placed, panels, strict=True)]
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    size = f'width="{width:.2f}pt" height="{height:.2f}pt" '
    size += f'viewBox="0 0 {width * PIXELS:.2f} {height * PIXELS:.2f}"'
    data = f"<metadata><![CDATA[{csv}]]></metadata>"
    return f"{head} {size}>\n{data}\n{''.join(inner)}</svg>\n"


def drawn(figure: Figure) -> Iterator[list[Any]]:
    """The numbers that a figure shows: rows of `COLUMNS`, without the panel."""
    for ax in figure.axes:
        if ax.get_label() == "<colorbar>":
            continue
        names = _names(ax, figure)
        for line in ax.lines:
            name = _name(line.get_label(), line.get_color(), names)
            x, y = _words(ax.xaxis, line.get_xdata()), _words(ax.yaxis, line.get_ydata())
            yield from (["line", name, *point, "", ""] for point in zip(x, y, strict=True))
        for bars in ax.containers:
            for bar in getattr(bars, "patches", []):
                name = _name(bars.get_label(), bar.get_facecolor(), names)
                (x0, y0), (x1, y1) = bar.get_bbox().get_points()
                flat = getattr(bars, "orientation", "") == "horizontal"
                at = (
                    _words(ax.yaxis, [(y0 + y1) / 2]) if flat else _words(ax.xaxis, [(x0 + x1) / 2])
                )
                yield ["bar", name, *((x1, *at) if flat else (*at, y1)), "", ""]
        for collection in ax.collections:
            yield from _collection(ax, collection, names)


def _collection(ax: Axes, shown: Any, names: dict[str, str]) -> Iterator[list[Any]]:
    """The numbers of points, intervals, areas or cells."""
    colours = shown.get_facecolor() if len(shown.get_facecolor()) else shown.get_edgecolor()
    colour = list(colours[:, :3]) if len(colours) else ["none"]
    label = shown.get_label()
    if isinstance(shown, PathCollection):
        x, y = np.asarray(shown.get_offsets()).T
        points = zip(_words(ax.xaxis, x), _words(ax.yaxis, y), strict=True)
        for k, point in enumerate(points):
            yield ["point", _name(label, colour[k % len(colour)], names), *point, "", ""]
    elif isinstance(shown, QuadMesh):
        table = np.asarray(shown.get_array()).reshape(-1)
        columns = np.asarray(shown.get_coordinates()).shape[1] - 1
        for k, value in enumerate(table):
            x, y = _words(ax.xaxis, [k % columns + 0.5]), _words(ax.yaxis, [k // columns + 0.5])
            yield ["cell", f"{value:.6g}", *x, *y, "", ""]
    elif isinstance(shown, LineCollection):
        for k, segment in enumerate(shown.get_segments()):
            name = _name(label, colour[k % len(colour)], names)
            yield ["interval", name, *segment[0], *segment[-1]]
    elif isinstance(shown, PolyCollection):
        for path in shown.get_paths():
            corners = pd.DataFrame(np.asarray(path.vertices), columns=["x", "y"]).groupby("x")["y"]
            for x, (low, high) in corners.agg(["min", "max"]).iterrows():
                yield ["area", _name(label, colour[0], names), x, low, x, high]


def _names(ax: Axes, figure: Figure) -> dict[str, str]:
    """The words of the legends, by colour."""
    legends = [legend for legend in (ax.get_legend(), *figure.legends) if legend]
    found = {}
    for legend in legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            colour = getattr(handle, "get_color", getattr(handle, "get_facecolor", None))
            if colour is not None:
                value = colour()
                found[to_hex(value[0] if np.ndim(value) == 2 else value)] = text.get_text()
    return found


def _name(label: Any, colour: Any, names: dict[str, str]) -> str:
    """What a thing shows: its own label, or what the legend says of its colour."""
    return str(label) if label and not str(label).startswith("_") else names.get(to_hex(colour), "")


def _words(axis: Any, at: Any) -> list[Any]:
    """Places on an axis; where an axis has words, the words."""
    if not isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter):
        return list(at)
    words = [label.get_text() for label in axis.get_majorticklabels()]
    known = dict(zip(axis.get_majorticklocs(), words, strict=True))
    return [known.get(place, place) for place in at]

"""Pictures: their panels, their bytes, and the numbers that they carry."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns

from companion.plots.show import COLUMNS, drawn, show, side_by_side, svg
from companion.plots.style import use_style


@pytest.fixture(autouse=True)
def style():
    use_style()
    yield
    plt.close("all")


def numbers(figure):
    return pd.DataFrame([[1, *row] for row in drawn(figure)], columns=COLUMNS)


def panel():
    figure, ax = plt.subplots()
    ax.plot([0, 1, 2], [0.1234567891, 0.5, 0.7], label="curve")
    ax.legend()
    return figure


def test_svg_is_the_same_when_drawn_again_and_names_nothing_twice():
    first, again, other = svg(panel(), "0"), svg(panel(), "0"), svg(panel(), "1")
    assert first == again
    assert first.startswith("<svg ")
    names = [set(re.findall(r'\bid="([pm]\w{9,})"', text)) for text in (first, other)]
    assert names[0]
    assert not names[0] & names[1]


def test_svg_rounds_coordinates_but_no_letter():
    text = svg(panel(), "0")
    assert not re.findall(r"\d\.\d{4,}", text)
    sizes = {float(size) for size in re.findall(r"scale\(([\d.]+) -", text)}
    assert min(sizes) >= 0.11  # in hundreds of points: 11 points


def test_side_by_side_holds_all_panels_and_the_numbers():
    panels = [svg(panel(), "0"), svg(panel(), "1")]
    root = ElementTree.fromstring(side_by_side(panels, "x,y\n1,<2\n"))
    space = "{http://www.w3.org/2000/svg}"
    left = [float(one.attrib["x"]) for one in root.findall(f"{space}svg")]
    width = float(root.attrib["viewBox"].split()[2])
    assert left[0] == 0 < left[1] < width < 2 * left[1]
    wide = float(root.find(f"{space}svg").attrib["width"].removesuffix("pt"))
    assert wide * 4 / 3 < left[1]  # no panel covers the next: inside, a point is 4/3 units
    assert root.findtext(f"{space}metadata") == "x,y\n1,<2\n"


def test_show_shows_all_open_figures_and_closes_them(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    panel()
    panel()
    show()
    (bundle,) = shown
    assert bundle["text/plain"] == "A picture with 2 panels."
    text = bundle["image/svg+xml"]
    csv = text[text.index("<![CDATA[") + 9 : text.index("]]>")]
    found = pd.read_csv(io.StringIO(csv))
    assert found["panel"].tolist() == [1] * 3 + [2] * 3
    assert found["y"].tolist() == [0.123457, 0.5, 0.7] * 2
    assert plt.get_fignums() == []


def test_drawn_names_lines_and_bands_of_seaborn_by_the_legend():
    frame = pd.DataFrame({"x": [1, 1, 2, 2] * 2, "y": range(8), "rule": ["a"] * 4 + ["b"] * 4})
    figure, ax = plt.subplots()
    sns.lineplot(frame, x="x", y="y", hue="rule", ax=ax, errorbar=("pi", 100))
    found = numbers(figure)
    lines = found[found["shown as"] == "line"]
    assert lines[lines["of"] == "b"]["y"].tolist() == [4.5, 6.5]
    bands = found[(found["shown as"] == "area") & (found["of"] == "b")]
    assert bands[["y", "y_to"]].to_numpy().tolist() == [[4, 5], [6, 7]]


def test_drawn_has_points_bars_intervals_and_words_of_axes():
    figure, ax = plt.subplots()
    ax.scatter([1, 2], [3, 4], label="people")
    ax.vlines([5], [6], [7], label="span")
    found = numbers(figure)
    assert found[found["of"] == "people"][["x", "y"]].to_numpy().tolist() == [[1, 3], [2, 4]]
    span = found[found["shown as"] == "interval"][["x", "y", "x_to", "y_to"]]
    assert span.to_numpy().tolist() == [[5, 6, 5, 7]]
    figure, ax = plt.subplots()
    ax.barh([0, 1], [0.25, 0.5], label="share")
    ax.set(yticks=[0, 1], yticklabels=["young", "old"])
    found = numbers(figure)
    assert found[["x", "y"]].to_numpy().tolist() == [[0.25, "young"], [0.5, "old"]]
    assert set(found["of"]) == {"share"}


def test_drawn_has_the_cells_of_a_map():
    figure, ax = plt.subplots()
    table = pd.DataFrame([[0.1, 0.2], [0.3, np.pi]], index=["a", "b"], columns=["c", "d"])
    sns.heatmap(table, ax=ax)
    found = numbers(figure)
    assert found[["x", "y", "of"]].to_numpy().tolist()[-1] == ["d", "b", "3.14159"]
    assert len(found) == 4  # the bar of colours is not counted

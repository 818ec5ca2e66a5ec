"""Pictures: their panels, their bytes, and the numbers that they carry."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from companion.plots.show import as_csv, show, side_by_side, svg
from companion.plots.style import use_style


@pytest.fixture(autouse=True)
def style():
    use_style()
    yield
    plt.close("all")


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


def test_side_by_side_holds_all_panels():
    panels = [svg(panel(), "0"), svg(panel(), "1")]
    root = ElementTree.fromstring(side_by_side(panels))
    space = "{http://www.w3.org/2000/svg}"
    left = [float(one.attrib["x"]) for one in root.findall(f"{space}svg")]
    width = float(root.attrib["viewBox"].split()[2])
    assert left[0] == 0 < left[1] < width < 2 * left[1]
    wide = float(root.find(f"{space}svg").attrib["width"].removesuffix("pt"))
    assert wide * 4 / 3 < left[1]  # no panel covers the next: inside, a point is 4/3 units


def test_show_shows_all_open_figures_with_their_numbers_and_closes_them(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    panel()
    panel()
    show(pd.Series([0.5], pd.Index([10], name="size"), name="loss"))
    (bundle,) = shown
    assert bundle["text/plain"] == "A picture with 2 panels."
    assert bundle["text/csv"] == "size,loss\n10,0.5\n"
    assert bundle["image/svg+xml"].count('class="panel"') == 2
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("drawn", "csv"),
    [
        (pd.DataFrame({"x": [1, 2], "y": [0.1234567, 2]}), "x,y\n1,0.123457\n2,2\n"),
        (pd.Series([3.0], [0.5]), "index,number\n0.5,3\n"),
        (
            pd.DataFrame([[1, 2]], ["a"], pd.MultiIndex.from_tuples([("mean", "loss"), ("±", "")])),
            "index,mean loss,±\na,1,2\n",
        ),
        (
            {"one": pd.DataFrame({"x": [1]}), "two": pd.DataFrame({"y": [2.5]})},
            "shown,x,y\none,1,\ntwo,,2.5\n",
        ),
    ],
)
def test_csv_has_the_numbers_by_name(drawn, csv):
    assert as_csv(drawn) == csv

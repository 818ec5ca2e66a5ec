"""Pictures of results show the numbers they are given, in the colours of the book."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from committees import CMDP, Greedy, datasets, simulate
from companion import plots
from companion.intervals import half_width
from companion.plots.tables import per_seat


@pytest.fixture(autouse=True)
def book_style():
    with mpl.rc_context():
        plots.use_style()
        yield
        plt.close("all")


def table(*strategies):
    """Two runs of each, at two sizes: strategy number n screens n + 1 people per seat."""
    rows = [
        (name, size, run, (number + 1) * size, (run + 1) / size)
        for number, name in enumerate(strategies)
        for size in (50, 1000)
        for run in (0, 1)
    ]
    frame = pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])
    return frame.assign(expected=frame["screened"])


def listed(ax):
    legend = ax.get_legend() or ax.figure.legends[0]
    return [text.get_text() for text in legend.get_texts()]


def drawn(ax, label):
    """The line with this label in the legend."""
    return dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))[label]


def test_curves_show_means_against_sizes():
    frame = table("Greedy 0.02", "CMDP", "mine")
    people, loss = plots.curves(frame)
    assert listed(people) == listed(loss) == ["Greedy 0.02", "CMDP", "mine"]
    assert (people.get_yscale(), loss.get_yscale()) == ("log", "linear")
    assert [people.get_ylabel(), loss.get_ylabel()] == ["people screened", "representation loss"]
    colours = plots.palette(["Greedy 0.02", "CMDP", "mine"])
    for number, name in enumerate(colours):
        line = people.lines[number]
        assert line.get_xydata().tolist() == [[50, (number + 1) * 50], [1000, (number + 1) * 1000]]
        assert to_rgb(line.get_color()) == pytest.approx(colours[name])
        assert loss.lines[number].get_ydata() == pytest.approx([1.5 / 50, 1.5 / 1000])
    assert len(people.collections) == 3  # a band for each


def test_curves_of_a_single_size_have_bars():
    frame = table(*(f"mine {number}" for number in range(8)))
    people, _ = plots.curves(frame[frame["size"] == 50], log=())
    assert people.get_yscale() == "linear"
    assert people.get_ylim()[0] == 0
    assert len(people.containers) == 8


def test_lines_have_the_95_percent_interval():
    frame = table("CMDP").assign(loss=[0.1, 0.4, 0.2, 0.3])
    _, ax = plt.subplots()
    plots.lines(frame, "loss", ax)
    (band,) = ax.collections
    edges = {round(float(y), 9) for x, y in band.get_paths()[0].vertices if x == 50}
    half = half_width([0.1, 0.4])
    assert edges == {round(0.25 - half, 9), round(0.25 + half, 9)}


def test_lines_and_per_seat_show_the_people_expected_unless_they_are_to_be_counted():
    frame = table("CMDP").assign(expected=[10.0, 30.0, 400.0, 600.0])
    _, ax = plt.subplots()
    plots.lines(frame, "screened", ax)
    plots.lines(frame, "screened", ax, people="screened")
    assert ax.lines[0].get_xydata().tolist() == [[50, 20], [1000, 500]]
    counted = next(line for line in ax.lines[1:] if len(line.get_xdata()))
    assert counted.get_xydata().tolist() == [[50, 50], [1000, 1000]]
    assert per_seat(frame)["per seat"].tolist() == [0.4, 0.5]


def test_tradeoff_is_people_per_seat_against_loss():
    ax = plots.tradeoff(table("CMDP", "mine")).axes[0]
    assert drawn(ax, "mine").get_xydata().tolist() == [[2, 1.5 / 50], [2, 1.5 / 1000]]
    assert [text.get_text() for text in ax.texts] == ["CMDP", "mine"]
    assert ax.texts[0].xy == (1, 1.5 / 50)
    small, large = ax.collections[1].get_sizes()
    assert small < large


def test_tradeoff_names_each_path_where_it_starts():
    frame = simulate([Greedy(0.05), CMDP()], datasets.brexit(["age"]), [20, 60], runs=3, seed=1)
    (ax,) = plots.tradeoff(frame).axes
    means = per_seat(frame)
    for text, line in zip(ax.texts, ax.lines, strict=True):
        path = means.loc[text.get_text()]
        assert text.xy == (path["per seat"][20], path["loss"][20])
        assert line.get_ydata().tolist() == path["loss"].tolist()
        assert (
            text.get_color()
            == line.get_color()
            == plots.palette([text.get_text()])[text.get_text()]
        )

"""Pictures of people show who they are given."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from committees import Problem, datasets
from companion import plots
from companion.plots.people import positions
from samples import one_queue, seated

PROBLEM = datasets.brexit(["gender", "age"])


@pytest.fixture(autouse=True)
def book_style():
    with mpl.rc_context():
        plots.use_style()
        yield
        plt.close("all")


def listed(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax, label):
    """The line with this label in the legend."""
    return dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))[label]


def test_shares_stand_where_they_are():
    ax = plots.shares(PROBLEM).axes[0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"{feature}: {value}" for feature, value in PROBLEM.labels]
    _, target, offered = ax.collections
    assert target.get_offsets()[:, 0].tolist() == pytest.approx(PROBLEM.rho)
    assert offered.get_offsets()[:, 0].tolist() == pytest.approx(PROBLEM.presence)
    assert (np.diff(target.get_offsets()[:, 1]) == -1).all()  # from the top down


def test_shares_show_a_dollar_as_such():
    halves = {"income": {"under $30": 0.5, "over $30": 0.5}}
    figure = plots.shares(Problem(halves, [0.5, 0.5]))
    figure.canvas.draw()
    assert figure.axes[0].get_yticklabels()[0].get_text() == r"income: under \$30"


def test_networks_have_their_features_and_edges():
    structures = {"weak": [("age", "gender")], "strong": [("age", "gender"), ("vote", "age")]}
    axes = plots.networks(structures, ["age", "gender", "vote"])
    assert [ax.get_xlabel() for ax in axes] == ["weak", "strong"]
    assert [[text.get_text() for text in ax.texts] for ax in axes] == [
        ["age", "gender", "vote"]
    ] * 2
    assert [len(ax.patches) for ax in axes] == [1, 2]


def test_queue_has_a_square_for_everybody_and_a_bar_for_every_value():
    problem, type_ids, accepted = one_queue(30)
    crowd, seats = plots.queue(problem, type_ids, accepted, "CMDP")
    yes, no = (squares.get_offsets().tolist() for squares in crowd.collections)
    assert (len(yes), len(yes) + len(no)) == (30, len(type_ids))
    assert len({(x, y) for x, y in yes + no}) == len(type_ids)  # no two at the same place
    assert [bar.get_width() for bar in seats.patches] == list(seated(problem, type_ids[accepted]))
    (marks,) = seats.lines
    assert marks.get_xdata() == pytest.approx(30 * problem.rho)


@pytest.mark.parametrize("people", [1, 9, 150])
def test_positions_fill_rows_of_ten_or_more(people):
    x, y = positions(people)
    assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == people
    assert x.max() < max(10, people**0.5)
    assert (np.diff(y) >= 0).all()

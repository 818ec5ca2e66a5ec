"""Pictures of people show who they are given."""

from __future__ import annotations

from itertools import product

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from committees import Greedy, Problem, datasets, recruit
from committees.greedy import quotas
from committees.lp import best_policy
from companion import plots
from companion.plots.people import acceptance_table, positions
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


@pytest.mark.parametrize("features", [["age"], ["gender", "age"], ["gender", "region", "age"]])
def test_acceptance_map_has_a_cell_for_every_type(features):
    policy = best_policy(datasets.brexit(features))
    ax = plots.acceptance_map(policy).axes[0]
    rows = [label.get_text() for label in ax.get_yticklabels()]
    columns = [label.get_text() for label in ax.get_xticklabels()]
    cells = np.asarray(ax.collections[0].get_array()).reshape(len(rows), len(columns))
    assert cells.size == len(policy.acceptance)
    on_the_side = ax.get_ylabel().split(" · ")
    on_top = [feature for feature in ax.get_xlabel().split(" · ") if feature]
    assert {*on_the_side, *on_top} == {*features}
    values = [policy.problem.features[feature] for feature in on_the_side]
    assert rows == [" · ".join(labels) for labels in product(*values)]
    for row, cell_row in zip(rows, cells, strict=True):
        for column, cell in zip(columns, cell_row, strict=True):
            type_id = dict(zip(on_the_side, row.split(" · "), strict=True))
            type_id |= dict(zip(on_top, column.split(" · "), strict=False))
            assert cell == policy.acceptance[tuple(type_id[f] for f in features)]


def test_networks_have_their_features_and_edges():
    structures = {"weak": [("age", "gender")], "strong": [("age", "gender"), ("vote", "age")]}
    axes = plots.networks(structures, ["age", "gender", "vote"]).axes
    assert [ax.get_xlabel() for ax in axes] == ["weak", "strong"]
    assert [[text.get_text() for text in ax.texts] for ax in axes] == [
        ["age", "gender", "vote"]
    ] * 2
    assert [len(ax.patches) for ax in axes] == [1, 2]


def test_filling_ends_where_the_recruitment_did():
    found = recruit(Greedy(0.0), PROBLEM, 20, np.random.default_rng(1))
    limits = pd.Series(quotas(PROBLEM, 20, 0.0), PROBLEM.labels)
    seats, people = plots.filling(PROBLEM, found, "age", limits).axes
    assert listed(seats) == list(PROBLEM.features["age"])
    for value in PROBLEM.features["age"]:
        taken = (PROBLEM.types["age"].to_numpy()[found.type_ids] == value).sum()
        assert drawn(seats, value).get_xydata()[-1].tolist() == [20, taken]
    ends = {line.get_xydata()[-1, 0] for line in people.lines}
    assert ends == {found.screened[-1]}
    crosses = [line.get_ydata()[0] for line in seats.lines if line.get_marker() == "x"]
    assert crosses == limits["age"].tolist()


def test_queue_has_a_square_for_everybody_and_a_bar_for_every_value():
    problem, type_ids, accepted = one_queue(30)
    crowd, seats = plots.queue(problem, type_ids, accepted, "CMDP").axes
    yes, no = (squares.get_offsets().tolist() for squares in crowd.collections)
    assert (len(yes), len(yes) + len(no)) == (30, len(type_ids))
    assert len({(x, y) for x, y in yes + no}) == len(type_ids)  # no two at the same place
    assert [bar.get_width() for bar in seats.patches] == list(seated(problem, type_ids[accepted]))
    (marks,) = seats.lines
    assert marks.get_xdata() == pytest.approx(30 * problem.rho)


def test_acceptance_table_has_the_two_largest_features_in_rows():
    table = acceptance_table(best_policy(datasets.brexit(["gender", "region", "age", "vote"])))
    assert (list(table.index.names), list(table.columns.names)) == (
        ["age", "region"],
        ["gender", "vote"],
    )


@pytest.mark.parametrize("people", [1, 9, 150])
def test_positions_fill_rows_of_ten_or_more(people):
    x, y = positions(people)
    assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == people
    assert x.max() < max(10, people**0.5)
    assert (np.diff(y) >= 0).all()

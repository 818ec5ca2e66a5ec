"""The pictures show the numbers they are given, in the colours of the book."""

from __future__ import annotations

from itertools import permutations, product

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from committees import CMDP, Greedy, Problem, datasets, recruit, simulate
from committees.greedy import quotas
from committees.lp import best_policy
from companion import plots
from companion.plots import look
from companion.plots.style import without_tolerance
from samples import one_queue, seated

PROBLEM = datasets.brexit(["gender", "age"])
STRATEGIES = [name for name in look._COLOURS if name != "Greedy"]  # which is Greedy 0.02's


@pytest.fixture(autouse=True)
def the_style_of_the_book():
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
    return pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])


def listed(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax, label):
    """The line with this label in the legend."""
    return dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))[label]


# --- colours


def luminance(colour):
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_every_strategy_has_a_colour_of_its_own_that_shows_on_white():
    colours = plots.palette(STRATEGIES)
    assert len(set(colours.values())) == len(STRATEGIES) > 10
    for name, colour in colours.items():
        assert 1.05 / (luminance(colour) + 0.05) > 2, name


def test_a_strategy_has_its_colour_whatever_stands_beside_it():
    for names in permutations(["CMDP", "Resolving 0.02", "RL-CMDP ×0.1", "stranger"]):
        for name, colour in plots.palette(names).items():
            assert colour == plots.palette([name])[name]
    crowd = plots.palette(["Greedy 0.02", "mine", "CMDP", "RL-CMDP", "yours"])
    assert len({*crowd.values()}) == 5
    assert plots.palette(["Resolving 0.02"]) != plots.palette(["Resolving 0.02 learning"])
    for same in (["Resolving 0.02", "Resolving 0.1"], ["RL-CMDP", "RL-CMDP δ=0.2"]):
        assert len({plots.palette([name])[name] for name in same}) == 1


def test_any_number_of_strangers_can_be_told_apart():
    names = [f"mine {number}" for number in range(12)]
    assert len({*plots.palette(names).values()}) == 12


def test_of_two_variants_the_first_is_lighter():
    found = plots.palette(["CMDP, weak", "CMDP, strong"])
    assert found["CMDP, strong"] == plots.palette(["CMDP"])["CMDP"]
    assert sum(found["CMDP, weak"]) > sum(found["CMDP, strong"])


def test_the_background_is_opaque():
    assert to_rgb(plt.figure().get_facecolor()) == (1, 1, 1)
    assert mpl.rcParams["savefig.facecolor"] == "white"


# --- simulations


def test_curves_show_means_against_sizes():
    frame = table("Greedy 0.02", "CMDP", "mine")
    people, loss = plots.curves(frame).axes
    assert listed(people) == ["Greedy 0.02", "CMDP", "mine"]
    assert loss.get_legend() is None
    assert (people.get_yscale(), loss.get_yscale()) == ("log", "linear")
    assert [people.get_ylabel(), loss.get_ylabel()] == ["people screened", "representation loss"]
    colours = plots.palette(["Greedy 0.02", "CMDP", "mine"])
    for number, name in enumerate(colours):
        line = people.lines[number]
        assert line.get_xydata().tolist() == [[50, (number + 1) * 50], [1000, (number + 1) * 1000]]
        assert to_rgb(line.get_color()) == pytest.approx(colours[name])
        assert loss.lines[number].get_ydata() == pytest.approx([1.5 / 50, 1.5 / 1000])
    assert len(people.collections) == 3  # a band for each


def test_a_single_size_gets_bars_and_a_long_legend_two_columns():
    frame = table(*(f"mine {number}" for number in range(8)))
    people, _ = plots.curves(frame[frame["size"] == 50], log=()).axes
    assert people.get_yscale() == "linear"
    assert people.get_ylim()[0] == 0
    assert len(people.containers) == 8
    assert people.get_legend()._ncols == 2


def test_bounds_have_the_colour_of_what_they_bound():
    bound = pd.Series({1000: 0.1, 50: 0.5})
    ax = plots.loss_and_bounds(table("CMDP", "mine"), {"CMDP": bound, "another": bound}).axes[0]
    own = drawn(ax, "bound for CMDP")
    assert own.get_color() == plots.palette(["CMDP"])["CMDP"]
    assert own.get_xydata().tolist() == [[50, 0.5], [1000, 0.1]]
    assert drawn(ax, "another").get_color() == plots.REFERENCE
    assert len(ax.collections[-1].get_offsets()) == 8  # every run a dot
    many = table("CMDP", "Greedy 0.02", "Greedy 0.05", "mine")
    assert "bound for CMDP" not in listed(plots.loss_and_bounds(many, {"CMDP": bound}).axes[0])


def test_curves_against_anything():
    columns = pd.MultiIndex.from_product([["mean", "±"], ["screened", "loss"]])
    frame = pd.DataFrame([[10, 0.3, 1, 0.1], [20, 0.2, 2, 0.05]], [0.1, 0.5], columns)
    _, ax = plt.subplots()
    plots.against({"CMDP": frame}, "loss", "tolerance", ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("tolerance", "representation loss")
    assert ax.lines[0].get_xydata().tolist() == [[0.1, 0.3], [0.5, 0.2]]
    (bars,) = ax.collections
    assert [bar[:, 1].tolist() for bar in bars.get_segments()] == [
        pytest.approx([0.2, 0.4]),
        pytest.approx([0.15, 0.25]),
    ]


def test_the_trade_off_is_people_per_seat_against_loss():
    ax = plots.tradeoff(table("CMDP", "mine")).axes[0]
    assert drawn(ax, "mine").get_xydata().tolist() == [[2, 1.5 / 50], [2, 1.5 / 1000]]
    assert [text.get_text() for text in ax.texts] == ["CMDP", "mine"]
    assert ax.texts[0].xy == (1, 1.5 / 50)
    small, large = ax.collections[1].get_sizes()
    assert small < large


def test_the_cloud_has_a_cross_at_each_mean():
    ax = plots.cloud(table("CMDP", "mine")).axes[0]
    assert [len(dots.get_offsets()) for dots in ax.collections] == [4, 4]
    assert drawn(ax, "mine").get_xydata().tolist() == [[1050, pytest.approx(0.75 * 1.05 / 50)]]


def test_the_frontier_joins_the_tolerances_of_a_strategy():
    frame = table("Greedy 0.02", "Greedy 0.05", "CMDP")
    limits = pd.DataFrame(
        [("fluid limit", size, loss, 1.5 * size) for size in (50, 1000) for loss in (0.1, 0.2)],
        columns=["limit", "size", "loss", "people"],
    )
    small, large = plots.frontier(frame, limits).axes
    assert [ax.get_title() for ax in (small, large)] == ["50 seats", "1000 seats"]
    assert listed(large) == ["Greedy", "CMDP", "fluid limit"]
    assert small.lines[0].get_xydata().tolist() == [[1, 0.03], [2, 0.03]]
    assert small.lines[2].get_xydata().tolist() == [[1.5, 0.1], [1.5, 0.2]]


# --- problems


def test_shares_stand_where_they_are():
    ax = plots.shares(PROBLEM).axes[0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"{feature}: {value}" for feature, value in PROBLEM.values]
    _, target, offered = ax.collections
    assert target.get_offsets()[:, 0].tolist() == pytest.approx(PROBLEM.rho)
    assert offered.get_offsets()[:, 0].tolist() == pytest.approx(PROBLEM.presence)
    assert (np.diff(target.get_offsets()[:, 1]) == -1).all()  # from the top down


@pytest.mark.parametrize("features", [["age"], ["gender", "age"], ["gender", "region", "age"]])
def test_the_map_has_a_cell_for_every_type(features):
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


def test_a_committee_filling_up_ends_where_it_ended():
    found = recruit(Greedy(0.0), PROBLEM, 20, np.random.default_rng(1))
    limits = pd.Series(quotas(PROBLEM, 20, 0.0), PROBLEM.values)
    seats, people = plots.filling(PROBLEM, found, "age", limits).axes
    assert listed(seats) == list(PROBLEM.features["age"])
    for value in PROBLEM.features["age"]:
        taken = (PROBLEM.types["age"].to_numpy()[found.type_ids] == value).sum()
        assert drawn(seats, value).get_xydata()[-1].tolist() == [20, taken]
    ends = {line.get_xydata()[-1, 0] for line in people.lines}
    assert ends == {found.screened[-1]}
    crosses = [line.get_ydata()[0] for line in seats.lines if line.get_marker() == "x"]
    assert crosses == limits["age"].tolist()
    plain = plots.filling(PROBLEM, recruit(CMDP(), PROBLEM, 5, np.random.default_rng(1)), "gender")
    assert len(plain.axes[0].lines) == 2 * 2  # seats taken, and the target


def test_a_dollar_is_no_formula():
    halves = {"income": {"under $30": 0.5, "over $30": 0.5}}
    figure = plots.shares(Problem(halves, [0.5, 0.5]))
    figure.canvas.draw()
    assert figure.axes[0].get_yticklabels()[0].get_text() == r"income: under \$30"


def test_the_trade_off_names_each_path_where_it_starts():
    frame = simulate([Greedy(0.05), CMDP()], datasets.brexit(["age"]), [20, 60], runs=3, seed=1)
    (ax,) = plots.tradeoff(frame).axes
    means = plots.per_seat(frame)
    for text, line in zip(ax.texts, ax.lines, strict=True):
        path = means.loc[text.get_text()]
        assert text.xy == (path["per seat"][20], path["loss"][20])
        assert line.get_ydata().tolist() == path["loss"].tolist()
        assert (
            text.get_color()
            == line.get_color()
            == plots.palette([text.get_text()])[text.get_text()]
        )


def test_the_queue_has_a_square_for_everybody_and_a_bar_for_every_value():
    problem, type_ids, accepted = one_queue(30)
    crowd, seats = plots.queue(problem, type_ids, accepted, "CMDP").axes
    yes, no = (squares.get_offsets().tolist() for squares in crowd.collections)
    assert (len(yes), len(yes) + len(no)) == (30, len(type_ids))
    assert len({(x, y) for x, y in yes + no}) == len(type_ids)  # nobody on another's place
    assert [bar.get_width() for bar in seats.patches] == list(seated(problem, type_ids[accepted]))
    (marks,) = seats.lines
    assert marks.get_xdata() == pytest.approx(30 * problem.rho)


@pytest.mark.parametrize("tolerance", ["0", "0.02", "1e-05", "1"])
def test_a_tolerance_is_not_part_of_the_family(tolerance):
    for family in ("Resolving", "Resolving learning"):
        name = family.replace("Resolving", f"Resolving {tolerance}")
        assert without_tolerance(name, "Resolving", "Greedy") == family
        assert without_tolerance(family, "Resolving", "Greedy") == family
        assert plots.palette([name])[name] == plots.palette([family])[family]

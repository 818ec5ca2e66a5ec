"""One style, and one colour per strategy, in every picture."""

from __future__ import annotations

from itertools import permutations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from committees import CMDP, RLCMDP, Greedy, PlugIn, Strategy, datasets
from committees.beyond import Believing, FairCMDP, Foresight, Prices
from companion.experiments import Everybody
from companion.plots.style import COLOURS, palette, use_style
from companion.printed import PrintedRLCMDP
from rivals import InBand, OneProgram, PosteriorSampling, Tailoring

STRATEGIES = [
    *(Greedy(tolerance) for tolerance in (0, 0.02, 0.05, 1e-5, 1)),
    CMDP(),
    RLCMDP(),
    RLCMDP(delta=0.2, scale=0.1),
    RLCMDP(confidence="bernstein", scale=0.3),
    PrintedRLCMDP(),
    PrintedRLCMDP(delta=0.2, scale=0.1),
    PlugIn(),
    FairCMDP(),
    *(Foresight(tolerance) for tolerance in (0, 0.02, 1e-5, 1)),
    Foresight(seats=([1, 1], [2, 2])),
    Prices(),
    Prices(1.5),
    Foresight(0.02, learn=True),
    Foresight(learn=True, seats=([1, 1], [2, 2])),
    Believing(CMDP(), datasets.brexit(["gender"])),
]
OTHERS = [Everybody()]  # drawn nowhere
RIVALS = [InBand(CMDP(), 0.02), PosteriorSampling(), OneProgram(), Tailoring(0.02)]


def subclasses(kind):
    """Our own strategies: those of other tests are not looked at."""
    for own in kind.__subclasses__():
        if own.__module__.split(".")[0] in ("committees", "companion", "rivals"):
            yield own
            yield from subclasses(own)


def test_strategies_are_all_here():
    assert {type(strategy) for strategy in STRATEGIES + RIVALS + OTHERS} == set(
        subclasses(Strategy)
    )


@pytest.mark.parametrize("strategy", STRATEGIES + RIVALS, ids=str)
def test_strategies_have_names_that_begin_with_the_family(strategy):
    assert f"{strategy.name} ".startswith(f"{strategy.family} ")


def luminance(colour):
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_palette_has_a_colour_for_every_strategy_that_shows_on_white():
    names = [name for name in COLOURS if name != "Greedy"]  # which has the colour of Greedy 0.02
    colours = palette(names)
    assert colours == {name: COLOURS[name] for name in names}
    assert len(set(colours.values())) == len(names) > 10
    for name, colour in colours.items():
        assert 1.05 / (luminance(colour) + 0.05) > 2, name


def test_palette_does_not_depend_on_what_stands_beside_a_strategy():
    for names in permutations(["CMDP", "Foresight 0.02", "RL-CMDP ×0.1", "mine"]):
        for name, colour in palette(names).items():
            assert colour == palette([name])[name]
    crowd = palette(["Greedy 0.02", "mine", "CMDP", "RL-CMDP", "yours"])
    assert len({*crowd.values()}) == 5
    assert palette(["Foresight 0.02"]) != palette(["Foresight learning 0.02"])


@pytest.mark.parametrize(
    "names",
    [
        ["Foresight 0.02", "Foresight 0.1", "Foresight 1e-05", "Foresight"],
        ["Foresight learning 0.02", "Foresight learning 0.1", "Foresight learning"],
        ["Prices 4", "Prices 1.5", "Prices"],
        ["RL-CMDP", "RL-CMDP δ=0.2"],
        ["RL-CMDP ×0.1", "RL-CMDP ×0.1 δ=0.2"],
        ["RL-CMDP as printed", "RL-CMDP as printed ×0.1"],
    ],
    ids=lambda names: names[0],
)
def test_palette_has_one_colour_per_family(names):
    assert len({palette([name])[name] for name in names}) == 1


def test_palette_tells_strategies_of_a_family_apart():
    names = ["Greedy 0.1", "Greedy 0.02", "Greedy 0.2", "Foresight 0.02", "Foresight 0.1"]
    found = palette(names)
    assert len({*found.values()}) == len(names)
    assert found["Greedy 0.02"] == COLOURS["Greedy 0.02"]
    assert found["Foresight 0.02"] == COLOURS["Foresight"]


def test_palette_tells_any_number_of_unknown_names_apart():
    names = [f"mine {number}" for number in range(12)]
    assert len({*palette(names).values()}) == 12


def test_palette_makes_the_first_of_two_variants_lighter():
    found = palette(["CMDP, weak", "CMDP, strong", "CMDP, weak"])
    assert found["CMDP, strong"] == palette(["CMDP"])["CMDP"]
    assert sum(found["CMDP, weak"]) > sum(found["CMDP, strong"])


def test_use_style_makes_the_background_opaque():
    with mpl.rc_context():
        use_style()
        assert to_rgb(plt.figure().get_facecolor()) == (1, 1, 1)
        assert mpl.rcParams["savefig.facecolor"] == "white"
        plt.close("all")

"""How all pictures look: one style, and one colour per strategy, everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import seaborn as sns

Colour = tuple[float, float, float]

_SEABORN = sns.color_palette("colorblind")
#: Paul Tol's dark colours, also safe for colour-blind readers.
_TOL = sns.color_palette(["#332288", "#882255", "#44AA99", "#999933", "#CC6677", "#888888"])
#: The colour of each family of strategies (`Strategy.family`).
FAMILIES: dict[str, Colour] = {
    "Greedy": _SEABORN[0],
    "CMDP": _SEABORN[1],
    "CMDP fair": _TOL[2],
    "RL-CMDP": _SEABORN[2],
    "RL-CMDP as printed": _SEABORN[3],
    "RL-CMDP-B": _SEABORN[5],
    "plug-in": _SEABORN[4],
    "Prices": _TOL[3],
    "Foresight": _TOL[0],
    "Foresight learning": _TOL[1],
}
#: The same, and strategies (`Strategy.name`) with a colour of their own.
COLOURS: dict[str, Colour] = FAMILIES | {
    "Greedy 0": sns.color_palette(["#003f66"])[0],
    "Greedy 0.02": _SEABORN[0],
    "Greedy 0.05": _SEABORN[9],
    "RL-CMDP ×0.075": sns.color_palette(["#5b4a00"])[0],
}
#: For bounds, targets and quotas; for people who are rejected; and the map for any other data.
REFERENCE, PALE, MAP = "#444444", "#d0d0d0", "crest"
LABELS = {"size": "committee size", "screened": "people screened", "loss": "representation loss"}


#: Inches of a panel. On a phone it is as wide as the page, and its words are still readable.
PANEL = (4.6, 3.4)


def use_style() -> None:
    """Set the book's style; every notebook calls this once."""
    figure = {"figure.figsize": PANEL, "figure.dpi": 110, "figure.constrained_layout.use": True}
    white = {"figure.facecolor": "white", "savefig.facecolor": "white"}
    spines = {"axes.spines.top": False, "axes.spines.right": False}
    sns.set_theme(style="whitegrid", palette="colorblind", rc=figure | white | spines)


def palette(names: Iterable[str]) -> dict[str, Colour]:
    """The colour of each strategy: its own, its family's if that is free, or another one.

    A name may be followed by a comma and a variant: of "CMDP, weak" and "CMDP, strong" the first
    is lighter.
    """
    names = list(dict.fromkeys(names))
    strategies = dict.fromkeys(name.partition(", ")[0] for name in names)
    others = chain(_TOL[4:], sns.color_palette("husl", len(strategies)))
    colours: dict[str, Colour] = {}
    for name in sorted(strategies, key=lambda name: name not in COLOURS):
        colour = COLOURS.get(_longest_known(name, COLOURS))
        colours[name] = colour if colour and colour not in colours.values() else next(others)
    lighter = {name.partition(", ")[0]: name for name in reversed(names) if ", " in name}.values()
    found = {name: colours[name.partition(", ")[0]] for name in names}
    return found | {name: tuple(sns.light_palette(found[name], 3)[1][:3]) for name in lighter}


def _longest_known(name: str, known: Iterable[str]) -> str:
    """The longest known name that this one begins with, or else the name itself."""
    fits = [other for other in known if f"{name} ".startswith(f"{other} ")]
    return max(fits, key=len, default=name)

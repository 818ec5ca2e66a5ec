"""How all pictures look: one style, and one colour per strategy, everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

import seaborn as sns
from matplotlib.axes import Axes

_BLIND_SAFE = sns.color_palette("colorblind")
#: Paul Tol's dark colours, safe as well.
_TOL = sns.color_palette(["#332288", "#882255", "#44AA99", "#999933", "#CC6677", "#888888"])
_COLOURS = {
    "Greedy 0": sns.color_palette(["#003f66"])[0],
    "Greedy 0.02": _BLIND_SAFE[0],
    "Greedy 0.05": _BLIND_SAFE[9],
    "Greedy": _BLIND_SAFE[0],
    "CMDP": _BLIND_SAFE[1],
    "RL-CMDP": _BLIND_SAFE[2],
    "RL-CMDP ×0.1": sns.color_palette(["#5b4a00"])[0],
    "RL-CMDP as printed": _BLIND_SAFE[3],
    "RL-CMDP-B": _BLIND_SAFE[5],
    "plug-in": _BLIND_SAFE[4],
    "Resolving": _TOL[0],
    "Resolving learning": _TOL[1],
    "CMDP fair": _TOL[2],
}
#: For strategies without a colour of their own: dark, safe, and unlike those above.
_SPARE = _TOL[3:]
#: For what is neither a strategy nor data: bounds, targets, quotas.
REFERENCE = "#444444"
#: For who is turned away.
PALE = "#d0d0d0"
#: For data of no strategy's: the volunteers, the values of a feature, a table as a map.
MAP = "crest"
LABELS = {
    "size": "committee size",
    "screened": "people screened",
    "loss": "representation loss",
}


def use_style() -> None:
    """Set the book's look; every notebook calls this once."""
    sns.set_theme(
        context="notebook",
        style="whitegrid",
        palette="colorblind",
        rc={
            "figure.figsize": (8, 4),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
        },
    )


def palette(names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """The colour of each strategy: the one it has in every chapter, or a spare one.

    Of two variants "CMDP, weak" and "CMDP, strong" the first is lighter.
    """
    strategies = list(dict.fromkeys(name.partition(", ")[0] for name in names))
    own = {name: _COLOURS.get(_family(name)) for name in strategies}
    strangers = list(own.values()).count(None)
    few = strangers <= len(_SPARE)
    spare = iter(_SPARE if few else sns.color_palette("husl", strangers))
    colours = {name: own[name] or next(spare) for name in strategies}
    found: dict[str, tuple[float, float, float]] = {}
    for name in names:
        strategy, _, variant = name.partition(", ")
        first = variant and not any(other.startswith(f"{strategy}, ") for other in found)
        colour = colours[strategy]
        r, g, b = sns.light_palette(colour, 3)[1][:3] if first else colour
        found[name] = (r, g, b)
    return found


def _family(name: str) -> str:
    """The name of a strategy without what does not change its colour."""
    return without_tolerance(name.partition(" δ=")[0], "Resolving")


def without_tolerance(name: str, *families: str) -> str:
    """The name of a strategy of one of these families, whatever its tolerance."""
    return re.sub(rf"^({'|'.join(families)}) \d[\d.e-]*", r"\1", name)


def legend(ax: Axes) -> None:
    """The legend, in small print and two columns if it is long."""
    long = len(ax.get_legend_handles_labels()[0]) > 7
    ax.legend(title=None, fontsize="x-small" if long else None, ncols=2 if long else 1)


def join(label: object) -> str:
    text = " · ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    return text.replace("$", r"\$")  # a dollar would start a formula

"""The strategies that an organiser can choose by name, made for their files."""

from __future__ import annotations

from typing import Any

from committees.beyond.registry import make_strategy
from committees.strategy import Strategy
from organiser.files import Assembly

#: How far from its target a share may end, as a share of the committee, if nothing else is said.
USUAL_TOLERANCE = 0.02
#: The names; the first ones keep to a band.
IN_BAND = ("foresight", "foresight-learning")
STRATEGIES = (*IN_BAND, "prices", "greedy", "cmdp", "cmdp-fair", "rl-cmdp")


def choose(name: str, assembly: Assembly, tolerance: float | None = None) -> Strategy:
    """The strategy of this name for an assembly.

    The band is the file's own min and max, or else comes from a tolerance.
    """
    if tolerance is not None and assembly.seats is not None:
        raise ValueError("tolerance: the file has min and max, which are kept to; leave it out")
    options: dict[str, Any] = {}
    if name in (*IN_BAND, "greedy"):
        options = {"tolerance": USUAL_TOLERANCE if tolerance is None else tolerance}
    if name in IN_BAND and assembly.seats is not None:
        options = {"seats": assembly.seats}
    return make_strategy(name, {"scale": 0.075} if name == "rl-cmdp" else options)

"""The strategies that an organiser can choose by name, and the tolerance that they keep to."""

from __future__ import annotations

from collections.abc import Callable

from assembly.files import Assembly
from committees import CMDP, RLCMDP, Greedy, Strategy
from committees.beyond import FairCMDP, Foresight, Prices

#: How far from its target a share may end, as a share of the committee, if nothing else is said.
USUAL_TOLERANCE = 0.02

#: The strategies by name; each is made from a tolerance, which only some of them need.
STRATEGIES: dict[str, Callable[[float], Strategy]] = {
    "greedy": Greedy,
    "cmdp": lambda tolerance: CMDP(),
    "cmdp-fair": lambda tolerance: FairCMDP(),
    "rl-cmdp": lambda tolerance: RLCMDP(scale=0.075),
    "prices": lambda tolerance: Prices(),
    "foresight": Foresight,
    "foresight-learning": lambda tolerance: Foresight(tolerance, learn=True),
}


def choose_tolerance(assembly: Assembly, tolerance: float | None) -> float:
    """The tolerance asked for; if None the usual one, or less to keep to the file's min and max."""
    return min(USUAL_TOLERANCE, assembly.max_tolerance) if tolerance is None else tolerance

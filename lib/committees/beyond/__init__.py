"""Ours: strategies and limits that the paper does not have."""

from committees.beyond.fairness import FairCMDP
from committees.beyond.foresight import Foresight
from committees.beyond.prices import Prices
from committees.beyond.registry import Believing, make_strategy

__all__ = ["Believing", "FairCMDP", "Foresight", "Prices", "make_strategy"]


def __dir__() -> list[str]:
    """What completion offers: not the modules that others of this package use."""
    return __all__

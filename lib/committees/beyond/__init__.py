"""Ours: strategies and limits that the paper does not have."""

from committees.beyond.fairness import FairCMDP
from committees.beyond.foresight import Foresight
from committees.beyond.prices import Prices

__all__ = ["FairCMDP", "Foresight", "Prices"]

"""Ours: strategies and limits that the paper does not have, and what helps to write strategies."""

from committees.beyond.contract import check_strategy
from committees.beyond.fairness import FairCMDP
from committees.beyond.foresight import Foresight
from committees.beyond.prices import Prices
from committees.beyond.registry import Believing, make_strategy

__all__ = ["Believing", "FairCMDP", "Foresight", "Prices", "check_strategy", "make_strategy"]

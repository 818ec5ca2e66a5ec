"""Ours: strategies and limits that the paper does not have."""

from committees.beyond.fairness import FairCMDP
from committees.beyond.resolving import Resolving

__all__ = ["FairCMDP", "Resolving"]

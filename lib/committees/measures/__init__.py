"""One measurement per claim of the ledger; see `committees.claims`."""

from committees.measures import known, practice, unknown
from committees.measures.lab import MEASURES, Lab, Measured

__all__ = ["MEASURES", "Lab", "Measured", "known", "practice", "unknown"]

"""One measurement per claim of the ledger; see `companion.claims`."""

from companion.measurements import known, practice, unknown
from companion.runs import REGISTRY, Lab, Measurement

__all__ = ["REGISTRY", "Lab", "Measurement", "known", "practice", "unknown"]

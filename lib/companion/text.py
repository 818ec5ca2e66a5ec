"""Numbers for the prose of a chapter, and results of a chapter for a sweep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion.parameters import check

__all__ = ["check", "glue_numbers", "save_results", "since", "some", "until"]


def glue_numbers(**values: Any) -> None:
    """Make values known to the text under their names: ``{glue:text}`name:.2f` ``."""
    from myst_nb import glue

    for name, value in values.items():
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, float):  # the last digits depend on the processor
            value = float(f"{round(value, 12):.12g}")
        glue(name, value, display=False)


def some(number: float, one: str, many: str) -> str:
    """A number with its noun, for the text: 1 person, 2 people."""
    return f"{number:,} {one if number == 1 else many}"


def since(holds: pd.Series) -> str:
    """From which size on something is so, for the text; indexed by increasing sizes."""
    before = holds.index[~holds]
    sizes = holds.index[holds.index > before.max()] if len(before) else holds.index
    return f"from {some(sizes.min(), 'seat', 'seats')} on" if len(sizes) else "at no size here"


def until(holds: pd.Series) -> str:
    """Up to which size something is so, for the text; indexed by increasing sizes."""
    stops = holds.index[~holds]
    sizes = holds.index[holds.index < stops.min()] if len(stops) else holds.index
    return f"up to {some(sizes.max(), 'seat', 'seats')}" if len(sizes) else "at no size here"


def save_results(table: str | None, frame: pd.DataFrame) -> None:
    """Write a chapter's results to a CSV file, whole or not at all; None: nowhere."""
    if table is not None:
        part = Path(f"{table}.part")
        try:
            frame.to_csv(part, index=False, lineterminator="\n")
            os.replace(part, table)
        finally:
            part.unlink(missing_ok=True)

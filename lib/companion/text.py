"""What a chapter says: its parameters checked, numbers and words for its prose, its results."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from companion.parameters import check

__all__ = ["check", "glue_numbers", "save_results", "since", "some", "until"]


def glue_numbers(**values: float | str) -> None:
    """Make values known to the text under their names: ``{glue:text}`name:.2f` ``.

    Floats are rounded to 12 digits: the last ones depend on the processor.
    """
    from myst_nb import glue

    for name, value in values.items():
        value = value.item() if isinstance(value, np.generic) else value
        value = float(f"{round(value, 12):.12g}") if isinstance(value, float) else value
        glue(name, value, display=False)


def some(number: float, one: str, many: str) -> str:
    """A number with its noun.

    >>> some(1, "person", "people"), some(2500, "person", "people")
    ('1 person', '2,500 people')
    """
    return f"{number:,} {one if number == 1 else many}"


def since(holds: pd.Series) -> str:
    """From which committee size on something holds: a Series of bool, indexed by increasing sizes.

    >>> since(pd.Series([True, False, True], index=[10, 20, 50]))
    'from 50 seats on'
    """
    sizes = holds.index[np.logical_and.accumulate(holds[::-1])[::-1]]
    return f"from {some(sizes.min(), 'seat', 'seats')} on" if len(sizes) else "at no size here"


def until(holds: pd.Series) -> str:
    """Up to which committee size something holds, as for `since`.

    >>> until(pd.Series([True, False, True], index=[10, 20, 50]))
    'up to 10 seats'
    """
    sizes = holds.index[np.logical_and.accumulate(holds)]
    return f"up to {some(sizes.max(), 'seat', 'seats')}" if len(sizes) else "at no size here"


def save_results(table: str | None, frame: pd.DataFrame) -> None:
    """Write a chapter's results to a CSV file, completely or not at all; None: nowhere."""
    if table is not None:
        part = Path(f"{table}.part")
        try:
            frame.to_csv(part, index=False, lineterminator="\n")
            os.replace(part, table)
        finally:
            part.unlink(missing_ok=True)

"""What a chapter says: its parameters checked, numbers and words for its prose, its results."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

import IPython.display
import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from companion.parameters import check

__all__ = ["check", "glue_numbers", "of", "save_results", "since", "some", "table", "until"]

#: How numbers of a table are written, by the name of their column.
FORMATS = {"screened": ",.0f", "people": ",.0f", "per seat": ".2f", "loss": ".4f", "share": ".3f"}
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def glue_numbers(**values: float | str) -> None:
    """Make values known to the text under their names, for the role `glue:text`.

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


def of(number: int, total: int, noun: str = "") -> str:
    """So many of so many, as one would say it.

    >>> of(0, 600), of(600, 600), of(3, 600), of(6, 6, "sizes"), of(2, 2, "sizes")
    ('none of the 600', 'all 600', 'three of the 600', 'all six sizes', 'both sizes')
    """
    all_of = WORDS[total] if total < len(WORDS) else f"{total:,}"
    some_of = WORDS[number] if number < len(WORDS) else f"{number:,}"
    if number == total > 1:
        return f"both {noun}".strip() if total == 2 else f"all {all_of} {noun}".strip()
    return f"{'none' if number == 0 else some_of} of the {all_of} {noun}".strip()


def table(frame: pd.DataFrame, **formats: str) -> None:
    """Show a table: numbers to the right, with thousands, and with decimals that mean something.

    Formats are by column, such as `loss=".3f"`, on top of `FORMATS`; of two levels of columns the
    first that has one counts. The level "mean" is not written.
    """
    known, flat = FORMATS | formats, frame.reset_index()
    if isinstance(frame.index, pd.RangeIndex) and frame.index.name is None:
        flat = frame
    heads, columns = [], []
    for name, column in ((flat.columns[k], flat.iloc[:, k]) for k in range(flat.shape[1])):
        parts = [str(part) for part in np.atleast_1d(np.array(name, dtype=object)) if part != ""]
        how = next((known[part] for part in parts if part in known), "")
        is_number = is_numeric_dtype(column) and not is_bool_dtype(column)
        style = ' class="number"' if is_number or how else ""
        words = [part for part in parts if part != "mean"] or parts
        heads.append((style, "±" if words[-1] == "±" else " ".join(words)))
        if words[-1] == "±":
            column = column.astype(object).where(column != 0, "")  # what is exact has no interval
        columns.append([(style, _cell(value, how)) for value in column])
    rows = [heads, *zip(*columns, strict=True)]
    lines = [
        "".join(f"<{tag}{style}>{html.escape(word)}</{tag}>" for style, word in row)
        for tag, row in zip(["th"] + ["td"] * (len(rows) - 1), rows, strict=True)
    ]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines[1:])
    text = f'<table class="dataframe results">\n<thead><tr>{lines[0]}</tr></thead>\n<tbody>\n{body}'
    plain = pd.DataFrame(
        [[word for _, word in row] for row in rows[1:]], columns=[w for _, w in heads]
    )
    shown = {"text/html": f"{text}</tbody></table>", "text/plain": plain.to_string(index=False)}
    IPython.display.display(shown, raw=True)


def _cell(value: Any, how: str) -> str:
    """One cell in words; without a format, numbers have three digits at least."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "–"
    usual = ",d" if isinstance(value, int | np.integer) else ",.0f" if abs(value) >= 100 else ".3g"
    return f"{value:{how or usual}}".replace("-", "−")


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

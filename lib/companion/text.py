"""What a chapter says: its parameters checked, numbers and words for its prose, its results."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
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
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float):
            value = float(f"{round(value, 12):.12g}")
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
    if number == total == 2:
        words = "both"
    elif number == total > 1:
        words = f"all {_in_words(total)}"
    elif number == 0:
        words = f"none of the {_in_words(total)}"
    else:
        words = f"{_in_words(number)} of the {_in_words(total)}"
    return f"{words} {noun}".strip()


def _in_words(number: int) -> str:
    return WORDS[number] if number < len(WORDS) else f"{number:,}"


def table(frame: pd.DataFrame, **formats: str) -> None:
    """Show a table: numbers to the right, with thousands, and with decimals that mean something.

    Formats are by column, such as `loss=".3f"`, on top of `FORMATS`; of two levels of columns the
    first that has one counts. The level "mean" is not written.
    """
    flat = frame
    if not (isinstance(frame.index, pd.RangeIndex) and frame.index.name is None):
        flat = frame.reset_index()
    columns = [_Column(flat, place, FORMATS | formats) for place in range(flat.shape[1])]
    heads = [column.head for column in columns]
    rows = [list(row) for row in zip(*(column.cells for column in columns), strict=True)]
    styles = [column.style for column in columns]
    lines = [f"<tr>{_line('td', styles, row)}</tr>\n" for row in rows]
    text = '<table class="dataframe results">\n'
    text += f"<thead><tr>{_line('th', styles, heads)}</tr></thead>\n"
    text += f"<tbody>\n{''.join(lines)}</tbody></table>"
    plain = pd.DataFrame(rows, columns=heads).to_string(index=False)
    IPython.display.display({"text/html": text, "text/plain": plain}, raw=True)


class _Column:
    """A column of a table as it is shown: its head, its cells in words, and their style."""

    def __init__(self, frame: pd.DataFrame, place: int, formats: Mapping[str, str]) -> None:
        values = frame.iloc[:, place]
        levels = np.atleast_1d(np.array(frame.columns[place], dtype=object))
        parts = [str(part) for part in levels if part != ""]
        form = next((formats[part] for part in parts if part in formats), "")
        is_number = is_numeric_dtype(values) and not is_bool_dtype(values)
        words = [part for part in parts if part != "mean"] or parts
        if words[-1] == "±":
            words = ["±"]
            values = values.astype(object).where(values != 0, "")  # what is exact has no interval
        self.head = " ".join(words)
        self.cells = [_cell(value, form) for value in values]
        self.style = ' class="number"' if is_number or form else ""


def _line(tag: str, styles: Sequence[str], words: Sequence[str]) -> str:
    """The cells of one line of a table."""
    cells = zip(styles, words, strict=True)
    return "".join(f"<{tag}{style}>{html.escape(word)}</{tag}>" for style, word in cells)


def _cell(value: Any, form: str) -> str:
    """One cell in words; without a format, numbers have three digits at least."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "–"
    if form == "":
        form = _usual_form(value)
    return f"{value:{form}}".replace("-", "−")


def _usual_form(value: Any) -> str:
    if isinstance(value, int | np.integer):
        return ",d"
    return ",.0f" if abs(value) >= 100 else ".3g"


def since(holds: pd.Series) -> str:
    """From which committee size on something holds: a Series of bool, indexed by increasing sizes.

    >>> since(pd.Series([True, False, True], index=[10, 20, 50]))
    'from 50 seats on'
    """
    to_the_end = np.logical_and.accumulate(holds[::-1])[::-1]
    sizes = holds.index[to_the_end]
    if len(sizes) == 0:
        return "at no size here"
    return f"from {some(sizes.min(), 'seat', 'seats')} on"


def until(holds: pd.Series) -> str:
    """Up to which committee size something holds, as for `since`.

    >>> until(pd.Series([True, False, True], index=[10, 20, 50]))
    'up to 10 seats'
    """
    from_the_start = np.logical_and.accumulate(holds)
    sizes = holds.index[from_the_start]
    if len(sizes) == 0:
        return "at no size here"
    return f"up to {some(sizes.max(), 'seat', 'seats')}"


def save_results(table: str | None, frame: pd.DataFrame) -> None:
    """Write a chapter's results to a CSV file, completely or not at all; None: nowhere."""
    if table is None:
        return
    part = Path(f"{table}.part")
    try:
        frame.to_csv(part, index=False, lineterminator="\n")
        os.replace(part, table)
    finally:
        part.unlink(missing_ok=True)

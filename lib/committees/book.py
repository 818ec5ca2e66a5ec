"""What the chapters share beyond computing and drawing: sensible parameters, numbers, results.

A chapter is a function of its `parameters` cell, which papermill may overwrite. The first cell
after it calls `check`, so that a value that makes no sense ends in one sentence instead of a
traceback from the depths; `say` brings numbers into the prose; `leave` writes the chapter's results
where a sweep finds them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from committees import datasets
from committees.checks import whole

Rule = Callable[[str, Any], None]


class BadParameter(ValueError):
    """A chapter's parameter makes no sense. A notebook shows this as one sentence."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def check(**parameters: Any) -> None:
    """Refuse values that a chapter cannot work with; each parameter is checked by its name."""
    for name, value in parameters.items():
        try:
            RULES[name](name, value)
        except ValueError as error:
            raise BadParameter(*error.args) from None


def say(**values: Any) -> None:
    """Make values known to the text under their names: ``{glue:text}`name:.2f` ``."""
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value.item() if isinstance(value, np.generic) else value, display=False)


def leave(table: str | None, frame: pd.DataFrame) -> None:
    """Write a chapter's results to a CSV file, whole or not at all; None: nowhere."""
    if table is not None:
        part = Path(f"{table}.part")
        frame.to_csv(part, index=False, lineterminator="\n")
        os.replace(part, table)


def at_least(least: int) -> Rule:
    """A rule: a whole number, not smaller than this."""
    return lambda name, value: whole(name, value, least)


def between(low: float, high: float, *, ends: bool = True) -> Rule:
    """A rule: a number from low to high, with or without these themselves."""

    def rule(name: str, value: Any) -> None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not (low <= value <= high if ends else low < value < high):
            to = "from" if ends else "between"
            link = "to" if ends else "and"
            raise ValueError(
                f"{name}: expected a number {to} {low:g} {link} {high:g}, got {value!r}"
            )

    return rule


def each(rule: Rule, least: int = 1) -> Rule:
    """A rule: a list of such things, not shorter than this."""

    def rule_of_list(name: str, value: Any) -> None:
        if not isinstance(value, list | tuple) or len(value) < least:
            raise ValueError(f"{name}: expected a list of at least {least}, got {value!r}")
        for item in value:
            rule(name, item)

    return rule_of_list


def maybe(rule: Rule) -> Rule:
    """A rule: such a thing, or None."""
    return lambda name, value: None if value is None else rule(name, value)


def among(known: Iterable[str]) -> Rule:
    """A rule: one of these words."""
    words = list(known)

    def rule(name: str, value: Any) -> None:
        if value not in words:
            raise ValueError(f"{name}: {value!r} is none of {', '.join(map(repr, words))}")

    return rule


def _features(name: str, value: Any) -> None:
    each(among(datasets.brexit().features))(name, value)
    if len(set(value)) < len(value):
        raise ValueError(f"{name}: {value!r} has the same feature twice")


def _table(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name}: expected the name of a CSV file, got {value!r}")
    if not Path(value).resolve().parent.is_dir():
        raise ValueError(f"{name}: the folder of {value!r} does not exist")


RULES: dict[str, Rule] = {
    "features": maybe(_features),
    "size": at_least(1),
    "sizes": each(at_least(1)),
    "sizes_1": each(at_least(1)),
    "sizes_2": each(at_least(1)),
    "tolerance": between(0, 1),
    "tolerances": each(between(0, 1)),
    "scale": between(0, 100),
    "scales": each(between(0, 100)),
    "delta": between(0, 1, ends=False),
    "runs": at_least(2),
    "seed": at_least(0),
    "workers": maybe(at_least(1)),
    "table": maybe(_table),
}

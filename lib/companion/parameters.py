"""A chapter's parameters make sense, or one sentence says what does not.

A chapter is a function of its `parameters` cell, which papermill may overwrite. The first cell
after it calls `check`, instead of leaving a traceback from the depths to whoever wrote nonsense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from committees import datasets
from committees.bayesnet import check_edges
from committees.checks import check_integer, check_number

Rule = Callable[[str, Any], None]

#: More seats or runs than this would keep any machine busy for ever.
MANY = 10**6


class BadParameter(ValueError):
    """A chapter's parameter makes no sense. A notebook shows this as one sentence."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def check(**parameters: Any) -> None:
    """Refuse values that a chapter cannot work with; each parameter is checked by its name.

    Parameters that must fit together are compared if they come in the same call.
    """
    try:
        for name, value in parameters.items():
            RULES[name](name, value)
        for names, rule in TOGETHER.items():
            if set(names) <= set(parameters):
                rule(*(parameters[name] for name in names))
    except ValueError as error:
        raise BadParameter(*error.args) from None


def at_least(least: int, most: float = inf) -> Rule:
    """A rule: a whole number, not smaller than this and not larger than that."""
    return partial(check_integer, least=least, most=most)


def between(low: float, high: float, *, ends: bool = True) -> Rule:
    """A rule: a number from low to high, with or without these themselves."""
    return partial(check_number, least=low, most=high, ends=ends)


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


def _network(name: str, value: Any) -> None:
    edge = each(among(datasets.ADULT_FEATURES), least=2)
    each(edge, least=0)(name, value)
    try:
        check_edges(value, datasets.ADULT_FEATURES)
    except ValueError as error:
        raise ValueError(str(error).replace("network", name, 1)) from None
    pairs = [frozenset(ends) for ends in value]
    if len(set(pairs)) < len(pairs):
        raise ValueError(f"{name}: {value!r} has the same edge twice")


def _table(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name}: expected the name of a CSV file, got {value!r}")
    if not Path(value).resolve().parent.is_dir():
        raise ValueError(f"{name}: the folder of {value!r} does not exist")
    if Path(value).is_dir():
        raise ValueError(f"{name}: expected the name of a CSV file, {value!r} is a folder")


def _enough_types(n_features: int, support: int) -> None:
    if support > 2**n_features:
        raise ValueError(
            f"support: expected at most {2**n_features:,}, the number of types with "
            f"n_features = {n_features}, got {support!r}"
        )


def _file(name: str, value: Any) -> None:
    if not isinstance(value, str) or not Path(value).is_file():
        raise ValueError(f"{name}: there is no file {value!r} in {str(Path.cwd())!r}")


def _both_files(targets: str | None, volunteers: str | None) -> None:
    if (targets is None) != (volunteers is None):
        raise ValueError("targets, volunteers: give both files, or none for the invented assembly")


_SIZES = each(at_least(1, MANY))

RULES: Mapping[str, Rule] = {
    "features": maybe(_features),
    "few_features": maybe(_features),
    "more_features": maybe(_features),
    "n_features": at_least(1, 12),
    "support": at_least(2),
    "problems": at_least(1, MANY),
    "network_1": maybe(_network),
    "network_2": maybe(_network),
    "strategy": among(["Greedy", "CMDP", "RL-CMDP", "Resolving"]),
    "targets": maybe(_file),
    "volunteers": maybe(_file),
    "size": at_least(1, MANY),
    "sizes": _SIZES,
    "sizes_1": _SIZES,
    "sizes_2": _SIZES,
    "tolerance": between(0, 1),
    "tolerances": each(between(0, 1)),
    "scale": between(0, 100),
    "scales": each(between(0, 100)),
    "delta": between(1e-9, 1, ends=False),
    "runs": at_least(2, MANY),
    "structure_runs": at_least(1, MANY),
    "variant_runs": at_least(2, MANY),
    "streams": at_least(1, 1000),
    "seed": at_least(0, 2**32 - 1),
    "workers": maybe(at_least(1, 1024)),
    "door": maybe(_table),
    "table": maybe(_table),
}

TOGETHER: Mapping[tuple[str, ...], Callable[..., None]] = {
    ("n_features", "support"): _enough_types,
    ("targets", "volunteers"): _both_files,
}

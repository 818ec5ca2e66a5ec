"""The assembly and the strategies that a page is asked about: the book's, or anybody's.

Two CSV files describe an assembly.

- **Targets**: a row per value of each feature, with the columns `feature`, `value` and `target`, a
  share of the seats; or `feature`, `value`, `min` and `max`, in seats, whose middle is the target.
- **Volunteers**: a row per value of each feature, with the columns `feature`, `value` and `share`,
  and features are taken as independent; or a row per person and a column per feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from committees import Problem, Strategy, datasets
from committees.beyond import make_strategy


def assembly(
    features: Sequence[str] | None = None,
    targets: str | None = None,
    volunteers: str | None = None,
) -> Problem:
    """The problem that two files describe, or the Brexit assembly without any.

    Parameters
    ----------
    features : sequence of str, optional
        Which features to keep, in this order; all of them by default.
    targets, volunteers : str, optional
        The two CSV files.

    >>> folder = datasets.DATA / "examples"
    >>> files = [str(folder / f"millbrook_{name}.csv") for name in ("targets", "volunteers")]
    >>> assembly(["gender", "age"], *files)
    Problem(gender 3, age 4)
    """
    if (targets is None) != (volunteers is None):
        raise ValueError("targets, volunteers: give both files, or none")
    if targets is None or volunteers is None:
        return datasets.brexit(features)
    wanted = datasets.choose_features(_targets(targets), features)
    people = _read("volunteers", volunteers)
    try:
        if {"feature", "value", "share"} <= set(people.columns):
            offered = people.set_index(["feature", "value"])["share"]
            chosen = wanted.index.unique(level="feature")
            is_wanted = offered.index.get_level_values("feature").isin(chosen)
            return Problem.from_marginals(wanted, offered[is_wanted])
        return Problem.from_table(wanted, people)
    except ValueError as error:
        raise ValueError(f"{Path(targets).name}, {Path(volunteers).name}: {error}") from None


def _read(name: str, file: str) -> pd.DataFrame:
    """All words of a file."""
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"{name}: there is no file {file!r}")
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    except ValueError as error:  # it is empty, or no table, or in no UTF-8
        raise ValueError(f"{path.name}: is no CSV file: {error}") from None
    return frame.rename(columns=str.strip)


def _targets(file: str) -> pd.Series:
    """The target of each value, in words or as a number, indexed by feature and value."""
    frame = _read("targets", file)
    columns = set(frame.columns)
    where = Path(file).name
    has_shares = {"feature", "value", "target"} <= columns
    if not has_shares and not {"feature", "value", "min", "max"} <= columns:
        known = ", ".join(frame.columns)
        raise ValueError(
            f"{where}: expected the columns feature, value, target (or feature, value, min, max), "
            f"got {known}"
        )
    if frame.empty:
        raise ValueError(f"{where}: has no row")
    indexed = frame.set_index(["feature", "value"])
    if has_shares:
        return indexed["target"]
    seats = indexed[["min", "max"]].apply(pd.to_numeric, errors="coerce")
    is_odd = ~((seats["min"] >= 0) & (seats["min"] <= seats["max"]))
    if is_odd.any():
        feature, value = seats.index[is_odd][0]
        raise ValueError(f"{where}: feature {feature!r}, value {value!r}: expected 0 <= min <= max")
    middle: Any = seats.mean(axis="columns")
    seats_of_feature = middle.groupby(level="feature").transform("sum")
    return pd.Series(middle / seats_of_feature)


def make_strategies(listed: Sequence[Any]) -> list[Strategy]:
    """Strategies by name; one with options is {name: options}.

    >>> [strategy.name for strategy in make_strategies(["CMDP", {"Prices": {"lead": 2}}])]
    ['CMDP', 'Prices 2']
    """
    if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
        raise ValueError(f"strategies: expected a list of at least 1, got {listed!r}")
    strategies = [make_strategy(*_name_and_options(item)) for item in listed]
    names = [strategy.name for strategy in strategies]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"strategies: {name} is there twice")
    return strategies


def _name_and_options(item: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(item, str):
        return item, {}
    if isinstance(item, Mapping) and len(item) == 1:
        (pair,) = item.items()
        if isinstance(pair[0], str) and isinstance(pair[1], Mapping):
            return pair
    raise ValueError(f"strategies: expected a name, or {{name: {{option: value}}}}, got {item!r}")

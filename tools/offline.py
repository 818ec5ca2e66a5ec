"""The field's way: wait for everybody, then draw a panel from the whole pool.

`sortition-algorithms` (its own project, under the GPL, installed with the extra `offline`) is what
organisers use. It needs the whole pool before it decides about anyone; in return it can give every
volunteer in it the best chance that the quotas allow (maximin). We ask for maximin by name: its
leximin becomes maximin, without an error, where a licensed solver is missing.
"""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from committees.checks import FloatArray, IntArray
from committees.greedy import band
from committees.problem import Problem

#: The lottery is returned as so many equally likely panels.
PANELS = 1000


class NoPanel(ValueError):
    """The pool contains no panel within the quotas."""


def panel(
    problem: Problem, size: int, tolerance: float, type_ids: IntArray, seed: int = 2021
) -> IntArray:
    """Some panel within the band, as positions in the pool `type_ids`; or `NoPanel`."""
    (found,) = _select(problem, size, tolerance, type_ids, seed, test_selection=True)
    return found


def maximin_chances(
    problem: Problem, size: int, tolerance: float, type_ids: IntArray, seed: int = 2021
) -> FloatArray:
    """The chance of each person of the pool under the maximin lottery, to a thousandth."""
    panels = _select(problem, size, tolerance, type_ids, seed, number_selections=PANELS)
    return np.bincount(np.concatenate(panels), minlength=len(type_ids)) / PANELS


def _select(
    problem: Problem, size: int, tolerance: float, type_ids: IntArray, seed: int, **options: Any
) -> list[IntArray]:
    try:
        import sortition_algorithms as sortition
        from sortition_algorithms.utils import set_random_provider
    except ImportError:
        raise RuntimeError(
            "sortition-algorithms is not installed: pip install 'committees[offline]'"
        ) from None
    for name in ("sortition_algorithms", "sortition_algorithms_user"):
        logging.getLogger(name).setLevel(logging.ERROR)  # it tells of its progress on stdout
    set_random_provider(seed)
    low, high = band(problem, size, tolerance)
    quotas = [
        (*value, least, most) for value, least, most in zip(problem.labels, low, high, strict=True)
    ]
    people = [(f"p{place}", *problem.index[type_id]) for place, type_id in enumerate(type_ids)]
    source = sortition.CSVStringDataSource(
        _csv(["feature", "value", "min", "max"], quotas), _csv(["id", *problem.features], people)
    )
    settings = sortition.Settings(
        id_column="id",
        columns_to_keep=[],
        check_same_address=False,
        check_same_address_columns=[],
        selection_algorithm="maximin",
    )
    data = sortition.SelectionData(source)
    try:
        features, _ = data.load_features(size)
        pool, _ = data.load_people(settings, features)
        panels, _ = sortition.find_random_sample(
            features, pool, size, [], selection_algorithm="maximin", **options
        )
    except sortition.SortitionBaseError as error:
        reason = str(error).partition("\n")[0]
        raise NoPanel(f"no panel of {size} among {len(type_ids)} people: {reason}") from None
    return [np.array(sorted(int(name[1:]) for name in chosen)) for chosen in panels]


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()

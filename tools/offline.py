"""Make data/offline.csv: what `sortition-algorithms` does on the streams of the fairness chapter.

`sortition-algorithms` (a project of its own, under the GPL) is what organisers use. It needs the
whole pool before it decides about anyone; in return it gives every volunteer in it the best chance
that the quotas allow (maximin). We ask for maximin by name: its leximin becomes maximin, without an
error, where a licensed solver is missing.

The book does not depend on the package. This script is run by hand, where it is installed
(`pip install sortition-algorithms`; the table was made with version 0.12.15), and the chapter reads
the table. A row for each stream of volunteers:

- size, tolerance, seed, stream: the parameters of the chapter (all six features of Brexit), and
  the number of the stream;
- pool: the smallest beginning of the stream in which a panel within the band is found;
- panel's loss: the representation loss of the panel that is found there;
- smallest chance: of a person in that pool under the maximin lottery, to a thousandth;
- one person fewer: the answer when the last person of the pool is left out.
"""

from __future__ import annotations

import argparse
import csv
import io
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from committees import Problem, datasets
from committees.beyond.limits import hindsight
from committees.checks import IntArray
from committees.greedy import band
from committees.volunteers import stream

#: The default parameters of chapters/beyond/fairness.ipynb.
SIZE, TOLERANCE, STREAMS, SEED = 50, 0.02, 3, 2021

#: People drawn for each stream: several times as many as its pool.
PEOPLE = 2000

#: The lottery is returned as so many equally likely panels.
PANELS = 1000


class NoPanel(ValueError):
    """The pool contains no panel within the quotas."""


def select(problem: Problem, pool: IntArray, **options: Any) -> list[IntArray]:
    """Panels within the band, as positions in the pool; or `NoPanel`."""
    import sortition_algorithms as sortition
    from sortition_algorithms.utils import set_random_provider

    for name in ("sortition_algorithms", "sortition_algorithms_user"):
        logging.getLogger(name).setLevel(logging.ERROR)  # it writes its progress to stdout
    set_random_provider(SEED)
    low, high = band(problem, SIZE, TOLERANCE)
    quotas = [
        (*value, least, most) for value, least, most in zip(problem.labels, low, high, strict=True)
    ]
    people = [(f"p{place}", *problem.index[type_id]) for place, type_id in enumerate(pool)]
    source = sortition.CSVStringDataSource(
        to_csv(["feature", "value", "min", "max"], quotas),
        to_csv(["id", *problem.features], people),
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
        features, _ = data.load_features(SIZE)
        loaded, _ = data.load_people(settings, features)
        panels, _ = sortition.find_random_sample(
            features, loaded, SIZE, [], selection_algorithm="maximin", **options
        )
    except sortition.SortitionBaseError as error:
        reason = str(error).partition("\n")[0]
        raise NoPanel(f"no panel of {SIZE} among {len(pool)} people: {reason}") from None
    return [np.array(sorted(int(name[1:]) for name in chosen)) for chosen in panels]


def to_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def row(problem: Problem, number: int) -> dict[str, object]:
    """The row of one stream."""
    type_ids = stream(problem, PEOPLE, np.random.default_rng([SEED, number]))
    pool = hindsight(problem, SIZE, TOLERANCE, type_ids)
    (panel,) = select(problem, type_ids[:pool], test_selection=True)
    panels = select(problem, type_ids[:pool], number_selections=PANELS)
    chances = np.bincount(np.concatenate(panels), minlength=pool) / PANELS
    try:
        select(problem, type_ids[: pool - 1], test_selection=True)
        raise RuntimeError(f"stream {number}: a smaller pool than the limit has a panel")
    except NoPanel as error:
        answer = str(error)
    return {
        "size": SIZE,
        "tolerance": TOLERANCE,
        "seed": SEED,
        "stream": number,
        "pool": pool,
        "panel's loss": problem.committee_loss(type_ids[panel]),
        "smallest chance": chances.min(),
        "one person fewer": answer,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=datasets.DATA / "offline.csv")
    arguments = parser.parse_args()
    problem = datasets.brexit()
    frame = pd.DataFrame([row(problem, number) for number in range(STREAMS)])
    frame.to_csv(arguments.out, index=False, lineterminator="\n")
    print(frame.to_string())

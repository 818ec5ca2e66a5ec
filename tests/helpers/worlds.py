"""Tables of `simulate` without chance: worlds in which the paper is right, or nothing matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from companion import experiments

World = Callable[[str], dict]


def table_of(sizes, screened, loss):
    """A table of `simulate`: people per seat, and loss as a function of the size."""
    rows = [
        (strategy, size, run, screened[strategy] * size, loss[strategy](size))
        for strategy in screened
        for size in sizes
        for run in range(2)
    ]
    return pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])


def paper_is_right(learner: str) -> dict:
    """What the paper's figures would show were all its statements exact, for one learner's name."""
    known = {"Greedy 0.02": 250, "Greedy 0.05": 25, "CMDP": 2.5}
    losses = {
        "Greedy 0.02": lambda size: 0.02,
        "Greedy 0.05": lambda size: 0.051,
        "CMDP": lambda size: 0.05 * (250 / size) ** 0.5,
    }
    learnt = {"Greedy 0.02": 9, "Greedy 0.05": 4.2, "CMDP": 1.4, learner: 1.4}
    three = {**losses, learner: lambda size: 0.049 * (1500 / size) ** 0.5}
    five = {**losses, learner: lambda size: 0.07}
    adult = {
        name: table_of(
            experiments.FIGURE_1_SIZES,
            {"CMDP": more, learner: more},
            {"CMDP": losses["CMDP"], learner: lambda size, loss=loss: loss},
        )
        for name, more, loss in (("weak", 1.2, 0.08), ("strong", 1.5, 0.07))
    }
    return {
        "figure_1": table_of(experiments.FIGURE_1_SIZES, known, losses),
        "figure_2": {
            name: table_of(experiments.FIGURE_2_SIZES, learnt, loss)
            for name, loss in (("three", three), ("five", five))
        },
        "figure_4": adult,
    }


def nothing_matters(learner: str) -> dict:
    """Two people are screened for each seat whoever decides, and only CMDP's loss is another."""
    found = paper_is_right(learner)
    for frame in (found["figure_1"], *found["figure_2"].values(), *found["figure_4"].values()):
        frame["screened"] = 2 * frame["size"]
        frame["loss"] = np.where(frame["strategy"] == "CMDP", 0.3, 0.2)
    return found


@contextmanager
def shown(printed: World, scaled: World) -> Iterator[None]:
    """Let the figures be these, with the radius as printed and with the scaled one."""
    one, other = printed("RL-CMDP"), scaled("RL-CMDP ×0.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "figure_1", lambda runs, seed: one["figure_1"])
        for name in ("figure_2", "figure_4"):
            both = {}
            for part, frame in other[name].items():
                as_printed = one[name][part].query("strategy == 'RL-CMDP'")
                both[part] = pd.concat([frame, as_printed], ignore_index=True)
            patch.setattr(experiments, name, lambda runs, seed, scales, both=both: both)
        yield

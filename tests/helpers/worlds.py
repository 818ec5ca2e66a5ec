"""Tables of `simulate` without chance: worlds in which the paper is right, wrong, or idle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pandas as pd
import pytest

from companion import experiments, runs

World = Callable[[str], dict]

#: The name of the rule that accepts everybody.
CONTROL = experiments.Everybody().name
#: The name of RL-CMDP with the radius that `Runs` scales.
SCALED = runs.Runs().learners[1].name


def table_of(sizes, screened, loss):
    """A table of `simulate`: people per seat, and loss as a function of the size."""
    rows = [
        (strategy, size, run, screened[strategy] * size, loss[strategy](size))
        for strategy in screened
        for size in sizes
        for run in range(2)
    ]
    frame = pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])
    return frame.assign(expected=frame["screened"])


def falling(at_1000, power):
    """A loss of so much with 1,000 seats that falls like this power of the size."""
    return lambda size: at_1000 * (1000 / size) ** power


def paper_is_right(learner: str) -> dict:
    """What the paper's figures would show were all its statements exact, for one learner's name.

    Accepting everybody would show none of what the paper says of the learner.
    """
    known = {"Greedy 0.02": 250, "Greedy 0.05": 25, "CMDP": 2.5}
    learnt = {"Greedy 0.02": 4.2, "Greedy 0.05": 2, "CMDP": 1.4, learner: 1.4, CONTROL: 3}
    losses = {
        "Greedy 0.02": falling(0.02, 0),
        "Greedy 0.05": falling(0.051, 0),
        "CMDP": falling(0.025, 1 / 2),  # 0.05 with 250 seats
    }
    three = {**losses, learner: falling(0.055, 0.4), CONTROL: falling(0.08, 0.6)}
    five = {**losses, learner: falling(0.07, 0), CONTROL: falling(0.03, 0)}
    adult = {
        name: table_of(
            experiments.FIGURE_1_SIZES,
            {**known, "CMDP": more, learner: 0.9 * more, CONTROL: 3},
            {**losses, learner: falling(loss, 0.25), CONTROL: falling(0.3, 0)},
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
    people = dict.fromkeys(["Greedy 0.02", "Greedy 0.05", "CMDP", learner, CONTROL], 2)
    losses = dict.fromkeys(people, falling(0.2, 0.1)) | {"CMDP": falling(0.3, 0.1)}
    one, other = (
        table_of(sizes, people, losses)
        for sizes in (experiments.FIGURE_1_SIZES, experiments.FIGURE_2_SIZES)
    )
    return {
        "figure_1": one,
        "figure_2": {"three": other, "five": other},
        "figure_4": {"weak": one, "strong": one},
    }


def paper_is_wrong(learner: str) -> dict:
    """Every statement on a figure is false: who screens more, who is better, and what it takes."""
    people = {"Greedy 0.02": 2, "Greedy 0.05": 2, "CMDP": 3, learner: 9, CONTROL: 9}
    losses = {"Greedy 0.05": falling(0.1, 0.05), "CMDP": falling(0.2, 0.05)}
    losses["Greedy 0.02"] = lambda size: falling(0.2, 0.05)(size) + 0.1
    three = dict.fromkeys([learner, CONTROL], falling(0.15, 0.2)) | losses
    five = dict.fromkeys([learner, CONTROL], falling(0.12, 0.2)) | losses
    found = {
        "figure_1": table_of(experiments.FIGURE_1_SIZES, people, three),
        "figure_2": {
            name: table_of(experiments.FIGURE_2_SIZES, people, loss)
            for name, loss in (("three", three), ("five", five))
        },
        "figure_4": {
            name: table_of(
                experiments.FIGURE_1_SIZES,
                dict.fromkeys(people, less),
                dict.fromkeys(people, falling(loss, 0.05)),
            )
            for name, less, loss in (("weak", 2.5, 0.1), ("strong", 1.5, 0.2))
        },
    }
    crowded = found["figure_1"]["size"] == 1000
    found["figure_1"].loc[crowded, ["screened", "expected"]] *= 2
    return found


@contextmanager
def shown(printed: World, scaled: World) -> Iterator[None]:
    """Let the figures be these, with the radius as printed and with the scaled one."""
    one, other = printed("RL-CMDP"), scaled(SCALED)
    at_250 = one["figure_1"].query("size == 250")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "figure_1", lambda runs, seed: one["figure_1"])
        patch.setattr(runs, "simulate_once", lambda *_: at_250)
        for name in ("figure_2", "figure_4"):
            both = {}
            for part, frame in other[name].items():
                as_printed = one[name][part].query("strategy == 'RL-CMDP'")
                both[part] = pd.concat([frame, as_printed], ignore_index=True)
            patch.setattr(experiments, name, lambda *_, others, both=both: both)
        yield

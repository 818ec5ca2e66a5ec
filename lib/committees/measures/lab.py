"""What measurements share: the registry, and a `Lab` that computes what several of them need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from committees import datasets, experiments
from committees.problem import Problem
from committees.recruitment import Recruitment, recruit
from committees.rl_cmdp import RLCMDP

#: Of ("screened" or "loss", strategy, size): means over runs.
Means = pd.Series


@dataclass(frozen=True)
class Measured:
    """A value and its corrected twin, if any, each with the half-width of its 95 % interval.

    The half-width is 0 for what is not random, and for the worst of random cases or a share of them
    that satisfies something, which have no interval of this kind.
    """

    value: float
    error: float = 0.0
    corrected: float | None = None
    corrected_error: float = 0.0


MEASURES: dict[str, Callable[[Lab], Measured]] = {}
Measure = Callable[["Lab"], Measured | float]


def measures(name: str) -> Callable[[Measure], Measure]:
    """Register a function as the measurement of a claim."""

    def register(function: Measure) -> Measure:
        def measured(lab: Lab) -> Measured:
            found = function(lab)
            return found if isinstance(found, Measured) else Measured(float(found))

        MEASURES[name] = measured
        return function

    return register


@dataclass(frozen=True)
class Lab:
    """The experiments that measurements share: so many runs each, from one seed."""

    runs: int = 50
    seed: int = 2021
    delta: float = 0.05
    scale: float = 0.1  # the radius that gives the paper's Figure 2

    @cached_property
    def figure_1(self) -> pd.DataFrame:
        return experiments.figure_1(self.runs, self.seed)

    @cached_property
    def figure_1_statements(self) -> dict[str, float]:
        return experiments.figure_1_statements(self.figure_1)

    @cached_property
    def learners(self) -> dict[float, str]:
        """RL-CMDP with the radius as printed and with the scaled one: their names in the tables."""
        return {scale: str(RLCMDP(scale=scale)) for scale in (1.0, self.scale)}

    @cached_property
    def figure_2(self) -> dict[str, pd.DataFrame]:
        return experiments.figure_2(self.runs, self.seed, list(self.learners))

    @cached_property
    def figure_4(self) -> dict[str, pd.DataFrame]:
        return experiments.figure_4(self.runs, self.seed, list(self.learners))

    @cached_property
    def three(self) -> Problem:
        return datasets.brexit(experiments.THREE_FEATURES)

    @cached_property
    def recruitments(self) -> list[Recruitment]:
        """RL-CMDP as the theory has it, on three features."""
        return [recruit(RLCMDP(self.delta), self.three, 500, rng) for rng in self.generators(20)]

    def generators(self, number: int) -> list[np.random.Generator]:
        return list(np.random.default_rng(self.seed).spawn(number))


def over_runs(
    statistic: Callable[..., Any],
    *frames: pd.DataFrame,
    pick: Callable[[Means], Any] | None = None,
) -> tuple[float, float]:
    """A number computed from the means of tables, with the half-width of its 95 % interval.

    By the jackknife: from how much it changes when a run is left out. Runs of one number share
    their randomness, whatever the strategy, the size and the table, so it is left out of all.
    Of several numbers (a Series) `pick` says by its label which one to take, once and for all:
    the jackknife does not work for, say, the largest of them.
    """
    tables = [_by_run(frame) for frame in frames]
    (runs,) = {len(table) for table in tables}
    found = statistic(*(table.mean() for table in tables))
    label = pick(found) if pick else None

    def number(found: Any) -> float:
        return float(found if pick is None else found[label])

    sums = [table.sum() for table in tables]
    without = [
        number(
            statistic(*((a - b.iloc[run]) / (runs - 1) for a, b in zip(sums, tables, strict=True)))
        )
        for run in range(runs)
    ]
    return number(found), 1.96 * float(np.sqrt((runs - 1) * np.var(without)))


def _by_run(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per run, and sorted columns: people screened or loss, strategy, size."""
    return frame.pivot(
        index="run", columns=["strategy", "size"], values=["screened", "loss"]
    ).sort_index(axis="columns")

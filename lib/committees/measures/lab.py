"""What measurements share: the registry, and a `Lab` that computes what several of them need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from committees import datasets, experiments
from committees.problem import Problem
from committees.recruitment import Recruitment, recruit
from committees.rl_cmdp import RLCMDP


@dataclass(frozen=True)
class Measured:
    """A value and its corrected twin, if any, each with the half-width of its 95 % interval.

    The half-width is 0 for what is not random.
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
    def figure_2_statements(self) -> dict[float, dict[str, float]]:
        names = {name: scale for scale, name in self.learners.items()}
        three, five = self.figure_2["three"], self.figure_2["five"]
        table = experiments.figure_2_statements(three, five, names)
        return {
            scale: {str(name): float(table[name].loc[scale]) for name in table}
            for scale in self.learners
        }

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

    def loss(self, frame: pd.DataFrame, strategy: str) -> pd.DataFrame:
        """Mean loss and its error, per size."""
        rows = experiments.means(frame).loc[strategy]
        return pd.DataFrame({"mean": rows["mean"]["loss"], "error": rows["±"]["loss"]})

    def people(self, frame: pd.DataFrame, strategy: str) -> pd.DataFrame:
        """Mean people screened and its error, per size."""
        rows = experiments.means(frame).loc[strategy]
        return pd.DataFrame({"mean": rows["mean"]["screened"], "error": rows["±"]["screened"]})

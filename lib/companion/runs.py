"""What measurements share: the registry, and a `Lab` that computes what several of them need."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from committees import datasets
from committees.problem import Problem
from committees.rl_cmdp import RLCMDP
from committees.simulation import Recruitment, recruit
from companion import experiments
from companion.experiments import Means


@dataclass(frozen=True)
class Measurement:
    """A value and its corrected twin, if any, each with the half-width of its 95 % interval.

    The half-width is 0 for what is not random, and for the worst of random cases or a share of them
    that satisfies something, which have no interval of this kind.
    """

    value: float
    error: float = 0.0
    corrected: float | None = None
    corrected_error: float = 0.0


REGISTRY: dict[str, Callable[[Lab], Measurement]] = {}
Measure = Callable[["Lab"], Measurement | float]


def measures(name: str) -> Callable[[Measure], Measure]:
    """Register a function as the measurement of a claim."""

    def register(function: Measure) -> Measure:
        def measured(lab: Lab) -> Measurement:
            found = function(lab)
            return found if isinstance(found, Measurement) else Measurement(float(found))

        REGISTRY[name] = measured
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
    def figure_1_measured(self) -> pd.DataFrame:
        """What chapter 6 says of Figure 1: a value and an error for each statement."""
        return over_runs(experiments.figure_1_from_means, self.figure_1)

    @cached_property
    def figure_1_statements(self) -> dict[Hashable, float]:
        return self.figure_1_measured["value"].to_dict()

    @cached_property
    def learners(self) -> dict[float, str]:
        """RL-CMDP with the radius as printed and with the scaled one: their names in the tables."""
        return {scale: str(RLCMDP(scale=scale)) for scale in (1.0, self.scale)}

    @cached_property
    def figure_2(self) -> dict[str, pd.DataFrame]:
        return experiments.figure_2(self.runs, self.seed, list(self.learners))

    @cached_property
    def figure_2_measured(self) -> pd.DataFrame:
        """What chapters 5 and 6 say of Figure 2, for each of the learners, likewise."""
        names = {name: name for name in self.learners.values()}

        def statements(three: Means, five: Means) -> pd.Series:
            table = experiments.figure_2_from_means(three, five, names).drop(columns="agrees")
            index = pd.MultiIndex.from_product([table.index, table.columns])
            return pd.Series(table.to_numpy(dtype=float).ravel(), index)

        return over_runs(statements, self.figure_2["three"], self.figure_2["five"])

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
    statistics: Callable[..., pd.Series | Mapping[str, float]], *frames: pd.DataFrame
) -> pd.DataFrame:
    """Numbers computed from the means of tables, each with the half-width of its 95 % interval.

    By the jackknife: from how much a number changes when a run is left out. Runs of one number
    share their randomness, whatever the strategy, the size and the table, so it is left out of all.
    (For the largest of several numbers that does not work: compute all, and pick one afterwards.)
    """
    tables = zip(*map(_means_without_each, frames), strict=True)
    found = [pd.Series(statistics(*means), dtype=float) for means in tables]
    error = 1.96 * np.sqrt((len(found) - 2) * np.var(found[1:], axis=0))
    return pd.DataFrame({"value": found[0], "error": error})


def _means_without_each(frame: pd.DataFrame) -> list[Means]:
    """The means over all runs; then, for each of them, those over the others."""
    left = {}
    for column in ("loss", "screened"):
        # A row per run, a column per strategy and size.
        table = frame.pivot(index="run", columns=["strategy", "size"], values=column)
        table = table.sort_index(axis="columns")
        left[column] = np.vstack([table.mean(), (table.sum() - table) / (len(table) - 1)])
    rows = zip(*left.values(), strict=True)
    return [pd.DataFrame(dict(zip(left, row, strict=True)), table.columns) for row in rows]

"""What a measurement of a claim is given, `Runs`, and what it returns, `Measurement`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from committees import RLCMDP, Problem, Recruitment, datasets, recruit
from companion import experiments
from companion.intervals import Means, over_runs


@dataclass(frozen=True)
class Measurement:
    """A value, the value after the claim's correction if it has one, and their intervals.

    The error is half of the 95 % interval. It is 0 for what is not random, and for the worst of
    random cases or a share of them that satisfies something, which have no interval of this kind.
    """

    value: float
    error: float = 0.0
    corrected: float | None = None
    corrected_error: float = 0.0


@dataclass(frozen=True)
class Runs:
    """Simulations that measurements share, from one seed; each is made when first needed."""

    runs: int = 50
    seed: int = 2021
    delta: float = 0.05  #: the probability with which RL-CMDP's guarantees may fail
    scale: float = 0.1  #: the factor of RL-CMDP's radius that gives the paper's Figure 2

    @cached_property
    def figure_1(self) -> pd.DataFrame:
        return experiments.figure_1(self.runs, self.seed)

    @cached_property
    def figure_1_statements(self) -> pd.DataFrame:
        """A row per statement that chapter 6 makes of Figure 1: value and error."""
        return over_runs(lambda mean: asdict(experiments.figure_1_statements(mean)), self.figure_1)

    @cached_property
    def learners(self) -> dict[float, str]:
        """RL-CMDP with the radius as printed and with the scaled one: their names in tables."""
        return {scale: RLCMDP(scale=scale).name for scale in (1.0, self.scale)}

    @cached_property
    def figure_2(self) -> dict[str, pd.DataFrame]:
        return experiments.figure_2(self.runs, self.seed, list(self.learners))

    @cached_property
    def figure_2_statements(self) -> pd.DataFrame:
        """A row per learner and statement of chapters 5 and 6 on Figure 2: value and error."""
        names = {name: name for name in self.learners.values()}

        def statements(three: Means, five: Means) -> Means:
            table = experiments.figure_2_statements(three, five, names)
            return table.drop(columns="agrees").stack()

        return over_runs(statements, self.figure_2["three"], self.figure_2["five"])

    @cached_property
    def figure_4(self) -> dict[str, pd.DataFrame]:
        return experiments.figure_4(self.runs, self.seed, list(self.learners))

    @cached_property
    def three(self) -> Problem:
        """The Brexit assembly with three features."""
        return datasets.brexit(experiments.THREE_FEATURES)

    @cached_property
    def recruitments(self) -> list[Recruitment]:
        """RL-CMDP as the theory has it, on three features."""
        return [recruit(RLCMDP(self.delta), self.three, 500, rng) for rng in self.generators(20)]

    def generators(self, number: int) -> list[np.random.Generator]:
        """So many independent generators."""
        return list(np.random.default_rng(self.seed).spawn(number))

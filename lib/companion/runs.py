"""What a measurement of a claim is given, `Runs`, and what it returns, `Measurement`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from committees import CMDP, RLCMDP, Greedy, Problem, datasets
from companion import experiments
from companion.cache import simulate_once


@dataclass(frozen=True)
class Measurement:
    """A value and half of its 95 % interval, which is 0 for what is not random.

    `other` is the value under the claim's other reading: corrected, or with the fitted scale.
    `control` is the value of a rule that accepts everybody, of a claim on a strategy that learns:
    what such a rule shows as well, says nothing of learning.
    """

    value: float
    error: float = 0.0
    other: float | None = None
    other_error: float = 0.0
    control: float | None = None
    control_error: float = 0.0
    can_fail: bool = True  #: whether some outcome would have contradicted the claim


@dataclass(frozen=True)
class Runs:
    """Simulations that measurements share, from one seed; each is made when first needed."""

    known: int = experiments.RUNS_1  #: recruitments where nothing is learnt
    learning: int = experiments.RUNS_2  #: recruitments beside a strategy that learns
    seed: int = 2021
    delta: float = 0.05  #: the probability with which RL-CMDP's guarantees may fail
    scale: float = experiments.SCALE  #: the factor of RL-CMDP's radius
    learner: type[RLCMDP] = RLCMDP  #: and what it believes

    @cached_property
    def figure_1(self) -> pd.DataFrame:
        return experiments.figure_1(self.known, self.seed)

    @cached_property
    def at_250(self) -> pd.DataFrame:
        """Figure 1 at 250 seats, where two curves cross, with more runs."""
        two = [Greedy(0.05), CMDP()]
        return simulate_once(two, datasets.brexit(), [250], 4 * self.known, self.seed)

    @cached_property
    def learners(self) -> list[RLCMDP]:
        """RL-CMDP with the radius as printed, and with the scaled one."""
        return [RLCMDP(), self.learner(scale=self.scale)]

    @cached_property
    def figure_2(self) -> dict[str, pd.DataFrame]:
        learners = list(dict.fromkeys(self.learners))
        control = [experiments.Everybody()]
        return experiments.figure_2(self.learning, self.seed, learners, others=control)

    @cached_property
    def figure_4(self) -> dict[str, pd.DataFrame]:
        learners = list(dict.fromkeys(self.learners))
        greedy = map(Greedy, experiments.TOLERANCES)
        others = [*greedy, experiments.Everybody()]
        return experiments.figure_4(self.learning, self.seed, learners, others=others)

    @cached_property
    def three(self) -> Problem:
        """The Brexit assembly with three features."""
        return datasets.brexit(experiments.THREE_FEATURES)

    def generators(self, number: int) -> list[np.random.Generator]:
        """So many independent generators."""
        return list(np.random.default_rng(self.seed).spawn(number))

"""Rivals from the literature, to measure the strategies of `committees.beyond` with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committees import CMDP, RLCMDP, Problem, Session, Strategy
from committees.beyond.bands import open_values
from committees.beyond.prices import PricesSession
from committees.checks import BoolArray, FloatArray, IntArray
from committees.greedy import band
from committees.optimism import Optimum
from committees.rl_cmdp import LearningSession


@dataclass(frozen=True)
class InBand(Strategy):
    """A strategy kept to the open types (`beyond.bands`): all of them if it would accept none."""

    rule: Strategy
    tolerance: float

    @property
    def learns(self) -> bool:
        return self.rule.learns

    @property
    def family(self) -> str:
        return f"{self.rule.family} in band"

    @property
    def name(self) -> str:
        return f"{self.family} {self.tolerance:.12g}"

    def start(self, problem: Problem, size: int) -> Session:
        return _InBandSession(self, problem, size)


class _InBandSession(Session):
    def __init__(self, strategy: InBand, problem: Problem, size: int) -> None:
        self._rule = strategy.rule.start(problem, size)
        self._problem, self._band = problem, band(problem, size, strategy.tolerance)
        self._counts, self._left = 0 * self._band[0], size
        self._keep()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        self._rule.see(type_ids[:1], accepted[:1])
        if accepted[0]:
            self._counts[self._problem.codes[type_ids[0]]] += 1
            self._left -= 1
        self._keep()
        return 1

    def _keep(self) -> None:
        values = open_values(self._problem, *self._band, self._counts, self._left)
        is_open = self._problem.product_over_values(values.astype(float))
        accept = is_open * self._rule.acceptance
        self.acceptance = accept if self._problem.p @ accept > 0 else is_open


@dataclass(frozen=True)
class PosteriorSampling(RLCMDP):
    """RL-CMDP (as PSConRL, ICML 2024) with p drawn from what is believed, without optimism."""

    family = name = "Posterior sampling"

    def start(self, problem: Problem, size: int) -> LearningSession:
        return _PosteriorSession(self, problem)


class _PosteriorSession(LearningSession):
    def _optimum(self) -> tuple[float | FloatArray, Optimum]:
        if self._seen == 0:
            return np.inf, self._program.everybody
        drawn = np.random.default_rng(self._counts).dirichlet(self._counts + 1 / len(self._counts))
        return 0.0, self._program.over_l1_ball(drawn, 0.0)


@dataclass(frozen=True)
class OneProgram(CMDP):
    """The dual scores of the paper's program, lowered by the seats that values are ahead."""

    lead: float = 4.0

    family = "One program"

    def start(self, problem: Problem, size: int) -> Session:
        return PricesSession(problem, self.lead * self.policy(problem).score.to_numpy())

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


@dataclass(frozen=True)
class Tailoring(Strategy):
    """Accept the open types of the group that is scarcest relative to what it lacks.

    A group lacks the seats up to the fewest that the band allows. Divided by the group's share of
    the volunteers, that is how long one would wait for them, if only its people were accepted. Of
    the groups with the longest wait people are accepted; of all, once no group lacks anybody.
    (`beyond.bands` says what is open; data distribution tailoring chooses its sources so, Nargesian
    and others, VLDB 2021.)
    """

    tolerance: float

    family = "Tailoring"

    @property
    def name(self) -> str:
        return f"{self.family} {self.tolerance:.12g}"

    def start(self, problem: Problem, size: int) -> Session:
        return _TailoringSession(problem, size, self.tolerance)


class _TailoringSession(Session):
    def __init__(self, problem: Problem, size: int, tolerance: float) -> None:
        self._problem = problem
        self._low, self._high = band(problem, size, tolerance)
        self._counts = np.zeros_like(self._low)
        self._left = size
        self._decide()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        if not accepted.any():
            return len(type_ids)
        first = int(np.argmax(accepted))
        self._counts[self._problem.codes[type_ids[first]]] += 1
        self._left -= 1
        self._decide()
        return first + 1

    def _decide(self) -> None:
        values = open_values(self._problem, self._low, self._high, self._counts, self._left)
        is_open = self._problem.product_over_values(values.astype(float))
        lacking = np.maximum(self._low - self._counts, 0)
        wait = lacking / self._problem.presence
        scarcest = wait >= wait.max() * (1 - 1e-9)
        has_scarcest = self._problem.sum_over_values(scarcest.astype(float)) > 0
        self.acceptance = is_open * has_scarcest

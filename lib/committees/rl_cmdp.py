r"""Section 5 and Appendix C: RL-CMDP learns p while recruiting, by optimism (Algorithm 1).

Time is cut into **episodes**. At the start of episode $l$, after $\tau_l - 1$ people have been seen
with counts $n(x)$, the estimate is $\hat p_l(x) = n(x) / (\tau_l - 1)$, and the true $p$ is
believed to lie in a confidence set $B_l$ around it:

- `confidence="l1"`: $\|\tilde p - \hat p_l\|_1 \le \beta_l = \sqrt{2 |\mathcal X|
  \log(6 |\mathcal X| \tau_l (\tau_l - 1) / \delta) / (\tau_l - 1)}$ (Lemma 3);
- `confidence="bernstein"`: $|\tilde p(x) - \hat p_l(x)| \le B_1 \sqrt{\hat p_l(x) (1 - \hat p_l(x))
  L_l / (\tau_l - 1)} + B_2 L_l / (\tau_l - 1)$ with $L_l = \log(6 |\mathcal X| \tau_l / \delta)$.

The policy of the episode solves the optimistic program of `committees.optimism` over $B_l$. The
episode ends with the person whose type has then been seen twice as often as at its start.

What the paper leaves open is decided so:

- **Nothing known.** Before anybody has been seen, and whenever $\beta_l \ge 2$, so that the ball
  holds every distribution, one that has the target shares is among them: everybody is accepted.
- **A type never seen** has $\hat p = 0$; the first person of it ends the episode.
- **Several beliefs** may be optimal for the same accepted mass; ours moves towards the estimate.
- **A type believed not to exist**, $\tilde p_l(x) = 0$, is accepted with probability 1/2, as in the
  paper. That includes types with a value whose target is 0, while everybody else is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal

import numpy as np

from committees.checks import BoolArray, FloatArray, IntArray, check_choice, check_number
from committees.optimism import OptimisticLP, Optimum
from committees.problem import Problem
from committees.strategy import Session, Strategy, check_people

#: The constants of the empirical Bernstein inequality of Maurer and Pontil (2009). Theirs is
#: one-sided and for one time; with (2, 14/3) the intervals hold for all types and times at once.
MAURER_PONTIL = (sqrt(2), 7 / 3)


def l1_radius(n_types: int, seen: int, delta: float) -> float:
    """Lemma 3: how far, in l1 distance, the estimate from `seen` people may be from the truth.

    >>> round(l1_radius(n_types=8, seen=1000, delta=0.05), 3)
    0.575
    """
    if seen == 0:
        return np.inf
    start = seen + 1
    return sqrt(2 * n_types * log(6 * n_types * start * seen / delta) / seen)


def bernstein_radius(estimate: FloatArray, seen: int, delta: float) -> FloatArray:
    """Appendix C: how far each entry of the estimate (per type) may be from the truth."""
    log_term = log(6 * len(estimate) * (seen + 1) / delta)
    return maurer_pontil(estimate, log_term / max(1, seen))


def maurer_pontil(estimate: FloatArray, ratio: float) -> FloatArray:
    """The two terms of the inequality, for each entry of the estimate and a ratio L / (tau - 1)."""
    first, second = MAURER_PONTIL
    return np.asarray(first * np.sqrt(estimate * (1 - estimate) * ratio) + second * ratio)


@dataclass(frozen=True, eq=False)
class Episode:
    """What was known and decided at the start of an episode; arrays are per type."""

    start: int  #: the number of the first person of the episode, counted from one
    counts: IntArray  #: how often each type had been seen before
    radius: float | FloatArray  #: of the confidence set; one number, or one per type
    rate: float  #: the value of the optimistic program
    belief: FloatArray  #: the distribution in the confidence set that gives this value
    policy: FloatArray  #: the probability of accepting each type during the episode


@dataclass(frozen=True, kw_only=True)
class RLCMDP(Strategy):
    """Learn the distribution of the volunteers while recruiting; parameters go by name.

    Parameters
    ----------
    delta : float, between 0 and 1
        The probability with which the guarantees may fail.
    confidence : {"l1", "bernstein"}
        `"l1"` is RL-CMDP, `"bernstein"` is RL-CMDP-B.
    scale : float
        Multiplies the radius of the confidence sets. What the paper proves needs at least 1 for
        "l1" and 2 for "bernstein"; 0 trusts the estimate as it is.

    >>> RLCMDP(confidence="bernstein", scale=0.1).name
    'RL-CMDP-B ×0.1'
    """

    delta: float = 0.05
    confidence: Literal["l1", "bernstein"] = "l1"
    scale: float = 1.0

    sized: ClassVar[bool] = False
    learns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number("delta", self.delta, 0, 1, ends=False)
        check_choice("confidence", self.confidence, ("l1", "bernstein"))
        check_number("scale", self.scale, 0)

    @property
    def family(self) -> str:
        return "RL-CMDP" if self.confidence == "l1" else "RL-CMDP-B"

    @property
    def name(self) -> str:
        name = self.family
        if self.scale != 1:
            name += f" ×{self.scale:.12g}"
        if self.delta != 0.05:
            name += f" δ={self.delta:.12g}"
        return name

    def radius(self, estimate: FloatArray, seen: int) -> float | FloatArray:
        """Of the confidence set around an estimate (per type): one number, or one per type.

        `seen` people have been seen, at least one. A variant with another radius overrides this.
        """
        if self.confidence == "bernstein":
            return self.scale * bernstein_radius(estimate, seen, self.delta)
        return self.scale * l1_radius(len(estimate), seen, self.delta)

    def program(self, problem: Problem) -> OptimisticLP:
        """The optimistic program that is solved at the start of each episode.

        A variant of the algorithm with another program overrides this.
        """
        return OptimisticLP(problem)

    def start(self, problem: Problem, size: int) -> LearningSession:
        return LearningSession(self, problem)


@dataclass(frozen=True)
class PlugIn(Strategy):
    """Take the empirical distribution for the true one: RL-CMDP without optimism."""

    sized: ClassVar[bool] = False
    learns: ClassVar[bool] = True
    family: ClassVar[str] = "plug-in"

    def start(self, problem: Problem, size: int) -> LearningSession:
        return LearningSession(RLCMDP(scale=0.0), problem)


class LearningSession(Session):
    """Counts who comes, and solves one program at the start of each episode.

    Attributes
    ----------
    episodes : list of Episode
        What was known and decided in each episode so far.
    """

    def __init__(self, strategy: RLCMDP, problem: Problem) -> None:
        self.episodes: list[Episode] = []
        self._strategy = strategy
        self._program = strategy.program(problem)
        self._seen = 0
        self._counts = np.zeros(len(problem.p), dtype=np.intp)
        self._limit = np.ones_like(self._counts)  # a count that reaches it ends the episode
        self.acceptance = self._begin()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        check_people(type_ids, accepted)
        noted, is_over = self._until_doubled(type_ids)
        self._counts += np.bincount(type_ids[:noted], minlength=len(self._counts))
        self._seen += noted
        if is_over:
            self.acceptance = self._begin()
        return noted

    def leave(self, type_id: int) -> None:
        """Nothing changes: what was learnt from this person stays true."""

    def _until_doubled(self, type_ids: IntArray) -> tuple[int, bool]:
        """The number of people up to the first whose type then reaches its limit, if any does."""
        room = (self._limit - self._counts).tolist()
        for noted, type_id in enumerate(type_ids.tolist(), start=1):
            room[type_id] -= 1
            if room[type_id] == 0:
                return noted, True
        return len(type_ids), False

    def _begin(self) -> FloatArray:
        """Start an episode: fix what ends it, and return its policy."""
        self._limit = np.maximum(2 * self._counts, 1)
        radius, optimum = self._optimum()
        policy = optimum.acceptance(unknown=0.5)
        episode = Episode(
            start=self._seen + 1,
            counts=self._counts.copy(),
            radius=radius,
            rate=optimum.rate,
            belief=optimum.belief,
            policy=policy,
        )
        self.episodes.append(episode)
        return policy

    def _optimum(self) -> tuple[float | FloatArray, Optimum]:
        """The radius, and the solution over the confidence set."""
        if self._seen == 0:
            return np.inf, self._program.everybody
        estimate = self._counts / self._seen
        radius = self._strategy.radius(estimate, self._seen)
        if isinstance(radius, float):
            return radius, self._program.over_l1_ball(estimate, radius)
        low = np.maximum(estimate - radius, 0)
        high = np.minimum(estimate + radius, 1)
        return radius, self._program.over_intervals(estimate, low, high)

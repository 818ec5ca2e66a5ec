r"""RL-CMDP: learn p while recruiting, by optimism (paper, Section 5, Algorithm 1 and Appendix C).

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
  holds every distribution, one that has the target shares is among them: everybody is accepted
  (but for types that the targets rule out: see below).
- **A type never seen** has $\hat p = 0$; the first person of it ends the episode.
- **Several beliefs** may be optimal for the same accepted mass; ours moves towards the estimate.
- **A type believed not to exist**, $\tilde p_l(x) = 0$, is accepted with probability 1/2, as the
  paper has it.
- **The radius of Appendix C** divides by $1 \land (\tau_l - 1)$ in print, which is at most one; it
  is $1 \lor (\tau_l - 1)$.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal

import numpy as np

from committees.checks import number, one_of
from committees.optimism import OptimisticLP, Optimum, PrintedLP
from committees.problem import FloatArray, IntArray, Problem
from committees.strategy import BoolArray, Session, Strategy

#: The constants of the empirical Bernstein inequality of Maurer and Pontil (2009). Theirs is
#: one-sided and for one time; with (2, 14/3) the intervals hold for all types and times at once.
MAURER_PONTIL = (sqrt(2), 7 / 3)


def l1_radius(n_types: int, seen: int, delta: float) -> float:
    """Lemma 3: how far, in l1 distance, the estimate from so many people may be from the truth."""
    if seen == 0:
        return np.inf
    start = seen + 1
    return sqrt(2 * n_types * log(6 * n_types * start * seen / delta) / seen)


def bernstein_radius(
    estimate: FloatArray, seen: int, delta: float, constants: tuple[float, float] = MAURER_PONTIL
) -> FloatArray:
    """Appendix C: how far each entry of the estimate may be from the truth."""
    first, second = constants
    weight = log(6 * len(estimate) * (seen + 1) / delta) / max(1, seen)
    return np.asarray(first * np.sqrt(estimate * (1 - estimate) * weight) + second * weight)


@dataclass(frozen=True, eq=False)
class Episode:
    """What was known and decided at the start of an episode.

    Attributes
    ----------
    start
        The number of the first person of the episode, counted from one.
    counts
        How often each type had been seen before.
    radius
        The radius of the confidence set: one number, or one per type; 0 for the plug-in policy.
    rate
        The value of the optimistic program.
    belief
        The distribution in the confidence set for which it has that value.
    policy
        The probability of accepting each type during the episode.
    """

    start: int
    counts: IntArray
    radius: float | FloatArray
    rate: float
    belief: FloatArray
    policy: FloatArray


@dataclass(frozen=True)
class RLCMDP(Strategy):
    """Learn the distribution of the volunteers while recruiting.

    Parameters
    ----------
    delta
        The probability with which the guarantees may fail.
    confidence
        `"l1"` is RL-CMDP, `"bernstein"` is RL-CMDP-B.
    scale
        Multiplies the radius of the confidence sets. Below 1 there is no guarantee; 0 trusts the
        estimate as it is.
    lp
        `"corrected"`, or `"printed"`: the program with the constraint that the paper prints (for
        `"l1"` only).
    constants
        Those of the Bernstein radius.
    """

    delta: float = 0.05
    confidence: Literal["l1", "bernstein"] = "l1"
    scale: float = 1.0
    lp: Literal["corrected", "printed"] = "corrected"
    constants: tuple[float, float] = MAURER_PONTIL

    sized: ClassVar[bool] = False
    learns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        number("delta", self.delta, 0, 1, ends=False)
        number("scale", self.scale, 0)
        one_of("confidence", self.confidence, ("l1", "bernstein"))
        one_of("lp", self.lp, ("corrected", "printed"))
        if self.lp == "printed" and self.confidence != "l1":
            raise ValueError("lp: 'printed' goes with confidence='l1' only")
        if not isinstance(self.constants, tuple) or len(self.constants) != 2:
            raise ValueError(f"constants: expected two numbers, got {self.constants!r}")
        for constant in self.constants:
            number("constants", constant, 0)

    def start(self, problem: Problem, size: int) -> LearningSession:
        return LearningSession(self, problem)

    def __str__(self) -> str:
        name = "RL-CMDP" if self.confidence == "l1" else "RL-CMDP-B"
        name += " as printed" if self.lp == "printed" else ""
        name += f" ×{self.scale:.12g}" if self.scale != 1 else ""
        name += f" δ={self.delta:.12g}" if self.delta != 0.05 else ""
        own = " B={:.12g}, {:.12g}".format(*self.constants)
        return name + (own if self.constants != MAURER_PONTIL else "")


@dataclass(frozen=True)
class PlugIn(Strategy):
    """Take the empirical distribution for the true one: RL-CMDP without optimism."""

    sized: ClassVar[bool] = False
    learns: ClassVar[bool] = True

    def start(self, problem: Problem, size: int) -> LearningSession:
        return LearningSession(RLCMDP(scale=0.0), problem)

    def __str__(self) -> str:
        return "plug-in"


class LearningSession(Session):
    """Counts who comes, and solves one program at the start of each episode.

    `episodes` keeps what was known and decided, for whoever wants to look.
    """

    def __init__(self, strategy: RLCMDP, problem: Problem) -> None:
        self.episodes: list[Episode] = []
        self._strategy = strategy
        self._seen = 0
        self._counts = np.zeros(len(problem.p), dtype=np.intp)
        self._limit = np.ones_like(self._counts)
        ideal = problem.by_type(problem.target)
        self._everybody = Optimum(1.0, ideal, ideal)  # accept all, as if they came in proportion
        self._corrected = OptimisticLP(problem)
        self._printed = PrintedLP(problem) if strategy.lp == "printed" else None
        self.acceptance = self._begin()

    def see(self, kinds: IntArray, accepted: BoolArray) -> int:
        noted, over = self._until_doubled(kinds)
        self._counts += np.bincount(kinds[:noted], minlength=len(self._counts))
        self._seen += noted
        if over:
            self.acceptance = self._begin()
        return noted

    def leave(self, kind: int) -> None:
        """Nothing changes: what was learnt from them stays true."""

    def _until_doubled(self, kinds: IntArray) -> tuple[int, bool]:
        """The number of people up to the first whose type then reaches its limit, if any does."""
        room = (self._limit - self._counts).tolist()
        for noted, kind in enumerate(kinds.tolist(), start=1):
            room[kind] -= 1
            if not room[kind]:
                return noted, True
        return len(kinds), False

    def _begin(self) -> FloatArray:
        """Start an episode: fix what ends it, and return its policy."""
        self._limit = np.maximum(2 * self._counts, 1)
        radius, found = self._optimum()
        policy = found.acceptance(unknown=0.5)
        self.episodes.append(
            Episode(self._seen + 1, self._counts.copy(), radius, found.rate, found.belief, policy)
        )
        return policy

    def _optimum(self) -> tuple[float | FloatArray, Optimum]:
        """The radius, and the solution over the confidence set."""
        strategy = self._strategy
        if self._seen == 0:
            return np.inf, self._everybody
        estimate = self._counts / self._seen
        if strategy.confidence == "bernstein":
            reach = strategy.scale * bernstein_radius(
                estimate, self._seen, strategy.delta, strategy.constants
            )
            low, high = np.maximum(estimate - reach, 0), np.minimum(estimate + reach, 1)
            return reach, self._corrected.over_intervals(estimate, low, high)
        radius = strategy.scale * l1_radius(len(estimate), self._seen, strategy.delta)
        if self._printed:
            return radius, self._printed.over_l1_ball(estimate, radius)
        if radius >= 2:
            return radius, self._everybody
        return radius, self._corrected.over_l1_ball(estimate, radius)

r"""What the paper proves (Propositions 1 and 2, Lemma 2, Theorems 1 and 2), and what is measured.

**Proved.** The theorems are stated with $O(\cdot)$; their constants are read off the proofs.
`"printed"` takes them as they stand there: true, though not for the reasons given. With each step
taken as sharply as it can be they become `"sharp"` (appendix B of the book proves both):

- two distributions give a policy rates that differ by *half* their distance at most;
- the sum over episodes $\sum_l |E_l| / \sqrt{\tau_l - 1}$ is at most $(\sqrt 2 + 1)(\sqrt T - 1)$,
  and $\sum_l |E_l| / (\tau_l - 1)$ at most $\log_2 T$;
- what a person contributes has a range of one, so that chance adds $\sqrt{T/2 \cdot \log}$;
- one application of the inequality of Dvoretzky, Kiefer and Wolfowitz covers two values.

**Measured** along a recruitment. After $T$ people, $N(T)$ of them accepted, $N^i_j(T)$ of those
with value $j$ of feature $i$:

- the **regret** $R(T) = g^* T - N(T)$ is how many more seats the best policy would have filled;
- the **violation** $R^c(T) = \max_{i,j} |N^i_j(T) - \rho^i_j N(T)|$ counts people too many
  or too few. The loss is $R^c(T) / N(T)$.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from committees.checks import check_choice, check_integer, check_number, check_size
from committees.lp import Policy, best_policy
from committees.problem import Problem
from committees.recruitment import Recruitment
from committees.rl_cmdp import MAURER_PONTIL, Episode


@dataclass(frozen=True)
class Constants:
    """What stands before the terms of the bounds, in one version of the theorems."""

    l1: float  #: before sqrt(|X| T log): what not knowing p costs, with l1 balls
    bernstein: float  #: before sqrt(|X| T log): the same with intervals
    doublings: float  #: before |X| log T log, the second term with intervals
    chance: float  #: below the root, before T log: what coins and arrivals add
    deviations: Callable[[int], int]  #: events that a feature with so many values counts for
    dkw: Callable[[int], int]  #: applications of Dvoretzky, Kiefer and Wolfowitz that it takes


def _all_but_one(n_values: int) -> int:
    return n_values - 1


def _each_or_one_of_two(n_values: int) -> int:
    if n_values == 2:  # both deviate equally
        return 1
    return n_values


def _half_rounded_up(n_values: int) -> int:
    return n_values - n_values // 2


PRINTED = Constants(
    l1=4,
    bernstein=4,
    doublings=2,
    chance=2,
    deviations=_all_but_one,
    dkw=_all_but_one,
)
SHARP = Constants(
    l1=2 + sqrt(2),
    bernstein=1 + sqrt(2),
    doublings=1 / log(2),
    chance=1 / 2,
    deviations=_each_or_one_of_two,
    dkw=_half_rounded_up,
)
VERSIONS = {"printed": PRINTED, "sharp": SHARP}


def greedy_loss(problem: Problem, size: int, tolerance: float) -> float:
    r"""Proposition 1: Greedy's loss never exceeds $(\max_i D_i - 1)/K + \epsilon$."""
    check_size(size)
    check_number("tolerance", tolerance, 0, 1)
    return (int(problem.n_values.max()) - 1) / size + tolerance


def cmdp_loss(problem: Problem, size: int, delta: float, version: str = "printed") -> float:
    r"""Proposition 2: with probability $1 - \delta$, CMDP's loss is at most
    $\sqrt{\log(2 m / \delta) / (2K)}$.

    Printed, $m = \tilde d = \sum_i (D_i - 1)$; sharp, $m = \sum_i \lceil D_i / 2 \rceil$.
    """
    check_size(size)
    check_number("delta", delta, 0, 1, ends=False)
    check_choice("version", version, VERSIONS)
    # A feature with a single value cannot deviate; with no other there is nothing to bound.
    terms = sum(VERSIONS[version].dkw(n) for n in problem.shape if n > 1)
    if terms == 0:
        return 0.0
    return sqrt(log(2 * terms / delta) / (2 * size))


def rejections(policy: Policy, size: int) -> Any:
    """Lemma 2: the law of the people rejected until `size` are accepted, as scipy.stats has it.

    The people screened are these and `size` more, on average size / rate.
    """
    check_size(size)
    return stats.nbinom(size, policy.rate)


@dataclass(frozen=True)
class LearningBounds:
    """Theorems 1 (l1 balls) and 2 (intervals), with probability 1 - delta.

    The sharp bounds hold for one `horizon`, fixed in advance. Where there are at least two types
    the printed ones hold for all horizons from 2 on at once (appendix B of the book proves it).

    >>> bounds = LearningBounds(Problem({"gender": {"woman": 0.5, "man": 0.5}}, [0.4, 0.6]))
    >>> round(bounds.violation(10**6)), round(bounds.loss(10**6, rate=0.8), 3)
    (35645, 0.047)
    """

    problem: Problem
    delta: float = 0.05
    version: Literal["printed", "sharp"] = "printed"
    confidence: Literal["l1", "bernstein"] = "l1"

    def __post_init__(self) -> None:
        check_number("delta", self.delta, 0, 1, ends=False)
        check_choice("version", self.version, VERSIONS)
        check_choice("confidence", self.confidence, ("l1", "bernstein"))

    def regret(self, horizon: int) -> float:
        """A bound on the regret."""
        return self._not_knowing(horizon) + self._chance(horizon, events=3)

    def violation(self, horizon: int) -> float:
        """A bound on the violation."""
        deviations = sum(self._constants.deviations(n) for n in self.problem.shape if n > 1)
        return self._not_knowing(horizon) + self._chance(horizon, events=6 * max(1, deviations))

    def loss(self, horizon: int, rate: float) -> float:
        """A bound on the loss, violation / (rate * T - regret), at most 1; `rate` is g*."""
        check_number("rate", rate, 0, 1)
        seats = rate * horizon - self.regret(horizon)
        return min(1.0, self.violation(horizon) / max(1.0, seats))

    @property
    def _constants(self) -> Constants:
        return VERSIONS[self.version]

    def _not_knowing(self, t: int) -> float:
        check_integer("horizon", t, 1)
        n_types = len(self.problem.p)
        if self.confidence == "l1":
            log_term = log(6 * n_types * t * max(t - 1, 1) / self.delta)
            return self._constants.l1 * sqrt(n_types * log_term * t)
        first, second = MAURER_PONTIL
        log_term = log(6 * n_types * t / self.delta)
        slow = self._constants.bernstein * first * sqrt(n_types * log_term * t)
        fast = self._constants.doublings * log(t) * second * n_types * log_term
        return slow + fast

    def _chance(self, t: int, events: int) -> float:
        return sqrt(self._constants.chance * t * log(events / self.delta))


def regret_path(problem: Problem, recruitment: Recruitment) -> pd.DataFrame:
    """Regret and violation after each acceptance, indexed by the number of people screened."""
    accepted = np.arange(1, len(recruitment.type_ids) + 1)
    has_value = np.zeros((len(accepted), len(problem.rho)))
    np.put_along_axis(has_value, problem.codes[recruitment.type_ids], 1.0, axis=1)
    ahead = np.cumsum(has_value, axis=0) - accepted[:, None] * problem.rho
    columns = {
        "accepted": accepted,
        "regret": best_policy(problem).rate * recruitment.screened - accepted,
        "violation": np.abs(ahead).max(axis=1),
    }
    return pd.DataFrame(columns, pd.Index(recruitment.screened, name="screened"))


def covers(problem: Problem, episodes: Sequence[Episode]) -> bool:
    """Whether the true distribution lay in the confidence set of every episode but the first."""
    for episode in episodes[1:]:
        estimate = episode.counts / (episode.start - 1)
        distance = np.abs(estimate - problem.p)
        if np.isscalar(episode.radius):
            distance = distance.sum()
        if not np.all(distance <= episode.radius):
            return False
    return True


def episode_sums(episodes: list[Episode], horizon: int) -> tuple[float, float]:
    """The sums over episodes of |E| / sqrt(start - 1) and of |E| / (start - 1), up to a horizon.

    The first episode, before which nobody has been seen, is left out, as its terms are infinite.
    """
    starts = np.array([episode.start for episode in episodes if episode.start <= horizon])
    lengths = np.diff(np.append(starts, horizon + 1))[1:]
    before = starts[1:] - 1
    return float((lengths / np.sqrt(before)).sum()), float((lengths / before).sum())

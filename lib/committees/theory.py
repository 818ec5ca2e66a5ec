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

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2, sqrt
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from committees.checks import check_choice, check_integer, check_number, check_size
from committees.lp import Policy, best_policy
from committees.problem import Problem
from committees.rl_cmdp import MAURER_PONTIL, Episode
from committees.simulation import Recruitment

VERSIONS = ("printed", "sharp")


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
    several = [n for n in problem.shape if n > 1]
    terms = sum(n - 1 if version == "printed" else n - n // 2 for n in several)
    return sqrt(log(2 * terms / delta) / (2 * size)) if terms else 0.0


def rejections(policy: Policy, size: int) -> Any:
    """Lemma 2: the law of the people rejected until `size` are accepted, as scipy.stats has it.

    The people screened are these and `size` more, on average size / rate.
    """
    check_size(size)
    return stats.nbinom(size, policy.rate)


@dataclass(frozen=True)
class LearningBounds:
    """Theorems 1 (l1 balls) and 2 (intervals): hold with probability 1 - delta for one `horizon`.

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
        printed = self.version == "printed"  # of two values, which deviate equally, count one
        values = sum(n - 1 if printed or n == 2 else n for n in self.problem.shape if n > 1)
        return self._not_knowing(horizon) + self._chance(horizon, events=6 * max(1, values))

    def loss(self, horizon: int, rate: float) -> float:
        """A bound on the loss, violation / (rate * T - regret), at most 1; `rate` is g*."""
        check_number("rate", rate, 0, 1)
        seats = rate * horizon - self.regret(horizon)
        return min(1.0, self.violation(horizon) / max(1.0, seats))

    def _not_knowing(self, t: int) -> float:
        check_integer("horizon", t, 1)
        n, printed = len(self.problem.p), self.version == "printed"
        if self.confidence == "l1":
            log_term = log(6 * n * t * max(t - 1, 1) / self.delta)
            return (4 if printed else 2 + sqrt(2)) * sqrt(n * log_term * t)
        first, second = MAURER_PONTIL
        log_term = log(6 * n * t / self.delta)
        slow = (4 if printed else sqrt(2) + 1) * first * sqrt(n * log_term * t)
        return slow + (2 * log(t) if printed else log2(t)) * second * n * log_term

    def _chance(self, t: int, events: int) -> float:
        return sqrt((2 if self.version == "printed" else 0.5) * t * log(events / self.delta))


def regret_path(problem: Problem, found: Recruitment) -> pd.DataFrame:
    """Regret and violation after each acceptance, indexed by the number of people screened."""
    accepted = np.arange(1, len(found.type_ids) + 1)
    seats = np.zeros((len(accepted), len(problem.rho)))
    np.put_along_axis(seats, problem.codes[found.type_ids], 1.0, axis=1)
    excess = np.cumsum(seats, axis=0) - accepted[:, None] * problem.rho
    columns = {
        "accepted": accepted,
        "regret": best_policy(problem).rate * found.screened - accepted,
        "violation": np.abs(excess).max(axis=1),
    }
    return pd.DataFrame(columns, pd.Index(found.screened, name="screened"))


def covers(problem: Problem, episodes: Sequence[Episode]) -> bool:
    """Whether the true distribution lay in the confidence set of every episode."""
    gaps = [(np.abs(e.counts / (e.start - 1) - problem.p), e.radius) for e in episodes[1:]]
    return all(np.all((gap.sum() if np.isscalar(r) else gap) <= r) for gap, r in gaps)


def episode_sums(episodes: list[Episode], horizon: int) -> tuple[float, float]:
    """The sums over episodes of |E| / sqrt(start - 1) and of |E| / (start - 1), up to a horizon.

    The first episode, before which nobody has been seen, is left out, as its terms are infinite.
    """
    starts = np.array([episode.start for episode in episodes if episode.start <= horizon])
    lengths = np.diff(np.append(starts, horizon + 1))[1:]
    before = starts[1:] - 1
    return float((lengths / np.sqrt(before)).sum()), float((lengths / before).sum())

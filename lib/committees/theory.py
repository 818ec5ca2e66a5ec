r"""What the paper proves (Propositions 1 and 2, Lemma 2, Theorems 1 and 2), and what is measured.

**Proved.** The theorems are stated with $O(\cdot)$; their constants are read off the proofs.
`"paper"` takes them as printed there, `"corrected"` as they follow:

- the sum over episodes $\sum_l |E_l| / \sqrt{\tau_l - 1}$ is at most $(\sqrt 2 + 1) \sqrt T$, not
  $2 \sqrt T$, and $\sum_l |E_l| / (\tau_l - 1)$ at most $\log_2 T$, not $\log T$;
- a factor $\sqrt 2$ of the radius is not lost on the way;
- the first person, before whom nothing is known, is counted;
- the union bound counts all values of a feature with three or more.

**Measured** along a recruitment. After $T$ people, $N(T)$ of them accepted, $N^i_j(T)$ of those
with value $j$ of feature $i$:

- the **regret** $R(T) = g^* T - N(T)$ is how many more seats the best policy would have filled;
- the **violation** $R^c(T) = \max_{i,j} |N^i_j(T) - \rho^i_j N(T)|$ counts people too many
  or too few. The loss is $R^c(T) / N(T)$.
"""

from __future__ import annotations

from math import log, log2, sqrt
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from committees.checks import check_choice, check_integer, check_number, check_size
from committees.lp import Policy, best_policy
from committees.problem import Problem
from committees.rl_cmdp import MAURER_PONTIL
from committees.simulation import Recruitment

Version = Literal["paper", "corrected"]
Confidence = Literal["l1", "bernstein"]


def greedy_loss(problem: Problem, size: int, tolerance: float) -> float:
    r"""Proposition 1: Greedy's loss never exceeds $(\max_i D_i - 1)/K + \epsilon$."""
    check_size(size)
    check_number("tolerance", tolerance, 0, 1)
    return (int(problem.n_values.max()) - 1) / size + tolerance


def cmdp_loss(problem: Problem, size: int, delta: float, version: Version = "paper") -> float:
    r"""Proposition 2: with probability $1 - \delta$, CMDP's loss is at most
    $\sqrt{\log(2 \tilde d / \delta) / (2K)}$, with $\tilde d$ from `deviations`.
    """
    check_size(size)
    check_number("delta", delta, 0, 1, ends=False)
    terms = deviations(problem, version)
    # A feature with a single value cannot deviate; with no other there is nothing to bound.
    return sqrt(log(2 * terms / delta) / (2 * size)) if terms else 0.0


def deviations(problem: Problem, version: Version) -> int:
    r"""How many shares a union bound counts.

    `"paper"`: $\tilde d = \sum_i (D_i - 1)$, all values of a feature but one. For two values, whose
    deviations are equal, that is enough; of three or more, the one left out may deviate most, so
    `"corrected"` counts all of them.
    """
    check_choice("version", version, ("paper", "corrected"))
    return sum(n - 1 if version == "paper" or n <= 2 else n for n in problem.shape)


def rejections(policy: Policy, size: int) -> Any:
    """Lemma 2: the law of the people rejected until `size` are accepted, as scipy.stats has it.

    The people screened are these and `size` more, on average size / rate.
    """
    check_size(size)
    return stats.nbinom(size, policy.rate)


#: What the sum over episodes of |E| / sqrt(start - 1) is at most, in units of sqrt(T).
EPISODE_SUM = {"paper": 2.0, "corrected": sqrt(2) + 1}


def regret(
    problem: Problem,
    horizon: int,
    delta: float,
    version: Version = "corrected",
    confidence: Confidence = "l1",
) -> float:
    """Theorems 1 and 2: with probability 1 - delta, R(T) is at most this, for one T (horizon)."""
    return _bound(problem, horizon, delta, version, confidence, events=3)


def violation(
    problem: Problem,
    horizon: int,
    delta: float,
    version: Version = "corrected",
    confidence: Confidence = "l1",
) -> float:
    """Theorems 1 and 2: with probability 1 - delta, the violation is at most this, for one T."""
    events = 6 * max(1, deviations(problem, version))
    return _bound(problem, horizon, delta, version, confidence, events)


def _bound(
    problem: Problem, t: int, delta: float, version: str, confidence: str, events: int
) -> float:
    """What not knowing p costs among t people, and what chance does, in all these events."""
    check_integer("horizon", t, 1)
    check_number("delta", delta, 0, 1, ends=False)
    check_choice("version", version, ("paper", "corrected"))
    check_choice("confidence", confidence, ("l1", "bernstein"))
    n, first_person = len(problem.p), version == "corrected"
    chance = sqrt(2 * t * log(events / delta))
    if confidence == "l1":
        log_term = log(6 * n * t * max(t - 1, 1) / delta)
        factor = 4.0 if version == "paper" else 2 * sqrt(2) * EPISODE_SUM["corrected"]
        return factor * sqrt(n * log_term * t) + first_person + chance
    first, second = MAURER_PONTIL
    log_term, rest = log(6 * n * t / delta), log(t) if version == "paper" else log2(t)
    slow = 2 * first * sqrt(n * log_term * t) * EPISODE_SUM[version]
    return slow + 2 * second * n * log_term * rest + first_person + chance


def rl_loss(
    problem: Problem, horizon: int, delta: float, rate: float, version: Version = "corrected"
) -> float:
    """Theorem 1: a bound on the loss after so many people, where `rate` is the best rate g*.

    Regret and violation bound it by violation / (rate * T - regret); no loss exceeds one.
    """
    check_number("rate", rate, 0, 1)
    members = max(1.0, rate * horizon - regret(problem, horizon, delta, version))
    return min(1.0, violation(problem, horizon, delta, version) / members)


def regret_path(problem: Problem, found: Recruitment) -> pd.DataFrame:
    """Regret and violation after each acceptance, indexed by the number of people screened."""
    accepted = np.arange(1, len(found.type_ids) + 1)
    seats = np.zeros((len(accepted), len(problem.rho)))
    np.put_along_axis(seats, problem.codes[found.type_ids], 1.0, axis=1)
    excess = np.cumsum(seats, axis=0) - accepted[:, None] * problem.rho
    return pd.DataFrame(
        {
            "accepted": accepted,
            "regret": best_policy(problem).rate * found.screened - accepted,
            "violation": np.abs(excess).max(axis=1),
        },
        index=pd.Index(found.screened, name="screened"),
    )

r"""What the paper proves, as functions: Propositions 1 and 2, Lemma 2, Theorems 1 and 2.

The theorems are stated with $O(\cdot)$; their constants are read off the proofs. `"paper"` takes
them as printed there, `"mended"` as they follow:

- the sum over episodes $\sum_l |E_l| / \sqrt{\tau_l - 1}$ is at most $(\sqrt 2 + 1) \sqrt T$, not
  $2 \sqrt T$, and $\sum_l |E_l| / (\tau_l - 1)$ at most $\log_2 T$, not $\log T$;
- a factor $\sqrt 2$ of the radius is not lost on the way;
- the first person, before whom nothing is known, is counted;
- the union bound counts every value that can deviate by itself.
"""

from __future__ import annotations

from math import log, log2, sqrt
from typing import Any, Literal

from scipy import stats

from committees.checks import check_size, number, one_of, whole
from committees.lp import Policy
from committees.problem import Problem
from committees.rl_cmdp import MAURER_PONTIL


def greedy_loss(problem: Problem, size: int, tolerance: float) -> float:
    r"""Proposition 1: Greedy's loss never exceeds $(\max_i D_i - 1)/K + \epsilon$."""
    check_size(size)
    number("tolerance", tolerance, 0, 1)
    return (int(problem.sizes.max()) - 1) / size + tolerance


def cmdp_loss(
    problem: Problem, size: int, delta: float, union: Literal["paper", "full"] = "paper"
) -> float:
    r"""Proposition 2: with probability $1 - \delta$, CMDP's loss is at most
    $\sqrt{\log(2 \tilde d / \delta) / (2K)}$.

    Parameters
    ----------
    union
        What the union bound counts. `"paper"`: $\tilde d = \sum_i (D_i - 1)$, all values of a
        feature but one. That is enough for two values, whose deviations are equal; of three or
        more, the one left out may deviate most, so `"full"` counts all of them.
    """
    check_size(size)
    number("delta", delta, 0, 1, ends=False)
    terms = deviations(problem, union)
    # A feature with a single value cannot deviate; with no other there is nothing to bound.
    return sqrt(log(2 * terms / delta) / (2 * size)) if terms else 0.0


def deviations(problem: Problem, union: Literal["paper", "full"]) -> int:
    """How many shares a union bound counts: see `cmdp_loss`."""
    one_of("union", union, ("paper", "full"))
    values = problem.shape
    return sum(n - 1 if union == "paper" or n <= 2 else n for n in values)


def rejections(policy: Policy, size: int) -> Any:
    """Lemma 2: the law of the number of people rejected until `size` are accepted.

    People screened = size + this, whose mean is size / rate.
    """
    return stats.nbinom(size, policy.rate)


Version = Literal["paper", "mended"]

#: What the sum over episodes of |E| / sqrt(start - 1) is at most, in units of sqrt(T).
EPISODE_SUM = {"paper": 2.0, "mended": sqrt(2) + 1}


def learning_term(
    problem: Problem,
    horizon: int,
    delta: float,
    version: Version = "mended",
    confidence: Literal["l1", "bernstein"] = "l1",
) -> float:
    """What not knowing p costs in regret, up to a horizon of so many people, under optimism."""
    whole("horizon", horizon, 1)
    number("delta", delta, 0, 1, ends=False)
    one_of("version", version, ("paper", "mended"))
    one_of("confidence", confidence, ("l1", "bernstein"))
    n, t = len(problem.p), horizon
    if confidence == "l1":
        weight = log(6 * n * t * max(t - 1, 1) / delta)
        factor = 4.0 if version == "paper" else 2 * sqrt(2) * EPISODE_SUM["mended"]
        return factor * sqrt(n * weight * t) + (version == "mended")
    first, second = MAURER_PONTIL
    weight = log(6 * n * t / delta)
    rest = log(t) if version == "paper" else log2(t)
    slow = 2 * first * sqrt(n * weight * t) * EPISODE_SUM[version]
    return slow + 2 * second * n * weight * rest + (version == "mended")


def regret(
    problem: Problem,
    horizon: int,
    delta: float,
    version: Version = "mended",
    confidence: Literal["l1", "bernstein"] = "l1",
) -> float:
    """Theorems 1 and 2: a bound on the regret R(T), for one T, if the confidence sets cover."""
    learning = learning_term(problem, horizon, delta, version, confidence)
    return learning + sqrt(2 * horizon * log(3 / delta))


def violation(
    problem: Problem,
    horizon: int,
    delta: float,
    version: Version = "mended",
    confidence: Literal["l1", "bernstein"] = "l1",
) -> float:
    """Theorems 1 and 2: a bound on the constraint violation, for one T, likewise."""
    learning = learning_term(problem, horizon, delta, version, confidence)
    terms = max(1, deviations(problem, "paper" if version == "paper" else "full"))
    return learning + sqrt(2 * horizon * log(6 * terms / delta))


def rl_loss(
    problem: Problem, horizon: int, delta: float, rate: float, version: Version = "mended"
) -> float:
    """Theorem 1: a bound on the loss after so many people, where `rate` is the best rate g*.

    Regret and violation bound it by violation / (rate * T - regret); no loss exceeds one.
    """
    number("rate", rate, 0, 1)
    members = max(1.0, rate * horizon - regret(problem, horizon, delta, version))
    return min(1.0, violation(problem, horizon, delta, version) / members)

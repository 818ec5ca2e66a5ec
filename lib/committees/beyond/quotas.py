r"""What quotas cost: Greedy's people, exactly where features are independent, and with a pencil.

**Exactly.** Let the features be independent among the volunteers. Greedy closes values, not
combinations of them, so whoever is seated next has a value of feature $i$ drawn from those of $i$
that are still open, whatever the other features do: seat by seat, the features fill up
independently of each other. With $O_i$ the share of the volunteers whose value of feature $i$ is
open before seat $n$, the wait for seat $n$ is $1 / (O_1 \cdots O_d)$ on average, hence

$$\mathbb E[\tau] = \sum_{n=1}^{K} \prod_{i=1}^{d} w_i(n), \qquad w_i(n) = \mathbb E[1 / O_i].$$

Each $w_i$ needs one feature alone. Let people come at the times of a Poisson process: those with
value $j$ are then $N_j(t)$, independent and Poisson with mean $p_j t$, of whom $\min(N_j(t), q_j)$
are seated by quotas $q_j$. The wait for seat $n$ is the time during which $n - 1$ are seated:

$$w_i(n) = \int_0^\infty \mathbb P\Big[\sum_j \min(N_j(t), q_j) = n - 1\Big]\, dt.$$

**From below.** Open values only become fewer, so each $w_i$ grows with $n$, and by Chebyshev's
inequality the mean of the product is at least the product of the means: what each feature costs
alone is *multiplied*. CMDP pays for the costliest feature only.

**With a pencil.** The scarcity of a feature is target over share of its scarcest group. Strike out
the largest scarcity and multiply the others: Greedy needs about a power of that as many people as
CMDP. The power was found on half of the sets of features of the Brexit assembly
(`data/quotas.csv`), and depends on the tolerance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import signal, stats

from committees.beyond.bands import feature_slices
from committees.checks import FloatArray
from committees.greedy import quotas
from committees.problem import Problem

#: The power of the pencil's rule for a tolerance of 0.02, and for committees of 50 to 250 seats.
POWER = 2.5
#: Points of time at which the integral for the waits is taken; they lie closer at the beginning.
POINTS = 1000
#: The integral ends when each value has filled its quota but for so many standard deviations.
DEVIATIONS = 10.0


def scarcities(problem: Problem) -> pd.Series:
    """Per feature: target over share of the scarcest group, a Series of float.

    >>> problem = Problem({"gender": {"woman": 0.6, "man": 0.4}}, p=[0.5, 0.5])
    >>> scarcities(problem).round(3).to_dict()
    {'gender': 1.2}
    """
    is_wanted = problem.targets > 0
    over_share = problem.targets[is_wanted] / problem.presence[is_wanted]
    return over_share.groupby(level="feature", sort=False).max()


def others_product(problem: Problem) -> float:
    """The product of the features' scarcities without the largest of them.

    >>> targets = {"gender": {"woman": 0.6, "man": 0.4}, "age": {"young": 0.3, "old": 0.7}}
    >>> shares = {"gender": {"woman": 0.5, "man": 0.5}, "age": {"young": 0.2, "old": 0.8}}
    >>> round(others_product(Problem.from_marginals(targets, shares)), 3)
    1.2
    """
    in_order = np.sort(scarcities(problem))
    return float(in_order[:-1].prod())


def times_cmdp(problem: Problem, power: float = POWER) -> float:
    """By the pencil's rule: Greedy's people as a multiple of CMDP's.

    Parameters
    ----------
    problem : Problem
        Only its targets and the shares of its groups count.
    power : float
        Depends on the tolerance: the smaller the tolerance, the larger.

    >>> problem = Problem({"gender": {"woman": 0.6, "man": 0.4}}, p=[0.5, 0.5])
    >>> times_cmdp(problem)  # a single feature
    1.0
    """
    return float(others_product(problem) ** power)


def waits(shares: npt.ArrayLike, most: npt.ArrayLike, size: int) -> FloatArray:
    """The mean wait for each seat if one feature alone has quotas.

    Parameters
    ----------
    shares : array_like of float, shape (number of values of the feature,)
        Among the volunteers; they sum to 1.
    most : array_like of int, shape (number of values of the feature,)
        The quotas, which sum to `size` at least.
    size : int
        The committee size, K.

    Returns
    -------
    ndarray of float, shape (size,)
        In people.

    >>> waits([0.5, 0.5], most=[1, 1], size=2).round(6).tolist()
    [1.0, 2.0]
    """
    p = np.asarray(shares, dtype=float)
    room = np.minimum(most, size)
    is_open = (p > 0) & (room > 0)
    p = p[is_open]
    room = room[is_open]
    end = ((room + DEVIATIONS**2 + DEVIATIONS * np.sqrt(room)) / p).max()
    fraction = np.arange(1, POINTS) / POINTS
    times = end * fraction**3
    steps = 3 * end * fraction**2 / POINTS
    seated = np.ones((len(times), 1))
    for share, most_of_value in zip(p, room, strict=True):
        has_room = stats.poisson.pmf(np.arange(most_of_value), np.outer(times, share))
        is_full = np.maximum(1 - has_room.sum(axis=1, keepdims=True), 0)
        of_value = np.hstack([has_room, is_full])
        seated = signal.fftconvolve(seated, of_value, axes=1)[:, :size]
    return np.pad(steps @ seated, (0, size - seated.shape[1]))


def expected_people(problem: Problem, size: int, tolerance: float) -> float:
    """Greedy's mean number of people screened if the features are independent.

    >>> shares = {"gender": {"woman": 0.5, "man": 0.5}, "age": {"young": 0.5, "old": 0.5}}
    >>> round(expected_people(Problem.from_marginals(shares, shares), 2, tolerance=0), 6)
    5.0
    """
    most = quotas(problem, size, tolerance)
    per_feature = [
        waits(problem.presence[values], most[values], size) for values in feature_slices(problem)
    ]
    return float(np.prod(per_feature, axis=0).sum())

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

**With a pencil.** A group is scarce if its share among the volunteers is less than nine tenths of
its target; a feature is scarce if one of its groups is. Quotas are enough, that is they take hardly
more people than CMDP, if at most one feature is scarce and there are ten seats for each type.
Otherwise Greedy takes about

$$\Big(\prod_{i \ne i^*} s_i\Big)^2 + \frac{\text{types}}{K}$$

times as many, where $s_i$ is target over share of the scarcest group of feature $i$, and $i^*$ has
the largest. The first part is for scarce groups, which are missing all at once in the end: hence
the square, where the mean of the product would be the product of the means if each $w_i$ were
constant. The second is for chance. Where quotas are tight, the last seat waits for a single type;
each group is missing in the end about as often as it comes, so that $w_i(K)$ is about
$\sum_j p_j / p_j = D_i$, and the product the number of types. Both were found in `data/quotas.csv`,
for a tolerance of 0.02 and 50 to 250 seats.
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

#: A group whose share is a smaller part of its target than this is scarce.
SCARCE = 0.9
#: With fewer seats for each type, chance alone makes quotas slow.
SEATS_PER_TYPE = 10
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


def are_enough(problem: Problem, size: int) -> bool:
    """Whether quotas are enough by the rule: hardly more people than with CMDP.

    Parameters
    ----------
    problem : Problem
        Only its targets and the shares of its groups count.
    size : int
        The committee size, K.

    >>> problem = Problem({"gender": {"woman": 0.6, "man": 0.4}}, p=[0.5, 0.5])
    >>> are_enough(problem, size=20), are_enough(problem, size=10)
    (True, False)
    """
    scarce_features = int((scarcities(problem) > 1 / SCARCE).sum())
    return scarce_features <= 1 and size >= SEATS_PER_TYPE * len(problem.p)


def times_cmdp(problem: Problem, size: int) -> float:
    """About how many times as many people as CMDP Greedy takes, with a tolerance of 0.02.

    Parameters are those of `are_enough`.

    >>> targets = {"gender": {"woman": 0.6, "man": 0.4}, "age": {"young": 0.3, "old": 0.7}}
    >>> shares = {"gender": {"woman": 0.5, "man": 0.5}, "age": {"young": 0.2, "old": 0.8}}
    >>> round(times_cmdp(Problem.from_marginals(targets, shares), size=40), 2)  # 1.2² + 4 / 40
    1.54
    """
    return others_product(problem) ** 2 + len(problem.p) / size


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

r"""Example 1: exact expectations for small committees, by following every way of filling one.

For a strategy that looks only at whom it has accepted, the committee so far is the state of an
absorbing Markov chain: from committee $N$, a volunteer of type $x$ arrives with probability $p(x)$
and is accepted with probability $a_N(x)$. The expected number $V(N)$ of people still to be seen
solves $V(N) = 1 + \sum_x p(x) a_N(x) V(N + x) + (1 - g_N) V(N)$, that is

$$V(N) = \frac{1 + \sum_x p(x)\, a_N(x)\, V(N + x)}{g_N}, \qquad g_N = \sum_x p(x)\, a_N(x),$$

with $V(N) = 0$ for a full committee. There are $\binom{n + K}{K}$ committees of up to $K$ people of
$n$ types: an oracle for small problems.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from committees.checks import check_integer
from committees.problem import Problem
from committees.strategy import Strategy, check_is_strategy

#: Python follows committees one inside the other, and there are very many.
MAX_SIZE = 200


def expected_screened(strategy: Strategy, problem: Problem, size: int) -> float:
    """The expected number of people seen until the committee is full; infinite at a dead end.

    >>> from committees import Greedy
    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.5, 0.5])
    >>> expected_screened(Greedy(0), problem, size=2)
    3.0
    """
    check_is_strategy(strategy)
    check_integer("size", size, 1, MAX_SIZE)
    if strategy.learns:
        raise ValueError(
            f"{strategy}: learns from people it turns away, so its committee is no Markov chain"
        )

    @cache
    def expected(committee: tuple[int, ...]) -> float:
        if len(committee) == size:
            return 0.0
        session = strategy.start(problem, size)
        for type_id in committee:
            session.see_one(type_id, accepted=True)
        mass = problem.p * session.acceptance
        rate = float(mass.sum())
        if rate <= 0:
            return np.inf
        after = 0.0
        for type_id in np.flatnonzero(mass).tolist():
            larger = tuple(sorted((*committee, type_id)))
            after += mass[type_id] * expected(larger)
        return float((1 + after) / rate)

    return expected(())

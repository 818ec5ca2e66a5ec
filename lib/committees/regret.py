r"""How a recruitment compares with the best policy, person by person (paper, Section 5).

After $T$ people, $N(T)$ of them accepted, $N^i_j(T)$ of those with value $j$ of feature $i$:

- the **regret** $R(T) = g^* T - N(T)$ counts the seats that the best policy would have filled more;
- the **violation** $R^c(T) = \max_{i,j} |N^i_j(T) - \rho^i_j N(T)|$ counts people too many
  or too few.

Loss and violation are the same thing in different units: the loss is $R^c(T) / N(T)$.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from committees.lp import best_policy
from committees.problem import Problem
from committees.recruitment import Recruitment
from committees.rl_cmdp import Episode


def path(problem: Problem, found: Recruitment) -> pd.DataFrame:
    """Regret and violation after each acceptance, indexed by the number of people screened."""
    accepted = np.arange(1, len(found.kinds) + 1)
    seats = np.zeros((len(accepted), len(problem.target)))
    np.put_along_axis(seats, problem.codes[found.kinds], 1.0, axis=1)
    excess = np.cumsum(seats, axis=0) - accepted[:, None] * problem.target
    return pd.DataFrame(
        {
            "accepted": accepted,
            "regret": best_policy(problem).rate * found.screened - accepted,
            "violation": np.abs(excess).max(axis=1),
        },
        index=pd.Index(found.screened, name="screened"),
    )


def episode_sums(episodes: list[Episode], horizon: int) -> tuple[float, float]:
    """The sums over episodes of |E| / sqrt(start - 1) and of |E| / (start - 1), up to a horizon.

    The first episode, before which nobody has been seen, is left out, as its terms are infinite.
    """
    starts = np.array([episode.start for episode in episodes if episode.start <= horizon])
    lengths = np.diff(np.append(starts, horizon + 1))[1:]
    before = starts[1:] - 1
    return float((lengths / np.sqrt(before)).sum()), float((lengths / before).sum())


def covers(problem: Problem, episodes: list[Episode]) -> bool:
    """Whether the true distribution lay in the confidence set of every episode."""
    return all(
        np.abs(gap).sum() <= episode.radius
        if np.isscalar(episode.radius)
        else bool((np.abs(gap) <= episode.radius).all())
        for episode in episodes[1:]
        for gap in [episode.counts / (episode.start - 1) - problem.p]
    )

"""What the paper says of its experiments, measured.

The functions here turn the tables of `simulate` into the quantities that the paper states, so that
every place of the book that speaks of them uses the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from committees.problem import Problem
from committees.recruitment import recruit
from committees.regret import covers
from committees.rl_cmdp import RLCMDP, LearningSession

#: The features of the paper's two configurations with an unknown distribution (Figure 2).
THREE_FEATURES = ["ethnicity", "social class", "gender"]
FIVE_FEATURES = ["ethnicity", "social class", "age", "gender", "vote"]


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean and half-width of the 95 % interval, per strategy and size, of people and loss."""
    grouped = frame.groupby(["strategy", "size"], sort=False)[["screened", "loss"]]
    return pd.concat({"mean": grouped.mean(), "±": 1.96 * grouped.sem()}, axis=1)


def figure_2_statements(
    three: pd.DataFrame, five: pd.DataFrame, names: Mapping[str, str]
) -> pd.DataFrame:
    """The paper's three statements about Figure 2, for each of several learners.

    Parameters
    ----------
    three, five
        Tables of `simulate` with three and with five features, that hold the learners and
        Greedy 0.02 and Greedy 0.05. The last size should be 2,000 to 2,500.
    names
        The learners: name in the tables, and label in the result.

    Returns
    -------
    A row per learner: the size from which its mean loss with three features stays below 0.05; with
    five features and the last size, how much larger than Greedy 0.02's its loss is, how many people
    it screens, and how many times as many Greedy 0.05 and Greedy 0.02 do; and whether these agree
    with the paper: 1,500 seats; 0.05 (within 0.01) and 3,500 people (within a tenth); 3 times.
    """
    losses = means(three)["mean"]["loss"].unstack("strategy")
    last = means(five)["mean"].xs(five["size"].max(), level="size")
    rows = {}
    for name, label in names.items():
        high = losses.index[losses[name] >= 0.05]
        below = losses.index[losses.index > (high.max() if len(high) else 0)]
        people = last.loc[name, "screened"]
        row = {
            "below 0.05 from": below.min() if len(below) else float("nan"),
            "margin": last.loc[name, "loss"] - last.loc["Greedy 0.02", "loss"],
            "people": people,
            "Greedy 0.05": last.loc["Greedy 0.05", "screened"] / people,
            "Greedy 0.02": last.loc["Greedy 0.02", "screened"] / people,
        }
        row["agrees"] = bool(
            row["below 0.05 from"] == 1500
            and abs(row["margin"] - 0.05) <= 0.01
            and abs(people - 3500) <= 350
            and row["Greedy 0.05"] <= 3 <= row["Greedy 0.02"]
        )
        rows[label] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def small_support(n_features: int, support: int, seed: int) -> tuple[Problem, Problem]:
    """Two problems with binary features, equal targets and equal marginals (Appendix C).

    In the first only `support` types occur, and the targets are the shares in another mixture of
    the same types. In the second the features are independent, so that all types occur.
    """
    rng = np.random.default_rng(seed)
    grid = np.indices([2] * n_features).reshape(n_features, -1)
    chosen = rng.choice(grid.shape[1], support, replace=False)
    p = np.zeros(grid.shape[1])
    p[chosen] = rng.dirichlet(np.full(support, 3.0))
    wanted, offered = (
        {f"feature {i + 1}": {"no": 1 - share, "yes": share} for i, share in enumerate(shares)}
        for shares in (grid[:, chosen] @ rng.dirichlet(np.ones(support)), grid @ p)
    )
    return Problem(wanted, p), Problem.from_marginals(wanted, offered)


def coverage(strategy: RLCMDP, problem: Problem, size: int, runs: int, seed: int) -> float:
    """The share of runs in which the truth lies in the confidence set of every episode."""
    covered = 0
    for rng in np.random.default_rng(seed).spawn(runs):
        session = recruit(strategy, problem, size, rng).session
        assert isinstance(session, LearningSession)
        covered += covers(problem, session.episodes)
    return covered / runs

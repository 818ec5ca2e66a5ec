"""Every Bayesian network on the Adult data, instead of two that somebody chose (Appendix D).

The paper compares a weak and a strong dependence of the features, and does not print the networks.
With four features there are 543 of them, which is few enough to look at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed

from committees import datasets
from committees.bayesnet import all_networks, joints
from committees.checks import FloatArray
from committees.lp import best_policy
from committees.problem import Problem
from committees.rl_cmdp import RLCMDP
from committees.simulation import simulate


def all_structures() -> pd.DataFrame:
    """Every distribution that a Bayesian network on Adult's four features can have.

    A row each: a network that has it (with the fewest edges), how many networks do, edges,
    dependence in bits, CMDP's people per seat, whether gender and social class are linked, and p.
    """
    problem = datasets.brexit(datasets.ADULT_FEATURES)
    networks = all_networks(list(problem.features))
    fitted = joints(datasets.adult_people(), networks, problem.features)
    _, first, member = np.unique(
        np.round(fitted, 10), axis=0, return_index=True, return_inverse=True
    )
    shape = problem.shape
    rows = []
    for row, index in enumerate(first):
        edges = networks[index]
        p = fitted[index]
        rows.append(
            {
                "network": ", ".join(f"{a} → {b}" for a, b in edges) or "no edges",
                "graphs": int((member.ravel() == row).sum()),
                "edges": len(edges),
                "bits": dependence(p, shape),
                "people per seat": 1 / best_policy(Problem(problem.targets, p)).rate,
                "gender–class": any({a, b} == {"gender", "social class"} for a, b in edges),
                "p": p,
            }
        )
    return pd.DataFrame(rows).sort_values("bits", ignore_index=True)


def learn_structures(
    structures: pd.DataFrame,
    scale: float,
    size: int,
    runs: int,
    seed: int,
    workers: int | None = None,
) -> pd.DataFrame:
    """Mean people screened and loss of RL-CMDP on each of the structures, in all processes."""
    work = delayed(partial(_learn, scale=scale, size=size, runs=runs, seed=seed))
    found = Parallel(n_jobs=workers or -1)(work(p) for p in structures["p"])
    return pd.DataFrame(found, structures.index, columns=["people", "loss"])


def _learn(p: FloatArray, scale: float, size: int, runs: int, seed: int) -> tuple[float, float]:
    problem = Problem(datasets.brexit(datasets.ADULT_FEATURES).targets, p)
    frame = simulate(RLCMDP(scale=scale), problem, size, runs, seed, workers=1)
    return float(frame["screened"].mean()), float(frame["loss"].mean())


def pairs_of_structures(structures: pd.DataFrame, learnt: pd.DataFrame) -> dict[str, float]:
    """Of all pairs of distributions with different dependence, the shares that fit the paper.

    The one with more dependence should need more people when p is known, and have a lower loss for
    more people when it is not.
    """
    one, other = np.triu_indices(len(structures), k=1)
    bits = structures["bits"].to_numpy()
    differ = np.abs(bits[one] - bits[other]) > 1e-9

    def more(column: pd.Series) -> npt.NDArray[np.bool_]:
        values = column.to_numpy()
        rise = np.sign(bits[one] - bits[other]) * (values[one] - values[other])
        return np.asarray((rise > 1e-9)[differ])

    known, people = more(structures["people per seat"]), more(learnt["people"])
    lower = more(-learnt["loss"])
    return {
        "pairs": int(differ.sum()),
        "known: more people": float(known.mean()),
        "unknown: more people": float(people.mean()),
        "unknown: lower loss": float(lower.mean()),
        "all three": float((known & people & lower).mean()),
    }


def dependence(p: FloatArray, shape: Sequence[int]) -> float:
    """How much a distribution differs from independence, in bits.

    The total correlation: the sum of the features' entropies minus that of the whole. It is the
    mutual information when there are two features, and 0 when they are independent.
    """
    joint = p.reshape(shape)
    axes = range(joint.ndim)
    margins = [joint.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    return sum(_entropy(margin) for margin in margins) - _entropy(p)


def _entropy(p: FloatArray) -> float:
    positive = p[p > 0]
    return float(-(positive * np.log2(positive)).sum())

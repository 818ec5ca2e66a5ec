"""Every Bayesian network on the Adult data, instead of two that somebody chose (Appendix D).

The paper compares a weak and a strong dependence of the features, and does not print the networks.
With four features there are 543 of them, which is few enough to look at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from committees import RLCMDP, Problem, datasets, simulate
from committees.bayesnet import all_networks, joints
from committees.checks import BoolArray, FloatArray
from committees.lp import best_policy


def all_structures() -> pd.DataFrame:
    """Every distribution that a Bayesian network on Adult's four features can have.

    A row each: a network that has it, how many do ("graphs"), edges, dependence in bits, people
    whom CMDP screens per seat, whether gender and social class are linked, and p.
    """
    names = datasets.ADULT_FEATURES
    problem = datasets.brexit(names)
    networks = sorted(  # of equal ones the first stands for all: few edges, early features
        all_networks(names),
        key=lambda edges: (len(edges), sorted((names.index(a), names.index(b)) for a, b in edges)),
    )
    fitted = joints(datasets.adult_people(), networks, problem.features)
    rounded = np.round(fitted, 10)
    _, first, members = np.unique(rounded, axis=0, return_index=True, return_counts=True)
    rows = [
        {
            "network": ", ".join(f"{a} → {b}" for a, b in networks[index]) or "no edges",
            "graphs": int(graphs),
            "edges": len(networks[index]),
            "bits": dependence(fitted[index], problem.shape),
            "screened per seat": 1 / best_policy(Problem(problem.targets, fitted[index])).rate,
            "gender–class": {"gender", "social class"} in map(set, networks[index]),
            "p": fitted[index],
        }
        for index, graphs in zip(first, members, strict=True)
    ]
    return pd.DataFrame(rows).sort_values("bits", ignore_index=True)


def learn_structures(
    structures: pd.DataFrame,
    scale: float,
    size: int,
    runs: int,
    seed: int,
    workers: int | None = None,
) -> pd.DataFrame:
    """The means of RL-CMDP on each of the structures: a row each, the columns screened and loss."""
    targets = datasets.brexit(datasets.ADULT_FEATURES).targets

    def learn(p: FloatArray) -> pd.Series:
        frame = simulate(RLCMDP(scale=scale), Problem(targets, p), size, runs, seed, workers=1)
        return frame[["screened", "loss"]].mean()

    found = Parallel(n_jobs=workers or -1)(delayed(learn)(p) for p in structures["p"])
    return pd.DataFrame(found, structures.index)


def pairs_of_structures(structures: pd.DataFrame, learnt: pd.DataFrame) -> dict[str, float]:
    """Of all pairs of distributions with different dependence, the shares that fit the paper.

    The one with more dependence should need more people when p is known, and have a lower loss for
    more people when it is not.
    """
    one, other = np.triu_indices(len(structures), k=1)
    bits = structures["bits"].to_numpy()
    differ = np.abs(bits[one] - bits[other]) > 1e-9

    def more(column: pd.Series) -> BoolArray:
        values = column.to_numpy()
        rise = np.sign(bits[one] - bits[other]) * (values[one] - values[other])
        return np.asarray((rise > 1e-9)[differ])

    known, unknown = more(structures["screened per seat"]), more(learnt["screened"])
    lower = more(-learnt["loss"])
    return {
        "pairs": int(differ.sum()),
        "known: more screened": float(known.mean()),
        "unknown: more screened": float(unknown.mean()),
        "unknown: lower loss": float(lower.mean()),
        "all three": float((known & unknown & lower).mean()),
    }


def dependence(p: FloatArray, shape: Sequence[int]) -> float:
    """How much a distribution (ndarray of float, per type) differs from independence, in bits.

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

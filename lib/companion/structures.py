"""Every Bayesian network on the Adult data, instead of two that somebody chose (Appendix D).

The paper compares a weak and a strong dependence of the features, and does not print the networks.
With four features there are 543 of them, which is few enough to look at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from committees import Problem, datasets
from committees.bayesnet import all_networks, joints
from committees.checks import FloatArray
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


def dependence(p: FloatArray, shape: Sequence[int]) -> float:
    """How much a distribution (ndarray of float, per type) differs from independence, in bits.

    The total correlation: the sum of the features' entropies minus that of the whole. It is the
    mutual information when there are two features, and 0 when they are independent.
    """
    joint, axes = p.reshape(shape), range(len(shape))
    margins = [joint.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    return float(sum(stats.entropy(q, base=2) for q in margins) - stats.entropy(p, base=2))

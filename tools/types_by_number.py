"""Does what ignorance costs grow with the number of types? Makes `data/types.csv` anew.

Theorem 1's bounds grow with the root of the number of types. The plug-in policy knows as little as
RL-CMDP; its violation is measured on problems with 8 to 512 types whose distribution is drawn at
random, so that features depend on each other in all ways. A row per number of types and problem:
the violation over the root of the people seen. Takes about a minute.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from committees import PlugIn, Problem, recruit
from committees.datasets import DATA

FILE = DATA / "types.csv"
#: Numbers of features, with two values each: 8, 32, 128 and 512 types.
FEATURES = (3, 5, 7, 9)
PROBLEMS = 20
SEATS = 100_000


def random_problem(n_features: int, rng: np.random.Generator) -> Problem:
    """Any distribution over the types, all alike probable; targets between 0.3 and 0.7."""
    p = rng.dirichlet(np.ones(2**n_features))
    shares = rng.uniform(0.3, 0.7, n_features)
    targets = {f"feature {i}": {"yes": y, "no": 1 - y} for i, y in enumerate(shares, start=1)}
    return Problem(targets, p)


def measure(
    features: tuple[int, ...] = FEATURES, problems: int = PROBLEMS, seats: int = SEATS
) -> pd.DataFrame:
    """A row per number of types and problem, with the violation over the root of the people."""
    rows = []
    for n_features in features:
        for number in range(problems):
            rng = np.random.default_rng([n_features, number])
            problem = random_problem(n_features, rng)
            recruitment = recruit(PlugIn(), problem, seats, rng)
            violation = problem.committee_loss(recruitment.type_ids) * seats
            people = int(recruitment.screened[-1])
            rows.append((len(problem.p), number, people, violation / people**0.5))
    return pd.DataFrame(rows, columns=["types", "problem", "people", "violation over root"])


if __name__ == "__main__":
    measure().to_csv(FILE, index=False, float_format="%.5g", lineterminator="\n")

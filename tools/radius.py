"""Hold every claim that RL-CMDP's radius touches against a grid of scales, for chapter 5.

Makes `data/radius.csv` anew: for two beliefs, ours and a solver's vertex, what each claim measures.
Takes some minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
import pandas as pd

from committees import RLCMDP, Problem
from committees.checks import FloatArray
from committees.datasets import DATA
from committees.optimism import Optimum
from companion.claims import FITTED, REGISTRY, Measurement, load, verdict
from companion.printed import PrintedLP
from companion.runs import Runs

FILE = DATA / "radius.csv"
SCALES = (0.02, 0.04, 0.05, 0.06, 0.07, 0.075, 0.08, 0.09, 0.1, 0.11, 0.12, 0.15, 0.2, 0.5, 1.0)


class VertexLP(PrintedLP):
    """The extended program word for word, with the corrected constraint.

    What the solver returns is believed: a vertex, at which the probability of many types is zero.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        n, first = len(problem.p), len(problem.rho)
        self._model.changeColBounds(3 * n, 1.0, 1.0)  # f = 1: the deviations sum to the radius
        for row in range(first + 2 + 2 * n, first + 2 + 4 * n):  # and nothing must be above f
            self._model.changeRowBounds(row, -highspy.kHighsInf, highspy.kHighsInf)

    def over_l1_ball(self, estimate: FloatArray, radius: float) -> Optimum:
        return self.everybody if radius >= 2 else super().over_l1_ball(estimate, radius)


@dataclass(frozen=True)
class VertexRLCMDP(RLCMDP):
    """RL-CMDP that believes what the solver returns: a vertex."""

    @property
    def family(self) -> str:
        return "RL-CMDP by vertex"

    def program(self, problem: Problem) -> VertexLP:
        return VertexLP(problem)


BELIEFS = {"towards the estimate": RLCMDP, "a vertex": VertexRLCMDP}


def measure(scales: tuple[float, ...] = SCALES, **options: int) -> pd.DataFrame:
    """A row per belief, scale and claim: the value, ±, and whether it is within the limits."""
    touched = [claim for claim in load() if claim.fitted]
    rows = []
    for belief, learner in BELIEFS.items():
        for scale in scales:
            runs = Runs(scale=scale, learner=learner, **options)
            for claim in touched:
                found = REGISTRY[claim.id](runs)
                assert found.other is not None
                holds = verdict(claim, Measurement(np.nan, other=found.other)) == FITTED
                rows.append((belief, scale, claim.id, found.other, found.other_error, holds))
    return pd.DataFrame(rows, columns=["belief", "scale", "id", "value", "±", "holds"])


if __name__ == "__main__":
    measure().to_csv(FILE, index=False, float_format="%.5g", lineterminator="\n")

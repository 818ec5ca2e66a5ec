"""Recruit with the strategies beyond the paper, as often as the front page asks for.

Makes `data/beyond.csv` anew: the table of `simulate` for all features of the Brexit assembly and
the sizes of Figure 1. Takes ten minutes.
"""

from __future__ import annotations

from committees import datasets, simulate
from committees.beyond import Resolving
from committees.datasets import DATA
from companion.experiments import FIGURE_1_SIZES, RUNS_2

FILE = DATA / "beyond.csv"
STRATEGIES = [Resolving(0.02)]

if __name__ == "__main__":
    frame = simulate(STRATEGIES, datasets.brexit(), FIGURE_1_SIZES, RUNS_2, seed=2021)
    frame.to_csv(FILE, index=False, float_format="%.8g", lineterminator="\n")

"""Draw the picture of the front page: people screened per seat against loss."""

from pathlib import Path

import pandas as pd

from committees import CMDP, Greedy, datasets, simulate
from committees.beyond import Resolving
from companion import plots

if __name__ == "__main__":
    plots.use_style()
    problem, sizes = datasets.brexit(), [50, 100, 150, 250, 500, 1000]
    paper = simulate([Greedy(0.02), Greedy(0.05), CMDP()], problem, sizes, runs=50, seed=2021)
    beyond = simulate(Resolving(0.02), problem, sizes, runs=20, seed=2021)
    figure = plots.tradeoff(pd.concat([paper, beyond]))
    (ax,) = figure.axes
    key = f"smallest points: {sizes[0]} seats\nlargest points: {sizes[-1]:,} seats"
    look = {"color": plots.REFERENCE, "transform": ax.transAxes}
    ax.text(0.98, 0.97, key, ha="right", va="top", **look)
    ax.text(0.02, 0.02, "↙ better", **look)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=200, metadata={"Software": None})

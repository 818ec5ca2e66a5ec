"""Draw the picture of the front page, images/cover.png: people screened per seat against loss."""

from pathlib import Path

import pandas as pd

from committees import datasets
from committees.beyond import Resolving
from companion import experiments, plots
from companion.cache import simulate_once

COVER = Path(__file__).resolve().parents[1] / "images" / "cover.png"

if __name__ == "__main__":
    plots.use_style()
    sizes = experiments.FIGURE_1_SIZES
    paper = experiments.figure_1(runs=50, seed=2021)
    beyond = simulate_once([Resolving(0.02)], datasets.brexit(), sizes, runs=20, seed=2021)
    figure = plots.tradeoff(pd.concat([paper, beyond]))
    (ax,) = figure.axes
    key = f"smallest points: {sizes[0]} seats\nlargest points: {sizes[-1]:,} seats"
    look = {"color": plots.REFERENCE, "transform": ax.transAxes}
    ax.text(0.98, 0.97, key, ha="right", va="top", **look)
    ax.text(0.02, 0.02, "↙ better", **look)
    figure.savefig(COVER, dpi=200, metadata={"Software": None})

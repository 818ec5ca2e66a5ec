"""Draw the picture of the front page, images/cover.png: people screened per seat against loss."""

from pathlib import Path

import pandas as pd

from committees.datasets import DATA
from companion import experiments, plots

COVER = Path(__file__).resolve().parents[1] / "images" / "cover.png"

if __name__ == "__main__":
    plots.use_style()
    sizes = experiments.FIGURE_1_SIZES
    paper = experiments.figure_1(experiments.RUNS_1, seed=2021)
    figure = plots.tradeoff(pd.concat([paper, pd.read_csv(DATA / "beyond.csv")]))
    (ax,) = figure.axes
    key = f"smallest points: {sizes[0]} seats\nlargest points: {sizes[-1]:,} seats"
    look = {"color": plots.REFERENCE, "transform": ax.transAxes}
    ax.text(0.98, 0.97, key, ha="right", va="top", **look)
    ax.text(0.02, 0.02, "↙ better", **look)
    figure.savefig(COVER, dpi=200, metadata={"Software": None})

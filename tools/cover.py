"""Draw the picture of the front page, images/cover.png: people screened per seat against loss."""

from pathlib import Path

import pandas as pd

from committees.datasets import DATA
from companion import plots

COVER = Path(__file__).resolve().parents[1] / "images" / "cover.png"
STRATEGIES = ["Greedy 0.02", "CMDP", "Prices 4", "Foresight 0.02"]

if __name__ == "__main__":
    plots.use_style()
    frame = pd.read_csv(DATA / "beyond.csv")
    own = frame[(frame["problem"] == "Brexit, six features") & frame["strategy"].isin(STRATEGIES)]
    sizes = sorted(own["size"].unique())
    figure = plots.tradeoff(own.set_index("strategy").loc[STRATEGIES].reset_index())
    (ax,) = figure.axes
    key = f"smallest points: {sizes[0]} seats\nlargest points: {sizes[-1]:,} seats"
    look = {"color": plots.REFERENCE, "transform": ax.transAxes}
    ax.text(0.98, 0.97, key, ha="right", va="top", **look)
    ax.text(0.25, 0.02, "↙ better", **look)
    figure.savefig(COVER, dpi=200, metadata={"Software": None})

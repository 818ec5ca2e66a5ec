"""Draw the picture of the front page: people screened per seat against loss.

Makes `images/cover.svg`, for pages, and `images/cover.png`, for cards that other sites show.
"""

from pathlib import Path

import pandas as pd

from committees.datasets import DATA
from companion import plots

IMAGES = Path(__file__).resolve().parents[1] / "images"
STRATEGIES = ["Greedy 0.02", "CMDP", "Prices 4", "Foresight 0.02"]

if __name__ == "__main__":
    plots.use_style()
    frame = pd.read_csv(DATA / "beyond.csv")
    own = frame[(frame["problem"] == "Brexit, six features") & frame["strategy"].isin(STRATEGIES)]
    sizes = sorted(own["size"].unique())
    own = own.set_index("strategy").loc[STRATEGIES].reset_index()
    figure = plots.tradeoff(own, is_crowded=True)
    (ax,) = figure.axes
    key = f"smallest points: {sizes[0]} seats\nlargest: {sizes[-1]:,} seats"
    look = {
        "color": plots.REFERENCE,
        "transform": ax.transAxes,
        "bbox": {"fc": "white", "ec": "none", "pad": 1},
    }
    ax.text(0.98, 0.97, key, ha="right", va="top", **look)
    ax.text(0.32, 0.03, "↙ better", **look)
    (IMAGES / "cover.svg").write_text(plots.svg(figure, "cover"), encoding="utf-8")
    figure.savefig(IMAGES / "cover.png", dpi=200, metadata={"Software": None})

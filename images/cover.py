"""Draw the README's picture: people screened per seat against loss."""

from pathlib import Path

from committees import CMDP, Greedy, datasets, plots, simulate

if __name__ == "__main__":
    plots.use_style()
    sizes = [50, 100, 150, 250, 500, 1000]
    strategies = [Greedy(0.02), Greedy(0.05), CMDP()]
    frame = simulate(strategies, datasets.brexit(), sizes, runs=500, seed=2021)
    figure = plots.tradeoff(frame, label_sizes=[sizes[0], sizes[-1]])
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=150, metadata={"Software": None})

"""The pictures that chapters ask for."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat

from committees import CMDP, Greedy, datasets, simulate
from companion import pictures, plots

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"


def called(module):
    """The names of this module that the code of chapters uses."""
    notebooks = [nbformat.read(path, as_version=4) for path in CHAPTERS.rglob("*.ipynb")]
    cells = [cell.source for book in notebooks for cell in book.cells if cell.cell_type == "code"]
    return set(re.findall(rf"\b{module}\.(\w+)", "\n".join(cells)))


def test_plots_and_pictures_have_what_chapters_call_and_little_else():
    own = {name for name in vars(plots) if not name.startswith("_")} - {"people", "style", "tables"}
    # The map is asked for by a test of chapters, the drawing of one figure by the cover.
    assert own - {"MAP", "svg"} == called("plots") - {"MAP", "style", "tables"}
    assert called("pictures") <= set(vars(pictures))


def test_plots_are_the_same_when_drawn_again(tmp_path):
    frame = simulate([Greedy(0.05), CMDP()], datasets.brexit(["age"]), [20, 60], runs=3, seed=1)
    digests = set()
    for _ in range(2):
        plots.tradeoff(frame).savefig(tmp_path / "it.png", metadata={"Software": None})
        digests.add(hashlib.sha256((tmp_path / "it.png").read_bytes()).hexdigest())
    plt.close("all")
    assert len(digests) == 1

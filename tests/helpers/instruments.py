"""Run a chapter with other parameters, and look at what comes of it."""

from __future__ import annotations

import math
import re
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"


def names(cases):
    seen: dict[str, int] = {}
    for chapter, *_ in cases:
        seen[chapter] = seen.get(chapter, 0) + 1
        yield f"{chapter}-{seen[chapter]}"


def run(chapter, parameters, folder):
    source = CHAPTERS / f"{chapter}.ipynb"
    assert set(parameters) <= set(papermill.inspect_notebook(source))
    target = folder / "out.ipynb"
    papermill.execute_notebook(source, target, parameters, cwd=source.parent, progress_bar=False)
    return nbformat.read(target, as_version=4)


def glued(notebook):
    """The numbers and words that the text refers to, by their names."""
    return {
        output.metadata["scrapbook"]["name"]: text
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
        for kind, text in output.data.items()
        if kind.endswith("text/plain")
    }


def whole(chapter, parameters, tmp_path, *, gaps=False):
    """The table of a chapter that ran to its end, warned of nothing and says no nonsense."""
    table = tmp_path / "table.csv"
    notebook = run(chapter, {**parameters, "table": str(table)}, tmp_path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [o["text"] for o in outputs if o.get("name") == "stderr"]
    values = glued(notebook)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for name, form in re.findall(r"\{glue:text\}`(\w+)(?::([^`]*))?`", text):
        assert not re.search(r"\bnan\b|\binf\b", values[name]), name
        if form:
            shown = format(float(values[name]), form).replace(",", "").rstrip("%")
            assert math.isfinite(float(shown)), name
    frame = pd.read_csv(table)
    assert len(frame)
    assert gaps or not frame.isna().any(axis=None)
    return frame


def nonsense(chapter, parameters, sentence, tmp_path):
    """The chapter stops in the first cell after the parameters, with this sentence and no more."""
    table = tmp_path / "table.csv"
    table.write_text("of an earlier run")
    with pytest.raises(papermill.PapermillExecutionError) as caught:
        run(chapter, {"table": str(table), **parameters}, tmp_path)
    cells = nbformat.read(CHAPTERS / f"{chapter}.ipynb", as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    first = 1 + next(k for k, c in enumerate(code) if "parameters" in c.metadata.get("tags", []))
    assert caught.value.source == code[first].source
    assert sentence in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert "lib/committees" not in str(caught.value)
    assert table.read_text() == "of an earlier run"

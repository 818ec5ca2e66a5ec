"""A book of one page, with the options of this book."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]


def build_one_page(folder):
    """Build the book in a folder; returns the site."""
    for name in ("_config.yml", "CITATION.cff", "_ext", "references.bib", "images"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title\n\nText.")])
    page.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(page, folder / "index.ipynb")
    program = str(Path(sys.executable).parent / "jupyter-book")
    done = subprocess.run([program, "build", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "_build" / "html"

"""What a notebook has stored."""

from __future__ import annotations


def glued(notebook):
    """The numbers and words that the text refers to, by their names."""
    return {
        output.metadata["scrapbook"]["name"]: text
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
        for mime, text in output.data.items()
        if mime.endswith("text/plain")
    }

"""Pictures on a page: an image for each panel, and a line that says where it comes from."""

from __future__ import annotations

import json
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from docutils import nodes
from sphinx import addnodes

from companion.plots.show import side_by_side
from pages import figures

PANEL = '<svg width="300pt" height="200pt" viewBox="0 0 300 200" xmlns="http://www.w3.org/2000/svg"><g/></svg>'
WIDE = PANEL.replace("300", "600")


@pytest.fixture
def page(tmp_path):
    """A page with two cells, and where its files are written."""
    outputs = [
        {"output_type": "stream", "text": "none"},
        {"output_type": "display_data", "data": {"text/csv": ["x,y\n", "1,2\n"]}},
    ]
    cells = [
        {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": ["seed: int = 7"]},
        {"cell_type": "code", "metadata": {}, "execution_count": 12, "outputs": outputs},
    ]
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    written = {}

    def write_file(name, content, overwrite=False, exists_ok=False):
        written[name[0]] = content
        return f"/{name[0]}"

    document = {"source": str(path)}
    renderer = SimpleNamespace(write_file=write_file, renderer=SimpleNamespace(document=document))
    return SimpleNamespace(renderer=renderer, written=written)


def output(svg, mime="image/svg+xml", **figure):
    metadata = {"mystnb": {"figure": figure, "image": {"alt": "Two lines."}}}
    return SimpleNamespace(mime_type=mime, content=svg, cell_metadata=metadata, cell_index=1)


def test_handle_mime_makes_an_image_of_each_panel(page):
    data = output(side_by_side([PANEL, WIDE]), name="fig-a")
    row, origin = figures.Picture.handle_mime(page.renderer, data, False)
    first, second = row.findall(nodes.image)
    assert (first["alt"], first["classes"]) == ("Two lines.", [])
    assert (second["alt"], second["classes"]) == (
        "Panel 2 of the picture just described.",
        ["wide"],
    )
    for image, width in ((first, "300pt"), (second, "600pt")):
        panel = ElementTree.fromstring(page.written[image["uri"][1:]])
        assert panel.attrib["width"] == width
        assert "x" not in panel.attrib
    (link,) = origin.findall(addnodes.download_reference)
    assert link["reftarget"] == "/fig-a.csv"
    assert page.written["fig-a.csv"] == b"x,y\n1,2\n"
    assert "code cell 12, seed 7, " in origin.astext()
    assert "commit" in origin.astext()


def test_handle_mime_leaves_all_else_alone(page):
    data = output(side_by_side([PANEL]), name="fig-a")
    assert figures.Picture.handle_mime(page.renderer, data, True) is None  # inside a line
    assert figures.Picture.handle_mime(page.renderer, output(PANEL), False) is None
    assert figures.Picture.handle_mime(page.renderer, output("", "image/png"), False) is None
    assert figures.Picture.handle_mime(page.renderer, output("x\n1\n", "text/csv"), False) == []
    assert page.written == {}


def test_a_picture_without_a_name_has_no_origin(page):
    (row,) = figures.Picture.handle_mime(page.renderer, output(side_by_side([PANEL])), False)
    assert "panels" in row["classes"]


def test_move_origins_puts_them_below_the_caption():
    line = nodes.paragraph("", "from here", classes=[figures.ORIGIN])
    other = nodes.paragraph("", "words")
    figure = nodes.figure("", nodes.container("", line, other), nodes.caption("", "caption"))
    figures.move_origins(None, nodes.container("", figure))
    assert [type(child) for child in figure] == [nodes.container, nodes.caption, nodes.legend]
    assert figure[-1].astext() == "from here"
    assert figure[0].astext() == "words"

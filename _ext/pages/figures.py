"""A Sphinx extension: the pictures of `companion.plots.show` on a page.

Each panel is an image of its own. Under the caption stands where the picture comes from: the cell,
the seed and the commit, and the numbers that it shows, as CSV.
"""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

from docutils import nodes
from sphinx import addnodes

from pages.footer import commit, seeds

SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
#: A panel with more points than this is wider than a phone, and scrolls there.
WIDE = 360
#: The class of the line that says where a picture comes from.
ORIGIN = "origin"


class Picture:
    """How myst-nb renders a picture: an image for each panel, and its origin."""

    mime_priority_overrides: ClassVar[list[tuple[str, str, int]]] = []

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """The nodes of a picture, and none for its numbers; None for anything else."""
        if data.mime_type == "text/csv":
            return []
        if inline or data.mime_type != "image/svg+xml" or 'class="panel"' not in data.content:
            return None
        options = data.cell_metadata.get("mystnb", {})
        words = options.get("image", {}).get("alt", "")
        row = nodes.container(classes=["panels"])
        root = ElementTree.fromstring(data.content)
        for number, panel in enumerate(root.findall(f"{{{SVG}}}svg"), 1):
            if number > 1:
                words = f"Panel {number} of the picture just described."
            row += _image(renderer, panel, words)
        name = options.get("figure", {}).get("name")
        if not name:
            return [row]
        return [row, _origin(renderer, data.cell_index, name)]


def _image(renderer: Any, panel: Any, words: str) -> nodes.Element:
    """A panel as an image in a file of its own."""
    is_wide = float(panel.attrib["width"].removesuffix("pt")) > WIDE
    for place_in_the_row in ("x", "class"):
        del panel.attrib[place_in_the_row]
    text = ElementTree.tostring(panel)
    file = f"{hashlib.sha256(text).hexdigest()}.svg"
    uri = renderer.write_file([file], text, overwrite=False, exists_ok=True)
    return nodes.image(uri=uri, alt=words, classes=["wide"] if is_wide else [])


def _origin(renderer: Any, cell_index: int, name: str) -> nodes.Element:
    """The line that says where a picture comes from."""
    page = Path(renderer.renderer.document["source"])
    cell = json.loads(page.read_text("utf-8"))["cells"][cell_index]
    uri = renderer.write_file([f"{name}.csv"], _numbers(cell).encode("utf-8"), overwrite=True)
    link = addnodes.download_reference("", "", nodes.literal("", "CSV"), reftarget=uri)
    facts = [f"code cell {cell['execution_count']}"]
    facts += [f"seed {seed}" for seed in seeds(page)[-1:]]
    facts += [_commit(page.parent)]
    line = nodes.paragraph("", "Numbers shown: ", classes=[ORIGIN])
    line += link
    line += nodes.Text(f", by {', '.join(facts)}")
    return line


def _numbers(cell: Any) -> str:
    """The numbers that `show` has put beside its picture, as CSV."""
    for output in cell["outputs"]:
        if "text/csv" in output.get("data", {}):
            return "".join(output["data"]["text/csv"])
    raise ValueError(f"code cell {cell['execution_count']} shows a picture without its numbers")


@lru_cache
def _commit(folder: Path) -> str:
    return commit(folder)


def move_origins(app: Any, doctree: Any) -> None:
    """Put the origin of each picture below its caption."""
    for figure in list(doctree.findall(nodes.figure)):
        lines = list(figure.findall(nodes.paragraph))
        for line in lines:
            if ORIGIN in line["classes"]:
                line.parent.remove(line)
                figure += nodes.legend("", line)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", move_origins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

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
        """The nodes of a picture; None for anything else."""
        if inline or data.mime_type != "image/svg+xml" or 'class="panel"' not in data.content:
            return None
        root = ElementTree.fromstring(data.content)
        options = data.cell_metadata.get("mystnb", {})
        alt = options.get("image", {}).get("alt", "")
        row = nodes.container(classes=["panels"])
        for number, panel in enumerate(root.findall(f"{{{SVG}}}svg")):
            is_wide = float(panel.attrib["width"].removesuffix("pt")) > WIDE
            for key in ("x", "class"):
                del panel.attrib[key]
            text = ElementTree.tostring(panel)
            name = f"{hashlib.sha256(text).hexdigest()}.svg"
            uri = renderer.write_file([name], text, overwrite=False, exists_ok=True)
            words = alt if number == 0 else f"Panel {number + 1} of the picture just described."
            row += nodes.image(uri=uri, alt=words, classes=["wide"] if is_wide else [])
        name = options.get("figure", {}).get("name")
        return [row, _origin(renderer, data, root, name)] if name else [row]


def _origin(renderer: Any, data: Any, root: Any, name: str) -> nodes.Element:
    """The line that says where a picture comes from."""
    csv = root.findtext(f"{{{SVG}}}metadata").encode("utf-8")
    uri = renderer.write_file([f"{name}.csv"], csv, overwrite=True)
    page = Path(renderer.renderer.document["source"])
    link = addnodes.download_reference("", "", nodes.literal("", "CSV"), reftarget=uri)
    count = json.loads(page.read_text("utf-8"))["cells"][data.cell_index]["execution_count"]
    facts = [f"code cell {count}", *(f"seed {s}" for s in seeds(page)[-1:]), _commit(page.parent)]
    words = nodes.Text(f", by {', '.join(facts)}")
    return nodes.paragraph("", "", nodes.Text("Numbers shown: "), link, words, classes=[ORIGIN])


@lru_cache
def _commit(folder: Path) -> str:
    return commit(folder)


def move_origins(app: Any, doctree: Any) -> None:
    """Put the origin of each picture below its caption."""
    for figure in list(doctree.findall(nodes.figure)):
        for line in list(figure.findall(nodes.paragraph)):
            if ORIGIN in line["classes"]:
                line.parent.remove(line)
                figure += nodes.legend("", line)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", move_origins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""A Sphinx extension that puts the pictures of `companion.pictures` on a page.

A notebook holds such a picture as data, and so does its page. `pictures.js` has what all of them
share; each kind has a script of its own, and a page loads those that it needs.
"""

import json
import shutil
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes

from companion.pictures import MIME

#: The class of the data on a page.
DATA = "picture"
SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


class LivePicture:
    """How myst-nb renders a picture that responds: as data that the script finds by its class."""

    mime_priority_overrides: ClassVar[list[tuple[str, str, int]]] = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """The nodes of such a picture; None for anything else, and inside a line."""
        if inline or data.mime_type != MIME:
            return None
        text = json.dumps(data.content, separators=(",", ":")).replace("</", r"<\/")
        html = f'<script type="application/json" class="{DATA}">{text}</script>'
        return [nodes.raw(text=html, format="html", classes=[DATA], kind=data.content["kind"])]


def write_scripts(app: Any) -> None:
    """Put the scripts beside the pages; not as modules, since those do not load from a disk."""
    if app.builder.format == "html":
        folder = Path(app.outdir, "_static")
        folder.mkdir(parents=True, exist_ok=True)
        for script in SCRIPTS.glob("*.js"):
            shutil.copyfile(script, folder / script.name)


def load_scripts(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """Have a page load the scripts of the pictures on it."""
    raw = doctree.findall(nodes.raw) if doctree else []
    kinds = {node["kind"] for node in raw if DATA in node["classes"]}
    for script in ["pictures", *sorted(kinds)] if kinds else []:
        app.add_js_file(f"{script}.js", loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", write_scripts)
    app.connect("html-page-context", load_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

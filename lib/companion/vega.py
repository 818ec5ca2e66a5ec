"""A Sphinx extension that makes the charts of `companion.charts` respond in the book.

A notebook holds a chart as data; a page gets it as such, and one script for the whole site turns
it into a picture. The script is what vl-convert carries of Vega, Vega-Lite and Vega-Embed, plus a
few lines of our own. Only pages with a chart load it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Of all versions of Vega-Lite, the one that JupyterLab knows. Nothing here needs a later one.
MIME = "application/vnd.vegalite.v5+json"

SCRIPT = "interactive.js"


class Chart:
    """How myst-nb renders a chart: as data, which the script finds by its class."""

    mime_priority_overrides: ClassVar[Sequence[tuple[str, str, int]]] = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        if inline or data.mime_type != MIME:
            return None
        spec = json.dumps(data.content, separators=(",", ":")).replace("</", r"<\/")
        html = f'<script type="application/json" class="vega-lite">{spec}</script>'
        return [nodes.raw(text=html, format="html", classes=["vega-lite"])]


def write_script(app: Sphinx) -> None:
    """Put the script where the pages find it. A plain one: a module would not load from a disk."""
    import vl_convert  # a large one

    if app.builder.format == "html":
        folder = Path(app.outdir, "_static")
        folder.mkdir(parents=True, exist_ok=True)
        own = resources.files("committees").joinpath(SCRIPT).read_text(encoding="utf-8")
        script = f"(() => {{{vl_convert.javascript_bundle(own)}}})();"
        (folder / SCRIPT).write_text(script, encoding="utf-8")


def load_script(
    app: Sphinx, pagename: str, templatename: str, context: Any, doctree: nodes.document | None
) -> None:
    """Have a page load the script if there is a chart on it."""
    raw = doctree.findall(nodes.raw) if doctree else []
    if any("vega-lite" in node["classes"] for node in raw):
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", load_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""A Sphinx extension that makes the charts of `companion.charts` respond in the book.

A notebook holds a chart as data, and so does its page. One script for the whole site draws it: what
vl-convert carries of Vega, Vega-Lite and Vega-Embed, and `charts.js`. Pages with a chart load it.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

import vl_convert
from docutils import nodes

from companion.charts import MIME

SCRIPT = "charts.js"


class Chart:
    """How myst-nb renders a chart: as data that the script finds by its class."""

    mime_priority_overrides: ClassVar[list[tuple[str, str, int]]] = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """The nodes of a chart; None for anything else, and inside a line."""
        if inline or data.mime_type != MIME:
            return None
        spec = json.dumps(data.content, separators=(",", ":")).replace("</", r"<\/")
        html = f'<script type="application/json" class="vega-lite">{spec}</script>'
        return [nodes.raw(text=html, format="html", classes=["vega-lite"])]


def write_script(app: Any) -> None:
    """Put the script beside the pages; not as a module, since those do not load from a disk."""
    if app.builder.format == "html":
        path = Path(app.outdir, "_static", SCRIPT)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = Path(__file__).with_name(SCRIPT).read_text("utf-8")
        path.write_text(f"(() => {{{vl_convert.javascript_bundle(own)}}})();", "utf-8")


def load_script(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """Have a page load the script if there is a chart on it."""
    raw = doctree.findall(nodes.raw) if doctree else []
    if any("vega-lite" in node["classes"] for node in raw):
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", load_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

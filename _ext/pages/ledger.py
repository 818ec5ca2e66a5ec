"""A Sphinx extension: badges that lead to the ledger.

The notebook `chapters/claims.ipynb` shows a `Table`. What the book says elsewhere of a verdict is
read from that table as stored, so that no verdict is written twice: at each box, figure, formula or
section where a claim is checked, a badge names the claim and its verdict, and links to its row.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

from companion.ledger import slug

#: The page with the table; `_static/ledger.js` lets a reader search it.
PAGE = "chapters/claims"


class Claim(NamedTuple):
    """A row of the stored table: the claim, its verdict, and the page and place of its check."""

    name: str
    mark: str
    page: str
    place: str


ROW = re.compile(
    r'<tr id="([\w-]+)".*?class="verdict [^>]*>([^<]+)<'
    r'.*?class="check" href="([\w/]+)\.ipynb#?([\w-]*)"'
)


def stored(notebook: Path) -> list[Claim]:
    """The claims as the notebook shows them; none if there is no such notebook."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"] if notebook.exists() else []
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = ["".join(output.get("data", {}).get("text/html", [])) for output in outputs]
    found = [row for html in shown for row in ROW.findall(html)]
    return [Claim(name, mark, f"chapters/{page}", place) for name, mark, page, place in found]


def address(builder: Any, start: str, page: str, place: str) -> str:
    """How a page of the book links to a place on another; both may be on one page for paper."""
    if builder.name == "singlehtml":
        return f"#{place or f'document-{page}'}"
    return str(builder.get_relative_uri(start, page)) + (f"#{place}" if place else "")


def badge(claims: list[Claim], link: Callable[[str], str]) -> nodes.paragraph:
    """The verdicts on some claims; `link` gives the address of a claim's row."""
    line = nodes.paragraph("", "In the ledger: ", classes=["ledger-badge"])
    for mark in dict.fromkeys(claim.mark for claim in claims):
        line += nodes.inline("", mark, classes=["verdict", f"verdict-{slug(mark)}"])
        for name in (claim.name for claim in claims if claim.mark == mark):
            line += nodes.Text(" · ")
            line += nodes.reference("", name, internal=True, refuri=link(name))
        line += nodes.Text(" ")
    return line


def attach(doctree: Any, place: str, line: nodes.paragraph) -> None:
    """Put a badge into the box, or below the figure, formula or title, that has this name."""
    things = [n for n in doctree.findall(nodes.Element) if not isinstance(n, nodes.title)]
    named = [n for n in things if place in n.get("ids", ())]
    node = named[0] if named else next(doctree.findall(nodes.section))
    if isinstance(node, nodes.target):  # of a formula: stands in front of it
        node = node.next_node(descend=False, siblings=True)
    if "proof" in node.get("classes", ()):
        node += line
    elif isinstance(node, nodes.section):
        node.insert(1, line)
    else:
        node.parent.insert(node.parent.index(node) + 1, line)


def link_pages(app: Any, doctree: Any, name: str) -> None:
    """Give a page its badges; and make the table's links to notebooks links to pages."""
    to, whole = partial(address, app.builder, name), app.builder.name == "singlehtml"
    claims = stored(Path(app.srcdir, f"{PAGE}.ipynb"))
    here = [claim for claim in claims if claim.page == name or (whole and claim.place)]
    for place in dict.fromkeys(claim.place for claim in here):
        some = [claim for claim in here if claim.place == place]
        attach(doctree, place, badge(some, partial(to, PAGE)))
    for raw in doctree.findall(nodes.raw):
        if '<table class="ledger">' in raw.astext():
            link = re.compile(r'href="([\w/]+)\.ipynb#?([\w-]*)"')
            page = link.sub(lambda m: f'href="{to(f"chapters/{m[1]}", m[2])}"', raw.astext())
            raw[:] = [nodes.Text(page)]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-resolved", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""A Sphinx extension: badges that lead to the ledger.

The notebook `chapters/claims.ipynb` shows a `Table`, and stores its claims beside it as data. What
the book says elsewhere of a verdict comes from there, so that no verdict is written twice: at each
box, figure, formula or section where a claim is checked, a badge names the claim and its verdict,
and links to its row.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from docutils import nodes

from companion.ledger import MIME, slug

#: The page with the table; `_static/ledger.js` lets a reader search it.
PAGE = "chapters/claims"


class Claim(NamedTuple):
    """What badges say of a claim: its verdict and value, where it is checked, what it needs."""

    name: str
    mark: str
    measured: str
    page: str
    place: str
    needs: Sequence[str] = ()


class ClaimData:
    """How myst-nb renders the claims beside the table: not at all."""

    mime_priority_overrides: ClassVar[list[tuple[str, str, int]]] = []

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """No nodes for claims; None for anything else."""
        return [] if data.mime_type == MIME else None


def records(notebook: Path) -> list[dict[str, Any]]:
    """All that is stored of the claims that a notebook shows; nothing if there is no notebook."""
    if not notebook.exists():
        return []
    found = []
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            found += output.get("data", {}).get(MIME, [])
    return found


def stored(notebook: Path) -> list[Claim]:
    """The claims that a notebook shows, as badges need them."""
    return [
        Claim(**{field: record[field] for field in Claim._fields if field in record})
        for record in records(notebook)
    ]


def address(builder: Any, start: str, page: str, place: str) -> str:
    """How a page of the book links to a place on another; both may be on one page for paper."""
    if builder.name == "singlehtml":
        return f"#{place or f'document-{page}'}"
    relative = str(builder.get_relative_uri(start, page))
    return f"{relative}#{place}" if place else relative


def badge(claims: list[Claim], link: Callable[[str], str]) -> nodes.paragraph:
    """The verdicts on some claims; `link` gives the address of a claim's row.

    And the place on the map of the first that rests on others.
    """
    line = nodes.paragraph("", "In the ledger: ", classes=["ledger-badge"])
    marks = dict.fromkeys(claim.mark for claim in claims)
    for mark in marks:
        line += nodes.inline("", mark, classes=["verdict", f"verdict-{slug(mark)}"])
        for claim in claims:
            if claim.mark == mark:
                address = link(claim.name)
                line += nodes.Text(" · ")
                line += nodes.reference("", claim.name, internal=True, refuri=address)
        line += nodes.Text(" ")
    for claim in claims:
        if claim.needs:
            words = "what it rests on" if len(claims) == 1 else f"what {claim.name} rests on"
            place = link(f"map-{claim.name}")
            line += nodes.Text("· ")
            line += nodes.reference("", words, internal=True, refuri=place, classes=["to-map"])
            break
    return line


def attach(doctree: Any, place: str, line: nodes.paragraph) -> None:
    """Put a badge into the box, or below the figure, formula or title, that has this name."""
    node = _named(doctree, place) or next(doctree.findall(nodes.section))
    if isinstance(node, nodes.target):  # of a formula: stands in front of it
        node = node.next_node(descend=False, siblings=True)
    if "proof" in node.get("classes", ()):
        node += line
    elif isinstance(node, nodes.section):
        node.insert(1, line)
    else:
        node.parent.insert(node.parent.index(node) + 1, line)


def _named(doctree: Any, place: str) -> Any:
    """What has this name on a page; its title may have it as well, and does not count."""
    for node in doctree.findall(nodes.Element):
        if place in node.get("ids", ()) and not isinstance(node, nodes.title):
            return node
    return None


def link_pages(app: Any, doctree: Any, name: str) -> None:
    """Give a page its badges; and make the table's links to notebooks links to pages."""
    is_one_page = app.builder.name == "singlehtml"
    to = partial(address, app.builder, name)
    by_place: dict[str, list[Claim]] = {}
    for claim in stored(Path(app.srcdir, f"{PAGE}.ipynb")):
        if claim.page == name or (is_one_page and claim.place):
            by_place.setdefault(claim.place, []).append(claim)
    for place, claims in by_place.items():
        attach(doctree, place, badge(claims, partial(to, PAGE)))
    for raw in doctree.findall(nodes.raw):
        if '<table class="ledger">' in raw.astext():
            raw[:] = [nodes.Text(_with_links(raw.astext(), to))]


def _with_links(html: str, to: Callable[[str, str], str]) -> str:
    """The table with links to pages instead of notebooks."""
    return re.sub(
        r'href="([\w/]+)\.ipynb#?([\w-]*)"',
        lambda link: f'href="{to(f"chapters/{link[1]}", link[2])}"',
        html,
    )


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-resolved", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

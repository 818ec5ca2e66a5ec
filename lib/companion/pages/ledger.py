"""The ledger on the pages: its table, and a Sphinx extension with badges that lead back to it.

The notebook `chapters/claims.ipynb` shows a `Table`. What the book says elsewhere of a verdict is
read from that table as stored, so that no verdict is written twice: at each box, figure, formula or
section where a claim is checked, a badge names the claim and its verdict, and links to its row.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from docutils import nodes

#: The page with the table; `_static/ledger.js` lets a reader search it.
PAGE = "chapters/claims"
#: What the first word of a name on a page says of the thing that has it.
KINDS = {"fig": "figure", "prop": "proposition", "thm": "theorem", "lem": "lemma", "ex": "example"}
KINDS |= {"equation": "formula"}


def where(check: str) -> str:
    """Where in the book a claim is checked, in words.

    >>> where("chapters/06_experiments#fig-1"), where("chapters/corrections")
    ('chapter 6, figure', 'corrections')
    >>> where("chapters/appendix/b_proofs#the-martingales")
    'appendix B, the martingales'
    """
    page, _, place = check.removeprefix("chapters/").partition("#")
    words = f"chapter {page[1]}" if re.match(r"0\d_", page) else page
    words = f"appendix {page[9].upper()}" if page.startswith("appendix/") else words
    kind = KINDS.get(place.partition("-")[0], place.replace("-", " "))
    return f"{words}, {kind}" if kind else words


def slug(mark: str) -> str:
    """A verdict as the name of a style.

    >>> slug("✗ not reproduced, undecided")
    'not-reproduced'
    """
    return mark.partition(" ")[2].partition(",")[0].replace(" ", "-")


class Table:
    """What `companion.claims.table` returns, for the screen: a row per claim, which has its name.

    It links to notebooks, which is right wherever they are read; in the book the extension makes
    links to pages of them.
    """

    HEAD = ("verdict", "the paper says", "printed", "measured", "in the paper, and here")

    def __init__(self, claims: pd.DataFrame):
        self.claims = claims

    def __repr__(self) -> str:
        return "\n".join(
            f"{row['verdict']} | {name} | {row['the paper says']} | printed {row['printed']} | "
            f"measured {row['measured']}" + (f" ({row['unit']})" if row["unit"] else "")
            for name, row in self.claims.iterrows()
        )

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in self.HEAD)
        rows = "\n".join(_row(str(name), row) for name, row in self.claims.iterrows())
        style = "<style>table.ledger :is(th, td) {text-align: left !important}</style>"
        head, body = f"<thead><tr>{head}</tr></thead>", f"<tbody>\n{rows}\n</tbody>"
        return f'{style}\n<table class="ledger">\n{head}\n{body}\n</table>'


def _row(name: str, claim: Any) -> str:
    text = {key: escape(str(value), quote=False) for key, value in claim.items()}
    remark, unit = (
        f"<br><small>{text[key]}</small>" if text[key] else "" for key in ("remark", "unit")
    )
    page, _, place = claim["where we check it"].removeprefix("chapters/").partition("#")
    link = f"{page}.ipynb#{place}" if place else f"{page}.ipynb"
    printed, measured = (
        " ".join(f'<span class="value">{part}</span>' for part in re.split(" (?=→ )", text[key]))
        for key in ("printed", "measured")
    )
    cells = [
        f'<span class="verdict verdict-{slug(claim["verdict"])}">{text["verdict"]}</span><br>'
        f'<a class="name" href="#{name}">{name}</a>',
        f"{text['the paper says']}{remark}",
        f'<span data-label="printed">{printed}</span>',
        f'<span data-label="measured">{measured}{unit}</span>',
        f'<span data-label="in the paper">{text["in the paper"]}</span><br>'
        f'<span data-label="checked in"><a class="check" href="{link}">'
        f"{where(claim['where we check it'])}</a></span>",
    ]
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr id="{name}" data-verdict="{slug(claim["verdict"])}">{row}</tr>'


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

"""The table of the ledger, for a notebook and its page.

`chapters/claims.ipynb` shows a `Table` of what `companion.claims.table` returns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd

#: What pages read of the table: the claims with their verdicts, and where they are checked.
MIME = "application/vnd.committees.claims+json"
#: What the first word of a name on a page says of the thing that has it.
KINDS = {
    "equation": "formula",
    "ex": "example",
    "fig": "figure",
    "lem": "lemma",
    "prop": "proposition",
    "thm": "theorem",
}


def where(check: str) -> str:
    """Where in the book a claim is checked, in words.

    >>> where("chapters/06_experiments#fig-1"), where("chapters/corrections")
    ('chapter 6, figure', 'corrections')
    >>> where("chapters/appendix/b_proofs#the-martingales")
    'appendix B, the martingales'
    """
    page, _, place = check.removeprefix("chapters/").partition("#")
    if page.startswith("appendix/"):
        letter = page.removeprefix("appendix/")[0]
        words = f"appendix {letter.upper()}"
    elif re.match(r"0\d_", page):
        words = f"chapter {page[1]}"
    else:
        words = page
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
    links to pages of them. The same claims are shown as data: for the badges on other pages, and
    with what `companion.claims.records` says of them, for machines.
    """

    HEAD = ("verdict", "the paper says", "printed", "measured", "in the paper, and here")

    def __init__(self, claims: pd.DataFrame, records: Mapping[str, dict[str, Any]] | None = None):
        self.claims = claims
        self.records = records or {}

    def __repr__(self) -> str:
        return "\n".join(_sentence(str(name), row) for name, row in self.claims.iterrows())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, list[dict[str, Any]]]:
        shown = []
        for name, row in self.claims.iterrows():
            more = self.records.get(str(name), {})
            shown.append(_record(str(name), row) | more)
        return {MIME: shown}

    def _repr_html_(self) -> str:
        style = "<style>table.ledger :is(th, td) {text-align: left !important}</style>"
        cells = "".join(f'<th scope="col">{name}</th>' for name in self.HEAD)
        head = f"<thead><tr>{cells}</tr></thead>"
        rows = "\n".join(_row(str(name), row) for name, row in self.claims.iterrows())
        body = f"<tbody>\n{rows}\n</tbody>"
        return f'{style}\n<table class="ledger">\n{head}\n{body}\n</table>'


def _sentence(name: str, claim: Any) -> str:
    """A claim on a line of plain text."""
    unit = f" ({claim['unit']})" if claim["unit"] else ""
    parts = [
        claim["verdict"],
        name,
        claim["the paper says"],
        f"printed {claim['printed']}",
        f"measured {claim['measured']}{unit}",
    ]
    if claim["control"]:
        parts.append(claim["control"])
    return " | ".join(parts)


def _record(name: str, claim: Any) -> dict[str, str]:
    """A claim as data: its name, verdict and value, and the page and the place of its check."""
    page, _, place = claim["where we check it"].partition("#")
    return {
        "name": name,
        "mark": claim["verdict"],
        "measured": claim["measured"],
        "page": page,
        "place": place,
    }


def _row(name: str, claim: Any) -> str:
    """A claim as a row of the table; narrow screens show the labels instead of the head."""
    text = {key: escape(str(value), quote=False) for key, value in claim.items()}
    verdict = slug(claim["verdict"])
    check = claim["where we check it"]
    page, hash_sign, place = check.removeprefix("chapters/").partition("#")
    link = f"{page}.ipynb{hash_sign}{place}"
    by = f"by {claim['evidence']}" if claim["evidence"] else ""
    cells = [
        f'<span class="verdict verdict-{verdict}">{text["verdict"]}</span><br>'
        f'<a class="name" href="#{name}">{name}</a>',
        f"{text['the paper says']}{_small(text['remark'])}{_small(_rests(claim))}",
        f'<span data-label="printed">{_values(text["printed"])}</span>',
        f'<span data-label="measured">{_values(text["measured"])}{_small(text["unit"])}'
        f"{_small(text['control'])}</span>",
        f'<span data-label="in the paper">{text["in the paper"]}</span><br>'
        f'<span data-label="checked in"><a class="check" href="{link}">{where(check)}</a>'
        f"{_small(by)}</span>",
    ]
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr id="{name}" data-verdict="{verdict}">{row}</tr>'


def _rests(claim: Any) -> str:
    """On which false steps a claim rests, and why it stands, if it does; nothing if on none."""
    steps = claim["false steps"]
    if not steps:
        return ""
    links = " and ".join(f'<a href="#{step}">{step}</a>' for step in steps)
    begin = f"Rests on {links}, false as printed"
    if claim["stands"]:
        return f"{begin}, and stands: {escape(claim['stands'], quote=False)}"
    return f"{begin}, and is false with {'it' if len(steps) == 1 else 'them'}."


def _small(words: str) -> str:
    """Words on a line of their own, if there are any."""
    return f"<br><small>{words}</small>" if words else ""


def _values(words: str) -> str:
    """A value, or two with an arrow between them; neither is broken over lines."""
    parts = re.split(" (?=→ )", words)
    return " ".join(f'<span class="value">{part}</span>' for part in parts)

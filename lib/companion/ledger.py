"""The table of the ledger, for a notebook and its page.

`chapters/claims.ipynb` shows a `Table` of what `companion.claims.table` returns.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pandas as pd

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

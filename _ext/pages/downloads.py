"""A Sphinx extension: the ledger as files.

`claims.csv` and `claims.json` lie beside the first page, always under these names: every claim with
its verdict, its value and its limits, and what it rests on. The page with the table links to them.
"""

import csv
import json
from pathlib import Path
from typing import Any

from docutils import nodes

from pages.head import citation
from pages.ledger import PAGE, records

FILES = ("claims.csv", "claims.json")
#: What a file leaves out: the words that the table has for numbers and verdicts.
WORDS = ("mark", "measured")


def claims(folder: Path) -> list[dict[str, Any]]:
    """The claims in the order of the table, each with the same fields."""
    found = []
    for record in records(folder / f"{PAGE}.ipynb"):
        if "verdict" in record:
            fields = {"id": record["name"], **record}
            for field in ("name", *WORDS):
                del fields[field]
            found.append(fields)
    return found


def as_json(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """The claims, with what they are about; what is not known is null."""
    whole = {
        "title": about.get("title"),
        "version": about.get("version"),
        "paper": about.get("preferred-citation", {}).get("doi"),
        "claims": rows,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    """A line for each claim; lists of claims with blanks between them, what is not known empty.

    With the mark by which spreadsheets know UTF-8.
    """
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            flat = {key: " ".join(v) if isinstance(v, list) else v for key, v in row.items()}
            writer.writerow(flat)


def write(app: Any, error: Exception | None) -> None:
    """Put the files beside the first page of the site."""
    if app.builder.name != "html" or error:
        return
    folder = Path(app.srcdir)
    rows = claims(folder)
    if rows:
        write_csv(rows, Path(app.outdir, "claims.csv"))
        text = as_json(rows, citation(folder))
        Path(app.outdir, "claims.json").write_text(text, encoding="utf-8")


def link(app: Any, doctree: Any, name: str) -> None:
    """Put links to the files above the table."""
    if app.builder.name != "html" or name != PAGE or not claims(Path(app.srcdir)):
        return
    for raw in list(doctree.findall(nodes.raw)):
        if '<table class="ledger">' in raw.astext():
            line = nodes.paragraph("", "The table as a file: ", classes=["claim-files"])
            for number, file in enumerate(FILES):
                line += nodes.Text(", " if number else "")
                line += nodes.reference("", file, refuri="../" * name.count("/") + file)
            raw.parent.insert(raw.parent.index(raw), line)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-resolved", link)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

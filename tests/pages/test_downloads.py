"""The ledger as files, read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

from companion.claims import VERDICTS, load
from companion.ledger import Table
from ledger_rows import FRAME
from pages import downloads
from pages.ledger import PAGE

ROOT = Path(__file__).resolve().parents[2]
MORE = {
    "the-loss": {"verdict": "not reproduced", "value": 0.3, "least": None, "needs": ["a", "b"]},
    "the-sum": {"verdict": "reproduced", "value": 2.5, "least": 1.0, "needs": []},
}


@pytest.fixture
def book(tmp_path):
    """A folder with the ledger's notebook and a citation."""
    shown = Table(FRAME, MORE)._repr_mimebundle_()
    cell = {"cell_type": "code", "outputs": [{"output_type": "execute_result", "data": shown}]}
    (tmp_path / "chapters").mkdir()
    (tmp_path / f"{PAGE}.ipynb").write_text(json.dumps({"cells": [cell]}), "utf-8")
    cited = "title: Book\nversion: 1.0\npreferred-citation: {doi: 10.1/x}\n"
    (tmp_path / "CITATION.cff").write_text(cited, "utf-8")
    return tmp_path


def app(folder, builder="html"):
    return SimpleNamespace(srcdir=folder, outdir=folder, builder=SimpleNamespace(name=builder))


def read_csv(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_files_have_the_claims_with_the_same_fields(book):
    downloads.write(app(book), None)
    whole = json.loads((book / "claims.json").read_text("utf-8"))
    assert (whole["title"], whole["version"], whole["paper"]) == ("Book", 1.0, "10.1/x")
    first, second = whole["claims"]
    assert first == {
        "id": "the-loss",
        "page": "chapters/06_experiments",
        "place": "fig-1",
        **MORE["the-loss"],
    }
    rows = read_csv(book / "claims.csv")
    assert [list(row) for row in rows] == [list(first), list(second)]
    assert rows[0]["needs"] == "a b"
    assert [row["least"] for row in rows] == ["", "1.0"]


@pytest.mark.parametrize(("builder", "error"), [("singlehtml", None), ("html", ValueError())])
def test_files_are_of_the_site_alone(book, builder, error):
    downloads.write(app(book, builder), error)
    assert not (book / "claims.json").exists()


def test_files_are_not_written_of_a_book_without_a_ledger(tmp_path):
    downloads.write(app(tmp_path), None)
    assert list(tmp_path.iterdir()) == []


def test_files_leave_out_what_is_shown_without_numbers(book):
    """Of a table that was given none."""
    path = book / f"{PAGE}.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"][0]["outputs"][0]["data"] = Table(FRAME)._repr_mimebundle_()
    path.write_text(json.dumps(notebook), "utf-8")
    assert downloads.claims(book) == []


def linked(book, name=PAGE, builder="html"):
    tables = [nodes.raw("", html) for html in ("<p>", Table(FRAME)._repr_html_())]
    page = nodes.container("", *tables)
    downloads.link(app(book, builder), page, name)
    return page


def test_link_puts_the_files_above_the_table(book):
    page = linked(book)
    assert page[1].astext() == "The table as a file: claims.csv, claims.json"
    links = [link["refuri"] for link in page[1].findall(nodes.reference)]
    assert links == ["../claims.csv", "../claims.json"]
    assert len(linked(book, "chapters/other")) == 2
    assert len(linked(book, builder="singlehtml")) == 2


def test_site_has_both_files_with_every_claim(pages, site):
    """Read back, they are the claims of the file, and the page leads to them."""
    shown = json.loads((site / "claims.json").read_text("utf-8"))
    rows = read_csv(site / "claims.csv")
    by_id = {claim["id"]: claim for claim in shown["claims"]}
    assert [row["id"] for row in rows] == list(by_id)
    assert shown["paper"] == "10.24963/ijcai.2021/22"
    for claim in load():
        found = by_id[claim.id]
        assert (found["says"], found["printed"]) == (claim.says, claim.paper)
        assert found["needs"] == list(claim.needs)
        assert found["verdict"] in VERDICTS
        assert (found["value"] is None) == bool(claim.not_checkable)
    for row in rows:
        assert row["verdict"] == by_id[row["id"]]["verdict"]
        assert row["needs"].split() == by_id[row["id"]]["needs"]
    page = pages[site / f"{PAGE}.html"]
    for link in page.select(".claim-files a"):
        assert (site / "chapters" / link["href"]).resolve().exists()
    assert len(page.select(".claim-files a")) == 2

"""The ledger's table, and the badges that lead back to it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from companion.claims import MARKS, load
from companion.ledger import Table, slug
from ledger_rows import FRAME
from pages import ledger
from pages.ledger import Claim, address, attach, badge, link_pages, stored

ROOT = Path(__file__).resolve().parents[2]

CLAIMS = [
    Claim(
        name="the-loss",
        mark="✗ not reproduced, undecided",
        measured="0.30 ± 0.01",
        page="chapters/06_experiments",
        place="fig-1",
    ),
    Claim(
        name="the-sum",
        mark="✎ corrected",
        measured="2.5 as printed → 1 as corrected",
        page="chapters/corrections",
        place="",
    ),
]


@pytest.fixture
def book(tmp_path):
    """A folder with a notebook that shows the table, and other things."""
    table = Table(FRAME)
    shown = {"text/html": table._repr_html_(), **table._repr_mimebundle_()}
    outputs = [
        {"output_type": "stream", "text": "none"},
        {"output_type": "display_data", "data": {"text/html": "<table><tr id='a'></tr></table>"}},
        {"output_type": "execute_result", "data": shown},
    ]
    cells = [{"cell_type": "markdown"}, {"cell_type": "code", "outputs": outputs}]
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "claims.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    return tmp_path


def app(folder, name="html"):
    """A builder whose pages link to each other as those of a website do."""
    pages = SimpleNamespace(name=name, get_relative_uri=lambda start, page: f"{start}>{page}.html")
    return SimpleNamespace(srcdir=folder, builder=pages)


def test_stored_is_what_the_table_shows(book):
    assert stored(book / "chapters" / "claims.ipynb") == CLAIMS
    assert stored(book / "elsewhere.ipynb") == []


# --- badges


def test_badge_names_each_verdict_once():
    marks = {"a": "✓ so", "b": "✗ not", "c": "✓ so"}
    some = [Claim(name, mark, "", "", "") for name, mark in marks.items()]
    line = badge(some, "claims.html#{}".format)
    assert line.astext().strip() == "In the ledger: ✓ so · a · c ✗ not · b"
    links = [link["refuri"] for link in line.findall(nodes.reference)]
    assert links == ["claims.html#a", "claims.html#c", "claims.html#b"]
    assert [node["classes"] for node in line.findall(nodes.inline)] == [
        ["verdict", "verdict-so"],
        ["verdict", "verdict-not"],
    ]


def page_of_everything():
    """A title; a box with a title; a figure; a formula with its target; a section."""
    box = nodes.admonition("", nodes.title("", "Theorem", ids=["thm"]), ids=["thm"])
    box["classes"] = ["proof", "theorem"]
    section = nodes.section("", nodes.title("", "Part"), nodes.paragraph("", "text"), ids=["part"])
    parts = [box, nodes.figure(ids=["fig"]), nodes.target(ids=["eq"]), nodes.math_block(), section]
    return nodes.container("", nodes.section("", nodes.title("", "Page"), *parts, ids=["page"]))


def test_badge_leads_to_the_first_on_the_map_that_rests_on_others():
    alone, leaning = CLAIMS[0], CLAIMS[1]._replace(needs=["the-loss"])
    line = badge([alone, leaning], "claims.html#{}".format)
    *_, link = line.findall(nodes.reference)
    assert (link.astext(), link["refuri"]) == ("what the-sum rests on", "claims.html#map-the-sum")
    *_, link = badge([leaning], str).findall(nodes.reference)
    assert link.astext() == "what it rests on"
    assert "rests" not in badge([alone], str).astext()


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("thm", lambda page: page[0][1][1]),
        ("fig", lambda page: page[0][3]),
        ("eq", lambda page: page[0][5]),
        ("part", lambda page: page[0][5][1]),
        ("", lambda page: page[0][1]),
        ("gone", lambda page: page[0][1]),
    ],
)
def test_attach_puts_a_badge_into_a_box_and_below_all_else(place, where):
    page, line = page_of_everything(), badge(CLAIMS, str)
    attach(page, place, line)
    assert where(page) is line
    assert len(list(page.findall(nodes.paragraph))) == 2


def test_address_is_relative_or_on_the_same_page():
    site, paper = app("").builder, app("", "singlehtml").builder
    assert address(site, "a", "b", "c") == "a>b.html#c"
    assert address(site, "a", "b", "") == "a>b.html"
    assert address(paper, "a", "b", "c") == "#c"
    assert address(paper, "a", "b", "") == "#document-b"


@pytest.mark.parametrize(
    ("builder", "name", "links"),
    [
        (
            "html",
            "chapters/06_experiments",
            ["chapters/06_experiments>chapters/claims.html#the-loss"],
        ),
        ("html", "chapters/corrections", ["chapters/corrections>chapters/claims.html#the-sum"]),
        ("html", "chapters/07_conclusion", []),
        ("singlehtml", "index", ["#the-loss"]),
    ],
)
def test_link_pages_gives_each_page_its_badges(book, builder, name, links):
    page = nodes.container(
        "", nodes.section("", nodes.title("", "Page"), nodes.figure(ids=["fig-1"]))
    )
    link_pages(app(book, builder), page, name)
    assert [link["refuri"] for link in page.findall(nodes.reference)] == links


@pytest.mark.parametrize(
    ("builder", "links"),
    [
        ("html", ["here>chapters/06_experiments.html#fig-1", "here>chapters/corrections.html"]),
        ("singlehtml", ["#fig-1", "#document-chapters/corrections"]),
    ],
)
def test_link_pages_leads_from_the_table_to_pages(tmp_path, builder, links):
    other = nodes.raw("", '<a href="a.ipynb">kept</a>', format="html")
    table = nodes.raw("", Table(FRAME)._repr_html_(), format="html")
    link_pages(app(tmp_path, builder), nodes.container("", other, table), "here")
    shown = BeautifulSoup(table.astext(), "html.parser").select("a.check")
    assert [link["href"] for link in shown] == links
    assert "a.ipynb" in other.astext()


# --- the book


def test_the_notebook_shows_every_claim_once_with_its_check():
    shown = stored(ROOT / f"{ledger.PAGE}.ipynb")
    checks = {c.name: f"{c.page}#{c.place}".rstrip("#") for c in shown}
    assert checks == {claim.id: claim.check for claim in load()}
    assert len(shown) == len(checks)
    order = [list(map(slug, MARKS.values())).index(slug(claim.mark)) for claim in shown]
    assert order == sorted(order)


def test_style_sheet_has_a_colour_for_each_verdict_that_says_something():
    style = (ROOT / "_ext" / "static" / "ledger.css").read_text("utf-8")
    for mark in list(MARKS.values())[:4]:  # the others are grey
        assert f".verdict-{slug(mark)} {{" in style


def test_pages_lead_from_each_claim_to_its_check_and_back(pages, site):
    """The link's page and place exist, and the badge there has the claim's verdict."""
    table = pages[site / f"{ledger.PAGE}.html"]
    rows = table.select("table.ledger tbody tr")
    assert len(rows) == len(load())
    for row in rows:
        link = row.select_one("a.check")["href"]
        path, _, place = urljoin(f"{ledger.PAGE}.html", link).partition("#")
        page = pages[site / path]
        assert not place or page.find(id=place), link
        (back,) = [
            badge
            for badge in page.select("p.ledger-badge a")
            if badge["href"].endswith(f"claims.html#{row['id']}")
        ]
        mark = back.find_previous(class_="verdict").get_text()
        assert mark == row.select_one(".verdict").get_text(), row["id"]
        if place:
            near = page.find(id=place)
            inside = near.select_one("p.ledger-badge") if near.name != "figure" else None
            assert back.parent in (inside, near.find_next("p", class_="ledger-badge"))


def test_map_of_the_site_is_the_claims_and_what_they_rest_on(pages, site):
    """Nodes lead to rows and have their verdicts; arrows are steps; badges lead to nodes."""
    page = pages[site / f"{ledger.PAGE}.html"]
    nodes_of_the_map = page.select(".claim-map a")
    assert len(nodes_of_the_map) == len(load())
    for node in nodes_of_the_map:
        row = page.find(id=node["href"].removeprefix("#"))
        assert row.name == "tr"
        assert node["class"][0] == row["data-verdict"]
    arrows = [(arrow["data-from"], arrow["data-to"]) for arrow in page.select("path[data-from]")]
    assert sorted(arrows) == sorted((step, claim.id) for claim in load() for step in claim.needs)
    for claim in load():
        if re.match(r"theorem-\d-", claim.id):
            checked = pages[site / f"{claim.check.partition('#')[0]}.html"]
            links = [link["href"] for link in checked.select("p.ledger-badge a.to-map")]
            assert links, claim.id
            for link in links:
                assert page.find(id=link.partition("#")[2]).name == "a"


def test_ledger_says_why_what_rests_on_false_steps_stands(pages, site):
    page = pages[site / f"{ledger.PAGE}.html"]
    for claim in load():
        row = page.find("tr", id=claim.id)
        said = [small.get_text() for small in row.select("small")]
        assert any("and stands: " in words for words in said) == bool(claim.stands)
        false = {"corrected", "not-reproduced"}
        leans = any(page.find("tr", id=step)["data-verdict"] in false for step in claim.needs)
        assert any(words.startswith("Rests on ") for words in said) == leans

"""What scholars' tools read in the head of a page, and the sitemap."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from one_page import build_one_page
from pages import head

ROOT = Path(__file__).resolve().parents[2]
BASE = "https://example.org/book/"
TITLE = 'A "</script>" & c'


@pytest.fixture
def book(tmp_path):
    """A folder with the book's citation."""
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    return tmp_path


def app(folder, base="", builder="html"):
    uri = SimpleNamespace(name=builder, get_target_uri=lambda name: f"{name}.html")
    env = SimpleNamespace(titles={"a/b": nodes.title("", TITLE)}, found_docs={"x", "a/b"})
    config = SimpleNamespace(html_baseurl=base)
    return SimpleNamespace(srcdir=folder, outdir=folder, builder=uri, env=env, config=config)


def described(folder, base=""):
    context = {"metatags": "<meta>"}
    head.describe(app(folder, base), "a/b", "page.html", context, nodes.container())
    assert context["metatags"].startswith("<meta>")
    return BeautifulSoup(context["metatags"], "html.parser")


def contents(page, name):
    return [tag["content"] for tag in page.select(f'meta[name="{name}"]')]


def test_describe_tells_who_wrote_what_and_when(book):
    page = described(book)
    assert contents(page, "citation_title") == [TITLE]
    assert contents(page, "citation_author") == ["The authors of this companion"]
    assert contents(page, "citation_publication_date") == ["2026/11/16"]
    (reference,) = contents(page, "citation_reference")
    assert "citation_doi=10.24963/ijcai.2021/22" in reference
    assert reference.count("citation_author=") == 4
    assert contents(page, "citation_fulltext_html_url") == []


def test_describe_says_on_what_the_book_is_based(book):
    data = json.loads(described(book).select_one('[type="application/ld+json"]').string)
    assert data["@type"] == "ScholarlyArticle"
    assert data["headline"] == TITLE
    assert data["license"].endswith("/licenses/by/4.0/")
    paper = data["isBasedOn"]
    assert paper["@id"] == "https://doi.org/10.24963/ijcai.2021/22"
    assert paper["author"][2] == {"@type": "Person", "name": "Jérôme Lang"}
    assert data["author"] == [{"@type": "Organization", "name": "The authors of this companion"}]
    assert "url" not in data


def test_describe_has_whole_addresses_if_the_site_s_is_known(book):
    assert contents(described(book, BASE), "citation_pdf_url") == []
    (book / "book.pdf").touch()
    page = described(book, BASE)
    assert contents(page, "citation_fulltext_html_url") == [f"{BASE}a/b.html"]
    assert contents(page, "citation_pdf_url") == [f"{BASE}book.pdf"]
    data = json.loads(page.select_one("script").string)
    assert data["url"] == f"{BASE}a/b.html"


def test_describe_takes_an_orcid_where_there_is_one():
    author = {"given-names": "A", "family-names": "B", "orcid": "https://orcid.org/0"}
    assert head._agent(author)["@id"] == "https://orcid.org/0"


def test_describe_leaves_other_pages_and_other_books_alone(book, tmp_path):
    context = {}
    head.describe(app(book), "search", "search.html", context, None)
    (book / "CITATION.cff").unlink()
    head.describe(app(book), "a/b", "page.html", context, nodes.container())
    assert context == {}


def test_sitemap_lists_the_pages_if_the_address_is_known(book):
    head.write_sitemap(app(book), None)
    head.write_sitemap(app(book, BASE, "singlehtml"), None)
    head.write_sitemap(app(book, BASE), ValueError())
    assert not (book / "sitemap.xml").exists()
    head.write_sitemap(app(book, BASE), None)
    root = ElementTree.parse(book / "sitemap.xml").getroot()
    assert [place.text for place in root.iter() if place.tag.endswith("loc")] == [
        f"{BASE}a/b.html",
        f"{BASE}x.html",
    ]


def test_every_page_of_the_site_tells_scholars_tools_what_it_is(pages, site):
    titles = set()
    for path, page in pages.items():
        (title,) = contents(page, "citation_title")
        titles.add(title)
        data = json.loads(page.select_one('script[type="application/ld+json"]').string)
        assert data["headline"] == title
        assert data["isBasedOn"]["@id"].endswith("10.24963/ijcai.2021/22"), path
    assert len(titles) == len(pages)
    assert not (site / "sitemap.xml").exists()  # its address is not known here


@pytest.mark.slow
def test_a_site_with_an_address_has_canonical_links_and_a_sitemap(tmp_path, monkeypatch):
    """A book of one page, with the options of this one."""
    monkeypatch.setenv("BOOK_ADDRESS", BASE)
    site = build_one_page(tmp_path)
    page = BeautifulSoup((site / "index.html").read_text("utf-8"), "html.parser")
    assert [link["href"] for link in page.select('link[rel="canonical"]')] == [f"{BASE}index.html"]
    assert contents(page, "citation_fulltext_html_url") == [f"{BASE}index.html"]
    assert f"<loc>{BASE}index.html</loc>" in (site / "sitemap.xml").read_text("utf-8")

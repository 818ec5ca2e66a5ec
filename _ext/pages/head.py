"""A Sphinx extension: what scholars' tools read in the head of a page, and where the pages are.

Names `citation_*` are what Google Scholar and reference managers look for; JSON-LD in the words of
schema.org says the same to search engines, and that the book is based on the paper. All of it comes
from CITATION.cff. Whole addresses, and a sitemap, are given where the site's address is known.
"""

import json
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import yaml

from pages.site import PDF

LICENCES = {
    "MIT": "https://opensource.org/license/mit",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
}


def citation(folder: Path) -> dict[str, Any]:
    """What CITATION.cff says; nothing if there is no such file."""
    path = folder / "CITATION.cff"
    return yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}


def _name(author: dict[str, str]) -> str:
    """A person's or a group's name."""
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _agent(author: dict[str, str]) -> dict[str, str]:
    """A person or a group, in the words of schema.org."""
    kind = "Organization" if "name" in author else "Person"
    agent = {"@type": kind, "name": _name(author)}
    if "orcid" in author:
        agent["@id"] = author["orcid"]
    return agent


def highwire(about: dict[str, Any], title: str, address: str, pdf: str) -> list[tuple[str, str]]:
    """The names `citation_*` of a page with their contents; empty addresses are left out."""
    paper = about["preferred-citation"]
    reference = [
        f"citation_title={paper['title']}",
        *(f"citation_author={_name(author)}" for author in paper["authors"]),
        f"citation_conference_title={paper['collection-title']}",
        f"citation_publication_date={paper['year']}",
        f"citation_firstpage={paper['start']}",
        f"citation_lastpage={paper['end']}",
        f"citation_doi={paper['doi']}",
    ]
    tags = [("citation_title", title)]
    tags += [("citation_author", _name(author)) for author in about["authors"]]
    tags += [
        ("citation_publication_date", str(about["date-released"]).replace("-", "/")),
        ("citation_inbook_title", about["title"]),
        ("citation_language", "en"),
        ("citation_fulltext_html_url", address),
        ("citation_pdf_url", pdf),
        ("citation_reference", "; ".join(reference)),
    ]
    return [(name, content) for name, content in tags if content]


def json_ld(about: dict[str, Any], title: str, address: str) -> dict[str, Any]:
    """A page in the words of schema.org."""
    paper = about["preferred-citation"]
    doi = f"https://doi.org/{paper['doi']}"
    text = next((one for one in about.get("references", []) if one.get("license")), about)
    page = {
        "@context": "https://schema.org",
        "@type": "ScholarlyArticle",
        "headline": title,
        "author": [_agent(author) for author in about["authors"]],
        "datePublished": str(about["date-released"]),
        "version": about["version"],
        "inLanguage": "en",
        "license": LICENCES[text["license"]],
        "isPartOf": {"@type": "Book", "name": about["title"]},
        "isBasedOn": {
            "@type": "ScholarlyArticle",
            "@id": doi,
            "name": paper["title"],
            "author": [_agent(author) for author in paper["authors"]],
            "datePublished": str(paper["year"]),
            "sameAs": doi,
        },
    }
    return {**page, "url": address} if address else page


def describe(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put both into the head of a page of the book."""
    about = citation(Path(app.srcdir))
    if not doctree or not about:
        return
    title = app.env.titles[name].astext()
    base = app.config.html_baseurl
    address = urljoin(base, app.builder.get_target_uri(name)) if base else ""
    pdf = urljoin(base, PDF) if base and Path(app.srcdir, PDF).exists() else ""
    lines = [
        f'<meta name="{key}" content="{escape(content)}" />'
        for key, content in highwire(about, title, address, pdf)
    ]
    data = json.dumps(json_ld(about, title, address), ensure_ascii=False).replace("</", "<\\/")
    lines.append(f'<script type="application/ld+json">{data}</script>')
    context["metatags"] = context.get("metatags", "") + "\n    ".join(["", *lines])


def write_sitemap(app: Any, error: Exception | None) -> None:
    """List the pages for search engines, if the site's address is known."""
    base = app.config.html_baseurl
    if app.builder.name != "html" or error or not base:
        return
    pages = sorted(urljoin(base, app.builder.get_target_uri(name)) for name in app.env.found_docs)
    lines = [f"  <url><loc>{escape(page)}</loc></url>" for page in pages]
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    head += '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    text = head + "\n".join(lines) + "\n</urlset>\n"
    Path(app.outdir, "sitemap.xml").write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""What a site has around its pages."""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

from one_page import build_one_page
from pages import site as extension

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "https://github.com/someone/book"


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch):
    for name in ("GITHUB_REPOSITORY", "BOOK_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


def git(folder, *arguments):
    author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    subprocess.run(["git", "-C", str(folder), *author, *arguments], check=True, capture_output=True)


@pytest.fixture
def book(tmp_path):
    """A small book in a repository, with a copy of itself inside, as `make book` has."""
    folder = tmp_path / "book"
    git(tmp_path, "init", "--quiet", str(folder))
    for name in ("_toc.yml", "index.md"):
        (folder / name).write_text("text")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    (folder / "_build" / "source").mkdir(parents=True)
    return folder


# --- where the repository is


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        ("git@github.com:someone/book.git", ADDRESS),
        ("https://github.com/someone/book", ADDRESS),
        ("https://github.com/someone/book.git/", ADDRESS),
        ("https://name:word@github.com/someone/book.git", ADDRESS),  # says no password
        ("https://git.example.org/someone/book.git", ""),
        ("../elsewhere", ""),
    ],
)
def test_repository_is_git_s_origin(book, origin, address):
    git(book, "remote", "add", "origin", origin)
    assert extension.repository(book / "_build" / "source") == address


def test_repository_is_what_the_environment_says(book, monkeypatch):
    assert extension.repository(book) == ""
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/book")
    assert extension.repository(book) == ADDRESS
    assert extension.repository(book.parent) == ADDRESS


def test_git_says_nothing_where_it_is_not(tmp_path, monkeypatch):
    assert extension.git(tmp_path, "rev-parse", "--show-toplevel") == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert extension.git(ROOT, "rev-parse", "--show-toplevel") == ""


def options(folder, **given):
    config = {"html_theme_options": {"logo": {}}, "html_baseurl": "", "html_extra_path": []}
    config = SimpleNamespace(**config | given)
    extension.set_options(SimpleNamespace(srcdir=folder), config)
    return config


def test_set_options_adds_buttons_where_a_repository_is_known(book, monkeypatch):
    assert options(book).html_theme_options == {"logo": {}}
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/book")
    told = options(book).html_theme_options
    assert told["repository_url"] == ADDRESS
    assert told["use_repository_button"]
    assert told["use_issues_button"]
    assert {"binderhub_url", "colab_url"} <= set(told["launch_buttons"])


@pytest.mark.parametrize("place", ["https://example.org/book", "https://example.org/book/"])
def test_set_options_takes_the_site_s_address(book, monkeypatch, place):
    assert options(book).html_baseurl == ""
    assert options(book, html_baseurl=place).html_baseurl == "https://example.org/book/"
    monkeypatch.setenv("BOOK_ADDRESS", place)
    assert options(book).html_baseurl == "https://example.org/book/"


def test_set_options_copies_what_is_there(book):
    assert options(book).html_extra_path == []
    (book / "book.pdf").touch()
    assert options(book).html_extra_path == ["book.pdf"]
    assert extension.COVER in options(ROOT).html_extra_path


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_buttons_are_there_if_the_repository_is_known(tmp_path, monkeypatch, known):
    """On a book of one page, with the options of this one."""
    if known:
        monkeypatch.setenv("GITHUB_REPOSITORY", "someone/book")
    text = (build_one_page(tmp_path) / "index.html").read_text()
    for address in (
        ADDRESS,
        f"{ADDRESS}/issues/new",
        "https://mybinder.org/v2/gh/someone/book/main?urlpath=lab/tree/index.ipynb",
        "https://colab.research.google.com/github/someone/book/blob/main/index.ipynb",
    ):
        assert (f'href="{address}' in text) == known, address


# --- what can be taken away


def application(folder, builder="html", **theme):
    return SimpleNamespace(
        srcdir=folder,
        outdir=folder / "_build" / "html",
        builder=SimpleNamespace(name=builder),
        config=SimpleNamespace(html_theme_options=theme),
    )


def test_write_archive_has_the_commit_and_the_same_bytes_each_time(book):
    (book / "index.md").write_text("local change")
    app = application(book / "_build" / "source")
    found = set()
    for _ in range(2):
        extension.write_archive(app)
        archive = app.outdir / extension.ARCHIVE
        found.add(hashlib.sha256(archive.read_bytes()).hexdigest())
        with tarfile.open(archive) as stored:
            assert stored.extractfile("committees/index.md").read() == b"text"
            names = [member.name for member in stored if member.isfile()]
        archive.unlink()
    assert len(found) == 1
    assert sorted(names) == ["committees/_toc.yml", "committees/index.md"]


def test_write_archive_is_of_this_book_alone(book, tmp_path):
    extension.write_archive(application(book, "singlehtml"))
    (book / "_toc.yml").unlink()  # some other repository, which holds the book somewhere
    extension.write_archive(application(book))
    outside = tmp_path / "outside"
    extension.write_archive(application(outside))
    assert not (book / "_build" / "html").exists()
    assert not outside.exists()


def listed(app, name):
    place = nodes.raw("", f"{extension.PLACE}\n", format="html")
    page = nodes.container("", nodes.paragraph("", "before"), place, nodes.raw("", "<b>"))
    extension.list_downloads(app, page, name)
    assert page[0].astext() == "before"
    assert page[-1].astext() == "<b>"
    assert extension.PLACE not in page.astext()
    return [(link["refuri"], link.astext()) for link in page.findall(nodes.reference)]


def test_list_downloads_links_to_what_there_is(book):
    app = application(book)
    assert listed(app, "chapters/reproducing") == []
    extension.write_archive(app)
    (book / "book.pdf").write_bytes(bytes(1_200_000))
    (archive, size), pdf = listed(app, "chapters/reproducing")
    assert archive == "../committees.tar.gz"
    assert size == "The sources of this edition, 0.0 MB"
    assert pdf == ("../book.pdf", "This book as a PDF, 1.2 MB")
    assert listed(app, "index")[1][0] == "book.pdf"
    assert listed(application(book, repository_url=ADDRESS), "index")[2][0] == ADDRESS
    assert listed(application(book, "singlehtml"), "index") == []


def test_site_has_its_sources_and_links_to_them(pages, site):
    page = pages[site / "chapters" / "reproducing.html"]
    links = [link["href"] for link in page.select("article li > p > a")]
    known = bool(extension.git(ROOT, "rev-parse", "HEAD"))  # not in an unpacked archive
    assert (f"../{extension.ARCHIVE}" in links) == known
    if known:
        with tarfile.open(site / extension.ARCHIVE) as stored:
            assert "committees/pyproject.toml" in stored.getnames()
    assert extension.PLACE not in str(page.article)


# --- what is told of a page


def described(text, base=""):
    margin = nodes.sidebar("", nodes.paragraph("", "In the margin, at some length. " * 4))
    texts = [nodes.paragraph("", text) for text in ("Paper, Section 1.", text)]
    page = nodes.section("", nodes.title("", "Title"), margin, *texts)
    page = nodes.container("", page)
    config = SimpleNamespace(html_baseurl=base, html_title="Book")
    env = SimpleNamespace(titles={"a/b": nodes.title("", 'A "title"')})
    context = {"metatags": "<meta>", "pathto": lambda name, resource: f"../{name}"}
    app = SimpleNamespace(config=config, env=env)
    extension.describe(app, "a/b", "page.html", context, page)
    return context["metatags"]


def test_describe_tells_the_first_sentences():
    tags = described("One sentence.\nAnother one. " + "word " * 50)
    assert tags.startswith("<meta>")
    assert '<meta name="description" content="One sentence. Another one." />' in tags
    assert 'property="og:title" content="A &quot;title&quot;"' in tags
    assert 'content="../cover.png"' in tags
    assert "://" not in tags


def test_describe_cuts_a_long_sentence_between_words():
    tags = described("word " * 80)
    assert 'content="word word' in tags
    assert 'word …"' in tags


def test_describe_names_the_host_if_it_is_known():
    tags = described("word " * 50, "https://example.org/book/")
    assert 'property="og:image" content="https://example.org/book/cover.png"' in tags


def test_describe_leaves_pages_without_text_alone():
    context = {}
    extension.describe(None, "search", "search.html", context, None)
    assert context == {}


def test_every_page_is_described(pages, site):
    told = {}
    for path, page in pages.items():
        (tag,) = page.select('meta[name="description"]')
        told[path] = tag["content"]
        assert len(tag["content"]) > 20, path.name
        (image,) = page.select('meta[property="og:image"]')
        assert (path.parent / image["content"]).resolve() == site / "cover.png"
    assert (site / "cover.png").read_bytes() == (ROOT / extension.COVER).read_bytes()
    assert len(set(told.values())) > 0.8 * len(told)

"""A Sphinx extension: what a site has around its pages.

Buttons that lead to the repository, Binder and Colab, where the repository is known; what readers
and search engines are told of a page before they open it; and what can be taken away: the sources,
as an archive of the commit, and the book as a PDF, if it was printed before.
"""

import os
import re
import subprocess
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from docutils import nodes

ARCHIVE = "committees.tar.gz"
PDF = "book.pdf"
COVER = "images/cover.png"
LAUNCH = {
    "notebook_interface": "jupyterlab",
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
}
#: Letters of what is said of a page.
SHORTEST_DESCRIPTION = 60
LONGEST_DESCRIPTION = 200

#: The line of a page that is replaced by links to what can be taken away.
PLACE = "<!-- downloads -->"


def git(folder: Path, *arguments: str) -> str:
    """What git says; nothing where it fails, or is not there."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def repository(folder: Path) -> str:
    """The address of the repository at GitHub, from the environment or git's origin; or nothing."""
    name = os.environ.get("GITHUB_REPOSITORY")
    if not name:
        origin = git(folder, "remote", "get-url", "origin")
        found = re.search(r"github\.com[:/](.+?/.+?)(\.git)?/?$", origin)
        name = found[1] if found else ""
    return f"https://github.com/{name}" if name else ""


def set_options(app: Any, config: Any) -> None:
    """Tell the theme of the repository, and Sphinx what else to copy and where the site will be."""
    address = repository(Path(app.srcdir))
    if address:
        buttons = {
            "use_repository_button": True,
            "use_issues_button": True,
            "repository_url": address,
            "repository_branch": "main",
            "launch_buttons": LAUNCH,
        }
        config.html_theme_options = {**config.html_theme_options, **buttons}
    place = config.html_baseurl or os.environ.get("BOOK_ADDRESS")
    if place:
        config.html_baseurl = f"{place.rstrip('/')}/"
    config.html_extra_path += [name for name in (PDF, COVER) if Path(app.srcdir, name).exists()]


def write_archive(app: Any) -> None:
    """Put the sources of the commit beside the pages; the same bytes for the same commit."""
    root = git(Path(app.srcdir), "rev-parse", "--show-toplevel")
    if app.builder.name == "html" and root and Path(root, "_toc.yml").exists():
        Path(app.outdir).mkdir(parents=True, exist_ok=True)
        target = f"--output={Path(app.outdir).resolve() / ARCHIVE}"
        git(Path(root), "archive", "--format=tar.gz", "--prefix=committees/", target, "HEAD")


def list_downloads(app: Any, doctree: Any, name: str) -> None:
    """Put links to what there is in their place; in the PDF itself there are none."""
    links = _downloads(app, "../" * name.count("/")) if app.builder.name == "html" else []
    for place in [node for node in doctree.findall(nodes.raw) if node.astext().strip() == PLACE]:
        items = [nodes.list_item("", nodes.paragraph("", "", link)) for link in links]
        place.replace_self([nodes.bullet_list("", *items)] if items else [])


def _downloads(app: Any, up: str) -> list[nodes.reference]:
    """Links to the files that there are, and to the repository."""
    links = []
    files = [
        ("The sources of this edition", Path(app.outdir, ARCHIVE)),
        ("This book as a PDF", Path(app.srcdir, PDF)),
    ]
    for words, path in files:
        if path.exists():
            megabytes = path.stat().st_size / 1e6
            text = f"{words}, {megabytes:.1f} MB"
            links.append(nodes.reference("", text, refuri=f"{up}{path.name}"))
    address = app.config.html_theme_options.get("repository_url")
    if address:
        links.append(nodes.reference("", "The repository", refuri=address))
    return links


def describe(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Say in a page's head what it is about: for search engines, and for links to it."""
    if not doctree:
        return
    words = _description(doctree)
    image = Path(COVER).name
    base = app.config.html_baseurl
    tags = {
        'name="description"': words,
        'property="og:title"': app.env.titles[name].astext(),
        'property="og:description"': words,
        'property="og:type"': "article",
        'property="og:site_name"': app.config.html_title,
        'property="og:image"': urljoin(base, image) if base else context["pathto"](image, 1),
        'name="twitter:card"': "summary_large_image",
    }
    lines = [f'<meta {key} content="{escape(value)}" />' for key, value in tags.items()]
    context["metatags"] = context.get("metatags", "") + "\n    ".join(["", *lines])


def _description(doctree: Any) -> str:
    """The first sentences of the first paragraph that says enough; or else its first words."""
    paragraphs = [
        node
        for node in doctree.findall(nodes.paragraph)
        if isinstance(node.parent, nodes.section) and not node["classes"]
    ]
    texts = [" ".join(node.astext().split()) for node in paragraphs or [doctree]]
    words = next((text for text in texts if len(text) > SHORTEST_DESCRIPTION), texts[0])
    sentences = re.match(rf".{{,{LONGEST_DESCRIPTION}}}[.?!](?=\s|$)", words)
    if sentences:
        return sentences[0]
    beginning, _, _ = words[:LONGEST_DESCRIPTION].rpartition(" ")
    return f"{beginning} …"


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("config-inited", set_options)
    app.connect("builder-inited", write_archive)
    app.connect("doctree-resolved", list_downloads)
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

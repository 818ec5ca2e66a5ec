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

ARCHIVE, PDF, COVER = "committees.tar.gz", "book.pdf", "images/cover.png"
LAUNCH = {
    "notebook_interface": "jupyterlab",
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
}
SHORTEST_DESCRIPTION, LONGEST_DESCRIPTION = 60, 200

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
    origin = re.search(
        r"github\.com[:/](.+?/.+?)(\.git)?/?$", git(folder, "remote", "get-url", "origin")
    )
    name = os.environ.get("GITHUB_REPOSITORY") or (origin[1] if origin else "")
    return f"https://github.com/{name}" if name else ""


def set_options(app: Any, config: Any) -> None:
    """Tell the theme of the repository, and Sphinx what else to copy and where the site will be."""
    if address := repository(Path(app.srcdir)):
        buttons = {"use_repository_button": True, "use_issues_button": True}
        told = {"repository_url": address, "repository_branch": "main", "launch_buttons": LAUNCH}
        config.html_theme_options = {**config.html_theme_options, **buttons, **told}
    if place := config.html_baseurl or os.environ.get("BOOK_ADDRESS"):
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
    up, found = "../" * name.count("/"), []
    if app.builder.name == "html":
        for file, words in ((ARCHIVE, "The sources of this edition"), (PDF, "This book as a PDF")):
            path = Path(app.outdir if file == ARCHIVE else app.srcdir, file)
            if path.exists():
                found.append((f"{up}{file}", f"{words}, {path.stat().st_size / 1e6:.1f} MB"))
        if address := app.config.html_theme_options.get("repository_url"):
            found.append((address, "The repository"))
    for place in [node for node in doctree.findall(nodes.raw) if node.astext().strip() == PLACE]:
        links = [nodes.reference("", words, refuri=uri) for uri, words in found]
        items = [nodes.list_item("", nodes.paragraph("", "", link)) for link in links]
        place.replace_self([nodes.bullet_list("", *items)] if items else [])


def describe(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Say in a page's head what it is about: for search engines, and for links to it."""
    if doctree:
        own = [p for p in doctree.findall(nodes.paragraph) if isinstance(p.parent, nodes.section)]
        plain = [node for node in own if not node["classes"]] or [doctree]
        texts = [" ".join(node.astext().split()) for node in plain]
        words = next((text for text in texts if len(text) > SHORTEST_DESCRIPTION), texts[0])
        whole = re.match(rf".{{,{LONGEST_DESCRIPTION}}}[.?!](?=\s|$)", words)
        words = whole[0] if whole else f"{words[:LONGEST_DESCRIPTION].rpartition(' ')[0]} …"
        base, image = app.config.html_baseurl, Path(COVER).name
        told = {
            'name="description"': words,
            'property="og:title"': app.env.titles[name].astext(),
            'property="og:description"': words,
            'property="og:type"': "article",
            'property="og:site_name"': app.config.html_title,
            'property="og:image"': urljoin(base, image) if base else context["pathto"](image, 1),
            'name="twitter:card"': "summary_large_image",
        }
        tags = [f'<meta {key} content="{escape(value)}" />' for key, value in told.items()]
        context["metatags"] = context.get("metatags", "") + "\n    ".join(["", *tags])


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("config-inited", set_options)
    app.connect("builder-inited", write_archive)
    app.connect("doctree-resolved", list_downloads)
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

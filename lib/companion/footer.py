"""A Sphinx extension: the last line of every page says what it was made from.

Version, commit and its date, the seed of a page that has one among its parameters, and lock:
nothing of it is typed. A book made outside git says so, and so does one made from files that differ
from the commit's.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx


def version(root: Path) -> str:
    """The version of the library."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


@lru_cache
def commit(root: Path) -> str:
    """The commit, its date, and whether files have been changed since."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        told = git("show", "--no-patch", "--format=commit %h of %cs", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "unknown commit"
    return f"{told} with local changes" if changed else told


def lock(root: Path) -> str:
    """The first digits of the SHA-256 of requirements.lock."""
    return hashlib.sha256((root / "requirements.lock").read_bytes()).hexdigest()[:12]


def seed(page: Path) -> int | None:
    """The seed among a page's parameters, if it has one."""
    text = ""
    if page.suffix == ".ipynb" and page.exists():
        cells = nbformat.read(page, as_version=4).cells  # type: ignore[no-untyped-call]
        ours = {"parameters", "injected-parameters"}  # the latter by papermill, and below
        text = "\n".join(c.source for c in cells if ours & {*c.metadata.get("tags", [])})
    found = re.findall(r"^seed(?:: int)? = (\d+)", text, re.MULTILINE)
    return int(found[-1]) if found else None


def tell(app: Sphinx, pagename: str, templatename: str, context: Any, doctree: Any) -> None:
    """Give a page its last line; one that was built elsewhere has none."""
    root, page = Path(app.srcdir), Path(app.env.doc2path(pagename))
    if not (root / "requirements.lock").exists():
        return
    facts = [f"Version {version(root)}", commit(root), f"lock {lock(root)}"]
    if (own := seed(page)) is not None:
        facts.insert(2, f"seed {own}")
    context["theme_extra_footer"] = f'<p class="provenance">{", ".join(facts)}</p>'


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

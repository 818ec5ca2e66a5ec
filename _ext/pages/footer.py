"""A Sphinx extension: the last line of every page says what the page was made from."""

import hashlib
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any


def commit(root: Path) -> str:
    """The commit with its date, and whether files differ from it; "unknown commit" without git."""
    git = ["git", "-C", str(root)]
    show = [*git, "show", "--no-patch", "--format=commit %h of %cs"]
    try:
        words = subprocess.check_output(show, text=True, stderr=subprocess.DEVNULL).strip()
        differs = subprocess.call([*git, "diff", "--quiet", "HEAD"])
    except (OSError, subprocess.CalledProcessError):
        return "unknown commit"
    return f"{words} with local changes" if differs else words


def seeds(page: Path) -> list[str]:
    """The seeds in the parameter cells of a page; the last counts, which may be papermill's."""
    if page.suffix != ".ipynb" or not page.exists():
        return []
    found = []
    for cell in json.loads(page.read_text("utf-8"))["cells"]:
        tags = cell["metadata"].get("tags", [])
        if "parameters" in tags or "injected-parameters" in tags:
            source = "".join(cell["source"])
            found += re.findall(r"^seed(?:: int)? = (\d+)", source, re.MULTILINE)
    return found


def add_footer(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page its last line; a book without a lock has none."""
    root = Path(app.srcdir)
    lock = root / "requirements.lock"
    if not lock.exists():
        return
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    page = Path(app.env.doc2path(name))
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    facts = [f"Version {project['version']}", commit(root)]
    facts += [f"seed {seed}" for seed in seeds(page)[-1:]]
    facts += [f"lock {digest[:12]}"]
    context["theme_extra_footer"] = f'<p class="provenance">{", ".join(facts)}</p>'


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", add_footer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

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
    show = ["show", "--no-patch", "--format=commit %h of %cs"]
    git, changed = ["git", "-C", str(root)], ["diff", "--quiet", "HEAD"]
    try:
        told = subprocess.check_output([*git, *show], text=True, stderr=subprocess.DEVNULL).strip()
        return told + (" with local changes" if subprocess.call([*git, *changed]) else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown commit"


def seeds(page: Path) -> list[str]:
    """The seeds in the parameter cells of a page; the last counts, which may be papermill's."""
    is_notebook, tags = page.suffix == ".ipynb", {"parameters", "injected-parameters"}
    cells = json.loads(page.read_text("utf-8"))["cells"] if is_notebook and page.exists() else []
    own = ["".join(cell["source"]) for cell in cells if tags & {*cell["metadata"].get("tags", [])}]
    return re.findall(r"^seed(?:: int)? = (\d+)", "\n".join(own), re.MULTILINE)


def add_footer(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page its last line; a book without a lock has none."""
    root, own = Path(app.srcdir), seeds(Path(app.env.doc2path(name)))[-1:]
    if (root / "requirements.lock").exists():
        version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
        lock = hashlib.sha256((root / "requirements.lock").read_bytes()).hexdigest()[:12]
        facts = [f"Version {version}", commit(root), *(f"seed {s}" for s in own), f"lock {lock}"]
        context["theme_extra_footer"] = f'<p class="provenance">{", ".join(facts)}</p>'


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", add_footer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

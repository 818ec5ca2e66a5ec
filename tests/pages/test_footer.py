"""The last line of each page: what it was made from."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace

import papermill
import pytest

from pages import footer

ROOT = Path(__file__).resolve().parents[2]


def git(folder, *arguments):
    author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_commit_tells_its_date_and_local_changes(tmp_path):
    book = tmp_path / "book"
    git(tmp_path, "init", "--quiet", str(book))
    (book / "page.md").write_text("one")
    git(book, "add", ".")
    git(book, "commit", "--quiet", "-m", "one", "--date", "2001-02-03T04:05:06Z")
    told = f"commit {git(book, 'rev-parse', '--short', 'HEAD')} of "
    told += git(book, "show", "--no-patch", "--format=%cs")
    assert footer.commit(book) == told
    (book / "page.md").write_text("two")
    assert footer.commit(book) == f"{told} with local changes"


def test_commit_is_unknown_outside_git_and_without_it(tmp_path, monkeypatch):
    assert footer.commit(tmp_path / "outside") == "unknown commit"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert footer.commit(ROOT) == "unknown commit"


@pytest.mark.parametrize(
    ("page", "seeds"),
    [
        ("beyond/limits.ipynb", ["7"]),
        ("glossary.md", []),
        ("corrections.ipynb", []),  # has no parameters
        ("genindex.ipynb", []),  # Sphinx asks for pages that have no source
    ],
)
def test_seeds_are_the_page_s_own(page, seeds):
    assert footer.seeds(ROOT / "chapters" / page) == seeds


def test_seeds_end_with_papermill_s(tmp_path):
    source, target = ROOT / "chapters/beyond/one_recruitment.ipynb", tmp_path / "mine.ipynb"
    papermill.execute_notebook(source, target, {"seed": 7}, prepare_only=True, progress_bar=False)
    assert footer.seeds(source)[-1] != "7"
    assert footer.seeds(target)[-1] == "7"


def test_add_footer_leaves_a_book_without_a_lock_alone(tmp_path):
    context = {}
    app = SimpleNamespace(srcdir=tmp_path, env=SimpleNamespace(doc2path=lambda name: name))
    footer.add_footer(app, "mine.ipynb", "page.html", context, None)
    assert not context


def test_add_footer_fills_the_footer_of_the_theme():
    context = {}
    env = SimpleNamespace(doc2path=lambda name: ROOT / f"{name}.ipynb")
    app = SimpleNamespace(srcdir=ROOT, env=env)
    footer.add_footer(app, "chapters/beyond/limits", "page.html", context, None)
    assert re.fullmatch(
        r'<p class="provenance">Version [\d.]+, (commit \w+ of [\d-]{10}.*|unknown commit),'
        r" seed 7, lock [0-9a-f]{12}</p>",
        context["theme_extra_footer"],
    )


def test_add_footer_is_done_on_every_page(pages, site):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    commit = footer.commit(ROOT).removesuffix(" with local changes")
    lock = hashlib.sha256((ROOT / "requirements.lock").read_bytes()).hexdigest()[:12]
    for path, page in pages.items():
        (line,) = page.select("footer p.provenance")
        text = line.get_text()
        assert text.startswith(f"Version {version}, {commit}"), path.name
        assert text.endswith(f", lock {lock}"), path.name
        seed = {"foresight": 2021, "limits": 7, "glossary": None, "06_experiments": 2021}
        if path.stem in seed:
            told = re.search(r", seed (\d+), ", text)
            assert (int(told[1]) if told else None) == seed[path.stem], path.name

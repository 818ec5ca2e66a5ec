"""The last line of each page: what it was made from."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace

import papermill

from companion import footer

ROOT = Path(__file__).resolve().parents[2]


def git(folder, *arguments):
    author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_is_told_with_its_date_and_with_what_is_not_in_it(tmp_path):
    assert footer.commit(tmp_path / "outside") == "unknown commit"
    book = tmp_path / "book"
    git(tmp_path, "init", "--quiet", str(book))
    (book / "page.md").write_text("one")
    git(book, "add", ".")
    git(book, "commit", "--quiet", "-m", "one", "--date", "2001-02-03T04:05:06Z")
    told = f"commit {git(book, 'rev-parse', '--short', 'HEAD')} of "
    told += git(book, "show", "--no-patch", "--format=%cs")
    assert footer.commit(book) == told
    (book / "page.md").write_text("two")
    footer.commit.cache_clear()
    assert footer.commit(book) == f"{told} with local changes"


def test_the_seed_is_the_page_s_own():
    assert footer.seed(ROOT / "chapters/beyond/resolving.ipynb") == 31
    assert footer.seed(ROOT / "chapters/glossary.md") is None
    assert footer.seed(ROOT / "chapters/corrections.ipynb") is None  # has no parameters


def test_the_seed_may_be_papermill_s(tmp_path):
    source, target = ROOT / "chapters/beyond/one_recruitment.ipynb", tmp_path / "mine.ipynb"
    papermill.execute_notebook(source, target, {"seed": 7}, prepare_only=True, progress_bar=False)
    assert footer.seed(source) != 7
    assert footer.seed(target) == 7


def test_a_page_built_elsewhere_has_no_last_line(tmp_path):
    context = {}
    app = SimpleNamespace(srcdir=tmp_path, env=SimpleNamespace(doc2path=lambda name: name))
    footer.tell(app, "mine.ipynb", "page.html", context, None)
    assert not context


def test_the_last_line_stands_in_the_footer_of_the_theme():
    context = {}
    env = SimpleNamespace(doc2path=lambda name: ROOT / f"{name}.ipynb")
    app = SimpleNamespace(srcdir=ROOT, env=env)
    footer.tell(app, "chapters/beyond/limits", "page.html", context, None)
    assert re.fullmatch(
        r'<p class="provenance">Version [\d.]+, commit \w+ of [\d-]{10}( with local changes)?,'
        r" seed 7, lock [0-9a-f]{12}</p>",
        context["theme_extra_footer"],
    )


def test_every_page_ends_with_what_it_was_made_from(pages, site):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    commit = git(ROOT, "show", "--no-patch", "--format=%h of %cs", "HEAD")
    lock = hashlib.sha256((ROOT / "requirements.lock").read_bytes()).hexdigest()[:12]
    for path, page in pages.items():
        (line,) = page.select("footer p.provenance")
        text = line.get_text()
        assert text.startswith(f"Version {version}, commit {commit}"), path.name
        assert text.endswith(f", lock {lock}"), path.name
        seed = {"resolving": 31, "limits": 7, "glossary": None, "06_experiments": 2021}
        if path.stem in seed:
            told = re.search(r", seed (\d+), ", text)
            assert (int(told[1]) if told else None) == seed[path.stem], path.name

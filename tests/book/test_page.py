"""`make page`: a chapter with parameters of one's own, as a page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

import page

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "chapters" / "04_known_distribution.ipynb"
DESK = ROOT / "chapters" / "beyond" / "desk.ipynb"
ASSEMBLY = ROOT / "chapters" / "beyond" / "your_assembly.ipynb"


def make(notebook, parameters):
    command = ["make", "-o", ".venv/.ready", "page", f"NOTEBOOK={notebook}", f"WITH={parameters}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("text", ["{sizes: [20, 40], runs: 5}", '{"sizes": [20, 40], "runs": 5}'])
def test_parameters_are_read_from_yaml_or_json(text):
    assert page.read(KNOWN, text) == {"sizes": [20, 40], "runs": 5}
    assert page.read(KNOWN, "") == {}


def test_parameters_that_are_files_are_found_from_here(monkeypatch):
    monkeypatch.chdir(ROOT / "data")
    files = "{targets: examples/brexit_targets.csv, volunteers: examples/brexit_volunteers.csv}"
    given = page.read(ASSEMBLY, files)
    assert given["targets"] == str(ROOT / "data/examples/brexit_targets.csv")


@pytest.mark.parametrize(
    ("notebook", "text", "sentence"),
    [
        (KNOWN, "{size: 100}", "WITH: unknown 'size'; the chapter has features, sizes, "),
        (KNOWN, "{delta: 2}", "delta: expected a number between 0 and 1, got 2"),
        (KNOWN, "{features: [sex]}", "features: unknown 'sex', expected ethnicity"),
        (KNOWN, "[20]", "WITH: expected names and values"),
        (KNOWN, "{runs: 5", "WITH: expected names and values"),
        (ROOT / "chapters" / "none.ipynb", "", "NOTEBOOK: expected a notebook in "),
        (ROOT / "chapters" / "glossary.md", "", "NOTEBOOK: expected a notebook in "),
        (Path(), "", "NOTEBOOK: expected a notebook in "),
        (KNOWN, "{table: 5}", "table: expected the name of a file, got 5"),
        (KNOWN, "{seed: null}", "seed: expected a whole number of at least 0, got None"),
        (KNOWN, "{runs: null}", "runs: expected a whole number of at least 2, got None"),
        (DESK, "{tolerance: null}", "tolerance: expected a number from 0 to 1, got None"),
        (ASSEMBLY, "{targets: none.csv, volunteers: none.csv}", "targets: there is no file "),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(notebook, text, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        page.read(notebook, text)


def test_parameters_that_may_be_left_out_are(monkeypatch):
    assert page.read(ASSEMBLY, "{tolerance: null, table: null}") == {
        "tolerance": None,
        "table": None,
    }


def test_a_strategy_of_one_s_own_is_found_from_here(tmp_path, monkeypatch):
    """By what checks it, and by the kernel; beside what PYTHONPATH names already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert page._places_of_modules() == [str(tmp_path)]
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert page._places_of_modules() == [str(tmp_path), "elsewhere"]
    rules = "from committees import CMDP\nclass Mine(CMDP):\n    family = 'Mine'\n"
    (tmp_path / "rules_of_mine.py").write_text(rules)
    page_py = str(ROOT / "tools" / "page.py")
    one = str(ROOT / "chapters" / "beyond" / "one_recruitment.ipynb")
    command = [sys.executable, page_py, one, "{strategy: 'rules_of_mine:Mine', options: {a: 1}}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == "options: rules_of_mine:Mine has no 'a', it has no options\n"


@pytest.fixture
def scratch(monkeypatch, tmp_path):
    """A folder for what the page is made in."""
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    return tmp_path


def test_make_page_refuses_before_anything_runs():
    before = page.FOLDER.exists() and page.FOLDER.stat().st_mtime
    done = make("chapters/04_known_distribution.ipynb", "{sizes: [0]}")
    assert done.returncode != 0
    assert "sizes: expected a whole number of at least 1, got 0" in done.stderr
    assert "Traceback" not in done.stderr
    assert (page.FOLDER.exists() and page.FOLDER.stat().st_mtime) == before


@pytest.mark.slow
def test_a_page_of_one_s_own_has_no_dead_link_and_no_empty_citation(scratch):
    given = page.read(KNOWN, "{features: [gender, age], sizes: [20, 40], runs: 30, seed: 7}")
    made = page.make_page(KNOWN, given)
    article = BeautifulSoup(made.read_text(), "html.parser")
    inside = [urlsplit(link["href"]) for link in article.find_all("a", href=True)]
    inside = [url for url in inside if not url.scheme]
    assert len(inside) > 50
    for url in inside:
        target = (made.parent / unquote(url.path)).resolve() if url.path else made
        assert target.exists(), url
        if url.fragment:
            assert f'id="{unquote(url.fragment)}"' in target.read_text(), url
    citations = article.select("article .bibtex-citation")
    assert citations
    for citation in citations:
        assert re.search(r"\d{4}", citation.get_text()), citation
    assert "{glue" not in article.find("article").get_text()
    assert ", seed 7, " in article.select_one("footer p.provenance").get_text()
    for image in article.select("article img"):
        assert (made.parent / unquote(image["src"])).exists()

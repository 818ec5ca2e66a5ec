"""The book itself: its notebooks, and the pages that are made of them."""

from __future__ import annotations

import ast
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
import yaml

import execute
from companion import ledger, pictures, plots
from stored import glued

ROOT = Path(__file__).resolve().parents[2]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
ENTRIES = [chapter["file"] for part in TOC["parts"] for chapter in part["chapters"]]
FILES = [p for p in (ROOT / "chapters").rglob("*") if ".ipynb_checkpoints" not in p.parts]
NOTEBOOKS = sorted(p for p in FILES if p.suffix == ".ipynb")
NAMES = [str(path.relative_to(ROOT / "chapters")) for path in NOTEBOOKS]
PAPER = ROOT / "chapters" / "06_experiments.ipynb"


def load(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in load(path).cells if cell.cell_type == "code"]


def test_toc_has_every_page_once():
    pages = [p for p in FILES if p.suffix in (".md", ".ipynb")]
    names = sorted(str(path.relative_to(ROOT).with_suffix("")) for path in pages)
    assert names == sorted(ENTRIES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebooks_are_committed_executed(path):
    """nbval passes over cells that were never executed."""
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebooks_hold_no_trace_of_a_machine(path):
    notebook = load(path)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.language_info == {"name": "python"}
    assert not any("execution" in cell.metadata for cell in notebook.cells)
    assert not re.search(r"(?<![\w.])/(home|root|tmp|work|Users)/\w", path.read_text())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebooks_name_caption_and_describe_every_figure(path):
    for cell in code_cells(path):
        if any({"image/png", "image/svg+xml"} & set(o.get("data", {})) for o in cell.outputs):
            shown = cell.metadata["mystnb"]
            assert shown["figure"]["name"].startswith("fig-")
            assert shown["figure"]["caption"].endswith(".")
            assert len(shown["image"]["alt"]) > 60


def lines_of_imports(source):
    imports = (ast.Import, ast.ImportFrom)
    found = [part for part in ast.parse(source).body if isinstance(part, imports)]
    return sum(part.end_lineno - part.lineno + 1 for part in found)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebooks_have_short_cells_and_explain_them(path):
    cells = code_cells(path)
    lines = [len(cell.source.splitlines()) - lines_of_imports(cell.source) for cell in cells]
    assert max(lines) <= 16
    folded = {"hide-input", "remove-input", "remove-cell"}
    shown = [cell.source for cell in cells if not folded & set(cell.metadata.get("tags", []))]
    texts = [cell.source for cell in load(path).cells if cell.cell_type == "markdown"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.outputs]
    texts += [data["text/markdown"] for data in outputs if "text/markdown" in data]
    words = sum(len(text.split()) for text in texts)
    assert words >= 8 * sum(len(source.splitlines()) for source in shown)


def prose(path):
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    return "\n".join(cell.source for cell in load(path).cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("path", [*NOTEBOOKS, *sorted((ROOT / "chapters").glob("*.md"))])
def test_pages_show_no_command_wider_than_themselves(path):
    for block in re.findall(r"^```bash\n(.*?)^```", prose(path), re.S | re.M):
        assert [line for line in block.splitlines() if len(line) > 76] == []


#: Numbers that a chapter tells and a claim measures: the chapter, and the claim.
ONE_NUMBER = [
    ("06_experiments", "a1-greedy-05-people"),
    ("06_experiments", "a1-greedy-02-people"),
    ("06_experiments", "a2-margin"),
    ("06_experiments", "a2-people"),
    ("06_experiments", "a2-efficiency"),
]
#: Names on the front page whose numbers are exact, or are no measurements.
EXACT = {"runs", "front_runs", "rate", "size", "small", "cmdp_50", "cmdp_250", "prices_runs"}
EXACT |= {"last", "tol", "total", "reproduced", "corrected", "fitted", "failed", "vacuous"}
EXACT |= {"unknown", "quotas_good", "quotas_yes", "exact_people"}


def numbers_of(chapter):
    """The numbers and words that a chapter gives to the text, by their names."""
    stored = glued(load(ROOT / "chapters" / f"{chapter}.ipynb"))
    return {name: ast.literal_eval(text) for name, text in stored.items()}


def outputs_of(chapter, kind):
    """What a chapter's cells show, of one kind, such as text/html."""
    cells = code_cells(ROOT / "chapters" / f"{chapter}.ipynb")
    data = [output.get("data", {}) for cell in cells for output in cell.outputs]
    return [shown[kind] for shown in data if kind in shown]


@pytest.mark.parametrize(("chapter", "claim"), ONE_NUMBER, ids=str)
def test_a_quantity_in_a_chapter_and_in_the_ledger_is_one_number(chapter, claim):
    """With its interval, to the last digit."""
    (table,) = outputs_of("claims", ledger.MIME)
    (shown,) = (record["measured"] for record in table if record["name"] == claim)
    measured = set(re.findall(r"[\d.,]+ ± [\d.,]+\d", shown))
    told = "\n".join(outputs_of(chapter, "text/markdown")).replace("\N{NO-BREAK SPACE}", " ")
    assert measured & set(re.findall(r"[\d.,]+ ± [\d.,]+\d", told)), measured


def test_every_measured_number_of_the_front_page_has_its_interval():
    """From the same chapter, right behind it: {name} ± {name_error}."""
    text = (ROOT / "index.md").read_text("utf-8")
    names = re.findall(r"\{glue:text\}`(?:chapters/)([\w/]+)\.ipynb::(\w+):[^`]*`(\s*±)?", text)
    for chapter, name, interval in names:
        if name not in EXACT and not name.endswith("_error"):
            assert interval, name
            assert f"{chapter}.ipynb::{name}_error" in text
        assert name in numbers_of(chapter)


def test_strategies_have_one_mean_on_all_pages():
    """What CMDP screens a seat and for 250 seats: in chapters 4 and 6, and beside Foresight."""
    paper, ours = numbers_of("06_experiments"), numbers_of("beyond/foresight")
    assert ours["cmdp_250"] == pytest.approx(250 * paper["rate"], rel=1e-5)
    assert f"| people, CMDP, 250 seats | – | {ours['cmdp_250']:.0f} |" in PAPER.read_text("utf-8")
    known = (ROOT / "chapters" / "04_known_distribution.ipynb").read_text("utf-8")
    assert f"**{paper['rate']:.2f} people per seat**" in known


def test_readme_snippet_runs():
    (snippet,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict = {}
    exec(snippet, names)
    assert len(names["frame"]) == 4 * 2 * 20


@pytest.fixture
def broken(tmp_path):
    """A notebook that fails."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, tmp_path / "broken.ipynb")
    return tmp_path / "broken.ipynb"


def test_execute_fails_when_a_cell_does(broken):
    before = broken.read_text()
    command = [sys.executable, str(ROOT / "tools" / "execute.py"), str(broken)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "ZeroDivisionError" in done.stderr
    assert broken.read_text() == before


def test_execute_runs_every_notebook_and_the_longest_first():
    assert execute.chapters() == NOTEBOOKS
    order = sorted(NOTEBOOKS, key=execute.longest_first)
    assert [path.stem for path in order][: len(execute.LONG)] == execute.LONG
    assert set(order) == set(NOTEBOOKS)


def test_pages_link_to_what_exists(pages, site):
    for path, page in pages.items():
        for link in page.find_all("a", href=True):
            url = urlsplit(link["href"])
            if url.scheme:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            assert target.exists(), f"{path.name}: {link['href']}"
            if url.fragment and target in pages:
                found = pages[target].find(id=unquote(url.fragment))
                assert found or url.fragment == "", f"{path.name}: {link['href']}"
    assert (site / "index.html").exists()


def test_pages_have_and_describe_their_pictures(pages):
    seen = 0
    for path, page in pages.items():
        for image in page.select("article img"):
            assert (path.parent / unquote(image["src"])).exists(), f"{path.name}: {image['src']}"
            words = image.get("alt", "")  # those of the first panel are for all
            assert len(words) > 60 or words.startswith("Panel "), f"{path.name}: {image['src']}"
            seen += 1
    assert seen >= 8


def test_pages_load_nothing_from_elsewhere(pages):
    for path, page in pages.items():
        for tag in page.find_all(["script", "link", "img", "iframe"]):
            source = tag.get("src") or (tag.get("href") if tag.get("rel") != ["canonical"] else "")
            assert not (source or "").startswith(("http:", "https:", "//")), f"{path.name}: {tag}"


def test_pages_have_one_title_and_no_loose_ends(pages):
    for path, page in pages.items():
        article = page.find("article")
        assert len(article.find_all("h1")) == 1, path.name
        text = article.get_text()
        assert "{glue" not in text, path.name
        assert "{eq}" not in text, path.name
        assert "{prf" not in text, path.name
        assert "undefined" not in text, path.name


# --- looks


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebooks_take_their_colours_from_the_library(path):
    """Nothing but grey and white is named in a chapter: any colour could be some strategy's."""
    for cell in code_cells(path):
        named = re.findall(r'\bcolou?rs?"?\s*[=:]\s*\[?"([^"]+)"', cell.source)
        assert not [colour for colour in named if not re.fullmatch(r"0\.\d+|white", colour)]
        assert not re.findall(r"""["']C\d["']|["']#[0-9a-fA-F]{6}["']""", cell.source)
        assert set(re.findall(r'cmap="(\w+)"', cell.source)) <= {plots.MAP}


#: The kinds of pictures that respond.
KINDS = {"prices", "queue", "targets", "tradeoff"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_pictures_that_respond_follow_a_still_one(path):
    """In the book such a picture takes the place of the one in the cell above."""
    cells = load(path).cells
    for above, cell in itertools.pairwise(cells):
        outputs = [output.get("data", {}) for output in cell.get("outputs", [])]
        if any(pictures.MIME in data for data in outputs):
            assert len(outputs) == 1
            assert "figure" in above.metadata["mystnb"]
            assert "remove-input" in cell.metadata["tags"]


def test_pictures_that_respond_load_their_scripts_and_no_page_loads_others(pages, site):
    found = {}
    for path, page in pages.items():
        data = [json.loads(source.string) for source in page.select("script.picture")]
        for source in page.select("script.picture"):
            above = source.find_parent(class_="cell").find_previous_sibling()
            assert above.select_one("figure .panels img[alt]")
        kinds = {one["kind"] for one in data}
        sources = [script["src"].partition("?")[0] for script in page.find_all("script", src=True)]
        loaded = [path.parent / source for source in sources]
        own = {script.stem for script in loaded} & {"pictures", *KINDS}
        assert own == ({"pictures", *kinds} if kinds else set()), path.name
        assert all(script.exists() for script in loaded)
        found |= {path.stem: kinds} if kinds else {}
    assert found == {
        "04_known_distribution": {"targets", "queue"},
        "06_experiments": {"tradeoff"},
        "prices": {"prices"},
    }


# --- the front page


def test_front_page_has_no_typed_number():
    text = (ROOT / "index.md").read_text()
    # Roles, links, and how things are laid out.
    for what in (r"\{[\w:]+\}`[^`]*`", r"\[[^]]*\]\([^)]*\)", r"IJCAI 2021", r"(?m)^:.*$"):
        text = re.sub(what, "", text)
    assert not re.findall(r".*\d.*", text)


def test_front_page_has_the_verdicts_of_the_ledger(pages, site):
    front, ledger = pages[site / "index.html"], pages[site / "chapters" / "claims.html"]
    rows = {
        page: {
            tr.find_all(["th", "td"])[0].get_text(): int(tr.find_all(["th", "td"])[-1].get_text())
            for tr in next(t for t in page.find_all("table") if t.th.get_text() == "verdict")
            .find("tbody")
            .find_all("tr")
        }
        for page in (front, ledger)
    }
    assert rows[front] == rows[ledger]
    text, unknown = " ".join(front.get_text().split()), rows[front]["not checkable"]
    assert f"Of {sum(rows[front].values())} claims, all but {unknown} could be checked" in text
    assert front.find("figure").find("img")["src"].endswith("cover.svg")


def test_readme_links_to_what_exists():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    inside = [link for link in links if "://" not in link]
    assert len(inside) > 15
    for link in inside:
        assert (ROOT / link).exists(), link

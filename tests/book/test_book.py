"""The book itself: its notebooks, and the pages that are made of them."""

from __future__ import annotations

import ast
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
import yaml
from matplotlib.colors import to_hex

import execute
from companion import charts, claims, plots, vega
from companion.plots.style import COLOURS
from stored import glued

ROOT = Path(__file__).resolve().parents[2]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
ENTRIES = [chapter["file"] for part in TOC["parts"] for chapter in part["chapters"]]
NOTEBOOKS = sorted((ROOT / "chapters").rglob("*.ipynb"))
NAMES = [str(path.relative_to(ROOT / "chapters")) for path in NOTEBOOKS]


def load(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in load(path).cells if cell.cell_type == "code"]


def test_toc_has_every_page_once():
    pages = [p for p in (ROOT / "chapters").rglob("*") if p.suffix in (".md", ".ipynb")]
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
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
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
    sources = [cell.source for cell in code_cells(path)]
    lines = [len(source.splitlines()) for source in sources]
    words = sum(len(c.source.split()) for c in load(path).cells if c.cell_type == "markdown")
    assert max(n - lines_of_imports(s) for n, s in zip(lines, sources, strict=True)) <= 16
    assert words >= 8 * sum(lines)


def prose(path):
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    return "\n".join(cell.source for cell in load(path).cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("path", [*NOTEBOOKS, *sorted((ROOT / "chapters").glob("*.md"))])
def test_pages_show_no_command_wider_than_themselves(path):
    for block in re.findall(r"^```bash\n(.*?)^```", prose(path), re.S | re.M):
        assert [line for line in block.splitlines() if len(line) > 76] == []


#: Numbers of the text that are also measured by a claim: chapter, the name in it, and the claim.
ONE_NUMBER = [
    ("06_experiments", "times_05", "a1-greedy-05-people"),
    ("06_experiments", "times_02", "a1-greedy-02-people"),
    ("06_experiments", "margin", "a2-margin"),
    ("06_experiments", "people", "a2-people"),
    ("06_experiments", "greedy_high", "a2-efficiency"),
]
#: Names on the front page whose numbers are exact, or are no measurements.
EXACT = {"runs", "front_runs", "strict", "scarce_value", "person", "person_how", "rate", "size"}
EXACT |= {"small"}
EXACT |= {"largest", "scale", "last", "n_more", "tol", "total", "cmdp", "reproduced", "corrected"}
EXACT |= {"fitted", "failed", "vacuous", "unknown"}


def numbers_of(chapter):
    """The numbers and words that a chapter gives to the text, by their names."""
    stored = glued(load(ROOT / "chapters" / f"{chapter}.ipynb"))
    return {name: ast.literal_eval(text) for name, text in stored.items()}


@pytest.mark.parametrize(("chapter", "name", "claim"), ONE_NUMBER, ids=str)
def test_a_quantity_in_a_chapter_and_in_the_ledger_is_one_number(chapter, name, claim):
    numbers = numbers_of(chapter)
    shown = claims.number(numbers[name], numbers[f"{name}_error"])
    says = next(entry.says for entry in claims.load() if entry.id == claim)
    tables = [
        output.data["text/html"]
        for cell in code_cells(ROOT / "chapters" / "claims.ipynb")
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    ]
    rows = [row for table in tables for row in table.split("<tr>") if says in row]
    assert rows
    assert any(shown in row for row in rows), (shown, rows)


def test_every_measured_number_of_the_front_page_has_its_interval():
    """From the same chapter, right behind it: {name} ± {name_error}."""
    text = (ROOT / "index.md").read_text("utf-8")
    names = re.findall(r"\{glue:text\}`(?:chapters/)([\w/]+)\.ipynb::(\w+):[^`]*`(\s*±)?", text)
    for chapter, name, interval in names:
        if name not in EXACT and not name.endswith("_error"):
            assert interval, name
            assert f"{chapter}.ipynb::{name}_error" in text
        assert name in numbers_of(chapter)


def test_the_front_page_rests_on_enough_recruitments():
    paper = numbers_of("06_experiments")
    assert int(paper["runs"].replace(",", "")) >= 1000
    assert paper["learning_runs"] >= 200
    assert numbers_of("beyond/foresight")["front_runs"] >= 400


def test_strategies_have_one_mean_on_all_pages():
    """What CMDP screens a seat and for 250 seats: in chapters 4 and 6, and beside Foresight."""
    paper, ours = numbers_of("06_experiments"), numbers_of("beyond/foresight")
    assert ours["cmdp"] == pytest.approx(paper["for_250"], rel=1e-5)
    assert numbers_of("04_known_distribution")["per_seat"] == pytest.approx(paper["rate"])


def test_glue_numbers_gives_nothing_that_no_page_tells():
    """What a cell gives to `glue_numbers` appears in a page, by its name."""
    pages = [*NOTEBOOKS, *ROOT.glob("*.md"), *(ROOT / "chapters").rglob("*.md")]
    told = {
        path: set(re.findall(r"\{glue:text\}`(?:\S+::)?(\w+)", path.read_text())) for path in pages
    }
    elsewhere = set().union(*(names for path, names in told.items() if path.suffix == ".md"))
    for path in NOTEBOOKS:
        outputs = [output for cell in code_cells(path) for output in cell.outputs]
        found = {output.get("metadata", {}).get("scrapbook", {}).get("name") for output in outputs}
        assert not found - {None} - told[path] - elsewhere, path.name


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
            assert len(image.get("alt", "")) > 60, f"{path.name}: {image['src']}"
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


@pytest.mark.parametrize("name", ["logo.svg", "favicon.svg"])
def test_logo_has_the_colours_of_the_strategies(name):
    used = re.findall(r"#[0-9a-f]{6}", (ROOT / "images" / name).read_text())
    assert len(set(used)) == 4
    assert set(used) <= {to_hex(colour) for colour in COLOURS.values()}


def test_pages_have_the_logo_and_the_icon(pages):
    for path, page in pages.items():
        logo, icon = page.select_one(".navbar-brand img"), page.find("link", rel="icon")
        for source, name in ((logo["src"], "logo.svg"), (icon["href"], "favicon.svg")):
            stored = path.parent / source.partition("?")[0]
            assert stored.read_text() == (ROOT / "images" / name).read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_charts_follow_a_still_picture(path):
    """In the book the chart takes the place of the picture in the cell above."""
    cells = load(path).cells
    for above, cell in itertools.pairwise(cells):
        outputs = [output.get("data", {}) for output in cell.get("outputs", [])]
        if any(charts.MIME in data for data in outputs):
            assert len(outputs) == 1
            assert "figure" in above.metadata["mystnb"]
            assert "remove-input" in cell.metadata["tags"]


def test_charts_have_one_script_on_the_pages_that_need_it(pages, site):
    with_chart = set()
    for path, page in pages.items():
        charts = page.select("script.vega-lite")
        scripts = [s["src"].partition("?")[0] for s in page.find_all("script", src=True)]
        own = [source for source in scripts if source.endswith(vega.SCRIPT)]
        assert len(own) == bool(charts), path.name
        for chart in charts:
            above = chart.find_parent(class_="cell").find_previous_sibling()
            assert above.select_one("figure img[alt]")
            with_chart.add(path.stem)
            json.loads(chart.string)
        if own:
            assert (path.parent / own[0]).resolve() == (site / "_static" / vega.SCRIPT)
    assert with_chart == {"04_known_distribution", "06_experiments"}
    assert (site / "_static" / vega.SCRIPT).stat().st_size > 500_000


# --- the front page


def test_front_page_has_no_typed_number():
    text = (ROOT / "index.md").read_text()
    for what in (r"\{[\w:]+\}`[^`]*`", r"\[[^]]*\]\([^)]*\)", r"IJCAI 2021"):  # roles, links
        text = re.sub(what, "", text)
    assert not re.findall(r".*\d.*", text)


def test_front_page_has_the_verdicts_of_the_ledger(pages, site):
    front, ledger = pages[site / "index.html"], pages[site / "chapters" / "claims.html"]
    rows = {
        page: {
            tr.find_all(["th", "td"])[0].get_text(): int(tr.find_all(["th", "td"])[-1].get_text())
            for tr in page.find("table").find("tbody").find_all("tr")
        }
        for page in (front, ledger)
    }
    assert rows[front] == rows[ledger]
    text, unknown = " ".join(front.get_text().split()), rows[front]["not checkable"]
    assert f"Of {sum(rows[front].values())} claims, all but {unknown} could be checked" in text
    assert front.find("figure").find("img")["src"].endswith("cover.png")


def test_readme_links_to_what_exists():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    inside = [link for link in links if "://" not in link]
    assert len(inside) > 15
    for link in inside:
        assert (ROOT / link).exists(), link


@pytest.mark.slow
def test_readme_tells_how_to_build_a_page_of_ones_own(tmp_path):
    """In a folder of its own: jupyter-book would read what lies in the environment beside it."""
    readme = (ROOT / "README.md").read_text()
    assert "your_assembly.ipynb mine/page.ipynb" in readme
    assert "jupyter-book build mine/page.ipynb" in readme
    source = ROOT / "chapters/beyond/your_assembly.ipynb"
    with tempfile.TemporaryDirectory(dir=ROOT, prefix="mine-") as folder:
        shutil.copy(source, Path(folder) / "page.ipynb")
        program = str(Path(sys.executable).parent / "jupyter-book")
        command = [
            program,
            "build",
            str(Path(folder, "page.ipynb")),
            "--path-output",
            str(tmp_path),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    (page,) = tmp_path.rglob("page.html")
    assert "Read millbrook_targets.csv and millbrook_volunteers.csv." in page.read_text()

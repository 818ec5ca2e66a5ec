"""How the book looks: colours, front page, pictures that respond, the last line of each page."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace

import IPython.display
import nbformat
import numpy as np
import pytest
import vl_convert
from docutils import nodes
from matplotlib.colors import to_hex, to_rgb

from committees import (
    CMDP,
    Greedy,
    datasets,
    interactive,
    plots,
    provenance,
    recruit,
    simulate,
    vega,
)
from committees.recruitment import stream

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "chapters").rglob("*.ipynb"))
STRATEGIES = [name for name in plots._COLOURS if name != "Greedy"]  # which is Greedy 0.02's


def code_cells(path):
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def luminance(colour):
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_every_strategy_has_a_colour_of_its_own_that_shows_on_white():
    colours = plots.palette(STRATEGIES)
    assert len(set(colours.values())) == len(STRATEGIES) > 10
    for name, colour in colours.items():
        assert 1.05 / (luminance(colour) + 0.05) > 2, name


def test_a_strategy_has_the_same_colour_in_any_company():
    for names in itertools.permutations(["CMDP", "Resolving 0.02", "RL-CMDP ×0.1", "stranger"]):
        for name, colour in plots.palette(names).items():
            assert colour == plots.palette([name])[name]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_chapters_take_their_colours_from_the_library(path):
    """Nothing but grey and white is named in a chapter: any colour could be some strategy's."""
    for cell in code_cells(path):
        named = re.findall(r'\bcolou?rs?"?\s*[=:]\s*\[?"([^"]+)"', cell.source)
        assert not [colour for colour in named if not re.fullmatch(r"0\.\d+|white", colour)]
        assert not re.findall(r"""["']C\d["']|["']#[0-9a-fA-F]{6}["']""", cell.source)
        assert set(re.findall(r'cmap="(\w+)"', cell.source)) <= {plots.MAP}


@pytest.mark.parametrize("name", ["logo.svg", "favicon.svg"])
def test_the_logo_has_the_colours_of_the_strategies(name):
    used = re.findall(r"#[0-9a-f]{6}", (ROOT / "images" / name).read_text())
    assert len(set(used)) == 4
    assert set(used) <= {to_hex(colour) for colour in plots.palette(STRATEGIES).values()}


# Still pictures that are also drawn to respond.


def one_queue(size):
    """A recruitment with CMDP: problem, the types of all who came, and who was accepted."""
    problem = datasets.brexit(["age", "gender"])
    found = recruit(CMDP(), problem, size, np.random.default_rng(5), step_by_step=True)
    came = found.screened[-1]
    kinds = stream(problem, came, np.random.default_rng(5))
    return problem, kinds, np.isin(np.arange(1, came + 1), found.screened)


def seated(problem, kinds):
    return problem.incidence @ np.bincount(kinds, minlength=len(problem.p))


def test_the_trade_off_names_each_path_where_it_starts():
    frame = simulate([Greedy(0.05), CMDP()], datasets.brexit(["age"]), [20, 60], runs=3, seed=1)
    (ax,) = plots.tradeoff(frame).axes
    means = plots.per_seat(frame)
    for text, line in zip(ax.texts, ax.lines, strict=True):
        path = means.loc[text.get_text()]
        assert text.xy == (path["per seat"][20], path["loss"][20])
        assert line.get_ydata().tolist() == path["loss"].tolist()
        assert (
            text.get_color()
            == line.get_color()
            == plots.palette([text.get_text()])[text.get_text()]
        )


def test_the_queue_has_a_square_for_everybody_and_a_bar_for_every_value():
    problem, kinds, accepted = one_queue(30)
    crowd, seats = plots.queue(problem, kinds, accepted, "CMDP").axes
    yes, no = (squares.get_offsets().tolist() for squares in crowd.collections)
    assert (len(yes), len(yes) + len(no)) == (30, len(kinds))
    assert len({(x, y) for x, y in yes + no}) == len(kinds)  # nobody on another's place
    assert [bar.get_width() for bar in seats.patches] == list(seated(problem, kinds[accepted]))
    (marks,) = seats.lines
    assert marks.get_xdata() == pytest.approx(30 * problem.target)


# The front page.


def test_no_number_of_the_front_page_is_typed():
    text = (ROOT / "index.md").read_text()
    for what in (r"\{[\w:]+\}`[^`]*`", r"\[[^]]*\]\([^)]*\)", r"IJCAI 2021"):  # roles, links
        text = re.sub(what, "", text)
    assert not re.findall(r".*\d.*", text)


def test_the_front_page_has_the_verdicts_of_the_ledger(pages, site):
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


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    inside = [link for link in links if "://" not in link]
    assert len(inside) > 15
    for link in inside:
        assert (ROOT / link).exists(), link


def test_pages_have_the_logo_and_the_icon(pages):
    for path, page in pages.items():
        logo, icon = page.select_one(".navbar-brand img"), page.find("link", rel="icon")
        for source, name in ((logo["src"], "logo.svg"), (icon["href"], "favicon.svg")):
            stored = path.parent / source.partition("?")[0]
            assert stored.read_text() == (ROOT / "images" / name).read_text()


# Pictures that respond.


@pytest.fixture
def shown(monkeypatch):
    """What a function of `interactive` has shown: a list that grows."""
    specs = []

    def display(bundle, *, raw):
        assert raw
        assert set(bundle) == {interactive.MIME, "text/plain"}
        specs.append(json.loads(json.dumps(bundle[interactive.MIME])))

    monkeypatch.setattr(IPython.display, "display", display)
    return specs


def drawn(spec, **parameters):
    """The words of the picture when the reader has set these parameters, and what its marks say."""
    spec = json.loads(json.dumps(spec))
    for name, value in parameters.items():
        (found,) = (parameter for parameter in spec["params"] if parameter["name"] == name)
        found["value"] = value
    if spec.get("width") == "container":
        spec["width"] = 600
    texts = [vl_convert.vegalite_to_svg(spec, vl_version=version) for version in ("5.21", "6.4")]
    said = r"<(?:text|tspan)[^>]*>([^<]+)<|aria-label=\"([^\"]+)\""
    words = [["".join(pair) for pair in re.findall(said, text)] for text in texts]
    assert words[0] == words[1]  # JupyterLab has the older version
    return words[0]


def test_the_tradeoff_tells_the_numbers_of_the_size_that_is_chosen(shown):
    problem = datasets.brexit(["age", "gender"])
    frame = simulate([Greedy(0.05), CMDP()], problem, [20, 60], runs=5, seed=1)
    frame["screened"] += 12_000  # a number that rounding could spoil
    interactive.tradeoff(frame)
    for size, own in frame.groupby("size"):
        means = own.groupby("strategy")[["screened", "loss"]].mean()
        told = [
            word for word in drawn(shown[0], seats=size) if re.match(r".+: .+ people, loss", word)
        ]
        assert sorted(told) == sorted(
            f"{name}: {row['screened']:,.0f} people, loss {row['loss']:.3f}"
            for name, row in means.iterrows()
        )


def test_the_queue_tells_who_came_and_counts_who_is_seated(shown):
    problem, kinds, accepted = one_queue(12)
    came = len(kinds)
    chances = CMDP().policy(problem).acceptance.to_numpy()[kinds]
    interactive.queue(problem, kinds, accepted, chances, "CMDP")
    for person in (1, came // 2, came):
        words = drawn(shown[0], seen=int(person))
        outcome = "accepted" if accepted[person - 1] else "rejected"
        assert f"person {person}, chance {chances[person - 1]:.2f}: {outcome}" in words
        assert ", ".join(problem.types.iloc[kinds[person - 1]]) in words
        counts = seated(problem, kinds[:person][accepted[:person]])
        for (feature, value), count in zip(problem.values, counts, strict=True):
            bar = f"people accepted: {count:.0f}; value: {feature}: {value}"
            assert (bar in words) == (count > 0)


def test_the_acceptance_table_tells_the_probability_of_whoever_is_chosen(shown):
    problem = datasets.brexit(["age", "region", "gender"])
    policy = CMDP().policy(problem)
    interactive.acceptance_map(policy)
    commonest = drawn(shown[0])
    for kind in (0, 11, 30, len(problem.p) - 1, problem.p.argmax()):
        person = {f"value_{i}": value for i, value in enumerate(policy.acceptance.index[kind])}
        words = drawn(shown[0], **person)
        (told,) = (word for word in words if word.startswith("accepted with"))
        assert told == f"accepted with probability {policy.acceptance.iloc[kind]:.2f}"
    assert words == commonest  # whom it starts with


def test_pictures_are_the_same_when_drawn_again(shown, tmp_path):
    problem = datasets.brexit(["age"])
    frame = simulate([Greedy(0.05), CMDP()], problem, [20, 60], runs=3, seed=1)
    digests = set()
    for _ in range(2):
        interactive.tradeoff(frame)
        interactive.acceptance_map(CMDP().policy(problem))
        plots.tradeoff(frame).savefig(tmp_path / "it.png", metadata={"Software": None})
        digests.add(hashlib.sha256((tmp_path / "it.png").read_bytes()).hexdigest())
    assert shown[:2] == shown[2:]
    assert len(digests) == 1


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_charts_follow_a_still_picture(path):
    """In the book the chart takes the place of the picture in the cell above."""
    cells = nbformat.read(path, as_version=4).cells
    for above, cell in itertools.pairwise(cells):
        outputs = [output.get("data", {}) for output in cell.get("outputs", [])]
        if any(interactive.MIME in data for data in outputs):
            assert len(outputs) == 1
            assert "figure" in above.metadata["mystnb"]
            assert "remove-input" in cell.metadata["tags"]


def test_a_chart_is_data_on_its_page_and_makes_it_load_the_script():
    chart = SimpleNamespace(mime_type=interactive.MIME, content={"title": "</script>"})
    (node,) = vega.Chart.handle_mime(None, chart, False)
    assert node.astext().count("</script>") == 1
    assert vega.Chart.handle_mime(None, chart, True) is None  # inside a line
    assert vega.Chart.handle_mime(None, SimpleNamespace(mime_type="text/html"), False) is None
    for doctree, scripts in (
        (None, []),
        (nodes.container("", nodes.raw("", "<b>", format="html")), []),
        (nodes.container("", node), ["interactive.js"]),
    ):
        loaded = []
        app = SimpleNamespace(add_js_file=lambda name, loading_method, to=loaded: to.append(name))
        vega.load_script(app, "page", "page.html", {}, doctree)
        assert loaded == scripts


def test_the_script_is_written_for_html_alone(tmp_path):
    for form in ("latex", "html"):
        assert not any(tmp_path.iterdir())
        vega.write_script(SimpleNamespace(builder=SimpleNamespace(format=form), outdir=tmp_path))
    script = (tmp_path / "_static" / "interactive.js").read_text()
    assert script.startswith("(() => {")
    assert "script.vega-lite" in script


def test_one_script_for_the_pages_that_have_a_chart(pages, site):
    with_chart = set()
    for path, page in pages.items():
        charts = page.select("script.vega-lite")
        scripts = [s["src"].partition("?")[0] for s in page.find_all("script", src=True)]
        own = [source for source in scripts if source.endswith("interactive.js")]
        assert len(own) == bool(charts), path.name
        for chart in charts:
            above = chart.find_parent(class_="cell").find_previous_sibling()
            assert above.select_one("figure img[alt]")
            with_chart.add(path.stem)
            json.loads(chart.string)
        if own:
            assert (path.parent / own[0]).resolve() == (site / "_static" / "interactive.js")
    assert with_chart == {"04_known_distribution", "06_experiments"}
    assert (site / "_static" / "interactive.js").stat().st_size > 500_000


# The last line.


def git(folder, *arguments):
    author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_is_told_with_its_date_and_with_what_is_not_in_it(tmp_path):
    assert provenance.commit(tmp_path / "outside") == "unknown commit"
    book = tmp_path / "book"
    git(tmp_path, "init", "--quiet", str(book))
    (book / "page.md").write_text("one")
    git(book, "add", ".")
    git(book, "commit", "--quiet", "-m", "one", "--date", "2001-02-03T04:05:06Z")
    told = f"commit {git(book, 'rev-parse', '--short', 'HEAD')} of "
    told += git(book, "show", "--no-patch", "--format=%cs")
    assert provenance.commit(book) == told
    (book / "page.md").write_text("two")
    provenance.commit.cache_clear()
    assert provenance.commit(book) == f"{told} with local changes"


def test_the_seed_is_the_page_s_own():
    assert provenance.seed(ROOT / "chapters/beyond/resolving.ipynb") == 31
    assert provenance.seed(ROOT / "chapters/glossary.md") is None
    assert provenance.seed(ROOT / "chapters/corrections.ipynb") is None  # has no parameters


def test_the_last_line_stands_in_the_footer_of_the_theme():
    context = {}
    env = SimpleNamespace(doc2path=lambda name: ROOT / f"{name}.ipynb")
    app = SimpleNamespace(srcdir=ROOT, env=env)
    provenance.tell(app, "chapters/beyond/limits", "page.html", context, None)
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

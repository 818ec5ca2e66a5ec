"""The page on the library is the library's own, and says truly who uses what."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import committees
from committees import CMDP, beyond, simulation
from pages import api

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
PACKAGES = ["committees", "committees.beyond", "organiser", "companion"]


def test_public_has_what_the_module_defines_and_nothing_else():
    names = set(api.public(simulation))
    assert {"committees.simulation.simulate", "committees.simulation.DeadEnd"} <= names
    assert "committees.simulation.Problem" not in names  # imported
    assert not any("._" in name for name in names)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from committees import CMDP\nCMDP().policy(1)", {"committees.cmdp.CMDP"}),
        ("from committees import Problem as P\nP.from_table(1)", {"committees.problem.Problem"}),
        ("from committees import datasets\ndatasets.brexit(['a'])", {"committees.datasets.brexit"}),
        ("from companion import plots\nplots.tradeoff(1)", {"companion.plots.tables.tradeoff"}),
        ("from companion.text import check\ncheck()", {"companion.parameters.check"}),  # offered
        ("from committees import datasets\ndatasets.DATA / 'x'", set()),  # no function, no class
        ("from committees import simulate", set()),  # imported, and never mentioned
        ("from math import sqrt\nimport numpy as np\nnp.sqrt(sqrt(2))", set()),
        ("committees = 1\ncommittees.real", set()),
    ],
)
def test_used_is_what_a_program_mentions(source, names):
    assert api.used(source) == names


def notebook(folder, name, *sources):
    (folder / name).parent.mkdir(exist_ok=True)
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (folder / name).write_text(json.dumps({"cells": cells}))


def test_users_are_named_shortly_in_the_order_of_the_book(tmp_path):
    for name in ("beyond/one_recruitment.ipynb", "appendix/c_bernstein.ipynb", "04_known.ipynb"):
        notebook(tmp_path, name, ["from committees import CMDP\n", "x = 1"], "CMDP()")
    notebook(tmp_path, "03_setting.ipynb", "x = 1")
    assert api.users(tmp_path) == {
        "committees.cmdp.CMDP": [
            "[4](04_known.ipynb)",
            "[C](appendix/c_bernstein.ipynb)",
            "[one recruitment](beyond/one_recruitment.ipynb)",
        ]
    }


@pytest.mark.parametrize(
    ("docstring", "first"),
    [
        ("One. Two.", "One."),
        ("Over\n    two lines: yes. More.\n\n    Later.", "Over two lines: yes."),
        ("Up to 0.5 of |E|.", "Up to 0.5 of |E|."),
        ("No stop\n\nLater.", "No stop"),
        (None, ""),
    ],
)
def test_sentence_is_the_first_of_a_docstring(docstring, first):
    class Thing:
        __doc__ = docstring

    assert api.sentence(Thing) == first


def test_modules_begin_with_what_the_package_offers():
    names = [module.__name__ for module in api.modules("committees")]
    offered = {value.__module__ for value in vars(committees).values() if isinstance(value, type)}
    assert set(names[: len(offered)]) >= offered - {"committees"}
    assert "committees.checks" in names
    assert not any("beyond" in name for name in names)
    assert beyond.Prices.__module__ in {m.__name__ for m in api.modules("committees.beyond")}
    assert not any(module.__name__.endswith("__main__") for module in api.modules("organiser"))


def test_reference_tells_of_every_public_name_of_the_library():
    for package in PACKAGES:
        text = api.reference(package, CHAPTERS)
        for module in api.modules(package):
            for name in api.public(module):
                told = f"<{name}>" in text, f":: {name}\n" in text
                used = name in api.users(CHAPTERS)
                assert told == ((True, True) if package != "companion" or used else (False, False))


def test_reference_links_to_the_chapters_that_use_a_name():
    text = api.reference("committees", CHAPTERS)
    (row,) = re.findall(r"<committees\.cmdp\.CMDP>`\n: (.*)\n\n", text)
    assert row.startswith(f"{api.sentence(CMDP)} Used in [4](04_known_distribution.ipynb), ")
    assert "[7]" not in row


def test_fill_page_leaves_other_pages_alone(tmp_path):
    text = ["Text.\n\n<!-- names of committees.beyond -->\n"]
    api.fill_page(SimpleNamespace(srcdir=tmp_path), "api", text)
    assert "### prices\n" in text[0]
    other = ["Text, and <!-- names of nothing --> within a line.\n"]
    api.fill_page(SimpleNamespace(srcdir=tmp_path), "page", other)
    assert other == ["Text, and <!-- names of nothing --> within a line.\n"]


@pytest.mark.parametrize(
    ("markdown", "rst"),
    [
        ("`x` and ``y``", "``x`` and ``y``"),
        ("a role: ``{glue:text}`name` ``.", "a role: ``{glue:text}`name```."),
        (r"$\pi$, |E| and `a | b`", r":math:`\pi`, \|E\| and ``a | b``"),
        ("$$a\n+ b$$", ".. math:: a + b\n"),
        (">>> `x` | y $", ">>> `x` | y $"),
    ],
)
def test_write_rst_rewrites_markdown(markdown, rst):
    lines = markdown.split("\n")
    api.write_rst(None, "function", None, None, None, lines)
    assert lines == rst.split("\n")


def test_write_rst_keeps_what_stands_before_a_colon():
    lines = ["An upper bound: the rate."]
    api.write_rst(None, "property", None, None, None, lines)
    assert lines == ["", "An upper bound: the rate."]


def test_set_options_lets_types_be_words():
    names = ("nitpick_ignore_regex", "autodoc_type_aliases")
    config = SimpleNamespace(**dict(zip(names, ([], {}), strict=True)))
    api.set_options(None, config)
    assert config.nitpick_ignore_regex == [("py:class", ".*")]
    assert config.autodoc_type_aliases["FloatArray"] == "FloatArray"


def test_the_page_has_every_name_with_its_signature(pages, site):
    page = pages[site / "chapters" / "api.html"]
    for name in ("committees.problem.Problem", "committees.beyond.prices.Prices.start"):
        assert page.find(id=name), name
    entry = page.find(id="committees.simulation.simulate").parent
    assert "strategies" in entry.dt.get_text()
    assert "Parameters" in entry.get_text()
    assert CMDP.__doc__.partition("\n")[0] in page.find(id="committees.cmdp.CMDP").parent.get_text()
    chapters = page.select("article dl.myst > dd > p > a")
    assert len(chapters) > 200
    assert all(link["href"].endswith(".html") for link in chapters)


def test_setup_says_that_pages_may_be_read_in_parallel():
    connected, loaded = {}, []

    def connect(event, handler, priority=500):
        connected[event] = handler

    found = api.setup(SimpleNamespace(connect=connect, setup_extension=loaded.append))
    assert loaded == ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
    assert connected == {
        "config-inited": api.set_options,
        "source-read": api.fill_page,
        "autodoc-process-docstring": api.write_rst,
    }
    assert all(found.values())

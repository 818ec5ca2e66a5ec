"""The page on the library is the library's own."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from committees import CMDP, simulation
from pages import api

PACKAGES = ["committees", "committees.beyond", "organiser", "companion"]


def test_public_has_what_the_module_defines_and_nothing_else():
    names = set(api.public(simulation))
    assert {"simulate", "Task"} <= names
    assert "Problem" not in names  # imported
    assert not any(name.startswith("_") for name in names)


def test_modules_are_all_of_a_package_and_beyond_is_another():
    names = [module.__name__ for module in api.modules("committees")]
    assert {"committees.checks", "committees.simulation"} <= set(names)
    assert not any("beyond" in name for name in names)
    assert "committees.beyond.prices" in {m.__name__ for m in api.modules("committees.beyond")}
    assert not any(module.__name__.endswith("__main__") for module in api.modules("organiser"))


def test_fill_page_leaves_other_pages_alone():
    text = ["Text.\n\n<!-- modules of committees.beyond -->\n"]
    api.fill_page(None, "api", text)
    assert "### prices\n" in text[0]
    assert ".. automodule:: committees.beyond.prices\n" in text[0]
    other = ["Text, and <!-- modules of nothing --> within a line.\n"]
    api.fill_page(None, "page", other)
    assert other == ["Text, and <!-- modules of nothing --> within a line.\n"]


@pytest.mark.parametrize(
    ("markdown", "rst"),
    [
        ("`x` and ``y``", "``x`` and ``y``"),
        ("a role: ``{glue:text}`name` ``.", "a role: ``{glue:text}`name```."),
        (r"$\pi$, |E| and `a | b`", r":math:`\pi`, \|E\| and ``a | b``"),
        ("$1/$`x`", r":math:`1/`\ ``x``"),
        ("$$a\n+ b$$", ".. math:: a + b\n"),
        (">>> `x` | y $", ">>> `x` | y $"),
    ],
)
def test_write_rst_rewrites_markdown(markdown, rst):
    lines = markdown.split("\n")
    api.write_rst(None, "function", None, None, None, lines)
    assert lines == rst.split("\n")


def test_write_rst_keeps_what_stands_before_a_colon():
    for kind in ("property", "attribute", "data"):
        lines = ["An upper bound: the rate."]
        api.write_rst(None, kind, None, None, None, lines)
        assert lines == ["", "An upper bound: the rate."]


def test_the_page_has_every_name_with_its_signature(pages, site):
    page = pages[site / "chapters" / "api.html"]
    for package in PACKAGES:
        for module in api.modules(package):
            for name in api.public(module):
                assert page.find(id=f"{module.__name__}.{name}"), name
    assert page.find(id="committees.beyond.prices.Prices.start")
    entry = page.find(id="committees.simulation.simulate").parent
    assert "strategies" in entry.dt.get_text()
    assert "Parameters" in entry.get_text()
    assert CMDP.__doc__.partition("\n")[0] in page.find(id="committees.cmdp.CMDP").parent.get_text()
    assert len(page.select(".math")) > 100
    assert "$" not in page.find(id="module-committees.lp").parent.get_text()


def built(folder, text):
    """The page that Sphinx makes of a text."""
    (folder / "index.md").write_text(f"# Title\n\n```{{eval-rst}}\n{text}\n```\n")
    (folder / "conf.py").write_text("extensions = ['myst_parser', 'pages.api']\n")
    options = {"buildername": "html", "status": None, "warning": None}
    Sphinx(folder, folder, folder / "site", folder / "trees", **options).build()
    return BeautifulSoup((folder / "site" / "index.html").read_text(), "html.parser")


def test_tables_have_the_names_as_headers_of_their_rows(tmp_path):
    """Those who hear a table hear of which name a line speaks."""
    page = built(tmp_path, ".. autosummary::\n\n   ~committees.cmdp.CMDP")
    (row,) = page.select("table.autosummary tr")
    assert row.select_one("th").get_text().startswith("CMDP")


def test_constants_show_short_values_alone(tmp_path):
    """A number is told; a path of the machine is not."""
    names = ["companion.cache.CACHE", "committees.beyond.tables.LAST_SEATS"]
    page = built(tmp_path, "\n".join(f".. autodata:: {name}" for name in names))
    told = [line.get_text() for line in page.select("dl.py dt.sig")]
    assert "_build" not in told[0]
    assert "= 32" in told[1]

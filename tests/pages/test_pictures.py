"""How pictures that respond get onto a page, and their scripts with them."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

import companion.pictures
from pages import pictures

SCRIPTS = pictures.SCRIPTS


def picture(kind):
    content = {"kind": kind, "words": "</script>"}
    return SimpleNamespace(mime_type=pictures.MIME, content=content)


def test_handle_mime_makes_data_of_a_picture():
    (node,) = pictures.LivePicture.handle_mime(None, picture("queue"), False)
    assert node.astext().count("</script>") == 1
    assert node["kind"] == "queue"


def test_handle_mime_leaves_all_else_alone():
    assert pictures.LivePicture.handle_mime(None, picture("queue"), True) is None  # inside a line
    other = SimpleNamespace(mime_type="text/html")
    assert pictures.LivePicture.handle_mime(None, other, False) is None


@pytest.mark.parametrize(
    ("kinds", "scripts"),
    [
        (None, []),
        ([], []),
        (["queue"], ["pictures.js", "queue.js"]),
        (["targets", "queue", "queue"], ["pictures.js", "queue.js", "targets.js"]),
    ],
)
def test_load_scripts_loads_what_the_page_needs(kinds, scripts):
    doctree = None
    if kinds is not None:
        found = [pictures.LivePicture.handle_mime(None, picture(kind), False)[0] for kind in kinds]
        doctree = nodes.container("", nodes.raw("", "<b>", format="html"), *found)
    loaded = []
    app = SimpleNamespace(add_js_file=lambda name, loading_method: loaded.append(name))
    pictures.load_scripts(app, "page", "page.html", {}, doctree)
    assert loaded == scripts


def test_every_kind_has_a_script_and_every_script_a_kind():
    source = Path(companion.pictures.__file__).read_text("utf-8")
    kinds = set(re.findall(r'_show\("(\w+)"', source))
    assert {path.stem for path in SCRIPTS.glob("*.js")} == {"pictures", *kinds}
    for kind in kinds:
        assert f"pictures.kinds.{kind} = " in (SCRIPTS / f"{kind}.js").read_text("utf-8")


def test_write_scripts_is_for_html_alone(tmp_path):
    for form in ("latex", "html"):
        assert not any(tmp_path.iterdir())
        app = SimpleNamespace(builder=SimpleNamespace(format=form), outdir=tmp_path)
        pictures.write_scripts(app)
    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "_static").iterdir()}
    assert written == {path.name: path.read_text("utf-8") for path in SCRIPTS.glob("*.js")}


def test_scripts_ask_for_nothing_from_elsewhere():
    for path in SCRIPTS.glob("*.js"):
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|import\b|fetch\(|XMLHttpRequest", text), path.name

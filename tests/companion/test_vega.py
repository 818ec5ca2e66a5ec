"""How charts get onto a page."""

from __future__ import annotations

from types import SimpleNamespace

from docutils import nodes

from companion import vega


def chart():
    return SimpleNamespace(mime_type=vega.MIME, content={"title": "</script>"})


def test_handle_mime_makes_data_of_a_chart():
    (node,) = vega.Chart.handle_mime(None, chart(), False)
    assert node.astext().count("</script>") == 1


def test_handle_mime_leaves_all_else_alone():
    assert vega.Chart.handle_mime(None, chart(), True) is None  # inside a line
    assert vega.Chart.handle_mime(None, SimpleNamespace(mime_type="text/html"), False) is None


def test_load_script_is_for_pages_with_a_chart():
    for doctree, scripts in (
        (None, []),
        (nodes.container("", nodes.raw("", "<b>", format="html")), []),
        (nodes.container("", *vega.Chart.handle_mime(None, chart(), False)), [vega.SCRIPT]),
    ):
        loaded = []
        app = SimpleNamespace(add_js_file=lambda name, loading_method, to=loaded: to.append(name))
        vega.load_script(app, "page", "page.html", {}, doctree)
        assert loaded == scripts


def test_write_script_is_for_html_alone(tmp_path):
    for form in ("latex", "html"):
        assert not any(tmp_path.iterdir())
        vega.write_script(SimpleNamespace(builder=SimpleNamespace(format=form), outdir=tmp_path))
    script = (tmp_path / "_static" / vega.SCRIPT).read_text()
    assert script.startswith("(() => {")
    assert "script.vega-lite" in script


def test_setup_says_that_pages_may_be_read_in_parallel():
    connected = {}
    found = vega.setup(SimpleNamespace(connect=connected.__setitem__))
    assert connected == {
        "builder-inited": vega.write_script,
        "html-page-context": vega.load_script,
    }
    assert all(found.values())

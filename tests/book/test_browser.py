"""The book in a real browser: pages, search and keyboard; and faults for the checks to see."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from bs4 import BeautifulSoup

import browser

pytestmark = pytest.mark.browser

FRONT, CHAPTER, SHORT = browser.PAGES[0], "chapters/03_formal_setting", "chapters/02_related_work"


@pytest.fixture(scope="module")
def context(chromium, site):
    """For this file only: while Playwright runs, no other event loop can."""
    with browser.browse(site) as context:
        yield context


@pytest.mark.parametrize("name", browser.PAGES)
def test_pages_are_sound(context, name):
    assert browser.complaints(context, name) == []


@pytest.mark.parametrize("name", [FRONT, CHAPTER, SHORT])
def test_keyboard_reaches_everything(context, name):
    assert browser.keyboard(context, name) == []


def test_keyboard_changes_the_colours(context):
    with context.new_page() as page:
        browser.visit(page, FRONT, "light", browser.WIDE)
        modes = []
        for _ in range(3):
            page.focus(".theme-switch-button")
            page.keyboard.press("Enter")
            modes.append(page.evaluate("() => document.documentElement.dataset.mode"))
    assert sorted(modes) == ["auto", "dark", "light"]


def test_search_finds_every_page_with_the_words(context, site):
    words = "representation loss"
    wanted = set()
    for name in browser.PAGES:
        text = BeautifulSoup((site / f"{name}.html").read_text(), "html.parser").article.get_text()
        if words in " ".join(text.lower().split()):
            wanted.add(name)
    with context.new_page() as page:
        heard = browser.listen(page)
        page.goto(f"{CHAPTER}.html")
        page.keyboard.press("Control+K")
        page.keyboard.type(words)
        page.keyboard.press("Enter")
        page.wait_for_url("**/search.html?q=representation+loss")
        page.get_by_text("Search finished").wait_for()
        links = page.eval_on_selector_all(
            "#search-results li > a", "links => links.map((link) => link.getAttribute('href'))"
        )
    assert {link.split(".html")[0] for link in links} >= wanted >= {CHAPTER, "chapters/glossary"}
    assert heard == []


# Faults for the end of a sound page; the check that must complain, and a word of its complaint.
SVG = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{}</svg>"
CLEAR, DOT = SVG.format(""), SVG.format("<rect width='9' height='9'/>")
SMALL = SVG.format("<rect width='9' height='9' transform='scale(0.1 -0.1)'/>")
SMALL = SMALL.replace("<svg ", '<svg viewBox="0 0 200 9" ').replace('"', "%22")
FAULTS = [
    ("<script>nothing.at.all</script>", "script", "nothing"),
    ("<script>console.error('broken')</script>", "console", "broken"),
    ("<script>console.warn('doubtful')</script>", "console", "doubtful"),
    ('<script src="https://example.org/a.js"></script>', "elsewhere", "example.org"),
    ('<link rel="stylesheet" href="gone.css">', "request", "gone.css"),
    ('<img src="gone.png" alt="gone">', "light figures", "gone.png"),
    (f'<img src="{DOT}#silent" alt="">', "light figures", "no description: data:image/svg"),
    (f'<p class="cell_output"><img src="{DOT}" alt="loose"></p>', "light figures", "not a figure"),
    (f'<figure><img src="{DOT}" alt="dot"></figure>', "light figures", "no number"),
    (f'<img src="{CLEAR}" alt="clear" style="background: none">', "dark pictures", "svg"),
    (r'<p class="mathjax_ignore">Let \(raw\) be</p>', "light mathematics", "raw"),
    ('<p class="mathjax_ignore">Let $$rare$$ be</p>', "light mathematics", "rare"),
    ('<span class="math">forgotten</span>', "light mathematics", "forgotten"),
    (r'<span class="math">\(x^2^3\)</span>', "light mathematics", "wrong formula"),
    (r'<span class="math">\(\unheardof\)</span>', "light mathematics", "unheardof"),
    ('<a href="gone.html">No page</a>', "light links", "gone.html"),
    ('<a href="#gone-here">No place</a>', "light links", "gone-here"),
    ('<a href="claims.html#gone-there">No place</a>', "light links", "gone-there"),
    ('<a href="claims.html">here</a>', "light links", "does not say"),
    ("<h1>Again</h1>", "light headings", "one h1"),
    ("<h5>Deep</h5>", "light headings", "skipped"),
    ("<table><tr><td>bare</td></tr></table>", "light tables", "bare"),
    ('<button id="nameless"></button>', "light accessibility", "nameless"),
    ('<p style="color: #aaa">pale</p>', "light accessibility", "pale"),
    ('<p style="color: #222">dusky</p>', "dark accessibility", "dusky"),
    ('<p style="width: 600px">wide</p>', "phone width", "wide"),
    ('<div style="width: 600px"></div>', "phone width", "sideways"),
    ('<div style="overflow: hidden"><p style="width: 600px">cut</p></div>', "phone width", "cut"),
    (f'<img src="{SMALL}" alt="small" width="100">', "phone labels", "words of 5.0 pixels"),
    ('<svg><text style="font-size: 9px">tiny</text></svg>', "phone labels", "tiny"),
    (
        f'<p style="overflow: auto; white-space: nowrap">{"long " * 12}</p>',
        "phone accessibility",
        "long",
    ),
    (
        "<script>document.querySelector('link[rel~=icon]').remove()</script>",
        "light icon",
        "no icon",
    ),
]
KEYBOARD_FAULTS = [
    ("<style>* { outline: none !important; box-shadow: none !important }</style>", "not shown: "),
    (
        "<script>document.querySelector('.search-button-field').tabIndex = -1</script>",
        "not reached: Search",
    ),
]


@contextmanager
def added(context, site, fault):
    """A short page, under its own address, with a fault at its end."""
    sound = (site / f"{SHORT}.html").read_text()
    assert sound.count("</article>") == 1
    faulty = sound.replace("</article>", f"{fault}</article>")
    address = f"**/{SHORT}.html"
    context.route(address, lambda route: route.fulfill(body=faulty, content_type="text/html"))
    yield
    context.unroute(address)


@pytest.fixture(scope="module")
def found(context, site):
    """What is said of a page with all the faults at once."""
    with added(context, site, "".join(fault for fault, _, _ in FAULTS)):
        return browser.complaints(context, SHORT)


@pytest.mark.parametrize(("fault", "check", "word"), FAULTS)
def test_complaints_tells_of_faults(found, fault, check, word):
    assert any(line.startswith(f"{check}:") and word in line for line in found), found


@pytest.mark.parametrize(("fault", "word"), KEYBOARD_FAULTS)
def test_keyboard_tells_of_faults(context, site, fault, word):
    with added(context, site, fault):
        assert any(line.startswith(word) for line in browser.keyboard(context, SHORT))

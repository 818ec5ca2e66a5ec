"""The pictures that respond, in a real browser, from the disk and without a network."""

from __future__ import annotations

import pytest
from playwright import sync_api

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(chromium):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, site):
    """Open a page of the book, with some settings of the browser; no script may fail."""
    contexts, complaints = [], []

    def visit(name, **settings):
        contexts.append(context := browser.new_context(offline=True, **settings))
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: line.type == "error" and complaints.append(line.text))
        page.goto((site / name).as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


KNOWN, EXPERIMENTS = "chapters/04_known_distribution.html", "chapters/06_experiments.html"


def test_tradeoff_chart_changes_with_the_size(visit):
    page = visit(EXPERIMENTS)
    figure = page.locator("#fig-tradeoff.responds")
    before = figure.locator("svg").inner_html()
    figure.get_by_label("250", exact=True).check()
    sync_api.expect(figure.locator("img")).to_be_hidden()
    assert figure.locator("svg").inner_html() != before


def test_queue_chart_seats_people_one_by_one(visit):
    page = visit(KNOWN)
    figure = page.locator("#fig-queue.responds")
    slider = figure.get_by_role("slider")
    everybody = int(slider.get_attribute("max"))
    sync_api.expect(figure).to_contain_text(f"person {everybody}, chance")
    slider.press("ArrowLeft")
    sync_api.expect(figure).to_contain_text(f"person {everybody - 1}, chance")
    bars = figure.locator("[aria-label^='people accepted: ']")
    assert bars.count() > 6
    slider.fill("1")
    sync_api.expect(figure).to_contain_text("person 1, chance")
    assert bars.count() <= 6  # one person has one value of each feature


def test_acceptance_chart_tells_the_probability_of_whoever_is_chosen(visit):
    page = visit(KNOWN)
    figure = page.locator("#fig-acceptance.responds")
    figure.locator("select[name=value_2]").select_option("18-34")  # the third feature: age
    sync_api.expect(figure).to_contain_text("accepted with probability 1.00")


def test_charts_leave_the_still_picture_without_scripts_and_on_paper(visit):
    plain = visit(KNOWN, java_script_enabled=False)
    sync_api.expect(plain.locator("#fig-queue img")).to_be_visible()
    assert plain.locator(".interactive").count() == 0
    paper = visit(KNOWN)
    sync_api.expect(paper.locator("#fig-queue.responds img")).to_be_hidden()
    paper.emulate_media(media="print")
    sync_api.expect(paper.locator("#fig-queue img")).to_be_visible()
    sync_api.expect(paper.locator("#fig-queue .interactive")).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_have_the_ink_of_the_page_and_fit_a_phone(visit, theme):
    phone = {"width": 375, "height": 800}
    page = visit(KNOWN, viewport=phone, color_scheme=theme)
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    text = page.locator("#fig-queue.responds svg text").first
    ink = "element => getComputedStyle(element).fill"
    page_ink = page.locator("article p").first.evaluate("p => getComputedStyle(p).color")
    assert text.evaluate(ink) == page_ink
    widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    assert len(set(page.evaluate(widths))) == 1
    boxes = [chart.bounding_box() for chart in page.locator(".interactive svg").all()]
    assert len(boxes) == 2
    assert all(box["x"] + box["width"] <= 375 for box in boxes)


def test_charts_fill_their_place_when_a_phone_is_turned(visit):
    page = visit(EXPERIMENTS, viewport={"width": 375, "height": 800})
    page.locator("#fig-tradeoff.responds svg").wait_for()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function(
        """() => {
          const chart = document.querySelector("#fig-tradeoff svg");
          const room = chart.closest(".chart").clientWidth;
          return 500 < room && room < 1000 && Number(chart.getAttribute("width")) === room;
        }"""
    )

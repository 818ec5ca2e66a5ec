"""The pictures that respond, in a real browser, from the disk and without a network."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from playwright import sync_api

import browser
from committees import CMDP, Greedy, Problem, datasets, recruit
from committees.beyond import Foresight, Prices
from committees.beyond.prices import seats_ahead
from companion import pictures

pytestmark = pytest.mark.browser

KNOWN, PRICES = "chapters/04_known_distribution.html", "chapters/beyond/prices.html"
EXPERIMENTS = "chapters/06_experiments.html"
PHONE = {"width": 390, "height": 800}
FIGURES = [(KNOWN, "fig-target"), (KNOWN, "fig-queue"), (PRICES, "fig-prices-callers")]
FIGURES += [(EXPERIMENTS, "fig-tradeoff")]


@pytest.fixture(scope="module")
def chrome(chromium):
    with sync_api.sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium)
        yield chrome
        chrome.close()


@pytest.fixture
def visit(chrome, site):
    """Open a page of the book, with some settings of the browser; no script may fail."""
    contexts, complaints = [], []

    def visit(name, **settings):
        contexts.append(context := chrome.new_context(offline=True, **settings))
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: line.type == "error" and complaints.append(line.text))
        page.goto((site / name).as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


def status(figure):
    return figure.get_by_role("status").text_content()


def numbers(figure):
    """The numbers of the bars, by the names of their groups; and the names that are lit."""
    lines = figure.locator(".bars li").evaluate_all(
        """lines => lines.map((line) => [
          line.firstChild.textContent, line.lastChild.textContent, line.classList.contains("lit")
        ])"""
    )
    return {name: number for name, number, _ in lines}, [name for name, _, lit in lines if lit]


def words(label):
    return ": ".join(label).replace("18-34", "18–34").replace("35-54", "35–54")


# --- Move a target.


@pytest.mark.parametrize(
    ("label", "target"),
    [
        (("age", "18-34"), 0.25),
        (("age", "55+"), 0.55),
        (("region", "Northern Ireland"), 0.08),
        (("ethnicity", "white"), 0.99),
        (("gender", "male"), 0.493),
    ],
)
def test_target_tells_the_number_of_the_library(visit, label, target):
    figure = visit(KNOWN).locator("#fig-target.responds")
    figure.get_by_label("group").select_option(label=words(label))
    slider = figure.get_by_role("slider")
    for k in range(int(slider.get_attribute("max")) + 1):
        slider.fill(str(k))
        if slider.get_attribute("aria-valuetext") == f"{target:.3f}":
            break
    else:
        pytest.fail(f"the slider does not reach {target}")
    problem = datasets.brexit()
    rho = pictures.moved(problem, problem.labels.get_loc(label), target)
    targets = problem.targets.copy()
    targets[:] = rho
    policy = CMDP().policy(Problem(targets, problem.p))
    assert f"{1 / policy.rate:.2f} people per seat" in status(figure)
    assert f"{50 / policy.rate:,.0f} for 50 seats" in status(figure)
    told, lit = numbers(figure)
    assert list(told) == [words(name) for name in problem.labels]
    for name, average in policy.acceptance_by_value.items():
        assert abs(float(told[words(name)]) - average) < 0.00501
    held = policy.acceptance_by_value > 1 - 1e-6
    assert lit == [words(name) for name in policy.acceptance_by_value.index[held]]
    assert ("No single group" in status(figure)) == (not lit)


def test_target_moves_by_the_keyboard_and_goes_back(visit):
    page = visit(KNOWN)
    figure = page.locator("#fig-target.responds")
    start, curve = status(figure), figure.locator("svg").inner_html()
    assert "age: 18–34, target 0.288" in start
    back = figure.get_by_role("button", name="back to 0.288")
    assert back.is_disabled()
    figure.get_by_label("group").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert "age: 18–34, target 0.290" in status(figure)
    assert figure.locator("svg").inner_html() != curve
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert status(figure) == start
    figure.get_by_text("region: Wales").last.click()  # at its bar
    assert "region: Wales, target 0.047" in status(figure)


# --- The queue.


def test_queue_has_the_decisions_of_the_library(visit):
    figure = visit(KNOWN).locator("#fig-queue.responds")
    problem, slider = datasets.brexit(), figure.get_by_role("slider")
    assert "CMDP has seen" in status(figure)
    for strategy in (Greedy(0.02), CMDP(), Prices(4), Foresight(0.02)):
        found = recruit(strategy, problem, 50, 2021, step_by_step=True)
        figure.get_by_label(strategy.name).check()
        assert slider.get_attribute("max") == str(found.screened[-1])
        for seats in (50, 49, 20, 1):
            seen = found.screened[seats - 1]
            slider.fill(str(seen))
            text = f"{strategy.name} has seen {seen:,} people and filled {seats} of 50 seats. "
            assert status(figure).startswith(text)
            last = problem.types.iloc[found.type_ids[seats - 1]]
            who = words([", ".join(last)])
            assert status(figure).endswith(f"Person {seen:,} ({who}) is accepted.")
            counts = np.bincount(problem.codes[found.type_ids[:seats]].ravel(), minlength=19)
            assert list(numbers(figure)[0].values()) == [str(count) for count in counts]


def test_queue_moves_by_the_keyboard(visit):
    page = visit(KNOWN)
    figure = page.locator("#fig-queue.responds")
    figure.get_by_label("CMDP").focus()
    page.keyboard.press("ArrowLeft")
    assert status(figure).startswith("Greedy 0.02 has seen 563 people")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert status(figure).startswith("Greedy 0.02 has seen 562 people and filled 49 of 50")
    assert status(figure).endswith("is rejected.")


# --- Prices.


def heard(figure, problem):
    """Of the caller who is on: the type, the sum as it is shown, and the decision."""
    text = status(figure)
    who, total, outcome = re.match(
        r"Caller [\d,]+: (.*?)\. The sum is ([−+]?[\d.]+), .*?: (accepted|rejected)\.", text
    ).groups()
    (type_id,) = np.flatnonzero(
        problem.types.agg(", ".join, axis=1).map(lambda t: words([t])) == who
    )
    return int(type_id), float(total.replace("−", "-")), outcome == "accepted"


def test_prices_decides_as_the_library_does(visit):
    """New callers, who come by chance, until the committee is full."""
    figure = visit(PRICES).locator("#fig-prices-callers.responds")
    problem, following = datasets.brexit(), figure.get_by_role("button", name="next caller")
    figure.get_by_role("button", name="new callers").click()
    session, seated = Prices(4).start(problem, 50), []
    for caller in range(1, 1000):
        assert status(figure).startswith(f"Caller {caller}: ")
        type_id, total, accepted = heard(figure, problem)
        assert accepted == (session.acceptance[type_id] == 1)
        counts = np.bincount(problem.codes[seated].ravel().astype(int), minlength=19)
        ahead = counts - problem.rho * len(seated)
        assert abs(total - seats_ahead(problem, ahead)[type_id]) < 0.0501
        leads = figure.locator(".leads b").all_text_contents()
        terms = [float(term.replace("−", "-")) for term in leads]
        assert abs(sum(terms[:-1]) - terms[-1]) < 0.4  # each of them is rounded
        session.see(np.array([type_id]), np.array([accepted]))
        seated += [type_id] * accepted
        if len(seated) == 50:
            break
        following.click()
    assert following.is_disabled()
    assert f"loss of {problem.committee_loss(np.array(seated)):.3f}." in status(figure)


def test_prices_begins_with_the_committee_of_the_still_picture(visit):
    figure = visit(PRICES, reduced_motion="reduce").locator("#fig-prices-callers.responds")
    found = recruit(Prices(4), datasets.brexit(), 50, 31, step_by_step=True)
    figure.get_by_role("button", name="play").click()  # at once, without motion
    assert status(figure).startswith(f"Caller {found.screened[-1]}: ")
    assert figure.locator("circle.accepted").count() == 50
    assert figure.locator("circle").count() == found.screened[-1]


def test_prices_plays_and_pauses(visit):
    page = visit(PRICES)
    figure = page.locator("#fig-prices-callers.responds")
    figure.get_by_role("button", name="play").focus()
    page.keyboard.press("Enter")
    # On a slow machine some callers are over before anybody looks.
    first = re.compile(r"Caller 2[01]: ")
    sync_api.expect(figure.get_by_role("status")).not_to_contain_text(first)
    assert figure.get_by_role("status").get_attribute("aria-live") == "off"
    figure.get_by_role("button", name="pause").press("Enter")
    before = status(figure)
    page.wait_for_timeout(700)
    assert status(figure) == before
    assert figure.get_by_role("status").get_attribute("aria-live") == "polite"


# --- The trade-off.


def test_tradeoff_marks_the_size_that_is_chosen(visit):
    figure = visit(EXPERIMENTS).locator("#fig-tradeoff.responds")
    before = [ring.get_attribute("cy") for ring in figure.locator(".ring").all()]
    figure.get_by_label("250", exact=True).check()
    after = [ring.get_attribute("cy") for ring in figure.locator(".ring").all()]
    assert status(figure).startswith("250 seats")
    assert len(before) == len(after) > 1
    assert before != after


# --- All of them.


@pytest.mark.parametrize(("name", "figure"), FIGURES)
def test_pictures_leave_the_still_one_without_scripts_and_on_paper(visit, name, figure):
    plain = visit(name, java_script_enabled=False)
    sync_api.expect(plain.locator(f"#{figure} img").first).to_be_visible()
    assert plain.locator(".interactive").count() == 0
    paper = visit(name)
    sync_api.expect(paper.locator(f"#{figure}.responds img").first).to_be_hidden()
    paper.emulate_media(media="print")
    sync_api.expect(paper.locator(f"#{figure} img").first).to_be_visible()
    sync_api.expect(paper.locator(f"#{figure} .interactive")).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("name", "figure"), FIGURES)
def test_pictures_have_the_ink_of_the_page_and_fit_a_phone(visit, name, figure, theme):
    page = visit(name, viewport=PHONE, color_scheme=theme)
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    box = page.locator(f"#{figure} .interactive")
    page_ink = page.locator("article p").first.evaluate("p => getComputedStyle(p).color")
    for text in box.locator("svg text").all()[:3]:
        assert text.evaluate("text => getComputedStyle(text).fill") == page_ink
    widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    assert len(set(page.evaluate(widths))) == 1
    for part in box.locator("svg, button, select, input, label").all():
        place = part.bounding_box()
        assert place["x"] + place["width"] <= PHONE["width"]
    for control in box.locator("button, select, label").all():
        assert control.bounding_box()["height"] >= 40  # for a finger
    sizes = box.evaluate(
        """box => [...box.querySelectorAll("*")]
          .filter((part) => [...part.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
          .map((part) => parseFloat(getComputedStyle(part).fontSize))"""
    )
    assert min(sizes) >= 11


@pytest.mark.parametrize(("name", "figure"), FIGURES)
def test_pictures_are_drawn_again_when_a_phone_is_turned(visit, name, figure):
    page = visit(name, viewport=PHONE)
    page.locator(f"#{figure}.responds svg").first.wait_for()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function(
        """figure => {
          const drawn = document.querySelector(`#${figure} svg`);
          const room = drawn.parentElement.clientWidth;
          return Number(drawn.getAttribute("width")) === room && room !== 0;
        }""",
        arg=figure,
    )


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in FIGURES))
def test_pictures_are_accessible_after_they_have_changed(visit, name):
    page = visit(name, viewport=PHONE, reduced_motion="reduce")
    for slider in page.get_by_role("slider").all():
        slider.press("ArrowLeft")
    for button in page.get_by_role("button", name="play").all():
        button.click()
    assert browser.accessibility(page, browser.VIEWS[0][3]) == []
    roles = "box => [box.getAttribute('role'), box.getAttribute('aria-label')]"
    for box in page.locator(".interactive").all():
        role, label = box.evaluate(roles)
        assert role == "group"
        assert len(label) > 20


def test_pictures_are_small(site):
    """Data for pictures are kilobytes, not hundreds of them."""
    for name in dict.fromkeys(name for name, _ in FIGURES):
        text = (site / name).read_text("utf-8")
        data = re.findall(r'<script type="application/json" class="picture">(.*?)</script>', text)
        assert data
        for one in data:
            json.loads(one)
            assert len(one) < 20_000

"""The ledger in a real browser, from the disk, without a network: searched, linked, on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright import sync_api
from playwright.sync_api import expect

import browser as checks
from companion.claims import load

pytestmark = pytest.mark.browser

LEDGER, CHAPTER = "chapters/claims.html", "chapters/03_formal_setting.html"
CLAIMS = [claim.id for claim in load()]
#: A claim that failed, and one that did not, each with what its badge stands at.
FAILED, HELD, BOX = "a1-greedy-05-people", "proposition-1", "prop-greedy"
PHONE = {"width": 390, "height": 800}
RULES = "wcag2a wcag2aa wcag21a wcag21aa"


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

    def visit(address, **settings):
        context = browser.new_context(offline=True, reduced_motion="reduce", **settings)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(path=Path(checks.__file__).with_name("checks.js"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: line.type == "error" and complaints.append(line.text))
        name, _, place = address.partition("#")
        page.goto(f"{(site / name).as_uri()}#{place}".rstrip("#"))
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


def rows(page):
    """The names of the claims that are shown."""
    return page.eval_on_selector_all(
        "table.ledger tbody tr", "all => all.filter((r) => r.checkVisibility()).map((r) => r.id)"
    )


def choose(page, words):
    """Press the button of a verdict; return how many claims it says there are."""
    button = page.get_by_role("button", name=re.compile(rf"^{words} \(\d+\)$"))
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    return int(re.search(r"\d+", button.inner_text())[0])


def test_ledger_is_filtered_by_verdict_and_says_how_many_are_left(visit):
    page = visit(LEDGER)
    status = page.get_by_role("status")
    expect(status).to_have_text(f"{len(CLAIMS)} of {len(CLAIMS)} claims shown.")
    counts = {}
    for words in ("not reproduced", "fitted", "corrected", "reproduced", "cannot fail"):
        counts[words] = choose(page, words)
        expect(status).to_have_text(f"{counts[words]} of {len(CLAIMS)} claims shown.")
        assert len(rows(page)) == counts[words]
        assert page.get_by_role("button", pressed=True).count() == 1
        shown = page.locator("table.ledger tbody tr:not([hidden]) .verdict").all_inner_texts()
        assert {text.split(" ", 1)[1] for text in shown} == {words}
    counts["not checkable"] = choose(page, "not checkable")
    assert sum(counts.values()) == choose(page, "all") == len(CLAIMS)
    assert sorted(rows(page)) == sorted(CLAIMS)


def test_ledger_is_filtered_by_words_and_verdict_together(visit):
    page = visit(LEDGER)
    field, status = page.get_by_label("Claims with the words"), page.get_by_role("status")
    field.fill("PROPOSITION  bound")
    expect(status).to_have_text(f"1 of {len(CLAIMS)} claims shown.")
    assert rows(page) == ["proposition-2"]
    field.fill("section 6")
    both = choose(page, "not reproduced")
    assert 0 < len(rows(page)) < both
    assert FAILED in rows(page)
    field.fill("no claim has these words")
    expect(status).to_have_text(f"0 of {len(CLAIMS)} claims shown.")
    field.fill("")
    assert len(rows(page)) == both


def test_ledger_is_filtered_by_keyboard(visit):
    page = visit(LEDGER)
    page.get_by_role("button", name=re.compile("^all ")).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", pressed=True)).to_have_text(re.compile("^not reproduced"))
    shown = page.evaluate("() => checks.focus()")
    assert shown[1], "the keyboard's place cannot be seen"
    assert FAILED in rows(page)
    assert HELD not in rows(page)
    page.get_by_label("Claims with the words").focus()
    page.keyboard.type("people")
    assert 0 < len(rows(page)) < len(CLAIMS)


def test_ledger_shows_the_claim_that_the_address_names(visit):
    page = visit(f"{LEDGER}#{HELD}")
    expect(page.locator(f"#{HELD}")).to_be_in_viewport()
    count = choose(page, "not reproduced")
    assert len(rows(page)) == count + 1
    assert HELD in rows(page)
    page.evaluate("() => location.hash = 'lemma-1'")
    expect(page.locator("tr#lemma-1")).to_be_in_viewport()
    expect(page.get_by_role("status")).to_have_text(f"{count + 1} of {len(CLAIMS)} claims shown.")
    assert HELD not in rows(page)


def test_badge_leads_from_a_box_to_its_claim_and_the_claim_back(visit):
    page = visit(CHAPTER)
    badge = page.locator(f"#{BOX} .ledger-badge").first
    expect(badge).to_contain_text("In the ledger: ✓ reproduced · proposition-1")
    badge.get_by_role("link", name=HELD).click()
    page.wait_for_url(f"**/{LEDGER}#{HELD}")
    row = page.locator(f"tr#{HELD}")
    expect(row).to_be_in_viewport()
    expect(row).to_contain_text("✓ reproduced")
    row.get_by_role("link", name="chapter 3, proposition").click()
    page.wait_for_url(f"**/{CHAPTER}#{BOX}")
    expect(page.locator(f".proof#{BOX}")).to_be_in_viewport()


def test_badge_of_a_figure_leads_to_what_failed(visit):
    page = visit("chapters/06_experiments.html#fig-1")
    page.locator(".ledger-badge").get_by_role("link", name=FAILED).click()
    page.wait_for_url(f"**/{LEDGER}#{FAILED}")
    expect(page.locator(f"tr#{FAILED} .verdict")).to_have_text("✗ not reproduced")


@pytest.mark.parametrize("address", [LEDGER, CHAPTER, "chapters/06_experiments.html"])
def test_claims_are_cards_on_a_phone_and_nothing_is_off_the_screen(visit, address):
    page = visit(address, viewport=PHONE)
    assert page.evaluate("() => document.documentElement.scrollWidth") == PHONE["width"]
    boxes = page.eval_on_selector_all(
        "table.ledger *, .ledger-controls *, .ledger-badge *",
        "all => all.map((e) => e.getBoundingClientRect()).map((b) => [b.left, b.right])",
    )
    assert boxes
    assert all(left >= 0 and right <= PHONE["width"] for left, right in boxes if right > left)
    if address == LEDGER:
        expect(page.locator("table.ledger thead")).to_be_hidden()
        row = page.locator(f"tr#{FAILED}")
        tops = [cell.bounding_box()["y"] for cell in row.locator("td").all()]
        assert tops == sorted(set(tops))  # below each other
        label = "e => getComputedStyle(e, '::before').content"
        assert row.locator("[data-label]").first.evaluate(label) == '"printed: "'


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", [LEDGER, CHAPTER])
def test_ledger_and_badges_are_accessible(visit, address, theme):
    page = visit(address, color_scheme=theme)
    page.wait_for_function("() => checks.settled()", polling=50)
    assert checks.accessibility(page, RULES) == []
    if address == LEDGER:
        choose(page, "fitted")
        assert checks.accessibility(page, RULES) == []


def test_map_is_read_on_a_phone_and_leads_to_the_rows(visit):
    page = visit(LEDGER, viewport=PHONE)
    sizes = page.eval_on_selector_all(
        ".claim-map a",
        """all => all.map((link) => {
          const box = link.querySelector("rect").getBoundingClientRect();
          const words = [...link.querySelectorAll("text")].map((t) => t.getBoundingClientRect());
          return [box.left, box.right, box.height, words.map((w) => [w.left, w.right])];
        })""",
    )
    assert len(sizes) == len(CLAIMS)
    for left, right, height, words in sizes:
        assert 0 <= left < right <= PHONE["width"]
        assert height > 22  # a finger
        ends = [left, *(end for word in words for end in word), right]
        assert ends == sorted(ends)  # one word after the other, inside the box
    page.locator(f"#map-{FAILED}").click()
    page.wait_for_url(f"**#{FAILED}")
    expect(page.locator(f"tr#{FAILED}")).to_be_in_viewport()


def test_ledger_is_complete_without_scripts(visit):
    page = visit(LEDGER, java_script_enabled=False)
    shown = page.locator("table.ledger tbody tr")
    assert shown.count() == len(CLAIMS)
    expect(shown.last).to_be_visible()
    expect(shown.first).to_contain_text("✗ not reproduced")
    assert page.locator(".ledger-controls").count() == 0


def test_ledger_on_paper_is_light_and_has_no_buttons(visit):
    page = visit(LEDGER, color_scheme="dark")
    ground = "e => getComputedStyle(e).backgroundColor"
    pill = page.locator(f"tr#{FAILED} .verdict")
    dark = pill.evaluate(ground)
    page.emulate_media(media="print", color_scheme="dark")
    assert pill.evaluate(ground) != dark
    expect(page.get_by_role("button", name="fitted")).to_be_hidden()
    expect(page.locator("table.ledger tbody tr").last).to_be_visible()

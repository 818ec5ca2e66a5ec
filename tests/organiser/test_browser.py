"""The desk in a real browser, and what its server refuses."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

import browser
from callers import EXAMPLES, callers
from organiser.desk import Desk, audit, outlook
from organiser.files import read_assembly
from organiser.strategies import choose

FILES = [EXAMPLES / f"brexit_{name}.csv" for name in ("targets", "volunteers")]
SIZE = 20
PROBLEM = read_assembly(*FILES, SIZE).problem
PEOPLE = callers(PROBLEM, 3000, seed=31)


@contextmanager
def served(journal):
    """A desk in a process of its own, and its address."""
    command = [sys.executable, "-m", "organiser.desk", *map(str, FILES), "--no-open"]
    command += ["--size", str(SIZE), "--seed", "3"]
    process = subprocess.Popen(
        [*command, "--journal", str(journal)], stdout=subprocess.PIPE, text=True
    )
    try:
        for line in process.stdout:
            if found := re.search(r"http://\S+/", line):
                break
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def desk(tmp_path):
    with served(tmp_path / "a.journal") as (_, address):
        yield address


def request(address, path="now", method="GET", body=None, **headers):
    """The status and the body of an answer."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    connection.putrequest(method, place.path + path, skip_host=True)
    headers = {"Host": place.netloc, **headers}
    if body is not None:
        headers["Content-Length"] = str(len(body))
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def offer(person, key="k"):
    return json.dumps({"key": key, "what": "offer", "person": person}).encode()


def test_server_refuses_who_should_not_be_there(desk, tmp_path):
    place = urlsplit(desk)
    own = {"Origin": f"http://{place.netloc}", "Content_Type": "application/json"}
    assert request(desk)[0] == 200
    assert request(f"http://{place.netloc}/wrong-token/")[0] == 404
    assert request(desk, Host="example.org")[0] == 403  # a name that leads here, of another site
    assert request(desk, Host=f"localhost:{place.port}")[0] == 403
    assert request(desk, Origin="https://example.org")[0] == 403
    body = offer(PEOPLE[0])
    for change in (
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Content_Type": "application/x-www-form-urlencoded"},  # what a form can send
        {"Content_Type": "text/plain"},
    ):
        assert request(desk, "do", "POST", body, **{**own, **change})[0] == 403
    assert request(desk, "do", "POST", body, Content_Type="application/json")[0] == 403
    assert json.loads(request(desk)[1])["callers"] == []
    status, answer = request(desk, "do", "POST", body, **own)
    assert (status, len(json.loads(answer)["now"]["callers"])) == (200, 1)
    again = json.loads(request(desk, "do", "POST", body, **own)[1])  # sent twice, decided once
    assert (again["said"], len(again["now"]["callers"])) == (
        json.loads(answer)["said"],
        1,
    )
    wrong = json.loads(request(desk, "do", "POST", offer({"age": "x"}, "other"), **own)[1])
    assert wrong["refused"].startswith("age: unknown value 'x'")


def test_server_listens_to_this_machine_alone(desk):
    place = urlsplit(desk)
    assert place.hostname == "127.0.0.1"
    with pytest.raises(OSError, match=r"refused|unreachable|assign"):
        request(desk.replace("127.0.0.1", "127.0.0.2"))


def test_server_says_that_what_cannot_be_written_does_not_count(desk, tmp_path):
    """Somebody has removed the journal."""
    (tmp_path / "a.journal").unlink()
    own = {"Origin": f"http://{urlsplit(desk).netloc}", "Content_Type": "application/json"}
    status, answer = request(desk, "do", "POST", offer(PEOPLE[0]), **own)
    assert status == 507
    assert "this decision does not count" in json.loads(answer)["refused"]
    assert json.loads(request(desk)[1])["callers"] == []


# --- In Chromium.


@pytest.fixture(scope="module")
def chrome(chromium):
    with sync_playwright() as playwright:
        alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        with playwright.chromium.launch(executable_path=browser.CHROMIUM, args=[alone]) as found:
            yield found


def opened(chrome, address, width=1200):
    page = chrome.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(60_000)
    page.heard = browser.listen(page)
    page.goto(address)
    page.wait_for_selector("#questions fieldset")
    return page


def call(page, person):
    """Click a caller's answers, and have the desk decide; what it says."""
    before = page.inner_text("#said")
    for number, (feature, value) in enumerate(person.items()):
        position = PROBLEM.features[feature].index(value)
        page.locator(f"input[name=q{number}]").nth(position).locator("xpath=..").click()
    page.click("#decide")
    changed = "before => !['', before].includes(document.getElementById('said').textContent)"
    page.wait_for_function(changed, arg=before)
    return page.inner_text("#said")


@pytest.mark.browser
def test_browser_recruits_twenty_by_clicking(chrome, desk, tmp_path):
    """Reason, forecast and answers are the library's; a member and a full committee are shown."""
    page = opened(chrome, desk)
    rule = choose("foresight", read_assembly(*FILES, SIZE))
    with Desk(rule, PROBLEM, SIZE, journal=tmp_path / "twin.journal", seed=3) as twin:
        for person in PEOPLE:
            until_next, until_last = outlook.ahead(twin.state)
            told = f"{until_next:,.0f} more callers until the next seat, {until_last:,.0f} until"
            assert told in page.inner_text("#ahead").replace("\u202f", ",")
            has_room = outlook.room(twin.state)
            for number, feature in enumerate(PROBLEM.features):
                closed = page.locator(f"label.closed input[name=q{number}]").evaluate_all(
                    "inputs => inputs.map((input) => input.value)"
                )
                assert closed == [v for v in PROBLEM.features[feature] if not has_room[feature, v]]
            decision = twin.offer(person)
            word = "ACCEPTED" if decision else "not accepted"
            assert call(page, person) == f"Caller {decision.number} is {word}: {decision.reason}."
            assert page.locator("#late").inner_text() == ". ".join(outlook.late(twin.state))
            if twin.state.seated == SIZE:
                break
    assert page.inner_text("#ahead") == "The committee is full."
    assert page.locator("#decide").is_disabled()
    assert page.locator("#callers tbody tr").count() == SIZE
    with page.expect_download() as download:
        page.click("#members")
    text = download.value.path().read_text("utf-8-sig")
    assert text.count("\n") == SIZE + 1
    assert page.heard == []


@pytest.mark.browser
@pytest.mark.parametrize("size", [(390, 664), (1366, 650), (1280, 800)])
def test_browser_shows_the_answer_where_one_looks(chrome, desk, size):
    """After each decision, without scrolling; and again in a page that is opened later."""
    page = opened(chrome, desk)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for person in PEOPLE[:3]:
        said = call(page, person)
        box = page.locator("#said").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size[1]
    later = opened(chrome, desk)
    assert later.inner_text("#said").split(" (")[0] == said.split(" is ")[0]


@pytest.mark.browser
def test_browser_withdraws_corrects_and_calls_back(chrome, desk):
    page = opened(chrome, desk)
    people = iter(PEOPLE)
    while page.locator("#call-back").is_hidden() or page.locator("#callers tbody tr").count() < 3:
        call(page, next(people))
    page.click("#reserve-yes")
    page.get_by_text("may be called back").wait_for()
    first = page.locator("#callers tbody tr").last
    number = first.locator("th").inner_text()
    first.get_by_text("withdraw").click()
    assert f"Caller {number} (" in page.inner_text("#sure")
    page.click("#sure button[value=no]")
    assert page.locator("#callers tbody tr").last.locator("th").inner_text() == number
    first.get_by_text("withdraw").click()
    page.click("#sure button[value=yes]")
    page.get_by_text("has given the seat back").wait_for()
    page.uncheck("#only-seated")
    page.get_by_label(f"seat again caller {number}").click()
    page.get_by_text("has a seat again").wait_for()
    page.get_by_label(f"correct caller {number}", exact=True).click()
    assert page.inner_text("#decide") == f"Correct caller {number}"
    page.locator("input[name=q4]:not(:checked)").first.locator("xpath=..").click()
    page.click("#decide")
    page.get_by_text("the seat was promised, and is kept").wait_for()
    assert page.heard == []


@pytest.mark.browser
def test_browser_asks_for_ids_and_households(chrome, desk):
    page = opened(chrome, desk)
    people = iter(PEOPLE)
    said = ""
    while "ACCEPTED" not in said:
        page.fill("#household", "1 High Street")
        said = call(page, person := next(people))
    page.fill("#household", "1 HIGH STREET")
    page.fill("#id", "a17")
    assert call(page, person).endswith("somebody of this household has a seat.")
    page.fill("#id", "a17")
    assert "a17 has called before, as caller" in call(page, person)
    assert page.heard == []


@pytest.mark.browser
def test_browser_warns_and_calls_back_in_the_order_of_the_lot(chrome, tmp_path):
    journal, rule = tmp_path / "a.journal", choose("foresight", read_assembly(*FILES, SIZE))
    (feature, value) = PROBLEM.labels[int(np.argmin(abs(PROBLEM.presence - 0.3)))]
    people = [one for one in callers(PROBLEM, 4000, seed=5) if one[feature] != value]
    with Desk(rule, PROBLEM, SIZE, journal=journal, seed=3) as desk:
        for one in people:
            if not (decision := desk.offer(one)):
                desk.keep_in_reserve(decision.number)
            if outlook.late(desk.state) and desk.state.seen > 40:
                break
        for number in list(desk.state.seats):
            desk.withdraw(number)
            if len(outlook.reserve(desk.state)) > 1:
                break
        late, (first, second, *_) = outlook.late(desk.state), outlook.reserve(desk.state)
    with served(journal) as (_, address):
        page = opened(chrome, address)
        warned = page.inner_text("#late")
        assert (
            warned == f"{'. '.join(late)}. Such a warning is false in at most 1 % of recruitments."
        )
        order = page.locator("#call-next li").all_inner_texts()
        assert [text.split()[1] for text in order][:2] == [str(first), str(second)]
        page.get_by_label(f"caller {first} declines").click()
        page.get_by_text("does not want a seat any more").wait_for()
        page.get_by_label(f"caller {second} has the seat").click()
        page.get_by_text("has a seat again").wait_for()
        assert page.heard == []
    assert audit.verify(journal)[0] == ""


@pytest.mark.browser
def test_browser_has_two_tabs_that_never_decide_against_each_other(chrome, desk, tmp_path):
    one, two = opened(chrome, desk), opened(chrome, desk, width=390)
    for number, person in enumerate(PEOPLE[:10], 1):
        said = call((one, two)[number % 2], person)
        assert said.startswith(f"Caller {number} is ")
    for page in (one, two):
        page.get_by_text("10 people seen").wait_for()
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert json.loads(request(desk)[1])["words"] == one.inner_text("#words")[:-1]


@pytest.mark.browser
def test_browser_goes_on_after_a_kill(chrome, tmp_path):
    journal = tmp_path / "a.journal"
    with served(journal) as (process, address):
        page = opened(chrome, address)
        said = [call(page, person) for person in PEOPLE[:6]]
        process.send_signal(signal.SIGKILL)
        process.wait()
        page.get_by_text("does not answer").wait_for()
        page.close()
    with served(journal) as (_, address):
        page = opened(chrome, address)
        assert "6 people seen" in page.inner_text("#words")
        assert call(page, PEOPLE[6]).startswith("Caller 7 is ")
        seated = page.locator("#callers tbody tr th").all_inner_texts()
    accepted = [k for k, words in enumerate(said, 1) if "ACCEPTED" in words]
    assert set(map(str, accepted)) <= set(seated)
    assert audit.verify(journal)[0] == ""


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_browser_is_for_everybody(chrome, desk, scheme):
    """Axe finds nothing; a whole call is possible with the keyboard alone."""
    page = opened(chrome, desk, width=390)
    page.emulate_media(color_scheme=scheme)
    for person in PEOPLE[:3]:
        call(page, person)
    wrong = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in wrong] == []
    page.focus("input[name=q0]")
    for _ in PROBLEM.features:
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "decide"
    page.keyboard.press("Enter")
    page.get_by_text("Caller 4 is ").wait_for()

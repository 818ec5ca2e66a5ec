"""The map of the ledger: read back, it is the claims and what they rest on."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from companion.claim_map import BOX, LANE, ROW, WIDTH, Map
from companion.claims import CORRECTED, FITTED, NOT_REPRODUCED, REPRODUCED, VERDICTS, load
from companion.ledger import slug

CLAIMS = [
    # name, verdict, needs
    ("sum", CORRECTED, []),
    ("theorem-1-loss", REPRODUCED, ["sum", "lemma-1"]),
    ("lemma-1", REPRODUCED, []),
    ("remark", NOT_REPRODUCED, ["sum", "theorem-1-loss"]),
    ("size", FITTED, []),
    ("loss", REPRODUCED, []),
    ("people", REPRODUCED, []),
]


def frame(claims):
    rows = [
        {"says": f"It is <{name}>.", "verdict": found, "needs": needs, "evidence": "proof"}
        for name, found, needs in claims
    ]
    return pd.DataFrame(rows, index=[name for name, _, _ in claims])


def drawn(shown):
    """The drawings, and by name the claims' boxes: left, top, right, bottom."""
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    boxes = {}
    for link in page.select(".claim-map a"):
        assert link["id"] == f"map-{link['href'].removeprefix('#')}"
        box = link.select_one("rect")
        left, top, wide, high = (float(box[key]) for key in ("x", "y", "width", "height"))
        boxes[link["href"].removeprefix("#")] = (left, top, left + wide, top + high)
    return page, boxes


def test_map_has_each_claim_once_with_its_verdict_and_a_link_to_its_row():
    page, boxes = drawn(Map(frame(CLAIMS)))
    links = page.select(".claim-map a")
    assert sorted(boxes) == sorted(name for name, _, _ in CLAIMS)
    assert len(links) == len(boxes)
    first = page.select_one("#map-sum")
    assert first["class"] == ["corrected"]
    assert first.select_one("text").get_text() == "✎ sum"
    assert first["aria-label"] == "sum: corrected, by proof. It is <sum>."
    theorem = page.select_one("#map-theorem-1-loss")
    assert theorem["class"] == ["reproduced", "numbered"]
    assert theorem.title.get_text().endswith("Rests on sum, lemma-1.")
    assert [kind.get_text() for kind in theorem.select(".kind")] == ["proof"]


def test_map_has_an_arrow_for_each_step_which_tells_what_stands():
    page, boxes = drawn(Map(frame(CLAIMS)))
    kinds = {}
    for arrow in page.select("path[data-from]"):
        start, end = arrow["data-from"], arrow["data-to"]
        kinds[start, end] = " ".join(arrow["class"])
        assert arrow.title.get_text() == f"{end} rests on {start}"
        _, top, *_, bottom = re.findall(r"[\d.]+", arrow["d"])
        assert boxes[start][1] < float(top) < boxes[start][3]  # from a box to a box
        assert boxes[end][1] < float(bottom) < boxes[end][3]
        assert float(bottom) > float(top)  # downwards
    assert kinds == {
        ("sum", "theorem-1-loss"): "false stands",
        ("lemma-1", "theorem-1-loss"): "",
        ("sum", "remark"): "false",
        ("theorem-1-loss", "remark"): "",
    }
    assert len(page.select("path.head")) == len(kinds)


@pytest.mark.parametrize("shown", [CLAIMS, [("a", REPRODUCED, [])]], ids=["some", "one"])
def test_map_has_no_boxes_that_overlap_and_nothing_outside(shown):
    page, boxes = drawn(Map(frame(shown)))
    for drawing in page.select("svg"):
        names = [link["href"].removeprefix("#") for link in drawing.select("a")]
        for name in names:
            left, top, right, bottom = boxes[name]
            assert 0 < left < right < WIDTH
            assert 0 < top < bottom < float(drawing["height"])
            assert bottom - top == BOX < ROW
            for other in names:
                if other != name:
                    x, y, to_x, to_y = boxes[other]
                    assert to_x <= left or right <= x or to_y <= top or bottom <= y
        for arrow in drawing.select("path[data-from]"):
            x, _, bend, _, _, _, to_x, _ = map(float, re.findall(r"-?[\d.]+", arrow["d"]))
            assert 0 < (x + 6 * bend + to_x) / 8 < LANE  # where it is furthest to the left


def test_map_is_drawn_the_same_each_time_and_read_without_a_browser():
    assert Map(frame(CLAIMS))._repr_html_() == Map(frame(CLAIMS))._repr_html_()
    assert repr(Map(frame(CLAIMS))).splitlines() == [
        "theorem-1-loss needs sum, lemma-1",
        "remark needs sum, theorem-1-loss",
    ]


def test_map_of_the_book_s_claims_is_whatever_their_verdicts():
    claims = [
        (claim.id, VERDICTS[i % len(VERDICTS)], claim.needs) for i, claim in enumerate(load())
    ]
    page, boxes = drawn(Map(frame(claims)))
    assert set(boxes) == {claim.id for claim in load()}
    arrows = [(a["data-from"], a["data-to"]) for a in page.select("path[data-from]")]
    assert sorted(arrows) == sorted((step, c.id) for c in load() for step in c.needs)
    kinds = {link["class"][0] for link in page.select(".claim-map a")}
    assert len(kinds) == len(VERDICTS)
    assert slug("✗ not reproduced") in kinds

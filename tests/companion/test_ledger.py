"""The ledger's table, for the screen and for those without one."""

from __future__ import annotations

from bs4 import BeautifulSoup

from companion.ledger import Table
from ledger_rows import FRAME


def test_table_has_a_row_per_claim_with_its_name_and_links():
    page = BeautifulSoup(Table(FRAME)._repr_html_(), "html.parser")
    assert [th.get_text() for th in page.select("thead th")] == list(Table.HEAD)
    one, two = page.select("tbody tr")
    assert (one["id"], one["data-verdict"]) == ("the-loss", "not-reproduced")
    assert (two["id"], two["data-verdict"]) == ("the-sum", "corrected")
    pill = one.select_one(".verdict.verdict-not-reproduced")
    assert pill.get_text() == "✗ not reproduced, undecided"
    assert one.select_one("a.name")["href"] == "#the-loss"
    assert one.select_one("a.check")["href"] == "06_experiments.ipynb#fig-1"
    assert two.select_one("a.check")["href"] == "corrections.ipynb"
    assert "The loss is < 0.1 & falls." in one.get_text()
    rests = "Rests on the-sum, false as printed, and stands: Counted < otherwise."
    smalls = [small.get_text() for small in one.select("small")]
    assert smalls == [rests, "loss", "accepting everybody: 0.40 ± 0.01", "by simulation"]
    assert one.select_one("small a")["href"] == "#the-sum"
    assert [small.get_text() for small in two.select("small")] == ["A slip."]
    values = [span.get_text() for span in two.select('[data-label="measured"] .value')]
    assert values == ["2.5 as printed", "→ 1 as corrected"]
    assert two.select_one('[data-label="printed"]').get_text() == "≤ 2 → ≤ 3"


def test_table_is_read_without_a_browser():
    assert repr(Table(FRAME)).splitlines() == [
        "✗ not reproduced, undecided | the-loss | The loss is < 0.1 & falls. | printed < 0.1"
        " | measured 0.30 ± 0.01 (loss)"
        " | accepting everybody: 0.40 ± 0.01",
        "✎ corrected | the-sum | The sum is small. | printed ≤ 2 → ≤ 3"
        " | measured 2.5 as printed → 1 as corrected",
    ]


def test_table_has_its_claims_as_data():
    (records,) = Table(FRAME)._repr_mimebundle_().values()
    assert records[0] == {
        "name": "the-loss",
        "mark": "✗ not reproduced, undecided",
        "measured": "0.30 ± 0.01",
        "page": "chapters/06_experiments",
        "place": "fig-1",
    }
    assert (records[1]["page"], records[1]["place"]) == ("chapters/corrections", "")


def test_table_says_of_what_is_false_that_it_falls_with_its_steps():
    steps = [["the-sum"], ["the-loss", "the-sum"]]
    for words, found in zip(("it", "them"), steps, strict=True):
        rows = FRAME.assign(stands="")
        rows["false steps"] = [found, []]
        page = BeautifulSoup(Table(rows)._repr_html_(), "html.parser")
        said = page.select_one("#the-loss small").get_text()
        assert (
            said == f"Rests on {' and '.join(found)}, false as printed, and is false with {words}."
        )


def test_table_has_more_of_a_claim_for_machines():
    (records,) = Table(FRAME, {"the-sum": {"value": 2.5}})._repr_mimebundle_().values()
    assert records[1]["value"] == 2.5
    assert records[1]["name"] == "the-sum"
    assert "value" not in records[0]

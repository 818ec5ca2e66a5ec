"""The ledger: computed, and able to say no."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import ledger_seeds
from companion import claims
from companion.claims import (
    CANNOT_FAIL,
    CORRECTED,
    FITTED,
    MARKS,
    NOT_CHECKABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    VERDICTS,
    Claim,
    is_undecided,
    ledger,
    load,
    number,
    verdict,
)
from companion.runs import Measurement, Runs

ROOT = Path(__file__).resolve().parents[2]
STORED = pd.read_csv(ledger_seeds.FILE)

TWO = Claim("x", "here", "it is two", "2", least=1.9, most=2.1)
CORRECTABLE = Claim("x", "", "", "", most=1, corrected={"most": 3}, correction="three")
WITH_SCALE = Claim("x", "", "", "", least=1.9, most=2.1, fitted={"least": 1.5, "most": 2.5})
UNKNOWN = float("nan")


def test_verdict_follows_from_the_numbers():
    assert verdict(TWO, Measurement(2.0)) == REPRODUCED
    assert verdict(TWO, Measurement(2.2)) == NOT_REPRODUCED
    assert verdict(TWO, Measurement(2.2, other=2.0)) == NOT_REPRODUCED  # no such correction
    assert verdict(CORRECTABLE, Measurement(1.0, other=9.0)) == REPRODUCED  # nobody asks for it
    assert verdict(CORRECTABLE, Measurement(2.0, other=2.5)) == CORRECTED
    assert verdict(CORRECTABLE, Measurement(2.0, other=3.5)) == NOT_REPRODUCED
    assert verdict(CORRECTABLE, Measurement(UNKNOWN, other=UNKNOWN)) == NOT_REPRODUCED
    assert verdict(Claim("x", "", "", "", not_checkable="no data"), None) == NOT_CHECKABLE


def test_verdict_with_a_fitted_scale_is_one_of_its_own():
    assert verdict(WITH_SCALE, Measurement(2.0, other=9.0)) == REPRODUCED
    assert verdict(WITH_SCALE, Measurement(2.4)) == NOT_REPRODUCED
    for other in (1.4, 2.6, UNKNOWN):
        assert verdict(WITH_SCALE, Measurement(2.2, other=other)) == NOT_REPRODUCED
    for other in (1.5, 2.0, 2.5):
        assert verdict(WITH_SCALE, Measurement(2.2, other=other)) == FITTED


@pytest.mark.parametrize("claim", [TWO, CORRECTABLE, WITH_SCALE])
def test_verdict_of_what_cannot_fail_does_not_ask_for_the_value(claim):
    for value in (2.0, 9.0):
        measured = Measurement(value, error=9.0, other=2.0, other_error=9.0, can_fail=False)
        assert verdict(claim, measured) == CANNOT_FAIL
        assert not is_undecided(claim, measured)


@pytest.mark.parametrize(
    ("control", "error", "passes"),
    [(2.0, 0.0, True), (1.9, 0.0, True), (1.8, 0.1, True), (2.3, 0.3, True), (1.8, 0.05, False)],
)
def test_verdict_of_what_everybody_shows(control, error, passes):
    """The control passes if its interval reaches the limits; what failed is not asked for it."""
    true = Measurement(2.0, error=0.2, control=control, control_error=error)
    assert verdict(TWO, true) == (CANNOT_FAIL if passes else REPRODUCED)
    assert is_undecided(TWO, true) != passes
    fitted = replace(true, value=2.4, other=2.4)
    assert verdict(WITH_SCALE, fitted) == (CANNOT_FAIL if passes else FITTED)
    assert verdict(TWO, replace(true, value=2.4)) == NOT_REPRODUCED
    assert verdict(CORRECTABLE, Measurement(2.0, other=2.5, control=0.5)) == CORRECTED


def test_is_undecided_where_chance_decides():
    for value, undecided in ((1.85, True), (1.95, True), (2.05, True), (2.3, False), (1.7, False)):
        assert is_undecided(TWO, Measurement(value, error=0.1)) == undecided
    assert not is_undecided(TWO, Measurement(1.95, error=0.04))
    assert not is_undecided(TWO, Measurement(1.9))  # exact
    assert not is_undecided(TWO, Measurement(1.9, error=UNKNOWN))
    assert not is_undecided(TWO, None)


@pytest.mark.parametrize(("claim", "limits"), [(CORRECTABLE, [3.0]), (WITH_SCALE, [1.5, 2.5])])
def test_is_undecided_by_the_other_value_if_the_verdict_rests_on_it(claim, limits):
    far = Measurement(9.0, error=0.2, other=2.0)
    assert not is_undecided(claim, far)  # the error is the first value's
    for limit in limits:
        near = replace(far, other=limit - 0.1, other_error=0.2)
        assert is_undecided(claim, near)
        assert not is_undecided(claim, replace(near, other_error=0.05))
        assert not is_undecided(claim, replace(near, value=claim.most, error=0.0))
        assert is_undecided(claim, replace(near, value=claim.most + 0.1))  # both are near
    assert is_undecided(claim, replace(far, value=claim.most + 0.1, other=None))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "claim 'x': needs 'least', 'most', or 'not_checkable'"),
        ({"most": 1, "correction": "?"}, "claim 'x': 'corrected' and 'correction', or 'fitted'"),
        ({"most": 1, "corrected": {"most": 2}}, "claim 'x': 'corrected' and 'correction', or"),
        (
            {"most": 1, "corrected": {"most": 2}, "correction": "?", "fitted": {"most": 2}},
            "claim 'x': 'corrected' and 'correction', or 'fitted' alone",
        ),
        ({"most": 1, "not_checkable": "no"}, "claim 'x': needs 'least', 'most', or"),
        ({"most": 1, "evidence": "hearsay"}, "claim 'x': 'evidence' is one of proof, comput"),
        ({"not_checkable": "no", "evidence": "proof"}, "claim 'x': .* of what is not checkable no"),
    ],
)
def test_claim_names_what_is_wrong_with_it(fields, message):
    with pytest.raises(ValueError, match=message):
        Claim("x", "", "", "", **fields)


def test_claim_has_the_limits_of_its_other_reading():
    assert TWO.other_limits is None
    assert CORRECTABLE.other_limits == (-math.inf, 3)
    assert WITH_SCALE.other_limits == (1.5, 2.5)


def test_load_names_a_claim_made_twice(monkeypatch, tmp_path):
    line = "- {id: x, where: here, says: it is, paper: '1', least: 1}\n"
    (tmp_path / "claims.yml").write_text(2 * line)
    monkeypatch.setattr(claims, "DATA", tmp_path)
    with pytest.raises(ValueError, match="claim 'x': 2 entries have this id"):
        load()


@pytest.mark.parametrize(
    ("needs", "message"),
    [("[y]", "claim 'x': needs 'y', which is no claim"), ("[x]", "claims rest on themselves: x")],
)
def test_load_names_what_rests_on_nothing_or_on_itself(monkeypatch, tmp_path, needs, message):
    line = f"- {{id: x, where: here, says: it is, paper: '1', least: 1, needs: {needs}}}\n"
    (tmp_path / "claims.yml").write_text(line)
    monkeypatch.setattr(claims, "DATA", tmp_path)
    with pytest.raises(ValueError, match=message):
        load()


@pytest.mark.parametrize("claim", load(), ids=lambda claim: claim.id)
def test_claim_says_what_its_verdict_rests_on(claim):
    assert bool(claim.evidence) != bool(claim.not_checkable)


def test_most_theorems_rest_on_other_claims():
    rests = {claim.id for claim in load() if claim.needs}
    assert rests > {f"theorem-{n}-{what}" for n in "12" for what in ("regret", "violation", "loss")}


@pytest.fixture
def seven_claims(monkeypatch, tmp_path):
    """Exact, undecided, fitted, corrected in two ways, not able to fail, and not checkable."""
    (tmp_path / "claims.yml").write_text(
        "- {id: size, where: here, says: many, paper: '49000', unit: people, least: 48500}\n"
        "- {id: loss, where: there, says: none, paper: '0', most: 0.05, note: a close call}\n"
        "- {id: scale, where: there, says: one, paper: '1', most: 1, fitted: {most: 3}}\n"
        "- {id: sum, where: there, says: few, paper: ≤ 2, most: 2, corrected: {most: 3},"
        " correction: ≤ 3}\n"
        "- {id: law, where: there, says: it, paper: τ, unit: p-value, least: 0.001,"
        " corrected: {least: 0.001}, correction: τ − K, note: a slip}\n"
        "- {id: bound, where: there, says: below, paper: '1', most: 1}\n"
        "- {id: solver, where: there, says: CPLEX, paper: CPLEX, not_checkable: no licence,"
        " check: chapters/performance}\n"
    )
    monkeypatch.setattr(claims, "DATA", tmp_path)
    measured = {
        "size": Measurement(48842),
        "loss": Measurement(0.0512, error=0.0034, other=0.04, other_error=0.5),
        "scale": Measurement(2.0, error=0.1, other=2.5, other_error=0.2),
        "sum": Measurement(2.4, other=2.4),
        "law": Measurement(0.0, other=0.7),
        "bound": Measurement(0.5, can_fail=False),
    }
    functions = {name: lambda runs, found=found: found for name, found in measured.items()}
    monkeypatch.setattr(claims, "REGISTRY", functions)
    return ledger(Runs())


def test_ledger_has_a_row_per_claim(seven_claims):
    names = ["size", "loss", "scale", "sum", "law", "bound", "solver"]
    assert list(seven_claims.index) == names
    verdicts = [REPRODUCED, NOT_REPRODUCED, FITTED, CORRECTED, CORRECTED, CANNOT_FAIL]
    assert list(seven_claims["verdict"]) == [*verdicts, NOT_CHECKABLE]
    assert list(seven_claims["undecided"]) == [name == "loss" for name in names]
    assert seven_claims["correction"]["solver"] == "no licence"
    assert seven_claims["note"]["loss"] == "a close call"
    assert seven_claims["check"]["solver"] == "chapters/performance"
    assert tuple(seven_claims.loc["scale", ["other", "other ±"]]) == (2.5, 0.2)
    assert seven_claims["other"].drop(index=["scale", "sum", "law"]).isna().all()


def test_table_is_the_ledger_for_readers_and_has_what_failed_first(seven_claims):
    seen = claims.table(seven_claims)
    assert list(seen.index) == ["loss", "scale", "sum", "law", "size", "bound", "solver"]
    assert list(seen["verdict"]) == [
        "✗ not reproduced, undecided",
        "≈ fitted",
        "✎ corrected",
        "✎ corrected",
        "✓ reproduced",
        "○ cannot fail",
        "? not checkable",
    ]
    assert list(seen["printed"]) == ["0", "1", "≤ 2 → ≤ 3", "τ → τ − K", "49000", "1", "CPLEX"]
    assert list(seen["measured"]) == [
        "0.0512 ± 0.0034",
        "2.00 ± 0.10 as printed → 2.50 ± 0.20 fitted",
        "2.4",  # twice the same: what is corrected is the claim
        "< 10⁻⁴ as printed → 0.7 as corrected",
        "48,842",
        "0.5",
        "–",
    ]
    remarks = seen["remark"]
    assert remarks["loss"] == "a close call"
    assert remarks["law"] == "a slip"
    assert remarks["solver"] == "Not checkable: no licence."
    assert remarks["size"] == ""


def test_table_shows_a_second_reading_only_if_it_was_asked_for(seven_claims):
    true = seven_claims.assign(verdict=REPRODUCED)
    assert not claims.table(true)[["printed", "measured"]].stack().str.contains("→").any()
    failed = claims.table(seven_claims.assign(verdict=NOT_REPRODUCED))
    assert failed["measured"]["scale"] == "2.00 ± 0.10 as printed → 2.50 ± 0.20 fitted"
    assert failed["printed"]["sum"] == "≤ 2"  # the correction fails as well


def test_table_shows_the_control_and_both_radii(seven_claims):
    rows = seven_claims.assign(control=[math.nan, 0.0519, 2.0, math.nan, math.nan, 0.5, math.nan])
    rows.loc["loss", "control ±"] = 0.0021
    rows.loc["loss", ["other", "other ±"]] = (0.04, 0.5)
    seen = claims.table(rows)
    assert seen["control"]["loss"] == "accepting everybody: 0.0519 ± 0.0021"
    assert seen["measured"]["loss"] == "0.0512 ± 0.0034 as printed → 0.04 ± 0.50 fitted"
    assert seen["control"]["bound"] == "accepting everybody: 0.5"
    assert set(seen["control"][["size", "sum", "law", "solver"]]) == {""}


def test_ledger_has_the_false_steps_of_each_claim(seven_claims):
    """Those that were corrected or not reproduced, of those that the claim needs."""
    rows = seven_claims.assign(needs=[["sum", "scale"], [], ["loss", "law"], [], [], ["size"], []])
    rows = claims.with_false_steps(rows)
    assert list(rows["false steps"]) == [["sum"], [], ["loss", "law"], [], [], [], []]


def test_check_stands_refuses_a_reason_too_few_or_too_many(seven_claims):
    claims.check_stands(seven_claims)
    leaning = seven_claims.assign(needs=[["sum"], [], [], [], [], [], []])
    with pytest.raises(ValueError, match="claim 'size' rests on 'sum', which is false as printed"):
        claims.check_stands(leaning)
    standing = leaning.assign(stands=["so", "", "", "", "", "", ""])
    claims.check_stands(standing)
    with pytest.raises(ValueError, match="claim 'size' is false as printed"):
        claims.check_stands(standing.assign(verdict=NOT_REPRODUCED))
    with pytest.raises(ValueError, match="claim 'size' rests on nothing that is false"):
        claims.check_stands(standing.assign(verdict=REPRODUCED))


def test_records_are_the_rows_in_numbers_that_json_knows(seven_claims):
    found = json.loads(json.dumps(claims.records(seven_claims), allow_nan=False))
    assert list(found) == list(seven_claims.index)
    assert found["loss"]["value"] == 0.0512
    assert found["loss"]["most"] == 0.05
    assert found["loss"]["least"] is None
    assert found["loss"]["undecided"] is True
    assert found["scale"]["verdict"] == FITTED
    assert found["scale"]["other"] == 2.5
    assert found["size"]["needs"] == []
    assert found["size"]["control"] is None
    assert found["solver"]["value"] is None
    assert found["solver"]["not_checkable"] == "no licence"


def test_marks_are_of_all_verdicts_and_differ_in_sign_and_words():
    assert set(MARKS) == set(VERDICTS)
    signs, words = zip(*(mark.split(" ", 1) for mark in MARKS.values()), strict=True)
    assert len(set(signs)) == len(set(words)) == len(VERDICTS)
    assert list(MARKS)[:3] == [NOT_REPRODUCED, FITTED, CORRECTED]


def places(page):
    """The names on a page that a link may end in: boxes, figures, formulas, sections."""
    cells = json.loads((ROOT / f"{page}.ipynb").read_text("utf-8"))["cells"]
    figures = {c["metadata"].get("mystnb", {}).get("figure", {}).get("name") for c in cells}
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    labels = re.findall(r"^:label: (\S+)|^\$\$ \((\S+)\)", "\n".join(texts), re.MULTILINE)
    labels = {one or other for one, other in labels}
    titles = re.findall(r"^#+ (.+)", "\n".join(texts), re.MULTILINE)
    sections = {re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") for title in titles}
    return figures | labels | {f"equation-{label}" for label in labels} | sections


@pytest.mark.parametrize("claim", load(), ids=lambda claim: claim.id)
def test_claim_is_checked_at_a_place_that_exists(claim):
    page, _, place = claim.check.partition("#")
    assert (ROOT / f"{page}.ipynb").exists(), f"{claim.id}: no page {page!r}"
    assert not place or place in places(page), f"{claim.id}: no {place!r} on {page}"


def test_claims_can_be_read_alone():
    """In a table that can be sorted and filtered, no claim speaks of the one before it."""
    says = [claim.says for claim in load()]
    assert len(set(says)) == len(says)
    assert not [text for text in says if re.match(r"(That|It|Its|So|For \w+ ones|As well)\b", text)]


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [
        (3100.4, 17.0, "3,100 ± 17"),
        (3100.4, 170.0, "3,100 ± 170"),
        (-8.28e-05, 0.0034, "−0.0001 ± 0.0034"),
        (-0.25, 0.0, "−0.25"),
        (8.33e-17, 0.0, "0, but for rounding"),
        (-2.2e-16, 0.0, "0, but for rounding"),
        (0.0, 0.0, "0"),
        (4.3512, 0.0731, "4.351 ± 0.073"),
        (99.96, 1.04, "100.0 ± 1.0"),
        (0.5, UNKNOWN, "0.5"),  # a single run
        (2 / 3, 0.0, "0.667"),
        (0.7, 1e-17, "0.7"),  # rounding, not chance
        (1234567.8, 0.0, "1,234,568"),
        (UNKNOWN, UNKNOWN, "–"),
    ],
)
def test_number_has_as_many_digits_as_mean_something(value, error, expected):
    assert number(value, error) == expected


def test_number_of_a_test_that_all_but_excludes_it():
    assert number(0.0, 0.0, "p-value") == number(9e-5, 0.0, "p-value") == "< 10⁻⁴"
    assert number(0.02, 0.0, "p-value") == "0.02"
    assert number(0.0, 0.0, "share of runs") == "0"


def test_ledger_seeds_are_of_today_s_claims():
    for _, rows in STORED.groupby("seed"):
        assert list(rows["id"]) == [claim.id for claim in load()]
        assert set(rows["verdict"]) <= set(VERDICTS)
        assert set(rows["undecided"]) <= {True, False}
    assert sorted(STORED["seed"].unique()) == sorted(ledger_seeds.SEEDS)


def test_ledger_seeds_changed_names_each_verdict():
    other = STORED.assign(verdict=STORED["verdict"].mask(STORED.index == 1, "another"))
    assert ledger_seeds.changed(STORED, STORED) == []
    (sentence,) = ledger_seeds.changed(other, STORED)
    seed, name, stored = STORED.loc[1, ["seed", "id", "verdict"]]
    assert sentence == f"seed {seed}, {name}: verdict is {stored} in the file, another now"
    missing = ledger_seeds.changed(STORED.drop(index=5), STORED)
    assert missing
    assert all(f"{STORED['id'][5]}: " in sentence for sentence in missing)


@pytest.mark.parametrize("column", ["measured", "±"])
def test_ledger_seeds_changed_names_each_value(column):
    """Up to what the file rounds, and what another machine may sum in another order."""
    row = STORED.index[STORED["±"] > 0][0]
    near = STORED.copy()
    near.loc[row, column] *= 1 + 1e-6
    assert ledger_seeds.changed(near, STORED) == []
    near.loc[row, column] *= 1.01
    (sentence,) = ledger_seeds.changed(near, STORED)
    assert f"{STORED['id'][row]}: {column} is " in sentence


@pytest.mark.slow
def test_ledger_seeds_are_what_is_measured_now():
    """One of the seeds."""
    first = STORED[STORED["seed"] == 1]
    assert ledger_seeds.changed(ledger_seeds.measure((1,)), first) == []

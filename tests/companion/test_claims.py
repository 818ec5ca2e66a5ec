"""The ledger: computed, and able to say no."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import ledger_seeds
from companion import claims
from companion.claims import (
    CORRECTED,
    NOT_CHECKABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    VERDICTS,
    Claim,
    ledger,
    load,
    near_the_edge,
    verdict,
)
from companion.runs import Measurement, Runs

STORED = pd.read_csv(ledger_seeds.FILE)


def test_verdict_follows_from_the_numbers():
    claim = Claim("x", "here", "it is two", "2", least=1.9, most=2.1)
    assert verdict(claim, Measurement(2.0)) == REPRODUCED
    assert verdict(claim, Measurement(2.2)) == NOT_REPRODUCED
    assert verdict(claim, Measurement(2.2, corrected=2.0)) == NOT_REPRODUCED  # no such correction
    corrected = Claim("x", "", "", "", most=1, corrected={"most": 3}, correction="three")
    assert verdict(corrected, Measurement(2.0, corrected=2.5)) == CORRECTED
    assert verdict(corrected, Measurement(2.0, corrected=3.5)) == NOT_REPRODUCED
    assert verdict(corrected, Measurement(float("nan"), corrected=float("nan"))) == NOT_REPRODUCED
    assert verdict(Claim("x", "", "", "", not_checkable="no data"), None) == NOT_CHECKABLE


def test_near_the_edge_is_where_chance_decides():
    claim = Claim("x", "", "", "", least=1.0)
    assert near_the_edge(claim, Measurement(1.05, error=0.1))
    assert not near_the_edge(claim, Measurement(1.5, error=0.1))
    assert not near_the_edge(claim, Measurement(1.0))  # exact
    assert not near_the_edge(claim, None)
    corrected = Claim("x", "", "", "", most=1, corrected={"most": 3}, correction="three")
    both = Measurement(9.0, error=0.2, corrected=2.9)
    assert not near_the_edge(corrected, both)  # the error is the other value's
    assert near_the_edge(corrected, replace(both, corrected_error=0.2))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "claim 'x': needs 'least', 'most', or 'not_checkable'"),
        ({"most": 1, "correction": "?"}, "claim 'x': 'corrected' and 'correction' go together"),
        ({"most": 1, "not_checkable": "no"}, "claim 'x': needs 'least', 'most', or"),
    ],
)
def test_claim_names_what_is_wrong_with_it(fields, message):
    with pytest.raises(ValueError, match=message):
        Claim("x", "", "", "", **fields)


def test_load_names_a_claim_made_twice(monkeypatch, tmp_path):
    line = "- {id: x, where: here, says: it is, paper: '1', least: 1}\n"
    (tmp_path / "claims.yml").write_text(2 * line)
    monkeypatch.setattr(claims, "DATA", tmp_path)
    with pytest.raises(ValueError, match="claim 'x': 2 entries have this id"):
        load()


@pytest.fixture
def three_claims(monkeypatch, tmp_path):
    """A ledger of three claims: exact, near the edge, and not checkable."""
    (tmp_path / "claims.yml").write_text(
        "- {id: size, where: here, says: many, paper: '49000', unit: people, least: 48500}\n"
        "- {id: loss, where: there, says: none, paper: '0', most: 0.05}\n"
        "- {id: solver, where: there, says: CPLEX, paper: CPLEX, not_checkable: no licence}\n"
    )
    monkeypatch.setattr(claims, "DATA", tmp_path)
    measured = {"size": Measurement(48842), "loss": Measurement(0.0512, error=0.0034)}
    functions = {name: lambda runs, found=found: found for name, found in measured.items()}
    monkeypatch.setattr(claims, "REGISTRY", functions)
    return ledger(Runs())


def test_ledger_has_a_row_per_claim(three_claims):
    assert list(three_claims.index) == ["size", "loss", "solver"]
    assert list(three_claims["verdict"]) == [REPRODUCED, NOT_REPRODUCED, NOT_CHECKABLE]
    assert list(three_claims["near the edge"]) == [False, True, False]
    assert three_claims["correction"]["solver"] == "no licence"


def test_table_is_the_ledger_for_readers(three_claims):
    seen = claims.table(three_claims)
    columns = ["where", "the paper says", "paper", "measured", "verdict"]
    assert list(seen.columns) == columns
    assert list(seen["measured"]) == ["48,842 (people)", "0.0512 ± 0.0034", "–"]


def test_table_rounds_for_readers():
    cases = [
        (3100.4, 17.0, "people", "3,100 ± 17 (people)"),
        (-8.28e-05, 0.0034, "", "-0.0001 ± 0.0034"),
        (0.5, float("nan"), "", "0.5"),  # a single run
    ]
    for value, error, unit, expected in cases:
        row = {"where": "", "says": "", "paper": "", "measured": value, "±": error, "unit": unit}
        rows = pd.DataFrame([{**row, "verdict": REPRODUCED}])
        assert list(claims.table(rows)["measured"]) == [expected]


def test_ledger_seeds_are_of_today_s_claims():
    for _, rows in STORED.groupby("seed"):
        assert list(rows["id"]) == [claim.id for claim in load()]
        assert set(rows["verdict"]) <= set(VERDICTS)
    assert sorted(STORED["seed"].unique()) == sorted(ledger_seeds.SEEDS)


def test_ledger_seeds_changed_names_each_verdict():
    other = STORED.assign(verdict=STORED["verdict"].mask(STORED.index == 1, NOT_REPRODUCED))
    assert ledger_seeds.changed(STORED, STORED) == []
    (sentence,) = ledger_seeds.changed(other, STORED)
    assert sentence == f"seed 1, example-1-bound: {NOT_REPRODUCED}, stored is {REPRODUCED}"
    assert len(ledger_seeds.changed(STORED.drop(index=5), STORED)) == 1


@pytest.mark.slow
def test_ledger_seeds_are_what_is_measured_now():
    assert ledger_seeds.changed(ledger_seeds.measure(), STORED) == []

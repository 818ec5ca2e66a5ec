"""The ledger: complete, computed, and able to say no."""

from __future__ import annotations

import numpy as np
import pytest

from committees import claims
from committees.claims import (
    CORRECTED,
    NOT_CHECKABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    Claim,
    Lab,
    load,
    near_the_edge,
    verdict,
)
from committees.measures import MEASURES, Measured, theory
from committees.problem import Problem


def test_every_claim_has_a_measurement_and_every_measurement_a_claim():
    checkable = {claim.id for claim in load() if not claim.checkable}
    assert checkable == set(MEASURES)
    assert len(load()) >= 30


def test_verdicts_follow_from_the_numbers():
    claim = Claim("x", "here", "it is two", "2", least=1.9, most=2.1)
    assert verdict(claim, Measured(2.0)) == REPRODUCED
    assert verdict(claim, Measured(2.2)) == NOT_REPRODUCED
    assert verdict(claim, Measured(2.2, corrected=2.0)) == NOT_REPRODUCED  # no such correction
    mended = Claim("x", "", "", "", most=1, corrected={"most": 3}, correction="three")
    assert verdict(mended, Measured(2.0, corrected=2.5)) == CORRECTED
    assert verdict(mended, Measured(2.0, corrected=3.5)) == NOT_REPRODUCED
    assert verdict(mended, Measured(float("nan"), corrected=float("nan"))) == NOT_REPRODUCED
    assert verdict(Claim("x", "", "", "", checkable="no data"), None) == NOT_CHECKABLE


def test_the_edge_is_where_chance_decides():
    claim = Claim("x", "", "", "", least=1.0)
    assert near_the_edge(claim, Measured(1.05, error=0.1))
    assert not near_the_edge(claim, Measured(1.5, error=0.1))
    assert not near_the_edge(claim, Measured(1.0))  # exact
    mended = Claim("x", "", "", "", most=1, corrected={"most": 3}, correction="three")
    assert near_the_edge(mended, Measured(9.0, error=0.2, corrected=2.9))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "claim 'x': needs 'least', 'most', or why it is uncheckable"),
        ({"most": 1, "correction": "?"}, "claim 'x': 'corrected' and 'correction' go together"),
        ({"most": 1, "checkable": "no"}, "claim 'x': needs 'least', 'most', or why"),
    ],
)
def test_bad_claims_are_named(fields, message):
    with pytest.raises(ValueError, match=message):
        Claim("x", "", "", "", **fields)


def by_id(name):
    return next(claim for claim in load() if claim.id == name)


EXACT = {
    "example-1-orders": CORRECTED,
    "example-1-bound": REPRODUCED,
    "proposition-1": REPRODUCED,
    "lemma-1": REPRODUCED,
    "lemma-2-law": CORRECTED,
    "example-2-acceptance": REPRODUCED,
    "example-2-composition": REPRODUCED,
    "theorem-1-constant": CORRECTED,
    "episode-sum": CORRECTED,
    "bernstein-sum": CORRECTED,
    "azuma-absolute": CORRECTED,
    "table-2-sums": CORRECTED,
    "adult-size": REPRODUCED,
}


@pytest.mark.parametrize(("name", "expected"), EXACT.items())
def test_what_chance_does_not_decide(name, expected):
    assert verdict(by_id(name), MEASURES[name](Lab())) == expected


def test_a_wrong_result_turns_the_verdict(monkeypatch):
    """Break what is measured, and see the ledger say so."""
    lab = Lab()
    broken = Problem({"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}, [0.25] * 4)
    monkeypatch.setattr(theory, "example_2", lambda: broken)
    for name in ("example-2-acceptance", "example-2-rate", "example-2-people"):
        assert verdict(by_id(name), MEASURES[name](lab)) == NOT_REPRODUCED
    monkeypatch.setattr(theory.bounds, "greedy_loss", lambda *_: 0.0)
    assert verdict(by_id("proposition-1"), MEASURES["proposition-1"](lab)) == NOT_REPRODUCED
    monkeypatch.setattr(theory, "_single_type", lambda horizon: (9 * np.sqrt(horizon), 99.0))
    for name in ("episode-sum", "bernstein-sum"):
        assert verdict(by_id(name), MEASURES[name](lab)) == NOT_REPRODUCED


def test_the_table_is_for_readers():
    assert claims._number(48842.0, 0.0, "people") == "48,842 (people)"
    assert claims._number(0.0512, 0.0034, "") == "0.0512 ± 0.0034"
    assert claims._number(float("nan"), float("nan"), "") == "–"

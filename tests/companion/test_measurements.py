"""Every claim is measured, and a measurement turns when what it measures does."""

from __future__ import annotations

import numpy as np
import pytest

from committees import datasets
from committees import theory as bounds
from committees.problem import Problem
from companion import claims
from companion.claims import CORRECTED, NOT_REPRODUCED, REPRODUCED, load, verdict
from companion.measurements import REGISTRY, theory
from companion.runs import Runs
from worlds import nothing_matters, paper_is_right, shown

CLAIMS = {claim.id: claim for claim in load()}

EXACT = {
    "example-1-orders": CORRECTED,
    "example-1-bound": REPRODUCED,
    "example-1-unbounded": REPRODUCED,
    "proposition-1": REPRODUCED,
    "lemma-1": REPRODUCED,
    "lp-feasible": REPRODUCED,
    "lemma-2-law": CORRECTED,
    "example-2-acceptance": REPRODUCED,
    "example-2-composition": REPRODUCED,
    "theorem-1-constant": CORRECTED,
    "episode-sum": CORRECTED,
    "bernstein-sum": CORRECTED,
    "azuma-absolute": CORRECTED,
    "bernstein-radius": CORRECTED,
    "table-2-sums": CORRECTED,
    "adult-size": REPRODUCED,
}

#: Measurements on random problems and recruitments, of one seed, far from the edge.
FIRM = {
    "lemma-2-mean": REPRODUCED,
    "proposition-2": REPRODUCED,
    "lemma-3": REPRODUCED,
    "extended-lp": CORRECTED,
    "good-event": CORRECTED,
    "theorem-1-regret": REPRODUCED,
    "theorem-1-violation": REPRODUCED,
    "theorem-1-loss": REPRODUCED,
    "azuma": REPRODUCED,
    "bernstein-coverage": REPRODUCED,
    "theorem-2-regret": REPRODUCED,
    "bernstein-support": REPRODUCED,
}

FIGURES = [
    name
    for name in CLAIMS
    if name.startswith(("a1-", "a2-", "adult-", "proposition-2-rate"))
    and name not in ("adult-size", "a1-cmdp-people")
]
#: True as well where nothing matters: equalities, and inequalities that equality satisfies.
WEAK = {
    "a1-linear",
    "a1-greedy-02-loss",
    "a2-types",
    "a2-ignorance",
    "a2-better-than-bound",
    "adult-loss-known",
    "adult-loss-unknown",
    "adult-people-unknown",
    "adult-better-than-bound",
}


def found(name, runs):
    return verdict(CLAIMS[name], REGISTRY[name](runs))


@pytest.fixture(scope="module")
def ledger():
    """The whole ledger, were the paper's figures as it says."""
    with shown(paper_is_right, paper_is_right):
        return claims.ledger(Runs())


def test_registry_has_every_claim_and_nothing_else():
    assert {name for name, claim in CLAIMS.items() if not claim.not_checkable} == set(REGISTRY)
    assert len(CLAIMS) >= 30


def test_registry_describes_every_measurement():
    for name, measure in REGISTRY.items():
        assert measure.__name__ == name.replace("-", "_")
        assert measure.__doc__
    assert REGISTRY["lemma-1"].__doc__ == CLAIMS["lemma-1"].says


@pytest.mark.parametrize(("name", "expected"), [*EXACT.items(), *FIRM.items()])
def test_theory_is_as_the_book_says(ledger, name, expected):
    assert ledger["verdict"][name] == expected
    assert not ledger["near the edge"][name]


def test_theory_turns_with_a_wrong_result(monkeypatch):
    """Break what is measured, and see the verdict turn."""
    runs = Runs()
    broken = Problem({"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}, [0.25] * 4)
    monkeypatch.setattr(theory, "_example_2", lambda: broken)
    for name in ("example-2-acceptance", "example-2-rate", "example-2-people"):
        assert found(name, runs) == NOT_REPRODUCED
    monkeypatch.setattr(bounds, "greedy_loss", lambda *_: 0.0)
    assert found("proposition-1", runs) == NOT_REPRODUCED
    monkeypatch.setattr(theory, "_single_type", lambda horizon: (9 * np.sqrt(horizon), 99.0))
    for name in ("episode-sum", "bernstein-sum"):
        assert found(name, runs) == NOT_REPRODUCED
    for bound in ("regret", "violation", "rl_loss"):
        monkeypatch.setattr(bounds, bound, lambda *_: 1e-9)
    for name in ("theorem-1-violation", "theorem-2-regret", "theorem-1-loss"):
        assert found(name, runs) == NOT_REPRODUCED
    monkeypatch.setattr(theory, "_martingales", lambda runs: np.full((9, 1000), 0.5))
    assert found("azuma", runs) == NOT_REPRODUCED


def test_figures_would_be_reproduced_were_the_paper_right(ledger):
    assert list(ledger.index) == list(CLAIMS)
    assert set(ledger.loc[FIGURES, "verdict"]) == {REPRODUCED}
    assert ledger["measured"]["a1-greedy-05-people"] == pytest.approx(10)
    assert ledger["measured"]["a1-greedy-02-people"] == pytest.approx(100)
    assert ledger["measured"]["a2-known"] == pytest.approx(250)
    assert ledger["measured"]["proposition-2-rate"] == pytest.approx(-0.5)
    assert claims.table(ledger)["measured"][list(CLAIMS).index("adult-size")] == "48,842 (people)"


def test_figures_people_of_cmdp_follow_from_the_rarest_group(ledger):
    """No matter of chance: with independent features one scarce value decides."""
    problem = datasets.brexit()
    scarce = (problem.rho / problem.presence).max()
    assert ledger["measured"]["a1-cmdp-people"] == pytest.approx(200 * scarce)
    assert ledger["±"]["a1-cmdp-people"] == 0


def test_figures_would_not_be_reproduced_if_nothing_mattered():
    with shown(nothing_matters, nothing_matters):
        runs = Runs()
        verdicts = {name: found(name, runs) for name in FIGURES}
    assert {name for name in FIGURES if verdicts[name] == REPRODUCED} == WEAK
    assert {*verdicts.values()} == {REPRODUCED, NOT_REPRODUCED}


def test_figures_with_a_scaled_radius_are_corrected_not_reproduced():
    names = ["a2-three", "a2-margin", "a2-people", "adult-loss-strong"]
    with shown(nothing_matters, paper_is_right):
        runs = Runs()
        assert {found(name, runs) for name in names} == {CORRECTED}

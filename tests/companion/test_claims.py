"""The ledger: complete, computed, and able to say no."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from committees import datasets
from committees.problem import Problem
from companion import claims, experiments
from companion.claims import (
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
from companion.measurements import REGISTRY, Measurement, known, unknown
from companion.runs import over_runs


def test_every_claim_has_a_measurement_and_every_measurement_a_claim():
    checkable = {claim.id for claim in load() if not claim.checkable}
    assert checkable == set(REGISTRY)
    assert len(load()) >= 30


def test_verdicts_follow_from_the_numbers():
    claim = Claim("x", "here", "it is two", "2", least=1.9, most=2.1)
    assert verdict(claim, Measurement(2.0)) == REPRODUCED
    assert verdict(claim, Measurement(2.2)) == NOT_REPRODUCED
    assert verdict(claim, Measurement(2.2, corrected=2.0)) == NOT_REPRODUCED  # no such correction
    mended = Claim("x", "", "", "", most=1, corrected={"most": 3}, correction="three")
    assert verdict(mended, Measurement(2.0, corrected=2.5)) == CORRECTED
    assert verdict(mended, Measurement(2.0, corrected=3.5)) == NOT_REPRODUCED
    assert verdict(mended, Measurement(float("nan"), corrected=float("nan"))) == NOT_REPRODUCED
    assert verdict(Claim("x", "", "", "", checkable="no data"), None) == NOT_CHECKABLE


def test_the_edge_is_where_chance_decides():
    claim = Claim("x", "", "", "", least=1.0)
    assert near_the_edge(claim, Measurement(1.05, error=0.1))
    assert not near_the_edge(claim, Measurement(1.5, error=0.1))
    assert not near_the_edge(claim, Measurement(1.0))  # exact
    mended = Claim("x", "", "", "", most=1, corrected={"most": 3}, correction="three")
    twin = Measurement(9.0, error=0.2, corrected=2.9)
    assert not near_the_edge(mended, twin)  # the error is the other value's
    assert near_the_edge(mended, replace(twin, corrected_error=0.2))


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


#: Measurement on random problems and recruitments, of one seed, far from the edge.
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


@pytest.mark.parametrize(("name", "expected"), [*EXACT.items(), *FIRM.items()])
def test_what_the_theory_says(ledger, name, expected):
    assert ledger["verdict"][name] == expected
    assert not ledger["near the edge"][name]


def test_a_wrong_result_turns_the_verdict(monkeypatch):
    """Break what is measured, and see the ledger say so."""
    lab = Lab()
    broken = Problem({"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}, [0.25] * 4)
    monkeypatch.setattr(known, "example_2", lambda: broken)
    for name in ("example-2-acceptance", "example-2-rate", "example-2-people"):
        assert verdict(by_id(name), REGISTRY[name](lab)) == NOT_REPRODUCED
    monkeypatch.setattr(known.bounds, "greedy_loss", lambda *_: 0.0)
    assert verdict(by_id("proposition-1"), REGISTRY["proposition-1"](lab)) == NOT_REPRODUCED
    monkeypatch.setattr(unknown, "_single_type", lambda horizon: (9 * np.sqrt(horizon), 99.0))
    for name in ("episode-sum", "bernstein-sum"):
        assert verdict(by_id(name), REGISTRY[name](lab)) == NOT_REPRODUCED
    tiny = {name: lambda *_: 1e-9 for name in ("regret", "violation", "rl_loss")}
    for name, bound in tiny.items():
        monkeypatch.setattr(unknown.bounds, name, bound)
    for name in ("theorem-1-violation", "theorem-2-regret", "theorem-1-loss"):
        assert verdict(by_id(name), REGISTRY[name](lab)) == NOT_REPRODUCED
    monkeypatch.setattr(unknown, "_martingales", lambda lab: np.full((9, 1000), 0.5))
    assert verdict(by_id("azuma"), REGISTRY["azuma"](lab)) == NOT_REPRODUCED


def table_of(sizes, people, loss):
    """A table of `simulate` without chance: people per seat, and loss as a function of the size."""
    rows = [
        (strategy, size, run, people[strategy] * size, loss[strategy](size))
        for strategy in people
        for size in sizes
        for run in range(2)
    ]
    return pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])


def paper_is_right(learner):
    """What the paper's figures would show were all its statements exact, for one learner's name."""
    known = {"Greedy 0.02": 250, "Greedy 0.05": 25, "CMDP": 2.5}
    losses = {
        "Greedy 0.02": lambda size: 0.02,
        "Greedy 0.05": lambda size: 0.051,
        "CMDP": lambda size: 0.05 * (250 / size) ** 0.5,
    }
    learnt = {"Greedy 0.02": 9, "Greedy 0.05": 4.2, "CMDP": 1.4, learner: 1.4}
    three = {**losses, learner: lambda size: 0.049 * (1500 / size) ** 0.5}
    five = {**losses, learner: lambda size: 0.07}
    adult = {
        name: table_of(
            experiments.FIGURE_1_SIZES,
            {"CMDP": more, learner: more},
            {"CMDP": losses["CMDP"], learner: lambda size, loss=loss: loss},
        )
        for name, more, loss in (("weak", 1.2, 0.08), ("strong", 1.5, 0.07))
    }
    return {
        "figure_1": table_of(experiments.FIGURE_1_SIZES, known, losses),
        "figure_2": {
            name: table_of(experiments.FIGURE_2_SIZES, learnt, loss)
            for name, loss in (("three", three), ("five", five))
        },
        "figure_4": adult,
    }


def nothing_matters(learner):
    """Whoever decides, and for how many seats: two people are screened for each, and the loss is
    the same, but for CMDP's."""
    found = paper_is_right(learner)
    for frame in (found["figure_1"], *found["figure_2"].values(), *found["figure_4"].values()):
        frame["screened"] = 2 * frame["size"]
        frame["loss"] = np.where(frame["strategy"] == "CMDP", 0.3, 0.2)
    return found


@contextmanager
def shown(printed, scaled):
    """Let the figures be these, with the radius as printed and with the scaled one."""
    one, other = printed("RL-CMDP"), scaled("RL-CMDP ×0.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "figure_1", lambda runs, seed: one["figure_1"])
        for name in ("figure_2", "figure_4"):
            both = {}
            for part, frame in other[name].items():
                as_printed = one[name][part].query("strategy == 'RL-CMDP'")
                both[part] = pd.concat([frame, as_printed], ignore_index=True)
            patch.setattr(experiments, name, lambda runs, seed, scales, both=both: both)
        yield


@pytest.fixture(scope="module")
def ledger():
    """The whole ledger, were the paper's figures as it says."""
    with shown(paper_is_right, paper_is_right):
        return claims.ledger(Lab())


FIGURES = [
    claim.id
    for claim in load()
    if claim.id.startswith(("a1-", "a2-", "adult-", "proposition-2-rate"))
    and claim.id not in ("adult-size", "a1-cmdp-people")
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


def test_if_the_paper_were_right_the_ledger_would_say_so(ledger):
    assert list(ledger.index) == [claim.id for claim in load()]
    assert set(ledger.loc[FIGURES, "verdict"]) == {REPRODUCED}
    assert ledger["measured"]["a1-greedy-05-people"] == pytest.approx(10)
    assert ledger["measured"]["a1-greedy-02-people"] == pytest.approx(100)
    assert ledger["measured"]["a2-known"] == pytest.approx(250)
    assert ledger["measured"]["proposition-2-rate"] == pytest.approx(-0.5)


def test_people_that_cmdp_screens_follow_from_the_rarest_group(ledger):
    """No matter of chance: with independent features one scarce value decides."""
    problem = datasets.brexit()
    scarce = (problem.rho / problem.presence).max()
    assert ledger["measured"]["a1-cmdp-people"] == pytest.approx(200 * scarce)
    assert ledger["±"]["a1-cmdp-people"] == 0


def test_if_nothing_mattered_it_would_say_that():
    with shown(nothing_matters, nothing_matters):
        lab = Lab()
        found = {name: verdict(by_id(name), REGISTRY[name](lab)) for name in FIGURES}
    assert {name for name in FIGURES if found[name] == REPRODUCED} == WEAK
    assert {*found.values()} == {REPRODUCED, NOT_REPRODUCED}


def test_a_scaled_radius_is_a_correction_not_a_reproduction():
    names = ["a2-three", "a2-margin", "a2-people", "adult-loss-strong"]
    with shown(nothing_matters, paper_is_right):
        lab = Lab()
        assert {verdict(by_id(name), REGISTRY[name](lab)) for name in names} == {CORRECTED}


def correlated(runs, seed, shared=1.0):
    """Two strategies whose people have much, or nothing, in common in each run."""
    rng = np.random.default_rng(seed)
    common = shared * rng.normal(size=runs)
    rows = []
    for strategy, mean in (("one", 40.0), ("other", 20.0)):
        people = mean + common + rng.normal(scale=0.5, size=runs)
        rows += [(strategy, 10, run, x, x / 100) for run, x in enumerate(people)]
    return pd.DataFrame(rows, columns=["strategy", "size", "run", "screened", "loss"])


def one_of(frame, name, column="screened"):
    return tuple(over_runs(lambda mean: mean[column][name], frame).iloc[-1])


def test_the_error_of_a_mean_is_the_usual_one():
    frame = correlated(30, 1)
    value, error = one_of(frame, "one", "loss")
    own = frame.query("strategy == 'one'")["loss"]
    assert value == pytest.approx(own.mean())
    assert error == pytest.approx(1.96 * own.sem())


def test_the_error_of_a_difference_is_that_of_the_runs_differences():
    frame = correlated(30, 2)
    table = over_runs(lambda mean: mean["screened"]["one"] - mean["screened"]["other"], frame)
    one, other = (frame.query("strategy == @name")["screened"] for name in ("one", "other"))
    error = table["error"].iloc[-1]
    assert error == pytest.approx(1.96 * stats.sem(one.to_numpy() - other.to_numpy()))
    alone = [one_of(frame, name)[1] for name in ("one", "other")]
    assert error < 0.8 * np.hypot(*alone)  # what they share does not count


@pytest.mark.parametrize("shared", [0.0, 3.0])
def test_the_error_of_a_ratio_covers_the_truth(shared):
    """In 95 % of tables; of 400 that is 380, and fewer than 366 have a chance of 0.1 %."""
    covered = 0
    for seed in range(400):
        value, error = over_runs(
            lambda mean: mean["screened"]["one"] / mean["screened"]["other"],
            correlated(50, seed, shared),
        ).iloc[-1]
        covered += abs(value - 2) <= error
    assert 366 <= covered <= 394


def test_several_numbers_have_an_error_each():
    frame = correlated(30, 4)
    table = over_runs(lambda mean: mean["screened"].droplevel("size"), frame)
    for name in ("one", "other"):
        assert tuple(table.loc[name]) == pytest.approx(one_of(frame, name))


def test_tables_lose_the_same_run():
    """Of the sum of a table and its opposite nothing is left to chance."""
    frame = correlated(20, 3)
    opposite = frame.assign(screened=-frame["screened"])
    table = over_runs(lambda a, b: a["screened"]["one"] + b["screened"]["one"], frame, opposite)
    assert tuple(table.iloc[-1]) == pytest.approx((0, 0), abs=1e-12)


def test_the_ledger_as_a_reader_sees_it(ledger):
    seen = claims.table(ledger).set_index(ledger.index)
    assert seen["measured"]["adult-size"] == "48,842 (people)"
    assert seen["measured"]["solver"] == "–"
    assert seen["verdict"]["solver"] == NOT_CHECKABLE


def test_limits_in_words():
    assert claims.limits(2, 2) == "2"
    assert claims.limits(least=0.5) == "at least 0.5"
    assert claims.limits(most=0.5) == "at most 0.5"
    assert claims.limits(1, 2) == "1 to 2"


def test_a_claim_made_twice_is_named(monkeypatch, tmp_path):
    line = "- {id: x, where: here, says: it is, paper: '1', least: 1}\n"
    (tmp_path / "claims.yml").write_text(2 * line)
    monkeypatch.setattr(claims, "DATA", tmp_path)
    with pytest.raises(ValueError, match="claim 'x': is there 2 times"):
        load()


def test_the_table_is_for_readers():
    assert claims._number(48842.0, 0.0, "people") == "48,842 (people)"
    assert claims._number(3100.4, 17.0, "people") == "3,100 ± 17 (people)"
    assert claims._number(0.0512, 0.0034, "") == "0.0512 ± 0.0034"
    assert claims._number(-8.28e-05, 0.0034, "") == "-0.0001 ± 0.0034"
    assert claims._number(0.5, float("nan"), "") == "0.5"  # a single run
    assert claims._number(float("nan"), float("nan"), "") == "–"

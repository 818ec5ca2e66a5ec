"""Every claim is measured, and a measurement turns when what it measures does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from committees import RLCMDP, Problem, datasets, rl_cmdp, theory
from committees.lp import best_policy
from committees.optimism import OptimisticLP
from companion import cache, claims
from companion.claims import (
    CANNOT_FAIL,
    CORRECTED,
    FITTED,
    NOT_REPRODUCED,
    REPRODUCED,
    is_undecided,
    load,
    verdict,
)
from companion.experiments import Everybody
from companion.measurements import REGISTRY, claim, figures, learning, setting
from companion.runs import Runs
from worlds import nothing_matters, paper_is_right, paper_is_wrong, shown

CLAIMS = {claim.id: claim for claim in load()}
MEASURED = {name for name, claim in CLAIMS.items() if not claim.not_checkable}
FITTABLE = {name for name, claim in CLAIMS.items() if claim.fitted}

#: What is computed, or measured on random problems and recruitments of one seed.
FOUND = {
    "example-1-orders": CORRECTED,
    "example-1-event": CORRECTED,
    "example-1-wait": CORRECTED,
    "example-1-bound": REPRODUCED,
    "example-1-unbounded": REPRODUCED,
    "proposition-1": REPRODUCED,
    "lemma-1-rate": REPRODUCED,
    "lemma-1": REPRODUCED,
    "targets-can-be-met": REPRODUCED,
    "lp-feasible": CANNOT_FAIL,
    "lemma-2-mean": REPRODUCED,
    "lemma-2-law": CORRECTED,
    "proposition-2": REPRODUCED,
    "example-2-acceptance": REPRODUCED,
    "example-2-rate": REPRODUCED,
    "example-2-composition": REPRODUCED,
    "example-2-people": REPRODUCED,
    "lemma-3": REPRODUCED,
    "extended-lp": CORRECTED,
    "theorem-1-regret": CANNOT_FAIL,
    "theorem-1-violation": REPRODUCED,
    "theorem-1-loss": REPRODUCED,
    "theorem-1-constant": CANNOT_FAIL,
    "ignorance-factor": CORRECTED,
    "loss-and-rate": REPRODUCED,
    "episode-sum": CORRECTED,
    "azuma": REPRODUCED,
    "azuma-absolute": CORRECTED,
    "good-event": CORRECTED,
    "bernstein-sum": CORRECTED,
    "bernstein-radius": CORRECTED,
    "bernstein-coverage": REPRODUCED,
    "theorem-2-regret": CANNOT_FAIL,
    "theorem-2-violation": CORRECTED,
    "theorem-2-loss": CORRECTED,
    "bernstein-simpler": REPRODUCED,
    "bernstein-second-term": REPRODUCED,
    "a2-better-than-bound": CANNOT_FAIL,
    "table-2-sums": REPRODUCED,
    "table-2-young": REPRODUCED,
    "table-2-women": REPRODUCED,
    "adult-size": REPRODUCED,
    "a1-cmdp-people": NOT_REPRODUCED,
    "adult-better-than-bound": CANNOT_FAIL,
}
#: The same, in tests that take longer: they need more, or larger, committees.
FOUND_SLOWLY = {
    "rate-gap": REPRODUCED,
    "loss-rate": REPRODUCED,
    "types-unavoidable": NOT_REPRODUCED,
    "bernstein-support": REPRODUCED,
    "bernstein-reason": REPRODUCED,
}
#: Numbers computed from the tables of figures.
FIGURES = MEASURED - set(FOUND) - set(FOUND_SLOWLY)

#: True as well where nothing matters: equalities, and inequalities that equality satisfies.
WEAK = {
    "more-people-closer",
    "a1-linear",
    "a1-greedy-02-loss",
    "adult-loss-known",
}
#: True there as well, of whatever strategy.
EASY = {"a2-ignorance"}


def found(name, runs):
    return verdict(CLAIMS[name], REGISTRY[name](runs))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """The whole ledger, were the paper's figures as it says; in small where that takes long."""
    with shown(paper_is_right, paper_is_right), pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "CACHE", tmp_path_factory.mktemp("cache"))
        patch.setattr(learning, "LONG_RUNS", 1)  # with a million people
        patch.setattr(learning, "MANY_SEATS", 1000)
        patch.setattr(learning, "_advantage", advantage(1.0, 0.9))
        return claims.ledger(Runs())


def test_registry_has_every_claim_and_nothing_else():
    """Each has one measurement, and no measurement stands for two claims."""
    assert set(REGISTRY) == MEASURED
    assert len(set(REGISTRY.values())) == len(MEASURED) >= 70
    assert {"a1-linear", "a2-three", "adult-similar", "proposition-2-rate"} <= FIGURES


def test_registry_refuses_a_claim_twice():
    measure = REGISTRY["lemma-1"]
    with pytest.raises(ValueError, match="claim 'lemma-1': measured by lemma_1 already"):
        claim("lemma-1")(REGISTRY["lemma-3"])
    assert REGISTRY["lemma-1"] is measure


@pytest.mark.parametrize(("name", "expected"), FOUND.items())
def test_theory_is_as_the_book_says(ledger, name, expected):
    assert ledger["verdict"][name] == expected
    assert not ledger["undecided"][name]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), FOUND_SLOWLY.items())
def test_theory_is_as_the_book_says_of_many_committees(name, expected):
    runs = Runs()
    assert found(name, runs) == expected
    assert not is_undecided(CLAIMS[name], REGISTRY[name](runs))


# --- What is broken, and the verdicts that then come out


@dataclass(frozen=True)
class Bounds:
    """In the place of `LearningBounds`: a loss that falls like a power of the people seen."""

    power: float
    rate: float = 0.0  #: and this power of the best rate

    def __call__(self, problem, *_):
        return self

    def loss(self, people, rate):
        return people**self.power * rate**self.rate


def like(rate):
    """`best_policy`, with another rate."""
    return lambda problem: SimpleNamespace(rate=rate, acceptance=np.full(len(problem.p), rate))


def everybody(problem):
    """In the place of `best_policy`: nobody is rejected."""
    policy = best_policy(problem)
    return replace(policy, acceptance=policy.acceptance * 0 + 1, rate=1e-6)


def later(people, as_it_is=setting.simulate):
    """`simulate`, with so many more people screened."""

    def simulate(*arguments):
        frame = as_it_is(*arguments)
        return frame.assign(screened=frame["screened"] + people)

    return simulate


def many_and_few(times):
    """`simulate_once`: violations with 384 types are so many times those with 8."""

    def simulate_once(strategies, problem, *_):
        factor = times if len(problem.p) == 384 else 1
        return pd.DataFrame({"screened": [100.0] * 8, "loss": [factor * 0.01] * 8})

    return simulate_once


def long_runs(power, regret=1.0):
    """`long_runs`, in which regret and violation grow like this power of the people seen.

    Of the rule that accepts everybody, in proportion to them.
    """

    def runs(problem, strategy, horizon, number, seed):
        if strategy == Everybody():
            return grown(1.0, 1.0, horizon)
        return grown(power, regret, horizon)

    def grown(power, regret, horizon):
        index = pd.MultiIndex.from_product(
            [range(2), (horizon // 100, horizon // 10, horizon)], names=["run", "people"]
        )
        people = index.get_level_values("people").to_numpy().astype(float)
        columns = {"regret": regret * people**power, "violation": people**power}
        return pd.DataFrame(columns, index).assign(loss=people ** (power - 1))

    return runs


def advantage(few, independent):
    """`_advantage`, of two pairs of problems that differ by chance alone."""
    return lambda runs: np.array([[few - 0.01, independent], [few + 0.01, independent]])


BERNSTEIN = ["bernstein-support", "bernstein-reason"]
#: Bounds on the regret, below which everything is that accepts more than the best policy.
REGRETS = ["theorem-1-regret", "theorem-2-regret"]
#: Bounds above what accepting everybody loses.
LOOSE = ["a2-better-than-bound", "adult-better-than-bound"]
#: What the printed radius breaks.
MENDED = ["theorem-2-violation", "theorem-2-loss"]
THEOREMS = [
    *(f"theorem-{number}-{what}" for number in (1, 2) for what in ("regret", "violation", "loss")),
    "a2-better-than-bound",
    "adult-better-than-bound",
]
EVEN = best_policy(
    Problem({"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}, [0.25] * 4)
)
TABLE = datasets.brexit_table().set_index("value")
OLDER = TABLE.assign(share=TABLE["target"] * 1.1)
NO = NOT_REPRODUCED

#: The module, the name in it, what takes its place, and the verdicts of these claims.
TURNS = [
    (setting, "_ORDERS", set(range(6)), {"example-1-orders": REPRODUCED}),
    (setting, "_ORDERS", {(2, 0, 0)}, {"example-1-orders": NO, "example-1-event": NO}),
    (setting, "_RARE", [0.02], {"example-1-event": REPRODUCED}),  # below 0.028
    (setting, "_greedy_people", lambda rare: 5.3, {"example-1-bound": NO}),
    (setting, "_greedy_people", lambda rare: 5.3, {"example-1-unbounded": NO}),
    (theory, "greedy_loss", lambda *_: 0.0, {"proposition-1": NO}),
    (setting, "stream", lambda problem, n, _: np.zeros(n, int), {"lemma-1-rate": NO}),
    (setting, "best_policy", everybody, {"lemma-1": NO, "targets-can-be-met": NO}),
    (setting, "simulate", later(5), {"lemma-2-mean": NO}),
    (setting, "simulate", later(20), {"lemma-2-law": NO}),
    (setting, "simulate", later(-40), {"lemma-2-law": REPRODUCED}),
    (theory, "cmdp_loss", lambda *_: 0.04, {"proposition-2": NO}),
    (setting, "_BY_HAND", EVEN, {f"example-2-{it}": NO for it in ("acceptance", "rate")}),
    (setting, "_BY_HAND", EVEN, {f"example-2-{it}": NO for it in ("composition", "people")}),
    (learning, "coverage", lambda *_: (0.9, 0.01), {"lemma-3": NO, "bernstein-coverage": NO}),
    (learning, "PrintedLP", OptimisticLP, {"extended-lp": REPRODUCED}),
    (learning, "best_policy", like(1.1), {"extended-lp": NO, "good-event": NO}),
    (learning, "RLCMDP", lambda delta, scale: RLCMDP(delta=delta), {"good-event": REPRODUCED}),
    (learning, "_SIMPLE", learning._EXTENDED, {"bernstein-simpler": NO}),
    (learning, "long_runs", long_runs(0.99), dict.fromkeys(THEOREMS, NO)),
    (learning, "long_runs", long_runs(0.99), {"rate-gap": NO, "loss-rate": NO}),
    (learning, "long_runs", long_runs(0.5), {"rate-gap": REPRODUCED, "loss-rate": REPRODUCED}),
    (learning, "LearningBounds", Bounds(-0.5), {"ignorance-factor": REPRODUCED}),
    (learning, "LearningBounds", Bounds(-0.4), {"ignorance-factor": NO}),
    (learning, "LearningBounds", Bounds(0.0, -0.5), {"loss-and-rate": NO}),
    (learning, "long_runs", long_runs(0.5), dict.fromkeys(REGRETS, REPRODUCED)),
    (learning, "long_runs", long_runs(0.5), dict.fromkeys(LOOSE, REPRODUCED)),
    (learning, "PrintedRLCMDP", RLCMDP, dict.fromkeys(MENDED, REPRODUCED)),
    (learning, "simulate_once", many_and_few(4.0), {"types-unavoidable": REPRODUCED}),
    (learning, "simulate_once", many_and_few(3.0), {"types-unavoidable": NO}),
    (learning, "_ROOT_SUM", 3.0, {"episode-sum": NO}),
    (learning, "_ROOT_SUM", 1.9, {"episode-sum": REPRODUCED}),
    (learning, "_SUM", 16.1, {"bernstein-sum": NO}),
    (learning, "_SUM", 11.0, {"bernstein-sum": REPRODUCED}),
    (learning, "_martingales", lambda _: np.full((9, 1000), 0.5), {"azuma": NO}),
    (learning, "_martingales", lambda _: np.full((9, 1000), 0.5), {"azuma-absolute": NO}),
    (learning, "_martingales", lambda _: np.full((9, 1000), 0.05), {"azuma-absolute": REPRODUCED}),
    (rl_cmdp, "bernstein_radius", lambda p, *_: 0 * p + 1, {"bernstein-radius": NO}),
    (learning, "second_term", lambda people: 0.5, {"bernstein-second-term": NO}),
    (learning, "_advantage", advantage(1.0, 0.9), dict.fromkeys(BERNSTEIN, REPRODUCED)),
    (learning, "_advantage", advantage(0.05, 0.1), dict.fromkeys(BERNSTEIN, NO)),
    (figures, "_SUMS", pd.DataFrame({"target": [1.0, 0.998]}), {"table-2-sums": NO}),
    (figures, "_TABLE_2", OLDER, {"table-2-young": NO, "table-2-women": NO}),
    (datasets, "adult_people", lambda: range(32_561), {"adult-size": NO}),
    (figures, "best_policy", like(0.4), {"a1-cmdp-people": REPRODUCED}),
]


@pytest.mark.parametrize(("module", "name", "other", "verdicts"), TURNS)
def test_theory_turns_with_what_is_measured(monkeypatch, module, name, other, verdicts):
    monkeypatch.setattr(module, name, other)
    runs = Runs()
    assert {name: found(name, runs) for name in verdicts} == verdicts


@pytest.mark.parametrize(("share", "expected"), [(0.02, NO), (1 / 97, REPRODUCED)])
def test_theory_turns_with_a_wait(monkeypatch, share, expected):
    """Of Example 1: three people, and then one over the share of junior women."""
    other = setting.example_1(share)
    monkeypatch.setattr(setting, "example_1", lambda rare: other)
    assert found("example-1-wait", Runs()) == expected


@pytest.mark.parametrize("power", [0.5, 0.99])
def test_theory_bounds_of_few_people_cannot_fail(monkeypatch, power):
    """Whatever happens: after 2,000 people accepting everybody stays below them as well."""
    monkeypatch.setattr(learning, "HORIZON", 2000)
    monkeypatch.setattr(learning, "long_runs", long_runs(power))
    runs = Runs()
    assert {name: found(name, runs) for name in THEOREMS} == dict.fromkeys(THEOREMS, CANNOT_FAIL)


def test_theory_turns_in_every_claim():
    """Each has a verdict here that is not the book's; what is always so cannot turn."""
    turned = {"example-1-wait", "lp-feasible", "theorem-1-constant"}
    for *_, verdicts in TURNS:
        turned |= {name for name in verdicts if verdicts[name] != {**FOUND, **FOUND_SLOWLY}[name]}
    assert turned == {*FOUND, *FOUND_SLOWLY}


def test_theory_slopes_are_those_of_the_runs(monkeypatch):
    monkeypatch.setattr(learning, "long_runs", long_runs(0.45, regret=-3.0))
    for name in ("rate-gap", "loss-rate"):
        measured = REGISTRY[name](Runs())
        assert (measured.value, measured.error) == pytest.approx((-0.55, 0), abs=1e-9)


def test_theory_bounds_are_the_printed_ones(ledger):
    """By hand: after a million people 4 √(8 log(6·8·T(T - 1)/δ) T) + √(2 T log(18/δ))."""
    million = 10**6
    not_knowing = 4 * np.sqrt(8 * np.log(48 * million * (million - 1) / 0.05) * million)
    bound = not_knowing + np.sqrt(2 * million * np.log(18 / 0.05))
    runs, problem = Runs(), Runs().three
    found = learning.long_runs(problem, RLCMDP(delta=0.05), million, 1, runs.seed)
    largest = found["violation"].xs(million, level="people").max()
    assert ledger["measured"]["theorem-1-violation"] == pytest.approx(largest / bound)


def test_theory_advantage_is_of_the_losses(monkeypatch):
    """A hundred pairs of problems; RL-CMDP-B's loss is a half with few types, as large with all."""
    few = []

    def simulate(learners, problem, seats, runs, seed):
        few.append((problem.p > 0).sum() == 4)
        return pd.DataFrame({"loss": [0.2, 0.1 if few[-1] else 0.2]})

    monkeypatch.setattr(learning, "simulate", simulate)
    runs = Runs(seed=10**6)
    assert REGISTRY["bernstein-support"](runs).value == pytest.approx(2)
    assert REGISTRY["bernstein-reason"](runs).value == pytest.approx(2)
    assert few == 100 * [True, False]  # and once for both claims


# --- Figures


def test_figures_would_be_reproduced_were_the_paper_right(ledger):
    assert list(ledger.index) == list(CLAIMS)
    assert set(ledger.loc[list(FIGURES), "verdict"]) == {REPRODUCED}
    assert ledger["measured"]["a1-greedy-05-people"] == pytest.approx(10)
    assert ledger["measured"]["a1-greedy-02-people"] == pytest.approx(100)
    assert ledger["measured"]["a2-known"] == pytest.approx(250)
    assert ledger["measured"]["a2-margin"] == pytest.approx(0.05)
    assert ledger["measured"]["a2-people"] == pytest.approx(3500)
    assert ledger["measured"]["a2-efficiency"] == pytest.approx(3)
    assert ledger["measured"]["a2-slower"] == pytest.approx(0.8)
    assert ledger["measured"]["proposition-2-rate"] == pytest.approx(-0.5)
    assert ledger["measured"]["adult-loss-strong"] == pytest.approx(0.07)
    assert ledger["measured"]["adult-similar"] == 10
    assert ledger["measured"]["adult-similar-unknown"] == 6
    assert claims.table(ledger)["measured"]["adult-size"] == "48,842"


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
    assert {name for name in FIGURES if verdicts[name] == CANNOT_FAIL} == EASY
    assert {*verdicts.values()} == {REPRODUCED, NOT_REPRODUCED, CANNOT_FAIL}


def test_figures_would_not_be_reproduced_were_the_paper_wrong():
    with shown(paper_is_wrong, paper_is_wrong):
        runs = Runs()
        assert {name for name in FIGURES if found(name, runs) != NOT_REPRODUCED} == set()


def test_figures_with_a_scaled_radius_are_fitted_not_reproduced():
    """Those of which the paper's radius is the only thing that is wrong."""
    assert len(FITTABLE) >= 5
    with shown(paper_is_wrong, paper_is_right):
        runs = Runs()
        assert {name: found(name, runs) for name in FITTABLE} == dict.fromkeys(FITTABLE, FITTED)
        people = REGISTRY["a2-ignorance"](runs)  # true of the scaled, for which nobody asks
        assert people.other <= CLAIMS["a2-ignorance"].most < people.value
        assert found("a2-ignorance", runs) == NOT_REPRODUCED


def test_figures_people_of_cmdp_are_counted_where_the_expected_could_not_fail():
    """The expected people of CMDP are proportional to the seats whatever was simulated."""
    with shown(paper_is_right, paper_is_right):
        runs = Runs()
        runs.figure_1.loc[runs.figure_1["size"] == 1000, "screened"] *= 1.1
        assert found("a1-linear", runs) == NOT_REPRODUCED
        assert REGISTRY["a1-greedy-05-people"](runs).value == pytest.approx(10)


def test_figures_have_the_error_of_the_learner_that_is_measured():
    """Chance in the scaled learner alone is in the second interval alone."""
    with shown(paper_is_right, paper_is_right):
        runs = Runs()
        five = runs.figure_2["five"]
        own = five["strategy"] == runs.learners[1].name
        five.loc[own & (five["run"] == 0), "loss"] += 0.002
        measured = REGISTRY["a2-margin"](runs)
    assert (measured.value, measured.error) == pytest.approx((0.05, 0), abs=1e-9)
    assert (measured.control, measured.control_error) == pytest.approx((0.01, 0), abs=1e-9)
    # Two runs, 0.052 and 0.05: half of the difference is the standard error.
    assert (measured.other, measured.other_error) == pytest.approx(
        (0.051, 12.706 * 0.001), rel=1e-4
    )

"""The exact optimum of many types: against the table of few, against the equation, along paths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import optimum
from committees import CMDP, Problem, Session, Strategy, datasets
from committees.beyond import limits
from committees.beyond.bands import feature_slices, fewest_ahead, open_values
from committees.exact import expected_screened
from committees.greedy import band
from optimum import Feature, Optimum
from rivals import Tailoring

OPTIMA = pd.read_csv(optimum.OPTIMA)
REGRETS = pd.read_csv(optimum.REGRETS)

#: One feature of each kind: two values, three, eight; in several orders.
SMALL = [
    (["gender"], 15, 0.1),
    (["age"], 9, 0.0),
    (["region"], 7, 0.05),
    (["gender", "age"], 12, 0.02),
    (["age", "vote", "region"], 6, 0.02),
    (["ethnicity", "social class", "gender"], 20, 0.05),
    (["vote", "age", "gender", "ethnicity", "social class"], 6, 0.02),
]


@pytest.fixture
def solved(tmp_path):
    """A function that solves a problem in a folder of its own."""

    def solve(features, size, tolerance):
        problem = datasets.brexit(features)
        best = Optimum(problem, size, tolerance, tmp_path / "-".join(features))
        best.solve()
        return best

    return solve


@pytest.mark.parametrize(("features", "size", "tolerance"), SMALL)
def test_optimum_is_that_of_the_table_of_all_committees(solved, features, size, tolerance):
    best = solved(features, size, tolerance)
    exact = limits.fewest_screened(best.problem, size, tolerance)
    assert best.solve() == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(("features", "size", "tolerance"), SMALL)
def test_optimum_solves_its_equation_in_every_layer(solved, features, size, tolerance):
    """A second way to a layer: some committees one by one, from the types that are open."""
    best = solved(features, size, tolerance)
    low, high = band(best.problem, size, tolerance)
    rng = np.random.default_rng(1)
    for seated in range(size):
        counts = np.concatenate(
            [
                states[rng.integers(len(states))]
                for states in (
                    optimum.states_of_feature(low[values], high[values], size, seated)
                    for values in feature_slices(best.problem)
                )
            ]
        )
        ahead, by_type = best.ahead(counts)
        values = open_values(best.problem, low, high, counts, size - seated)
        is_open = best.problem.product_over_values(values.astype(float)) > 0
        assert (np.isfinite(by_type) == is_open).all()
        assert ahead == pytest.approx(float(fewest_ahead(by_type, best.problem.p)), rel=1e-6)


def test_states_are_all_counts_from_which_the_band_can_be_reached():
    low, high = np.array([1, 0, 2]), np.array([2, 3, 4])
    for seated in range(6):
        states = {tuple(s) for s in optimum.states_of_feature(low, high, 5, seated).tolist()}
        every = np.indices((3, 4, 5)).reshape(3, -1).T
        possible = {
            tuple(counts)
            for counts in every.tolist()
            if sum(counts) == seated and np.maximum(low - counts, 0).sum() <= 5 - seated
        }
        assert states == possible


def test_a_feature_goes_on_to_states_with_one_person_more():
    feature = Feature(np.array([0.3, 0.7]), np.array([1, 1]), np.array([2, 3]), 4)
    now, after = feature.states(2), feature.states(3)
    for row, steps in enumerate(feature.steps(2)):
        for value, following in enumerate(steps):
            one_more = now[row] + np.eye(2, dtype=int)[value]
            if following < 0:
                assert one_more.tolist() not in after.tolist()
            else:
                assert one_more.tolist() == after[following].tolist()


def test_optimum_goes_on_where_it_was_killed(tmp_path):
    problem = datasets.brexit(["gender", "age"])
    whole = Optimum(problem, 8, 0.02, tmp_path / "whole")
    people = whole.solve()
    for seated in range(5):
        (whole.folder / f"seated_{seated:03d}.npy").unlink()
    (whole.folder / "seated_004.part.npy").write_bytes(b"half a layer")
    assert Optimum(problem, 8, 0.02, whole.folder).solve() == people


def test_optimum_refuses_features_that_depend_on_each_other(tmp_path):
    even = {"yes": 0.5, "no": 0.5}
    problem = Problem({"one": even, "other": even}, [0.4, 0.1, 0.1, 0.4])
    with pytest.raises(ValueError, match="the features depend on each other"):
        Optimum(problem, 4, 0.0, tmp_path).solve()


class Best(Strategy):
    """The best rule itself."""

    family = "best"

    def __init__(self, best):
        self.best = best

    def start(self, problem, size):
        return BestSession(self.best)


class BestSession(Session):
    def __init__(self, best):
        self.best = best
        self.counts = np.zeros(len(best.problem.rho), dtype=int)
        self.decide()

    def decide(self):
        if self.counts[: self.best.problem.shape[0]].sum() < self.best.size:
            ahead, by_type = self.best.ahead(self.counts)
            self.acceptance = (by_type < ahead).astype(float)

    def see(self, type_ids, accepted):
        self.counts[self.best.problem.codes[type_ids[0]]] += int(accepted[0])
        self.decide()
        return 1


def test_regret_of_the_best_rule_is_none(solved):
    best = solved(["gender", "age"], 8, 0.02)
    for rng in np.random.default_rng(1).spawn(5):
        assert best.regret(Best(best), rng) == pytest.approx(0, abs=1e-4)


def test_regret_is_on_average_what_a_strategy_needs_more(solved):
    """Exactly, for two committees' worth of types; 400 runs, five standard errors."""
    best = solved(["gender", "vote"], 5, 0.1)
    rule = Tailoring(0.1)
    sums = [best.regret(rule, rng) for rng in np.random.default_rng(2).spawn(400)]
    exact = expected_screened(rule, best.problem, 5) - best.solve()
    error = np.std(sums) / 20
    assert exact > 0.05
    assert np.mean(sums) == pytest.approx(exact, abs=5 * error + 1e-4)


def test_regret_refuses_a_strategy_that_leaves_the_band(solved):
    best = solved(["gender", "vote"], 5, 0.1)
    rngs = np.random.default_rng(3).spawn(50)
    with pytest.raises(ValueError, match="CMDP: leaves the band"):
        _ = [best.regret(CMDP(), rng) for rng in rngs]


@pytest.mark.parametrize(("n_features", "size"), [(2, 20), (3, 20), (2, 50), (3, 50)])
def test_stored_optimum_is_that_of_the_tool(n_features, size, tmp_path):
    row = OPTIMA.set_index(["features", "size"]).loc[(n_features, size)]
    problem = datasets.brexit(optimum.FEATURES[n_features])
    best = Optimum(problem, size, optimum.TOLERANCE, tmp_path)
    assert best.cells == row["committees"]
    assert len(problem.p) == row["types"]
    assert best.solve() == pytest.approx(row["people"], rel=1e-6)


def test_stored_regrets_are_of_all_cases_and_strategies():
    cases = {(n, size) for size, most in optimum.MOST_FEATURES.items() for n in range(2, most + 1)}
    assert set(OPTIMA.set_index(["features", "size"]).index) == cases
    by_case = REGRETS.groupby(["features", "size"])
    assert set(by_case.groups) == cases
    for (_, size), rows in by_case:
        expected = {s.name: runs for s, runs in optimum.strategies(size).items()}
        assert dict(zip(rows["strategy"], rows["runs"], strict=True)) == expected
    assert (REGRETS["regret"] > 0).all()


def test_stored_regret_is_that_of_the_tool(tmp_path):
    """Of the rival that decides fastest, on the smallest problem."""
    row = REGRETS.set_index(["features", "size", "strategy"]).loc[(2, 20, "Tailoring 0.02")]
    best = Optimum(datasets.brexit(optimum.FEATURES[2]), 20, optimum.TOLERANCE, tmp_path)
    best.solve()
    rngs = optimum.generators(20, 2, int(row["runs"]))
    again = [best.regret(Tailoring(optimum.TOLERANCE), rng) for rng in rngs]
    assert np.mean(again) == pytest.approx(row["regret"], rel=1e-5)


def test_put_takes_the_place_of_rows_with_the_same_key(tmp_path):
    file = tmp_path / "table.csv"
    optimum.put(file, [{"size": 2, "people": 5.0}, {"size": 1, "people": 3.0}], ["size"])
    optimum.put(file, [{"size": 2, "people": 4.0}], ["size"])
    assert pd.read_csv(file).to_dict("list") == {"size": [1, 2], "people": [3.0, 4.0]}

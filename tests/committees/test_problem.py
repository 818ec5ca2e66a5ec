"""What a problem is, and every way in which it can be wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import (
    CMDP,
    RLCMDP,
    Greedy,
    Problem,
    datasets,
    recruit,
    simulate,
)
from committees.beyond import Resolving
from committees.exact import expected_screened
from samples import problems

TARGETS = {"gender": {"female": 0.5, "male": 0.5}, "age": {"young": 0.3, "old": 0.7}}
MARGINALS = {"gender": {"female": 0.4, "male": 0.6}, "age": {"young": 0.2, "old": 0.8}}


def with_share(shares: dict, feature: str, value: str, share: object) -> dict:
    return {**shares, feature: {**shares[feature], value: share}}


def test_independent_features_multiply():
    problem = Problem.from_marginals(TARGETS, MARGINALS)
    assert problem.features == {"gender": ("female", "male"), "age": ("young", "old")}
    assert problem.types.to_records(index=False).tolist() == [
        ("female", "young"),
        ("female", "old"),
        ("male", "young"),
        ("male", "old"),
    ]
    np.testing.assert_allclose(problem.p, [0.08, 0.32, 0.12, 0.48])
    assert problem.targets.loc[("age", "young")] == 0.3


def test_a_table_of_people_is_counted():
    people = pd.DataFrame(
        {
            "name": list("ABCD"),
            "age": ["young", "old", "old", "old"],
            "gender": ["male", "male", "female", "female"],
        }
    )
    problem = Problem.from_table(TARGETS, people)
    np.testing.assert_allclose(problem.p, [0, 0.5, 0.25, 0.25])
    counted = people.groupby(["age", "gender"], as_index=False).size()
    again = Problem.from_table(TARGETS, counted.rename(columns={"size": "count"}))
    assert again == problem


def test_incidence_is_sparse_and_says_who_has_what():
    problem = datasets.brexit()
    assert problem.incidence.nnz == 384 * 6
    for row, (feature, value) in enumerate(problem.targets.index):
        has = (problem.types[feature] == value).to_numpy()
        np.testing.assert_array_equal(problem.incidence[[row]].toarray()[0], has)
    np.testing.assert_array_equal(
        np.sort(problem.incidence.tocsc().indices.reshape(384, 6), axis=1), problem.codes
    )


@given(problems(), st.data())
def test_loss_is_the_largest_deviation(problem, data):
    counts = data.draw(
        st.lists(st.integers(0, 9), min_size=len(problem.p), max_size=len(problem.p)).filter(any)
    )
    worst = 0.0
    for (feature, value), target in problem.targets.items():
        members = sum(n for n, v in zip(counts, problem.types[feature], strict=True) if v == value)
        worst = max(worst, abs(members / sum(counts) - target))
    assert problem.loss(counts) == pytest.approx(worst, abs=1e-12)
    type_ids = np.repeat(np.arange(len(counts)), counts)
    assert problem.committee_loss(type_ids) == pytest.approx(worst, abs=1e-12)


def test_a_problem_is_a_value():
    problem = datasets.brexit()
    copy = pickle.loads(pickle.dumps(problem))
    assert copy == problem
    assert hash(copy) == hash(problem)
    np.testing.assert_array_equal(copy.p, problem.p)
    assert copy != datasets.brexit(features=["gender"])
    assert repr(datasets.brexit(features=["gender", "age"])) == "Problem(gender 2, age 3)"
    with pytest.raises(ValueError, match="read-only"):
        problem.p[0] = 1
    targets = problem.targets
    with pytest.raises(ValueError, match="read-only"):
        targets.iloc[0] = 1


def test_shares_that_rounding_left_at_0_999_are_rescaled():
    targets = {"age": {"young": 0.288, "middle": 0.344, "old": 0.367}}
    problem = Problem(targets, [0.2, 0.3, 0.499])
    assert problem.targets.sum() == pytest.approx(1, abs=1e-15)
    assert problem.p.sum() == pytest.approx(1, abs=1e-15)
    assert problem.targets.iloc[0] == pytest.approx(0.288 / 0.999)


def test_brexit_is_table_2():
    problem = datasets.brexit()
    assert list(problem.features) == [
        "ethnicity",
        "social class",
        "age",
        "region",
        "gender",
        "vote",
    ]
    assert problem.features["ethnicity"] == ("white", "non-white")
    assert [len(v) for v in problem.features.values()] == [2, 2, 3, 8, 2, 2]
    printed = datasets.brexit_table()
    sums = printed.groupby("feature", sort=False)[["target", "share"]].sum()
    assert ((sums - 1).abs() <= 0.0010001).all(axis=None)
    rescaled = printed[["target", "share"]] / sums.loc[printed["feature"]].to_numpy()
    np.testing.assert_allclose(problem.rho, rescaled["target"], atol=1e-12)
    np.testing.assert_allclose(problem.presence, rescaled["share"], atol=1e-12)
    small = datasets.brexit(features=["gender", "ethnicity"])
    assert list(small.features) == ["gender", "ethnicity"]
    np.testing.assert_allclose(small.p.reshape(2, 2).sum(axis=1), [0.384, 0.616])


@pytest.mark.parametrize(
    ("targets", "marginals", "message"),
    [
        (
            with_share(TARGETS, "age", "old", 0.69),
            MARGINALS,
            r"feature 'age': the targets sum to 0\.99, expected 1",
        ),
        (
            TARGETS,
            with_share(MARGINALS, "gender", "male", 0.7),
            r"feature 'gender': the shares sum to 1\.1, expected 1",
        ),
        (
            with_share(TARGETS, "age", "young", -0.3),
            MARGINALS,
            r"feature 'age', value 'young': the target is -0\.3, expected a number from 0 to 1",
        ),
        (
            TARGETS,
            with_share(MARGINALS, "age", "old", float("nan")),
            "feature 'age', value 'old': the share is missing",
        ),
        (
            TARGETS,
            with_share(MARGINALS, "age", "old", None),
            "feature 'age', value 'old': the share None is not a number",
        ),
        (
            TARGETS,
            with_share(MARGINALS, "age", "old", "most"),
            "feature 'age', value 'old': the share 'most' is not a number",
        ),
        (
            TARGETS,
            {"gender": MARGINALS["gender"]},
            "feature 'age': is missing from the volunteers' shares",
        ),
        (
            {"gender": TARGETS["gender"]},
            MARGINALS,
            "feature 'age': is missing from the targets",
        ),
        (
            TARGETS,
            {**MARGINALS, "age": {"young": 1.0}},
            "feature 'age', value 'old': is missing from the volunteers' shares",
        ),
        (
            TARGETS,
            {**MARGINALS, "age": {"young": 0.0, "old": 1.0}},
            r"feature 'age', value 'young': the target is 0\.3, but no volunteer has this value",
        ),
        ({}, MARGINALS, "targets: there are none"),
    ],
)
def test_bad_shares_are_named(targets, marginals, message):
    with pytest.raises(ValueError, match=message):
        Problem.from_marginals(targets, marginals)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="age"), r"feature 'age': .* no such column \(it has 'gender'"),
        (lambda f: f.assign(age="midle"), "feature 'age', row 10: 'midle' is none of the values"),
        (lambda f: f.assign(age=None), "feature 'age', row 10: is missing"),
        (lambda f: f.iloc[:0], "the table of people is empty"),
        (lambda f: f.assign(count=[1, -1]), "column 'count', row 11: .*-1.* is not a number of"),
        (lambda f: f.assign(count=["x", 1]), "column 'count', row 10: 'x' is not a number of"),
        (lambda f: f.assign(count=0), "column 'count': the counts sum to 0"),
        (
            lambda f: f.assign(gender="male"),
            r"feature 'gender', value 'female': the target is 0\.5, but no volunteer",
        ),
    ],
)
def test_bad_tables_are_named(change, message):
    frame = pd.DataFrame({"gender": ["female", "male"], "age": ["young", "old"]}, index=[10, 11])
    Problem.from_table(TARGETS, frame)
    with pytest.raises(ValueError, match=message):
        Problem.from_table(TARGETS, change(frame))


def test_bad_distributions_are_named():
    with pytest.raises(ValueError, match=r"p: expected one probability for each of the 4 types"):
        Problem(TARGETS, [0.5, 0.5])
    with pytest.raises(ValueError, match=r"p: the probabilities sum to 0\.9, expected 1"):
        Problem(TARGETS, [0.2, 0.3, 0.2, 0.2])
    with pytest.raises(ValueError, match=r"type \('female', 'old'\): the probability is -0\.3"):
        Problem(TARGETS, [0.8, -0.3, 0.3, 0.2])
    index = pd.MultiIndex.from_tuples([("age", "old"), ("age", "old")])
    with pytest.raises(ValueError, match="feature 'age', value 'old': has two targets"):
        Problem(pd.Series([0.5, 0.5], index), [1.0])
    with pytest.raises(ValueError, match=r"indexed by \(feature, value\)"):
        Problem(pd.Series([0.5, 0.5]), [0.5, 0.5])


def test_bad_committees_are_named():
    problem = Problem.from_marginals(TARGETS, MARGINALS)
    with pytest.raises(ValueError, match="one number for each of the 4 types"):
        problem.loss([1, 2])
    with pytest.raises(ValueError, match="at least one of them above zero"):
        problem.loss([0, 0, 0, 0])


def test_bad_choices_of_features_are_named():
    with pytest.raises(ValueError, match="feature 'shoe size': is none of the Brexit assembly's"):
        datasets.brexit(features=["gender", "shoe size"])
    with pytest.raises(ValueError, match="expected some different features"):
        datasets.brexit(features=["gender", "gender"])
    with pytest.raises(ValueError, match="features: expected a list of names, got 5"):
        datasets.brexit(5)
    with pytest.raises(ValueError, match="expected a list of names, got 'gender'"):
        datasets.brexit(features="gender")


@pytest.mark.parametrize("tolerance", [-0.01, 1.01, float("nan")])
def test_bad_tolerances_are_named(tolerance):
    with pytest.raises(ValueError, match="tolerance: expected a number from 0 to 1, got"):
        Greedy(tolerance)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": [10, 0]}, "size: expected a whole number of at least 1, got 0"),
        ({"sizes": 2.5}, r"size: expected a whole number of at least 1, got 2\.5"),
        ({"sizes": []}, "sizes: there are none"),
        ({"runs": 0}, "runs: expected a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ({"workers": 0}, "workers: expected a whole number of at least 1, got 0"),
        ({"strategies": []}, "strategies: there are none"),
        ({"strategies": [CMDP(), CMDP()]}, "strategies: 'CMDP' is there 2 times"),
        ({"strategies": CMDP}, "strategy: expected one such as CMDP"),
        ({"strategies": ["CMDP"]}, r"strategy: expected one such as CMDP\(\), got 'CMDP'"),
    ],
)
def test_bad_simulations_are_named(arguments, message):
    problem = Problem.from_marginals(TARGETS, MARGINALS)
    good = {"strategies": CMDP(), "problem": problem, "sizes": 4, "runs": 1}
    simulate(**good)
    with pytest.raises(ValueError, match=message):
        simulate(**{**good, **arguments})


def test_a_series_is_read_by_its_labels():
    """`groupby` sorts its labels; they, not their order, say which type is meant."""
    targets = {"g": {"M": 0.5, "F": 0.5}, "a": {"y": 0.3, "o": 0.7}}
    people = pd.DataFrame({"g": list("MMMFFM"), "a": list("yooyoo")})
    shares = people.groupby(["g", "a"]).size() / len(people)
    assert Problem(targets, shares) == Problem.from_table(targets, people)
    assert Problem(targets, shares.reorder_levels(["a", "g"])) == Problem(targets, shares)
    problem = Problem(targets, shares)
    counts = people.groupby(["g", "a"]).size()
    assert problem.loss(counts) == pytest.approx(problem.loss(problem.p))
    with pytest.raises(ValueError, match=r"p: \('X', 'o'\) is no type of this problem"):
        Problem(targets, shares.rename({"M": "X"}))
    one = {"g": {"M": 0.5, "F": 0.5}}
    assert Problem(one, people["g"].value_counts(normalize=True)) == Problem.from_table(one, people)


def test_nothing_handed_out_can_change_a_problem_or_a_policy():
    problem = datasets.brexit(features=["gender", "age"])
    types, targets = problem.types, problem.targets
    types["extra"] = 1
    assert list(problem.types) == ["gender", "age"]
    targets.loc[("gender", "other")] = 0.3
    assert len(problem.targets) == 5
    with pytest.raises(TypeError):
        problem.features["age"] = ()
    acceptance = CMDP().policy(problem).acceptance
    with pytest.raises(ValueError, match="read-only"):
        acceptance.iloc[:] = 0.5


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"M": 0.5, "F": 0.5}, "feature 'M': expected a target for each of its values, got 0.5"),
        ({"g": [0.5, 0.5]}, r"feature 'g': expected a target for each of its values, got \[0.5"),
        ({"g": {"M": 1.0}, "h": {}}, "feature 'h': expected a target for each of its values"),
        (
            {f"f{i}": {"a": 0.5, "b": 0.5} for i in range(70)},
            "features: expected at most 64, got 70",
        ),
        (
            {f"f{i}": {str(j): 1e-2 for j in range(100)} for i in range(64)},
            "features: 64 of them make more types than the 20,000,000",
        ),
        (None, "targets: expected {feature: {value: target}}, got None"),
        ([0.5, 0.5], r"targets: expected {feature: {value: target}}, got \[0.5"),
        ({"g": {"M": 10**400, "F": 0.5}}, "feature 'g', value 'M': the target 1000.* is not a num"),
    ],
)
def test_odd_targets_are_named(targets, message):
    with pytest.raises(ValueError, match=message):
        Problem(targets, [0.5, 0.5])


def test_odd_numbers_are_named():
    targets = {"g": {"M": 0.5, "F": 0.5}}
    with pytest.raises(ValueError, match=r"p: expected numbers: could not convert .* 'x'"):
        Problem(targets, [0.5, "x"])
    with pytest.raises(ValueError, match=r"the table of people: expected a DataFrame, got {'g'"):
        Problem.from_table(targets, {"g": ["M", "F"]})
    with pytest.raises(ValueError, match="counts: expected numbers of people"):
        Problem(targets, [0.5, 0.5]).loss([np.inf, 1])
    numbers = pd.DataFrame({"g": [1, 2, None]})  # which makes 1 and 2 floating-point numbers
    with pytest.raises(ValueError, match="feature 'g', row 2: is missing"):
        Problem.from_table({"g": {1: 0.5, 2: 0.5}}, numbers)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Greedy("x"), "tolerance: expected a number from 0 to 1, got 'x'"),
        (lambda: Resolving(None), "tolerance: expected a number from 0 to 1, got None"),
        (lambda: Resolving(0.02, margin=np.nan), "margin: expected a number of at least 0, got"),
        (lambda: RLCMDP(delta=True), "delta: expected a number between 0 and 1, got True"),
        (lambda: RLCMDP(scale="1"), "scale: expected a number of at least 0, got '1'"),
    ],
)
def test_strategies_want_numbers(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_odd_tables_are_understood_or_named():
    counted = Problem.from_table(
        {"count": {"1": 0.5, "4": 0.5}}, pd.DataFrame({"count": [1, 1, 1, 4]})
    )
    np.testing.assert_allclose(counted.p, [0.75, 0.25])  # a feature, not a weight
    numbered = Problem.from_table({0: {1: 0.5, 2: 0.5}}, pd.DataFrame({0: [1, 2, 2]}))
    np.testing.assert_allclose(numbered.p, [1 / 3, 2 / 3])
    twice = pd.DataFrame([["a", "b"]], columns=["g", "g"])
    with pytest.raises(ValueError, match="column 'g': is there twice"):
        Problem.from_table({"g": {"a": 1.0}}, twice)


@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_bad_sizes_are_named_everywhere(size):
    problem = datasets.brexit(features=["gender"])
    with pytest.raises(ValueError, match="size: expected a whole number of at least 1"):
        recruit(CMDP(), problem, size, np.random.default_rng(0))
    with pytest.raises(ValueError, match="size: expected a whole number of at least 1"):
        expected_screened(CMDP(), problem, size)

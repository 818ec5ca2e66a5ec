"""A problem: its arrays, and every way in which it can be wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import (
    CMDP,
    Problem,
    datasets,
)
from samples import problems

TARGETS = {"gender": {"female": 0.5, "male": 0.5}, "age": {"young": 0.3, "old": 0.7}}

MARGINALS = {"gender": {"female": 0.4, "male": 0.6}, "age": {"young": 0.2, "old": 0.8}}


def with_share(shares: dict, feature: str, value: str, share: object) -> dict:
    return {**shares, feature: {**shares[feature], value: share}}


def test_from_marginals_multiplies_independent_features():
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


def test_from_table_counts_people():
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


def test_incidence_says_which_type_has_which_value():
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


def test_problem_is_a_value():
    problem = datasets.brexit()
    copy = pickle.loads(pickle.dumps(problem))
    assert copy == problem
    assert hash(copy) == hash(problem)
    np.testing.assert_array_equal(copy.p, problem.p)
    assert copy != datasets.brexit(features=["gender"])
    assert repr(datasets.brexit(features=["gender", "age"])) == "Problem(gender 2, age 3)"
    with pytest.raises(ValueError, match="read-only"):
        problem.p[0] = 1
    with pytest.raises(AttributeError, match="cannot assign to field 'p'"):
        problem.p = copy.p
    targets = problem.targets
    with pytest.raises(ValueError, match="read-only"):
        targets.iloc[0] = 1


def test_align_reads_a_series_by_its_labels():
    """`groupby` sorts its labels; they, not their order, say which type is meant."""
    targets = {"g": {"M": 0.5, "F": 0.5}, "a": {"y": 0.3, "o": 0.7}}
    people = pd.DataFrame({"g": list("MMMFFM"), "a": list("yooyoo")})
    shares = people.groupby(["g", "a"]).size() / len(people)
    assert Problem(targets, shares) == Problem.from_table(targets, people)
    swapped = shares.reorder_levels(["a", "g"])  # whose names, not their order, are read
    assert Problem(targets, swapped) == Problem(targets, shares)
    yes_no = {"g": {"yes": 0.5, "no": 0.5}, "a": {"yes": 0.5, "no": 0.5}}
    names = pd.MultiIndex.from_product([["yes", "no"]] * 2, names=["a", "g"])
    np.testing.assert_allclose(
        Problem(yes_no, pd.Series([0.1, 0.2, 0.3, 0.4], names)).p, [0.1, 0.3, 0.2, 0.4]
    )
    assert Problem({1: {2: 0.5, 3: 0.5}}, pd.Series({2: 0.5, 3: 0.5})).p.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match=r"p: .* comes twice"):
        Problem(targets, pd.concat([shares, shares]))
    problem = Problem(targets, shares)
    counts = people.groupby(["g", "a"]).size()
    assert problem.loss(counts) == pytest.approx(problem.loss(problem.p))
    with pytest.raises(ValueError, match="p: has labels that are not types of this problem"):
        Problem(targets, shares.rename({"M": "X"}))
    one = {"g": {"M": 0.5, "F": 0.5}}
    assert Problem(one, people["g"].value_counts(normalize=True)) == Problem.from_table(one, people)


@pytest.mark.parametrize(("left_out", "where"), [(0, "targets"), (1, "marginals")])
def test_from_marginals_says_where_a_value_is_missing(left_out, where):
    shares = [{"vote": {"yes": 0.5, "no": 0.5, "abstain": 0}} for _ in range(2)]
    del shares[left_out]["vote"]["abstain"]
    with pytest.raises(ValueError, match=f"value 'abstain': is missing from the {where}$"):
        Problem.from_marginals(*shares)


@pytest.mark.parametrize(
    ("person", "message"),
    [
        ({"gender": "male"}, "expected a value of each of 'gender', 'age', got {'gender'"),
        ({"gender": "male", "age": "18-34", "vote": "Remain"}, "of each of 'gender', 'age', got"),
        ({"gender": "male", "age": "17"}, "has a value that is not of this problem"),
    ],
)
def test_type_of_refuses_who_is_no_type(person, message):
    problem = datasets.brexit(["gender", "age"])
    with pytest.raises(ValueError, match=f"^person: .*{message}"):
        problem.type_of(person)


def test_type_of_finds_every_type():
    problem = datasets.brexit(["gender", "age"])
    people = problem.types.to_dict("records")
    assert [problem.type_of(person) for person in people] == [*range(6)]


def test_problem_and_policy_cannot_be_changed():
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
    ("change", "message"),
    [
        (
            lambda f: f.drop(columns="age"),
            r"feature 'age': is not a column of the table \('gender'",
        ),
        (
            lambda f: f.assign(age="midle"),
            "feature 'age', row 10: unknown value 'midle', expected 'young' or 'old'",
        ),
        (lambda f: f.assign(age=None), "feature 'age', row 10: is missing"),
        (lambda f: f.iloc[:0], "the table of people: expected a DataFrame with at least one row"),
        (
            lambda f: f.assign(count=[1, -1]),
            "column 'count', row 11: expected a number of at least 0, got -1",
        ),
        (
            lambda f: f.assign(count=["x", 1]),
            "column 'count', row 10: expected a number of at least 0, got nan",
        ),
        (lambda f: f.assign(count=0), "column 'count': the counts sum to 0"),
        (
            lambda f: f.assign(gender="male"),
            r"feature 'gender', value 'female': the target is 0\.5, but no volunteer",
        ),
    ],
)
def test_from_table_refuses_bad_tables(change, message):
    frame = pd.DataFrame({"gender": ["female", "male"], "age": ["young", "old"]}, index=[10, 11])
    Problem.from_table(TARGETS, frame)
    with pytest.raises(ValueError, match=message):
        Problem.from_table(TARGETS, change(frame))


def test_loss_refuses_bad_committees():
    problem = Problem.from_marginals(TARGETS, MARGINALS)
    with pytest.raises(ValueError, match="one number for each of the 4 types"):
        problem.loss([1, 2])
    with pytest.raises(ValueError, match="at least one of them above zero"):
        problem.loss([0, 0, 0, 0])


def test_problem_refuses_odd_numbers():
    targets = {"g": {"M": 0.5, "F": 0.5}}
    with pytest.raises(ValueError, match=r"p: expected numbers: could not convert .* 'x'"):
        Problem(targets, [0.5, "x"])
    with pytest.raises(
        ValueError, match="the table of people: expected a DataFrame with at least one row"
    ):
        Problem.from_table(targets, {"g": ["M", "F"]})
    with pytest.raises(ValueError, match="counts: expected numbers of people"):
        Problem(targets, [0.5, 0.5]).loss([np.inf, 1])
    numbers = pd.DataFrame({"g": [1, 2, None]})  # which makes 1 and 2 floating-point numbers
    with pytest.raises(ValueError, match="feature 'g', row 2: is missing"):
        Problem.from_table({"g": {1: 0.5, 2: 0.5}}, numbers)


def test_from_table_understands_odd_tables():
    counted = Problem.from_table(
        {"count": {"1": 0.5, "4": 0.5}}, pd.DataFrame({"count": [1, 1, 1, 4]})
    )
    np.testing.assert_allclose(counted.p, [0.75, 0.25])  # a feature, not a weight
    numbered = Problem.from_table({0: {1: 0.5, 2: 0.5}}, pd.DataFrame({0: [1, 2, 2]}))
    np.testing.assert_allclose(numbered.p, [1 / 3, 2 / 3])
    twice = pd.DataFrame([["a", "b"]], columns=["g", "g"])
    with pytest.raises(ValueError, match="the table of people: two columns are called 'g'"):
        Problem.from_table({"g": {"a": 1.0}}, twice)

"""Refusals name the culprit and say what was expected."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from committees import (
    CMDP,
    RLCMDP,
    Greedy,
    Problem,
    datasets,
    recruit,
)
from committees.beyond import Foresight, Prices
from committees.checks import check_extra, check_number, check_size, count_people
from committees.exact import expected_screened

TARGETS = {"gender": {"female": 0.5, "male": 0.5}, "age": {"young": 0.3, "old": 0.7}}

MARGINALS = {"gender": {"female": 0.4, "male": 0.6}, "age": {"young": 0.2, "old": 0.8}}


def with_share(shares: dict, feature: str, value: str, share: object) -> dict:
    return {**shares, feature: {**shares[feature], value: share}}


def test_check_distribution_rescales_rounded_shares():
    targets = {"age": {"young": 0.288, "middle": 0.344, "old": 0.367}}
    problem = Problem(targets, [0.2, 0.3, 0.499])
    assert problem.targets.sum() == pytest.approx(1, abs=1e-15)
    assert problem.p.sum() == pytest.approx(1, abs=1e-15)
    assert problem.targets.iloc[0] == pytest.approx(0.288 / 0.999)


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
            r"feature 'gender': the marginals sum to 1\.1, expected 1",
        ),
        (
            with_share(TARGETS, "age", "young", -0.3),
            MARGINALS,
            r"feature 'age', value 'young': the target is -0\.3, expected a number from 0 to 1",
        ),
        (
            TARGETS,
            with_share(MARGINALS, "age", "old", float("nan")),
            "feature 'age', value 'old': the marginal is missing",
        ),
        (
            TARGETS,
            with_share(MARGINALS, "age", "old", None),
            "feature 'age', value 'old': the marginal None is not a number",
        ),
        (
            TARGETS,
            with_share(MARGINALS, "age", "old", "most"),
            "feature 'age', value 'old': the marginal 'most' is not a number",
        ),
        (
            TARGETS,
            {"gender": MARGINALS["gender"]},
            "feature 'age', value 'young': is missing from the marginals",
        ),
        (
            {"gender": TARGETS["gender"]},
            MARGINALS,
            "feature 'age', value 'young': is missing from the targets",
        ),
        (
            TARGETS,
            {**MARGINALS, "age": {"young": 1.0}},
            "feature 'age', value 'old': is missing from the marginals",
        ),
        (
            TARGETS,
            {**MARGINALS, "age": {"young": 0.0, "old": 1.0}},
            r"feature 'age', value 'young': the target is 0\.3, but no volunteer has this value",
        ),
        ({}, MARGINALS, "targets: there are none"),
    ],
)
def test_check_shares_names_bad_shares(targets, marginals, message):
    with pytest.raises(ValueError, match=message):
        Problem.from_marginals(targets, marginals)


def test_check_distribution_names_bad_probabilities():
    with pytest.raises(ValueError, match=r"p: expected one number for each of the 4 types"):
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


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"M": 0.5, "F": 0.5}, "feature 'M': expected a target for each of its values, got 0.5"),
        ({"g": [0.5, 0.5]}, r"feature 'g': expected a target for each of its values, got \[0.5"),
        ({"g": {"M": 1.0}, "h": {}}, "feature 'h': expected a target for each of its values"),
        (
            {f"f{i}": {str(j): 1e-2 for j in range(100)} for i in range(64)},
            "features: 64 of them make more types than the 20,000,000",
        ),
        (None, r"targets: expected {feature: {value: target}}, or a Series .*, got None"),
        ([0.5, 0.5], r"targets: expected {feature: {value: target}}, or a Series .*, got \[0.5"),
        ({"g": {"M": 10**400, "F": 0.5}}, "feature 'g', value 'M': the target 1000.* is not a num"),
    ],
)
def test_check_shares_names_odd_targets(targets, message):
    with pytest.raises(ValueError, match=message):
        Problem(targets, [0.5, 0.5])


@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_check_size_is_used_everywhere(size):
    problem = datasets.brexit(features=["gender"])
    with pytest.raises(ValueError, match="size: expected a whole number of at least 1"):
        recruit(CMDP(), problem, size, np.random.default_rng(0))
    with pytest.raises(ValueError, match="size: expected a whole number of at least 1"):
        expected_screened(CMDP(), problem, size)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Greedy("x"), "tolerance: expected a number from 0 to 1, got 'x'"),
        (lambda: Foresight(None), "tolerance: expected a number from 0 to 1, got None"),
        (lambda: Prices(np.nan), "lead: expected a number .* got nan"),
        (lambda: RLCMDP(delta=True), "delta: expected a number between 0 and 1, got True"),
        (lambda: RLCMDP(scale="1"), "scale: expected a number of at least 0, got '1'"),
    ],
)
def test_check_number_is_used_by_strategies(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_check_number_takes_its_ends_only_if_asked(end):
    check_number("share", end, 0, 1)
    with pytest.raises(ValueError, match=f"share: expected a number between 0 and 1, got {end}"):
        check_number("share", end, 0, 1, ends=False)


@pytest.mark.parametrize(("size", "word"), [(0, "least 1"), (10**6 + 1, "most 1,000,000")])
def test_check_size_has_two_ends(size, word):
    check_size(1)
    check_size(10**6)
    with pytest.raises(ValueError, match=f"^size: expected a whole number of at {word}, got"):
        check_size(size)


def test_count_people_refuses_a_table_of_nobody():
    frame = pd.DataFrame({"gender": ["female", "male"], "count": [0, 0]})
    features = {"gender": ["female", "male"]}
    with pytest.raises(ValueError, match="column 'count': the counts sum to 0, expected at least"):
        count_people(frame, features)
    assert count_people(frame.assign(count=[3, 0]), features).tolist() == [3, 0]
    assert count_people(frame.assign(count=[0.5, 0.25]), features).tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("change", "missing", "message"),
    [
        ({"gender": ["female", "other"]}, "refuse", "unknown value 'other', expected 'female' or "),
        ({"gender": ["female", None]}, "refuse", "feature 'gender', row 1: is missing"),
        ({}, "ignore", "missing: expected 'refuse' or 'drop', got 'ignore'"),
    ],
)
def test_count_people_says_what_is_wrong(change, missing, message):
    frame = pd.DataFrame({"gender": ["female", "male"]}).assign(**change)
    with pytest.raises(ValueError, match=message):
        count_people(frame, {"gender": ["female", "male"]}, missing)


def test_check_extra_names_the_extra_that_is_missing():
    check_extra("numpy", "desk")
    with pytest.raises(ImportError, match=r"nowhere is not .* pip install 'committees\[desk\]'"):
        check_extra("nowhere", "desk")

"""The paper's data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import make_adult
from committees import CMDP, datasets
from samples import needs_pgmpy

RAW = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult"

PEOPLE = datasets.adult_people()

BREXIT = datasets.brexit(datasets.ADULT_FEATURES)


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


def test_brexit_refuses_bad_features():
    with pytest.raises(
        ValueError, match="features: unknown 'shoe size', expected ethnicity, social class"
    ):
        datasets.brexit(features=["gender", "shoe size"])
    with pytest.raises(ValueError, match="expected some different features"):
        datasets.brexit(features=["gender", "gender"])
    with pytest.raises(ValueError, match="features: expected a list of names, got 5"):
        datasets.brexit(5)
    with pytest.raises(ValueError, match="expected a list of names, got 'gender'"):
        datasets.brexit(features="gender")


@pytest.mark.skipif(not RAW.exists(), reason="needs UCI's raw files beside the project")
def test_adult_table_is_made_from_the_raw_files(tmp_path):
    page = (datasets.DATA / "README.md").read_text()
    for name in make_adult.FILES:
        assert hashlib.sha256((RAW / name).read_bytes()).hexdigest() in page
    make_adult.write(make_adult.read(RAW), tmp_path / "adult.csv.gz")
    ours = (datasets.DATA / "adult.csv.gz").read_bytes()
    assert (tmp_path / "adult.csv.gz").read_bytes() == ours


def test_make_adult_names_incomplete_files(tmp_path):
    line = "39, a, 1, b, 2, c, d, e, White, Male, 0, 0, 40, f, <=50K\n"
    (tmp_path / "adult.data").write_text(line)
    with pytest.raises(ValueError, match=r"adult\.data: has 1 people, expected 32561"):
        make_adult.read(tmp_path)


def test_make_adult_reads_both_files_and_writes_the_same_bytes(tmp_path, monkeypatch):
    """adult.test begins with a remark, and its lines end with a dot."""
    line = "{}, a, 1, b, 2, c, d, e, White, Male, 0, 0, 40, f, {}\n"
    (tmp_path / "adult.data").write_text(line.format(39, "<=50K") + line.format(40, ">50K"))
    (tmp_path / "adult.test").write_text("|a remark\n" + line.format(41, ">50K."))
    monkeypatch.setattr(make_adult, "FILES", {"adult.data": 2, "adult.test": 1})
    found = make_adult.read(tmp_path)
    assert found["age"].tolist() == [39, 40, 41]
    assert found["income"].tolist() == ["<=50K", ">50K", ">50K"]
    for name, now in (("one.gz", 1e9), ("two.gz", 2e9)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        make_adult.write(found, tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "one.gz"), found)


def test_adult_people_are_all_there_and_recoded():
    assert len(PEOPLE) == 48_842
    for feature, values in BREXIT.features.items():
        assert set(PEOPLE[feature]) == set(values)
    assert (PEOPLE["age"] == "18-34").mean() == pytest.approx(0.43, abs=0.01)
    assert (PEOPLE["social class"] == "ABC1").mean() == pytest.approx(0.239, abs=0.001)
    years = pd.read_csv(datasets.DATA / "adult.csv.gz")["age"]
    by_group = years.groupby(PEOPLE["age"]).agg(["min", "max"])
    assert by_group.loc["18-34", "max"] == 34
    assert by_group.loc["35-54"].tolist() == [35, 54]
    assert by_group.loc["55+", "min"] == 55


@needs_pgmpy
def test_adult_strong_dependence_costs_people():
    assert CMDP().policy(datasets.adult("strong")).rate < CMDP().policy(datasets.adult("weak")).rate


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("medium", "network: expected 'weak' or 'strong' or a list of edges, got 'medium'"),
        (5, "network: expected 'weak' or 'strong' or a list of edges, got 5"),
        (
            [("age", "region")],
            r"network: expected pairs \(from, to\) of 'ethnicity', .* got \('age', 'region'\)",
        ),
        ([("age", "gender"), ("gender", "age")], "network: has a cycle, .* -> "),
        (
            [("age", "gender", "ethnicity")],
            r"network: expected pairs \(from, to\) of .*, got \('age', 'gender', 'ethnicity'\)",
        ),
    ],
)
def test_adult_refuses_bad_networks(network, message):
    with pytest.raises(ValueError, match=message):
        datasets.adult(network)

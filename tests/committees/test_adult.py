"""The Adult data, and the Bayesian networks fitted to them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from committees import CMDP, Problem, datasets
from committees.bayesnet import all_networks, dependence, joint, joints

RAW = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult"
PEOPLE = datasets.adult_people()
BREXIT = datasets.brexit(datasets.ADULT_FEATURES)


@pytest.mark.skipif(not RAW.exists(), reason="needs UCI's raw files beside the project")
def test_the_table_is_derived_from_the_raw_files(tmp_path):
    page = (datasets.DATA / "README.md").read_text()
    for name in datasets.ADULT_RAW:
        assert hashlib.sha256((RAW / name).read_bytes()).hexdigest() in page
    datasets.write_adult(datasets.read_raw_adult(RAW), tmp_path / "adult.csv.gz")
    ours = (datasets.DATA / "adult.csv.gz").read_bytes()
    assert (tmp_path / "adult.csv.gz").read_bytes() == ours


def test_incomplete_raw_files_are_named(tmp_path):
    line = "39, a, 1, b, 2, c, d, e, White, Male, 0, 0, 40, f, <=50K\n"
    (tmp_path / "adult.data").write_text(line)
    with pytest.raises(ValueError, match=r"adult\.data: has 1 people, expected 32561"):
        datasets.read_raw_adult(tmp_path)


def test_raw_files_are_read_alike_and_written_the_same(tmp_path, monkeypatch):
    """adult.test begins with a remark, and its lines end with a dot."""
    line = "{}, a, 1, b, 2, c, d, e, White, Male, 0, 0, 40, f, {}\n"
    (tmp_path / "adult.data").write_text(line.format(39, "<=50K") + line.format(40, ">50K"))
    (tmp_path / "adult.test").write_text("|a remark\n" + line.format(41, ">50K."))
    monkeypatch.setattr(datasets, "ADULT_RAW", {"adult.data": 2, "adult.test": 1})
    found = datasets.read_raw_adult(tmp_path)
    assert found["age"].tolist() == [39, 40, 41]
    assert found["income"].tolist() == ["<=50K", ">50K", ">50K"]
    for name, now in (("one.gz", 1e9), ("two.gz", 2e9)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        datasets.write_adult(found, tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "one.gz"), found)


def test_everybody_is_there_and_recoded():
    assert len(PEOPLE) == 48_842
    for feature, values in BREXIT.features.items():
        assert set(PEOPLE[feature]) == set(values)
    assert (PEOPLE["age"] == "18-34").mean() == pytest.approx(0.43, abs=0.01)
    assert (PEOPLE["social class"] == "ABC1").mean() == pytest.approx(0.239, abs=0.001)


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [("age", "gender")],
        [("age", "social class"), ("gender", "social class")],
        datasets.NETWORKS["strong"],
    ],
)
def test_the_fitted_joint_is_the_product_of_conditional_frequencies(edges):
    """Against pandas alone."""
    p = joint(PEOPLE, edges, BREXIT.features)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    for type_id, values in BREXIT.types.iterrows():
        expected = 1.0
        for feature in BREXIT.features:
            given = np.ones(len(PEOPLE), dtype=bool)
            for start, end in edges:
                if end == feature:
                    given &= (PEOPLE[start] == values[start]).to_numpy()
            expected *= (PEOPLE.loc[given, feature] == values[feature]).mean()
        assert p[type_id] == pytest.approx(expected, abs=1e-12)


def test_the_extremes_are_independence_and_the_table_itself():
    np.testing.assert_allclose(
        datasets.adult("strong").p, Problem.from_table(BREXIT.targets, PEOPLE).p, atol=1e-12
    )
    shares = {f: PEOPLE[f].value_counts(normalize=True) for f in BREXIT.features}
    independent = Problem.from_marginals(BREXIT.targets, shares)
    np.testing.assert_allclose(datasets.adult([]).p, independent.p, atol=1e-12)
    shape = [len(v) for v in BREXIT.features.values()]
    assert dependence(independent.p, shape) == pytest.approx(0, abs=1e-12)
    assert dependence(datasets.adult("strong").p, shape) > 0.1


def test_all_543_networks_give_185_distributions():
    networks = all_networks(list(BREXIT.features))
    assert len(networks) == len(set(networks)) == 543
    found = np.round(joints(PEOPLE, networks, BREXIT.features), 10)
    assert len(np.unique(found, axis=0)) == 185


def test_strong_dependence_costs_people():
    assert CMDP().policy(datasets.adult("strong")).rate < CMDP().policy(datasets.adult("weak")).rate


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("medium", "network: expected 'weak' or 'strong' or a list of edges, got 'medium'"),
        (5, "network: expected 'weak' or 'strong' or a list of edges, got 5"),
        ([("age", "region")], "network: 'region' is none of the features 'ethnicity'"),
        ([("age", "gender"), ("gender", "age")], "network: has a cycle, .* -> "),
        ([("age", "gender", "ethnicity")], r"network: expected pairs \(from, to\), got"),
    ],
)
def test_bad_networks_are_named(network, message):
    with pytest.raises(ValueError, match=message):
        datasets.adult(network)

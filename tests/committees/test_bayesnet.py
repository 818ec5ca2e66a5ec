"""Bayesian networks, against pandas alone."""

from __future__ import annotations

import numpy as np
import pytest

from committees import Problem, checks, datasets
from committees.bayesnet import all_networks, check_edges, joints
from samples import needs_pgmpy

PEOPLE = datasets.adult_people()

BREXIT = datasets.brexit(datasets.ADULT_FEATURES)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("age", "shoes")], r"expected pairs \(from, to\) of .*'age', .* got \('age', 'shoes'\)"),
        (["age"], "expected pairs .* got 'age'"),
        ([("age", "gender", "age")], "expected pairs"),
        ([("age", "age")], "has a cycle, age -> age$"),
        ([("age", "gender"), ("gender", "age")], "has a cycle, gender -> age -> gender$"),
    ],
)
def test_joints_refuse_what_is_no_network(edges, message):
    small = BREXIT.features
    with pytest.raises(ValueError, match=f"^network: {message}"):
        joints(PEOPLE, [edges], small)
    check_edges([("age", "gender"), ("ethnicity", "gender")], list(small))


@needs_pgmpy
@pytest.mark.parametrize(
    "edges",
    [
        [],
        [("age", "gender")],
        [("age", "social class"), ("gender", "social class")],
        datasets.NETWORKS["strong"],
    ],
)
def test_joint_is_the_product_of_conditional_frequencies(edges):
    """Against pandas alone."""
    p = joints(PEOPLE, [edges], BREXIT.features)[0]
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


@needs_pgmpy
def test_joint_of_extremes_is_independence_and_the_table_itself():
    np.testing.assert_allclose(
        datasets.adult("strong").p, Problem.from_table(BREXIT.targets, PEOPLE).p, atol=1e-12
    )
    shares = {f: PEOPLE[f].value_counts(normalize=True) for f in BREXIT.features}
    independent = Problem.from_marginals(BREXIT.targets, shares)
    np.testing.assert_allclose(datasets.adult([]).p, independent.p, atol=1e-12)


@needs_pgmpy
def test_all_networks_are_543_and_give_185_distributions():
    networks = all_networks(list(BREXIT.features))
    assert len(networks) == len(set(networks)) == 543
    found = np.round(joints(PEOPLE, networks, BREXIT.features), 10)
    assert len(np.unique(found, axis=0)) == 185


@pytest.mark.parametrize("work", [datasets.adult, lambda: all_networks(["a", "b"])])
def test_networks_say_which_extra_they_need(work, monkeypatch):
    monkeypatch.setattr(checks, "find_spec", {}.get)  # nothing is installed
    with pytest.raises(
        ImportError, match=r"needs the extra `adult`: pip install 'committees\[adult\]'"
    ):
        work()

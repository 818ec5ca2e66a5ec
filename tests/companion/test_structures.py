"""All Bayesian networks on the Adult data are there."""

from __future__ import annotations

import numpy as np
import pytest

from committees import datasets
from companion.structures import all_structures, dependence


@pytest.fixture(scope="module")
def structures():
    return all_structures()


def test_all_structures_are_there(structures):
    """There are 543 directed acyclic graphs with 4 nodes, in 185 classes of equal distributions."""
    assert structures["graphs"].sum() == 543
    assert len(structures) == 185
    assert structures["bits"].is_monotonic_increasing
    first, last = structures.iloc[0], structures.iloc[-1]
    assert first["network"] == "no edges"
    assert first["bits"] == pytest.approx(0, abs=1e-12)
    assert (last["edges"], last["gender–class"]) == (6, True)
    people = datasets.adult_people()[datasets.ADULT_FEATURES]
    shares = people.value_counts(normalize=True)
    problem = datasets.brexit(datasets.ADULT_FEATURES)
    assert last["p"] == pytest.approx(shares.reindex(problem.index, fill_value=0).to_numpy())


def test_all_structures_name_the_network_with_the_first_edges(structures):
    """Of a → b and b → a, the one that begins with the feature that comes first."""
    features = datasets.ADULT_FEATURES
    single = structures[structures["edges"] == 1]
    pairs = [f"{a} → {b}" for i, a in enumerate(features) for b in features[i + 1 :]]
    assert sorted(single["network"]) == sorted(pairs)
    assert (single["graphs"] == 2).all()


def test_dependence_is_the_mutual_information_of_two():
    assert dependence(np.array([0.5, 0.0, 0.0, 0.5]), [2, 2]) == pytest.approx(1)
    independent = np.multiply.outer([0.2, 0.8], [0.1, 0.3, 0.6]).ravel()
    assert dependence(independent, [2, 3]) == pytest.approx(0, abs=1e-12)

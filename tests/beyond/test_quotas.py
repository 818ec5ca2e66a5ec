"""What quotas cost: the exact sum against a Markov chain and recruitments; the pencil."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import Greedy, Problem, datasets, simulate
from committees.beyond.bands import feature_slices
from committees.beyond.quotas import (
    are_enough,
    expected_people,
    others_product,
    scarcities,
    times_cmdp,
    waits,
)
from committees.greedy import quotas
from companion.intervals import means
from samples import random_problem


def by_markov_chain(problem, size, tolerance):
    """Greedy's mean people by definition: the counts of the values are the state."""
    most = quotas(problem, size, tolerance)

    @cache
    def people(counts, left):
        if left == 0:
            return 0.0
        fits = [
            (p, tuple(np.add(counts, problem.incidence[:, [x]].toarray().ravel())))
            for x, p in enumerate(problem.p)
        ]
        accepted = [(p, after) for p, after in fits if (np.array(after) <= most).all()]
        rate = sum(p for p, _ in accepted)
        return (1 + sum(p * people(after, left - 1) for p, after in accepted)) / rate

    return people((0.0,) * len(most), size)


@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.sampled_from([[2], [3], [2, 2], [2, 3], [2, 2, 2], [1, 2]]),
    size=st.integers(1, 6),
    tolerance=st.sampled_from([0.0, 0.2]),
)
def test_expected_people_are_those_of_the_markov_chain(seed, sizes, size, tolerance):
    problem = random_problem(np.random.default_rng(seed), sizes, independent=True)
    exact = by_markov_chain(problem, size, tolerance)
    assert expected_people(problem, size, tolerance) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(("size", "tolerance"), [(50, 0.02), (250, 0.05)])
def test_expected_people_are_those_of_recruitments(size, tolerance, fresh_seed):
    problem = datasets.brexit(["age", "region", "gender"])
    mean = means(simulate(Greedy(tolerance), problem, size, 400, fresh_seed))
    people = mean.xs("screened", axis=1, level=1).iloc[0]
    exact = expected_people(problem, size, tolerance)
    assert abs(people["mean"] - exact) < 2.5 * people["±"]  # five standard errors


def test_dependent_features_have_other_people():
    """In Example 1 the junior woman is rarer than if features were independent."""
    problem = Problem(
        {"gender": {"w": 0.5, "m": 0.5}, "rank": {"S": 0.75, "J": 0.25}},
        [0.25, 0.01, 0.49, 0.25],
    )
    assert by_markov_chain(problem, 4, 0) > 2 * expected_people(problem, 4, 0)


def test_waits_grow_and_begin_with_one():
    problem = datasets.brexit()
    most = quotas(problem, 50, 0.02)
    for values in feature_slices(problem):
        found = waits(problem.presence[values], most[values], 50)
        assert found[0] == pytest.approx(1)
        assert (np.diff(found) >= -1e-9).all()


def test_waits_of_rare_and_of_absent_values():
    """Two women first if the man is late: the last seat waits for the one who lacks."""
    rare = 1e-4
    assert waits([1 - rare, rare], [1, 1], 2).sum() == pytest.approx(
        1 + rare / (1 - rare) + (1 - rare) / rare
    )
    assert waits([1.0, 0.0], [3, 0], 3).tolist() == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.05])
def test_what_features_cost_alone_is_at_least_multiplied(tolerance):
    problem = datasets.brexit()
    alone = [
        expected_people(datasets.brexit([feature]), 100, tolerance) / 100
        for feature in problem.features
    ]
    assert expected_people(problem, 100, tolerance) / 100 >= np.prod(alone)


def test_pencil_strikes_out_the_scarcest_feature():
    problem = datasets.brexit(["age", "gender", "vote"])
    expected = {"age": 0.288 / 0.154, "gender": 0.507 / 0.384, "vote": 0.519 / 0.434}
    found = scarcities(problem)
    assert found.to_dict() == pytest.approx(expected, rel=2e-3)  # the printed shares are rounded
    assert others_product(problem) == pytest.approx(found["gender"] * found["vote"])
    product = found["gender"] * found["vote"]
    assert times_cmdp(problem, 60) == pytest.approx(product**2 + 12 / 60)


@pytest.mark.parametrize(
    ("features", "size", "enough"),
    [
        (["ethnicity", "social class"], 40, True),
        (["ethnicity", "social class"], 39, False),  # four types
        (["social class", "gender"], 40, True),  # women are scarce
        (["gender", "vote"], 1000, False),  # women are, and those who voted to leave
    ],
)
def test_quotas_are_enough_with_one_scarce_feature_and_ten_seats_a_type(features, size, enough):
    assert are_enough(datasets.brexit(features), size) is enough


def test_groups_that_are_not_wanted_are_not_scarce():
    problem = Problem(
        {"gender": {"w": 1.0, "m": 0.0}, "age": {"y": 0.5, "o": 0.5}}, [0.5, 0.5, 0, 0]
    )
    assert scarcities(problem).to_dict() == {"gender": 1.0, "age": 1.0}

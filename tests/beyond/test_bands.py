"""What keeps a committee inside a band, and the best set of types to accept."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import Problem, datasets
from committees.beyond.bands import check_band, fewest_ahead, open_values
from committees.greedy import band
from samples import problems, random_problem

PROBLEM = datasets.brexit(["gender", "age"])


# What is open


@pytest.mark.parametrize(("sizes", "size"), [([2, 3], 5), ([2, 2, 2], 4), ([4], 6)])
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_open_values_are_those_with_some_end_inside_the_band(sizes, size, tolerance):
    """Every committee that can be reached, against every way in which it can end."""
    problem = random_problem(np.random.default_rng(size), sizes)
    low, high = band(problem, size, tolerance)
    steps = problem.incidence.T.toarray().astype(int)

    @cache
    def some_end(counts, left):
        if left == 0:
            return bool((low <= counts).all() and (counts <= high).all())
        return any(some_end(tuple(np.add(counts, step)), left - 1) for step in steps)

    known, ahead = set(), [(tuple(0 * low), size)]
    while ahead:
        counts, left = ahead.pop()
        if counts in known or left == 0:
            continue
        known.add(counts)
        values = open_values(problem, low, high, np.array(counts), left)
        is_open = problem.product_over_values(values.astype(float))
        after = [tuple(np.add(counts, step)) for step in steps]
        np.testing.assert_array_equal(is_open, [some_end(each, left - 1) for each in after])
        ahead += [(each, left - 1) for each, fits in zip(after, is_open, strict=True) if fits]
    assert len(known) > 10


@given(problems(), st.integers(1, 30), st.sampled_from([0, 0.05, 0.3]), st.integers(0, 99))
def test_open_values_are_never_none_of_a_feature(problem, size, tolerance, seed):
    """From seat to seat, whoever of the open types is seated; the end is inside the band."""
    rng = np.random.default_rng(seed)
    low, high = band(problem, size, tolerance)
    counts = 0 * low
    for left in range(size, 0, -1):
        values = open_values(problem, low, high, counts, left)
        for own in np.split(np.arange(len(low)), np.cumsum(problem.shape)[:-1]):
            counts[rng.choice(own[values[own]])] += 1
    assert ((low <= counts) & (counts <= high)).all()


@given(problems(max_features=2), st.integers(1, 9), st.integers(0, 99))
def test_open_values_take_many_committees_at_once(problem, left, seed):
    rng = np.random.default_rng(seed)
    low, high = band(problem, 9, 0.1)
    many = rng.integers(0, 4, (5, len(low)))
    alone = [open_values(problem, low, high, counts, left) for counts in many]
    np.testing.assert_array_equal(open_values(problem, low, high, many, left), alone)


# Bands that are given


def test_check_band_takes_every_band_of_a_tolerance():
    for size, tolerance in product((1, 7, 50), (0, 0.02, 0.5, 1)):
        check_band(PROBLEM, size, *band(PROBLEM, size, tolerance))


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([-1, 5, 0, 0, 0], [5, 5, 9, 9, 9], "feature 'gender', value 'female': expected 0 <= few"),
        ([3, 6, 0, 0, 0], [3, 5, 9, 9, 9], "feature 'gender', value 'male': expected 0 <= fewest"),
        ([5, 5, 0, 3, 0], [5, 5, 9, 2, 9], "feature 'age', value '35-54': expected 0 <= fewest <="),
        ([5, 5, 4, 4, 4], [5, 5, 9, 9, 9], "feature 'age': 10 seats do not fit between 12, the "),
        ([2, 2, 0, 0, 0], [4, 5, 9, 9, 9], "'gender': 10 seats do not fit between 4, the sum of "),
    ],
)
def test_check_band_names_what_is_wrong(low, high, message):
    assert PROBLEM.features["gender"] == ("female", "male")
    with pytest.raises(ValueError, match=message):
        check_band(PROBLEM, 10, np.array(low), np.array(high))


def test_check_band_says_how_many_seats_there_are_room_for():
    low, high = np.array([2, 2, 0, 0, 0]), np.array([4, 5, 9, 9, 9])
    with pytest.raises(ValueError, match="fewest, and 9, the sum of the most"):
        check_band(PROBLEM, 10, low, high)


# The best set of types


@st.composite
def futures(draw):
    """The people ahead for each type, some infinite; and how often each type comes."""
    V = draw(st.lists(st.sampled_from([0.0, 0.7, 3.0, 4.5, 900.0, np.inf]), min_size=1, max_size=6))
    p = draw(st.lists(st.sampled_from([0.1, 0.15, 0.0]), min_size=len(V), max_size=len(V)))
    return np.array(V), np.array(p)


def fewest_by_hand(V, p):
    """The best of all sets of types that can come."""
    best = np.inf
    for chosen in product([False, True], repeat=len(V)):
        mask = np.array(chosen)
        if p[mask].sum() > 0 and np.isfinite(V[mask]).all():
            best = min(best, (1 + p[mask] @ V[mask]) / p[mask].sum())
    return best


@given(futures())
def test_fewest_ahead_is_the_best_of_all_sets(future):
    V, p = future
    if p.sum() == 0:
        p = p + 0.1
    assert fewest_ahead(V, p) == pytest.approx(fewest_by_hand(V, p))


@given(futures(), st.integers(0, 99))
def test_fewest_ahead_takes_many_rows_some_of_them_stuck(future, seed):
    V, p = future
    p = p + 0.05
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(V) for _ in range(4)] + [np.full_like(V, np.inf)])
    rng.shuffle(rows)
    found = fewest_ahead(rows, p)
    assert found.shape == (5,)
    assert found == pytest.approx([fewest_by_hand(row, p) for row in rows])
    assert np.isinf(found).any()
    stack = np.stack([rows, rows[::-1]])
    np.testing.assert_array_equal(fewest_ahead(stack, p), [found, found[::-1]])


def fewest_by_newton(V, p):
    """The root of sum of p(x) (v - V(x))^+ = 1, from the right; steps below 1e-12 are rounding."""
    V, p = V[np.isfinite(V)], p[np.isfinite(V)]
    v, step = (1 + p @ V) / p.sum(), np.inf
    while step > 1e-12 * v:
        gain = np.maximum(v - V, 0)
        step = (p @ gain - 1) / p[gain > 0].sum()
        v -= step
    return v


@given(st.integers(1, 400), st.sampled_from([0.1, 1.0, 4.0]), st.integers(0, 999))
def test_fewest_ahead_of_one_and_of_many_is_the_root(types, spread, seed):
    """The fast way for one committee, the one for many, and Newton's method: the same choice."""
    rng = np.random.default_rng(seed)
    V = np.exp(rng.normal(3, spread, (3, types)))
    V[:, 1:][rng.random((3, types - 1)) < 0.2] = np.inf
    p = rng.dirichlet(np.ones(types))
    many = fewest_ahead(V, p)
    for row, v in zip(V, many, strict=True):
        one = fewest_ahead(row, p)
        assert one.shape == ()
        assert [one, v] == pytest.approx([fewest_by_newton(row, p)] * 2, rel=1e-9)
        np.testing.assert_array_equal(row < one, row < v)


def test_fewest_ahead_where_nobody_can_be_accepted_is_infinite():
    nobody = np.full((2, 3), np.inf)
    assert np.isinf(fewest_ahead(nobody, np.full(3, 1 / 3))).all()
    assert np.isinf(fewest_ahead(nobody[0], np.full(3, 1 / 3)))
    assert np.isinf(fewest_ahead(np.array([0.0, np.inf]), np.array([0.0, 1.0])))


@given(futures())
def test_fewest_ahead_is_worth_one_more_person(future):
    """At the root, what one person saves on average is that one person."""
    V, p = future
    p = p + 0.05
    v = fewest_ahead(V, p)
    if np.isfinite(v):
        assert p @ np.maximum(v - V, 0) == pytest.approx(1)


def test_fewest_ahead_ends_where_futures_are_beyond_rounding():
    """One person more makes no difference to 1e17 people: still an answer, and no other row's."""
    V = np.array([[1e17, np.inf, np.inf], [0.0, 3.0, 5.0]])
    found = fewest_ahead(V, np.array([0.3, 0.3, 0.4]))
    assert found[0] >= 1e17
    assert fewest_ahead(V[0], np.array([0.3, 0.3, 0.4])) == found[0]
    assert found[1] == pytest.approx(fewest_by_hand(V[1], np.array([0.3, 0.3, 0.4])))


@pytest.mark.parametrize("far", [1e14, 1e30, 1e200])
def test_fewest_ahead_is_not_lost_beside_a_future_beyond_rounding(far):
    """Next to 1e30 people two are nothing, and still the answer; also if that type hardly comes."""
    for p in (np.array([0.5, 0.5]), np.array([0.5, 1e-17])):
        one, many = np.array([0.0, far]), np.array([[0.0, far], [1.0, np.inf]])
        assert fewest_ahead(one, p) == pytest.approx(2)
        assert fewest_ahead(many, p) == pytest.approx([2, 3])


def test_problem_is_not_looked_at_beyond_its_targets():
    """What is open does not depend on who comes."""
    other = Problem(PROBLEM.targets, PROBLEM.p[::-1])
    low, high = band(PROBLEM, 20, 0.05)
    for one, two in zip(
        *(open_values(x, low, high, low, 3) for x in (PROBLEM, other)), strict=True
    ):
        assert one == two

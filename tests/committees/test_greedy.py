"""Greedy, its quotas and the bands, against exact arithmetic and the pseudocode."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import (
    CMDP,
    Greedy,
    Problem,
    datasets,
    simulate,
    theory,
)
from committees.greedy import band, band_loss, quotas
from samples import problems

PROBLEM = datasets.brexit(["gender", "age", "vote"])


@pytest.mark.parametrize("tolerance", [-0.01, 1.01, float("nan")])
def test_greedy_refuses_bad_tolerances(tolerance):
    with pytest.raises(ValueError, match="tolerance: expected a number from 0 to 1, got"):
        Greedy(tolerance)


def test_quotas_forgive_arithmetic_noise():
    """0.3 * 10 and 0.1 * 30 are a hair above 3; so is 0.05 * 60."""
    problem = Problem({"a": {"x": 0.3, "y": 0.7}}, [0.5, 0.5])
    assert quotas(problem, 10, 0.0).tolist() == [3, 7]
    assert quotas(problem, 10, 0.1).tolist() == [4, 8]
    thirds = Problem({"a": {"x": 0.1, "y": 0.4, "z": 0.5}}, [0.3, 0.3, 0.4])
    assert quotas(thirds, 30, 0.0).tolist() == [3, 12, 15]
    assert quotas(thirds, 60, 0.05).tolist() == [7, 25, 31]


@pytest.mark.parametrize("size", [50, 53, 100, 1000])
@pytest.mark.parametrize("tolerance", ["0", "0.02", "0.05"])
def test_quotas_are_the_papers(size, tolerance):
    """ceil(rho K) + tolerance K / (D - 1), in exact arithmetic from the printed decimals."""
    limits = iter(quotas(datasets.brexit(), size, float(tolerance)))
    table = datasets.brexit_table().astype({"target": str})
    for _, rows in table.groupby("feature", sort=False):
        printed = [Fraction(target) for target in rows["target"]]
        slack = Fraction(tolerance) * size / (len(printed) - 1)
        for target in printed:
            assert next(limits) == floor(ceil(target / sum(printed) * size) + slack)


@given(problems(max_features=3), st.integers(1, 8), st.sampled_from([0, 0.3]), st.data())
def test_greedy_notes_people_up_to_the_one_who_fills_a_quota(problem, size, tolerance, data):
    """Shown many people at once, against the same one by one; not all of them accepted."""
    seed = data.draw(st.integers(0, 999))
    rng = np.random.default_rng(seed)
    at_once = Greedy(tolerance).start(problem, size)
    one_by_one = Greedy(tolerance).start(problem, size)
    for _ in range(3):
        type_ids = rng.integers(0, len(problem.p), 6)
        accepted = (at_once.acceptance[type_ids] > 0) & (rng.random(6) < 0.8)
        noted = at_once.see(type_ids, accepted)
        before = one_by_one.acceptance
        people = 0
        while people < 6 and np.array_equal(one_by_one.acceptance, before):
            one_by_one.see_one(int(type_ids[people]), bool(accepted[people]))
            people += 1
        assert noted == people
        np.testing.assert_array_equal(at_once.acceptance, one_by_one.acceptance)


def test_greedy_with_a_single_value_is_not_constrained():
    problem = Problem({"planet": {"Earth": 1.0}, "a": {"x": 0.5, "y": 0.5}}, [0.9, 0.1])
    frame = simulate([Greedy(0.0), CMDP()], problem, 10, runs=5)
    assert (frame.loc[frame["strategy"] == "Greedy 0", "loss"] == 0).all()
    alone = Problem({"planet": {"Earth": 1.0}}, [1.0])
    assert theory.cmdp_loss(alone, 10, 0.05) == 0
    assert (simulate([Greedy(0.0), CMDP()], alone, 7, runs=2)["screened"] == 7).all()


# The band


def one_feature(*targets):
    return Problem.from_marginals(
        {"f": dict(zip("abcdefgh", targets, strict=False))},
        {"f": {name: 1 / len(targets) for name in "abcdefgh"[: len(targets)]}},
    )


@pytest.mark.parametrize(
    ("targets", "size", "tolerance", "low", "high"),
    [
        ((0.3, 0.7), 10, 0, (3, 7), (3, 7)),
        ((0.3, 0.7), 10, 0.1, (2, 6), (4, 8)),
        ((0.29, 0.71), 100, 0, (29, 71), (29, 71)),  # 0.29 * 100 is a bit less than 29
        ((0.14, 0.86), 50, 0, (7, 43), (7, 43)),  # 0.14 * 50 is a bit more than 7
        ((0.55, 0.45), 100, 0.01, (54, 44), (56, 46)),  # 0.55 * 100 - 0.01 * 100: more than 54
        ((0.01, 0.99), 20, 0.09, (0, 18), (2, 20)),  # 0.01 * 20 + 0.09 * 20: less than 2
        ((0.25, 0.75), 10, 0, (2, 7), (3, 8)),  # rounding is always allowed
        ((0.25, 0.75), 10, 0.02, (2, 7), (3, 8)),
        ((0.25, 0.75), 10, 0.06, (2, 7), (3, 8)),
        ((0.25, 0.75), 10, 0.2, (1, 6), (4, 9)),
        ((0.05, 0.95), 10, 0.1, (0, 9), (1, 10)),  # never below nobody or above everybody
        ((0.0, 1.0), 10, 0, (0, 10), (0, 10)),
        ((0.1, 0.2, 0.7), 30, 0.1, (0, 3, 18), (6, 9, 24)),
        ((0.5, 0.5), 1, 0, (0, 0), (1, 1)),
    ],
)
def test_band_by_hand(targets, size, tolerance, low, high):
    found = band(one_feature(*targets), size, tolerance)
    assert tuple(found[0]) == low
    assert tuple(found[1]) == high


@pytest.mark.parametrize("tolerance", [-0.01, 1.01, float("nan"), "0.1"])
@pytest.mark.parametrize("bounds", [band, band_loss])
def test_band_refuses_bad_tolerances(bounds, tolerance):
    with pytest.raises(ValueError, match="tolerance: expected a number from 0 to 1, got"):
        bounds(PROBLEM, 10, tolerance)


@given(st.integers(0, 100), st.integers(1, 300), st.integers(0, 100))
def test_band_is_that_of_exact_arithmetic(percent, size, hundredths):
    share, tolerance = Fraction(percent, 100), Fraction(hundredths, 100)
    low, high = band(one_feature(float(share), 1 - float(share)), size, float(tolerance))
    exact, slack = share * size, tolerance * size
    assert low[0] == max(0, min(ceil(exact - slack), floor(exact)))
    assert high[0] == min(size, max(floor(exact + slack), ceil(exact)))


@given(problems(max_features=2, max_values=4), st.integers(1, 9), st.sampled_from([0, 0.05, 0.2]))
def test_band_loss_is_the_largest_inside_the_band(problem, size, tolerance):
    low, high = band(problem, size, tolerance)
    worst = 0.0
    for first in problem.codes[0]:
        own = slice(first, first + problem.n_values[first])
        ranges = [range(a, b + 1) for a, b in zip(low[own], high[own], strict=True)]
        for counts in product(*ranges):
            if sum(counts) == size:
                worst = max(worst, np.abs(np.array(counts) / size - problem.rho[own]).max())
    assert band_loss(problem, size, tolerance) == pytest.approx(worst, abs=1e-12)

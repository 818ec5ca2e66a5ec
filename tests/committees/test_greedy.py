"""Greedy, its quotas and the bands, against exact arithmetic and the pseudocode."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

import literal
from committees import (
    CMDP,
    Greedy,
    Problem,
    datasets,
    recruit,
    simulate,
    theory,
)
from committees.greedy import quotas
from samples import same_people

PROBLEM = datasets.brexit(["gender", "age", "vote"])


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("size", [10, 37, 100])
def test_greedy_is_algorithm_2(size, tolerance):
    rng = np.random.default_rng(size)
    ours = recruit(Greedy(tolerance), PROBLEM, size, rng, step_by_step=True)
    committee, seen = literal.greedy(PROBLEM, size, tolerance, same_people(PROBLEM, size))
    assert committee == list(ours.type_ids)
    assert seen == ours.screened[-1]


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


def test_greedy_with_a_single_value_is_not_constrained():
    problem = Problem({"planet": {"Earth": 1.0}, "a": {"x": 0.5, "y": 0.5}}, [0.9, 0.1])
    frame = simulate([Greedy(0.0), CMDP()], problem, 10, runs=5)
    assert (frame.loc[frame["strategy"] == "Greedy 0", "loss"] == 0).all()
    alone = Problem({"planet": {"Earth": 1.0}}, [1.0])
    assert theory.cmdp_loss(alone, 10, 0.05) == 0
    assert (simulate([Greedy(0.0), CMDP()], alone, 7, runs=2)["screened"] == 7).all()

"""Exact expectations, against Example 1, Lemma 2 and both simulators."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import (
    CMDP,
    RLCMDP,
    Greedy,
    PlugIn,
    Problem,
    datasets,
    simulate,
)
from committees.beyond import Foresight
from committees.exact import expected_screened
from samples import problems


def example_1(rare: float) -> Problem:
    """Table 1 of the paper; the targets of Example 1."""
    targets = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 3 / 4, "J": 1 / 4}}
    return Problem(targets, [1 / 2 - rare, 1 / 4, 1 / 4, rare])


@given(st.floats(0.001, 1 / 6))
def test_expected_screened_of_example_1_exceeds_the_bound(rare):
    """Exact expectation above the paper's lower bound, printed or corrected."""
    exact = expected_screened(Greedy(0), example_1(rare), 4)
    assert exact >= 1 / (6 * rare)
    assert exact >= 1 / (12 * rare)


def test_example_1_has_three_orders():
    """{FS, MS, MS} come in 3 orders, not 3!: the paper's P(A) is twice the true one."""
    rare = 0.1
    p = dict(zip(["MS", "MJ", "FS", "FJ"], example_1(rare).p, strict=True))
    orders = [o for o in product(p, repeat=3) if sorted(o) == ["FS", "MS", "MS"]]
    assert len(orders) == 3
    exact = sum(np.prod([p[x] for x in order]) for order in orders)
    assert exact == pytest.approx(3 * (1 / 4) * (1 / 2 - rare) ** 2)


@pytest.mark.parametrize("rare", [1 / 6, 0.05, 0.01])
def test_expected_screened_agrees_with_both_simulators(rare):
    """Both simulators within 4 standard errors: sound code fails once in 15,000 seeds."""
    problem = example_1(rare)
    exact = expected_screened(Greedy(0), problem, 4)
    for step_by_step, runs in ((False, 5_000), (True, 500)):
        frame = simulate(Greedy(0), problem, 4, runs=runs, seed=5, step_by_step=step_by_step)
        error = frame["screened"].std() / np.sqrt(runs)
        assert abs(frame["screened"].mean() - exact) < 4 * error


@given(problems(max_features=2, max_values=3), st.integers(1, 4))
def test_expected_screened_of_cmdp_is_lemma_2(problem, size):
    """For CMDP the chain must give K / g."""
    expected = size / CMDP().policy(problem).rate
    assert expected_screened(CMDP(), problem, size) == pytest.approx(expected)


@pytest.mark.parametrize("strategy", [PlugIn(), RLCMDP(), Foresight(0.1, learn=True)])
def test_expected_screened_refuses_learners(strategy):
    with pytest.raises(ValueError, match="learns from people it turns away"):
        expected_screened(strategy, datasets.brexit(["gender"]), 3)


@pytest.mark.parametrize("size", [0, 201, 2.0])
def test_expected_screened_refuses_sizes_that_it_cannot_follow(size):
    with pytest.raises(ValueError, match=r"^size: expected a whole number of at "):
        expected_screened(Greedy(0), datasets.brexit(["gender"]), size)


def test_expected_screened_is_infinite_at_dead_ends():
    halves = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
    assert expected_screened(Greedy(0), Problem(halves, [0.3, 0.4, 0.0, 0.3]), 4) == np.inf

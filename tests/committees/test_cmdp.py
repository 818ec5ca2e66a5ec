"""CMDP, against Example 2 and the pseudocode."""

from __future__ import annotations

import numpy as np
import pytest

from committees import CMDP, Problem, datasets


def test_cmdp_on_example_2():
    """The paper's Example 2: all but senior men are accepted, and of those every other one."""
    halves = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 1 / 2, "J": 1 / 2}}
    policy = CMDP().policy(Problem(halves, [1 / 3, 1 / 4, 1 / 4, 1 / 6]))
    expected = {("M", "S"): 1 / 2, ("M", "J"): 1, ("F", "S"): 1, ("F", "J"): 1}
    assert policy.acceptance.to_dict() == pytest.approx(expected, abs=1e-12)
    assert policy.rate == pytest.approx(5 / 6, abs=1e-12)
    shares = {("M", "J"): 0.3, ("F", "S"): 0.3, ("F", "J"): 0.2, ("M", "S"): 0.2}
    assert policy.composition.to_dict() == pytest.approx(shares, abs=1e-12)
    assert 1 / policy.rate == pytest.approx(6 / 5, abs=1e-12)


def test_cmdp_accepts_by_its_policy_whoever_is_seated():
    problem = datasets.brexit(["gender", "age"])
    acceptance = CMDP().policy(problem).acceptance.to_numpy()
    session = CMDP().start(problem, 3)
    assert session.see(np.array([0, 1, 0]), np.array([True, False, True])) == 3
    session.leave(0)
    np.testing.assert_array_equal(session.acceptance, acceptance)

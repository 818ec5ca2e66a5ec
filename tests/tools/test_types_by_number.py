"""The stored violations are those of the tool, on problems that are what it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import types_by_number

STORED = pd.read_csv(types_by_number.FILE)


def test_stored_violations_are_those_of_the_tool():
    again = types_by_number.measure(features=(3, 5), problems=2)
    stored = STORED[STORED["types"].isin([8, 32]) & (STORED["problem"] < 2)]
    stored = stored.reset_index(drop=True)
    pd.testing.assert_frame_equal(again, stored, rtol=1e-4)


def test_stored_problems_are_as_many_of_each_kind():
    per_kind = STORED.groupby("types").size()
    assert per_kind.index.tolist() == [2**n for n in types_by_number.FEATURES]
    assert set(per_kind) == {types_by_number.PROBLEMS}


def test_random_problems_have_features_that_depend_on_each_other():
    problem = types_by_number.random_problem(3, np.random.default_rng(1))
    assert problem.p.sum() == pytest.approx(1)
    independent = problem.product_over_values(problem.presence)
    assert np.abs(problem.p - independent).sum() > 0.1
    assert (problem.rho >= 0.3 - 1e-12).all()
    assert (problem.rho <= 0.7 + 1e-12).all()

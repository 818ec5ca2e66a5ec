"""A persistent model solves what it is given, again and again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from committees import highs


def test_model_minimises_and_run_starts_from_the_last_basis():
    """Minimise -x - 2y subject to x = y, from 0 to 1; then with y at most a half."""
    model = highs.model(sparse.csc_array([[1.0, -1.0]]), cost=np.array([-1.0, -2.0]))
    np.testing.assert_allclose(highs.run(model), [1, 1])
    model.changeColBounds(1, 0.0, 0.5)
    np.testing.assert_allclose(highs.run(model), [0.5, 0.5])
    assert model.getInfo().simplex_iteration_count <= 1


def test_run_says_when_there_is_no_solution():
    model = highs.model(sparse.csc_array([[1.0, 1.0]]), cost=np.ones(2))
    model.changeRowBounds(0, 3.0, 3.0)
    with pytest.raises(RuntimeError, match=r"HiGHS stopped with the status .*kInfeasible"):
        highs.run(model)

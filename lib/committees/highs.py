"""One persistent HiGHS model, for loops that solve thousands of similar linear programs.

A warm start may return another optimum than a cold one, so a model belongs to one run: its
results depend on the solves before them.
"""

from __future__ import annotations

import highspy
import numpy as np
from scipy import sparse

from committees.checks import FloatArray

#: The simplex method gives vertices, exact up to rounding; its tolerances are set to the smallest.
OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def model(matrix: sparse.csc_array, cost: FloatArray) -> highspy.Highs:
    """Minimise cost @ x, shape (n,), subject to matrix @ x = 0 and 0 <= x <= 1; prints nothing."""
    lp = highspy.HighsLp()
    lp.num_row_ = matrix.shape[0]
    lp.num_col_ = matrix.shape[1]
    lp.col_cost_ = cost
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.ones(lp.num_col_)
    lp.row_lower_ = np.zeros(lp.num_row_)
    lp.row_upper_ = np.zeros(lp.num_row_)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr
    lp.a_matrix_.index_ = matrix.indices
    lp.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    for name, value in OPTIONS.items():
        solver.setOptionValue(name, value)
    solver.passModel(lp)
    return solver


def run(model: highspy.Highs) -> FloatArray:
    """Solve from the last basis, and return the values of the columns, shape (n,)."""
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS stopped with the status {model.getModelStatus()}")
    return np.array(model.getSolution().col_value)

"""The paper in one file: its rules decide as the library's do, on the same people."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paper
from committees import CMDP, RLCMDP, Greedy, datasets, recruit, simulate
from samples import one_file, problems, same_people

PROBLEM = datasets.brexit(["gender", "age", "vote"])
FILE = Path(paper.__file__)


def test_table_is_that_of_the_data():
    """Table 2 stands in the file and in data/brexit.csv."""
    rows = [
        (feature, value, *shares)
        for feature, values in paper.BREXIT.items()
        for value, shares in values.items()
    ]
    table = pd.DataFrame(rows, columns=["feature", "value", "target", "share"])
    pd.testing.assert_frame_equal(table, datasets.brexit_table())


def test_problem_is_the_librarys():
    ours = datasets.brexit()
    theirs = paper.make_problem(paper.BREXIT)
    np.testing.assert_allclose(theirs.rho, ours.rho, atol=1e-15)
    np.testing.assert_allclose(theirs.p, ours.p, atol=1e-15)
    np.testing.assert_array_equal(theirs.types, ours.codes)


@given(problems(), st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
def test_loss_is_the_librarys(problem, numbers):
    committee = np.array(numbers) % len(problem.p)
    assert paper.loss(one_file(problem), committee) == pytest.approx(
        problem.committee_loss(committee)
    )


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("size", [10, 37, 100])
def test_greedy_decides_as_the_librarys(size, tolerance):
    ours = recruit(Greedy(tolerance), PROBLEM, size, rng=size, step_by_step=True)
    rule = paper.Greedy(one_file(PROBLEM), size, tolerance)
    committee, seen = paper.recruit(rule, size, same_people(PROBLEM, size))
    assert committee == list(ours.type_ids)
    assert seen == ours.screened[-1]


def test_cmdp_decides_as_the_librarys():
    policy = CMDP().policy(PROBLEM)
    assert PROBLEM.p @ paper.best_policy(one_file(PROBLEM)) == pytest.approx(policy.rate, abs=1e-8)
    ours = recruit(CMDP(), PROBLEM, 100, rng=5, step_by_step=True)
    rule = paper.CMDP(policy.acceptance.to_numpy())  # of several best ones, the same
    committee, seen = paper.recruit(rule, 100, same_people(PROBLEM, 5))
    assert committee == list(ours.type_ids)
    assert seen == ours.screened[-1]


def test_rl_cmdp_has_the_librarys_episodes():
    """Episodes depend on who comes, not on who is accepted, and so do the programs' values."""
    ours = recruit(RLCMDP(scale=0.1), PROBLEM, 200, rng=6)
    rule = paper.RLCMDP(one_file(PROBLEM), scale=0.1)
    committee, seen = paper.recruit(rule, 200, same_people(PROBLEM, 6))
    assert len(committee) == 200
    both = min(seen, int(ours.screened[-1]))
    known = [(e.start, e.rate) for e in ours.session.episodes if e.start <= both]
    theirs = [episode for episode in rule.episodes if episode[0] <= both]
    assert len(known) > 20
    assert [start for start, _ in known] == [start for start, _ in theirs]
    np.testing.assert_allclose([v for _, v in known], [v for _, v in theirs], atol=1e-7)


def test_figure_1_is_the_librarys_but_for_chance(fresh_seed):
    """Six means, each within five standard errors: a false alarm in fewer than 10⁻⁵ of runs."""
    results = paper.figure_1([50], runs=40)
    rules = [Greedy(0.02), Greedy(0.05), CMDP()]
    frame = simulate(rules, datasets.brexit(), 50, runs=200, seed=fresh_seed)
    for name, rows in frame.groupby("strategy")[["screened", "loss"]]:
        error = rows.std().to_numpy() * np.sqrt(1 / 40 + 1 / 200)
        assert (np.abs(results[name][0] - rows.mean().to_numpy()) < 5 * error).all()


def test_file_imports_numpy_and_cvxpy_alone():
    """And matplotlib where it draws."""
    tree = ast.parse(FILE.read_text("utf-8"))
    drawing = next(node for node in tree.body if getattr(node, "name", "") == "draw")
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in drawing.body
        for name in [getattr(node, "module", None) or node.names[0].name]
    }
    assert imported - set(sys.stdlib_module_names) == {"numpy", "cvxpy"}


@pytest.mark.slow
def test_file_is_a_program(tmp_path):
    """It prints a line for each strategy and size of Figure 1, and one for RL-CMDP, and draws."""
    command = [sys.executable, "-W", "error", str(FILE)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 3 * 6 + 1
    assert (tmp_path / "figure_1.png").stat().st_size > 10_000

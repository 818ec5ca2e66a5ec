"""The chapters beyond the paper as instruments, on small committees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import papermill
import pytest

from committees import CMDP, datasets
from instruments import CHAPTERS, names, nonsense, whole

RESOLVING = "beyond/resolving"
LIMITS = "beyond/limits"
FAIRNESS = "beyond/fairness"
YOURS = "beyond/your_assembly"
DESK = "beyond/desk"
ONE = "beyond/one_recruitment"
SWEEPS = "beyond/sweeps"

EXAMPLES = datasets.DATA / "examples"
FILES = {name: str(EXAMPLES / f"brexit_{name}.csv") for name in ("targets", "volunteers")}
FEW = {"runs": 2, "workers": 1}

GOOD = [
    (RESOLVING, {**FEW, "sizes": [1], "tolerances": [0], "variant_runs": 2}),
    (RESOLVING, {**FEW, "sizes": [20, 8, 20], "tolerances": [0.3, 0.1], "variant_runs": 2}),
    (RESOLVING, {**FEW, "sizes": [12], "tolerances": [1, 0.05, 0.2], "variant_runs": 3}),
    (LIMITS, {**FEW, "size": 5, "tolerances": [0.1]}),
    (LIMITS, {**FEW, "size": 12, "features": ["gender"], "tolerances": [0.2, 0]}),
    (LIMITS, {**FEW, "size": 6, "features": ["vote", "age"], "tolerances": [0.3, 0.1, 1]}),
    (FAIRNESS, {**FEW, "features": ["gender"], "size": 4, "streams": 1}),
    (FAIRNESS, {**FEW, "features": ["age", "vote"], "size": 10, "streams": 2, "tolerance": 0}),
    (FAIRNESS, {**FEW, "features": ["region"], "size": 9, "streams": 1, "tolerance": 0.2}),
    (YOURS, {**FEW, "size": 62, "tolerance": 0.2}),
    (YOURS, {**FEW, **FILES, "size": 1}),
    (YOURS, {**FEW, **FILES, "size": 25, "tolerance": 0.1}),
    (DESK, {"size": 1, "tolerance": 0}),
    (DESK, {"size": 7, "tolerance": 1}),
    (DESK, {"size": 40, "tolerance": 0.1, "seed": 3}),
    (ONE, {**FEW, "strategy": "CMDP", "size": 1}),
    (ONE, {**FEW, "strategy": "Resolving", "size": 20, "tolerance": 0}),
    (ONE, {**FEW, "strategy": "RL-CMDP", "features": ["age"], "scale": 0, "delta": 0.5}),
    (SWEEPS, {**FEW, "seed": 0, "workers": 2}),
    (SWEEPS, {**FEW, "runs": 3}),
    (SWEEPS, {**FEW, "seed": 5, "workers": None}),
]

BAD = [
    (RESOLVING, {"tolerances": [2]}, "tolerances: expected a number from 0 to 1, got 2"),
    (LIMITS, {"size": 0}, "size: expected a whole number of at least 1, got 0"),
    (FAIRNESS, {"streams": -1}, "streams: expected a whole number of at least 1, got -1"),
    (YOURS, {"targets": "nowhere.csv"}, "targets: there is no file 'nowhere.csv'"),
    (YOURS, {"targets": FILES["targets"]}, "targets, volunteers: give both files, or none"),
    (DESK, {"seed": 0.5}, "seed: expected a whole number of at least 0, got 0.5"),
    (ONE, {"strategy": "Lazy"}, "strategy: 'Lazy' is none of 'Greedy', 'CMDP', 'RL-CMDP'"),
    (SWEEPS, {"runs": 1}, "runs: expected a whole number of at least 2, got 1"),
]


@pytest.mark.parametrize("chapter", dict.fromkeys(chapter for chapter, _ in GOOD))
def test_every_parameter_says_what_it_is(chapter):
    found = papermill.inspect_notebook(CHAPTERS / f"{chapter}.ipynb")
    assert {"seed", "table"} <= set(found)
    for parameter in found.values():
        assert parameter["help"], parameter["name"]
        assert parameter["inferred_type_name"] in ("list", "int", "float", "str")


@pytest.mark.parametrize(("chapter", "parameters"), GOOD, ids=names(GOOD))
def test_a_chapter_is_whole_for_whatever_makes_sense(chapter, parameters, tmp_path):
    whole(chapter, parameters, tmp_path, gaps=chapter == SWEEPS)  # two sweeps, other parameters


@pytest.mark.parametrize(("chapter", "parameters", "sentence"), BAD, ids=names(BAD))
def test_nonsense_ends_in_one_sentence_in_the_first_cell(chapter, parameters, sentence, tmp_path):
    nonsense(chapter, parameters, f"BadParameter: {sentence}", tmp_path)


def test_the_table_for_the_door_can_be_had_whole(tmp_path):
    door = tmp_path / "door.csv"
    whole(YOURS, {**FEW, **FILES, "size": 3, "door": str(door)}, tmp_path)
    sheet, problem = pd.read_csv(door), datasets.brexit()
    assert len(sheet) == len(problem.p)
    assert list(sheet)[:-2] == list(problem.features)
    fair = CMDP(fair=True).policy(problem)
    np.testing.assert_allclose(sheet["chance"], fair.acceptance, atol=1e-6)


def test_an_organisers_mistake_is_told_in_the_first_cell(tmp_path):
    """What is wrong with a file is said as it stands, without a traceback."""
    bad = tmp_path / "bad.csv"
    bad.write_text("feature,value,target\ngender,female,0.5\ngender,male,0.6\n")
    files = {**FILES, "targets": str(bad)}
    nonsense(YOURS, files, "bad.csv: gender: the shares add up to 1.1, expected 1", tmp_path)

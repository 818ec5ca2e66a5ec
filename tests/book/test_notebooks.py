"""The chapters as instruments, run by papermill.

Whatever makes sense gives a complete chapter; what makes none gives one sentence, in the first cell
after the parameters. `make test` runs each chapter once, with the most awkward set of parameters,
and one chapter with a nonsensical one; `make check` runs all of them.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import papermill
import pytest

from committees import datasets
from committees.beyond import FairCMDP
from stored import glued

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"

FORMAL = "03_formal_setting"
KNOWN = "04_known_distribution"
UNKNOWN = "05_unknown_distribution"
PAPER = "06_experiments"
BERNSTEIN = "appendix/c_bernstein"
ADULT = "appendix/d_adult"
PRICES = "beyond/prices"
FORESIGHT = "beyond/foresight"
LIMITS = "beyond/limits"
FAIRNESS = "beyond/fairness"
YOURS = "beyond/your_assembly"
DESK = "beyond/desk"
EXPERIMENT = "beyond/your_experiment"
ONE = "beyond/one_recruitment"
SWEEPS = "beyond/sweeps"

#: The chapters that mirror the paper's: their results are of strategies and sizes.
OF_THE_PAPER = (FORMAL, KNOWN, UNKNOWN, PAPER, BERNSTEIN, ADULT)

EXAMPLES = datasets.DATA / "examples"
FILES = {name: str(EXAMPLES / f"brexit_{name}.csv") for name in ("targets", "volunteers")}
MILLBROOK = {name: str(EXAMPLES / f"millbrook_{name}.csv") for name in ("targets", "volunteers")}
FEW = {"runs": 2, "workers": 1}

#: One of a kind, the smallest there is, unsorted and repeated, many, nothing: what a chapter must
#: not take for granted. Of each chapter the first set is tried by `make test`; not of the one on
#: sweeps, which runs many notebooks itself, and there is run as it stands by nbval.
GOOD = [
    (FORMAL, {"features": ["gender"], "size": 1, "sizes": [3], "tolerances": [0]}),
    (FORMAL, {"features": ["region", "vote"], "size": 2, "sizes": [40, 10, 40], "seed": 0}),
    (
        FORMAL,
        {
            "features": ["age"],
            "size": 15,
            "sizes": [1, 9],
            "tolerances": [k / 10 for k in range(9)],
        },
    ),
    (KNOWN, {"features": ["gender"], "sizes": [1], "tolerances": [0], "delta": 0.9}),
    (KNOWN, {"features": ["region", "vote"], "sizes": [40, 10, 40], "tolerances": [1, 0.1, 1]}),
    (KNOWN, {"sizes": [20, 5], "delta": 0.001, "seed": 2**32 - 1}),
    (
        UNKNOWN,
        {"features": ["gender"], "more_features": ["gender"], "sizes": [1], "scales": [0]},
    ),
    (
        UNKNOWN,
        {
            "features": ["region", "vote"],
            "sizes": [20, 7, 20],
            "scales": [2, 0, 1, 2],
            "delta": 0.3,
        },
    ),
    (
        UNKNOWN,
        {"features": list(datasets.brexit().features), "more_features": ["age"], "sizes": [10]},
    ),
    (
        PAPER,
        {
            "features": ["gender"],
            "few_features": ["age"],
            "more_features": ["vote"],
            "sizes_1": [1],
            "sizes_2": [1],
            "tolerances": [0],
            "scale": 0,
        },
    ),
    (PAPER, {"sizes_1": [300, 120], "sizes_2": [20, 40, 20], "tolerances": [0.2, 0.1, 0.3]}),
    (PAPER, {"features": ["region"], "sizes_1": [9, 20], "sizes_2": [30], "scale": 1}),
    (BERNSTEIN, {"n_features": 1, "support": 2, "problems": 1, "sizes": [1], "delta": 0.5}),
    (BERNSTEIN, {"n_features": 3, "support": 8, "problems": 2, "sizes": [40, 10, 40]}),
    (BERNSTEIN, {"n_features": 9, "support": 3, "problems": 1, "sizes": [30], "delta": 1e-6}),
    (ADULT, {"network_1": [], "network_2": [], "sizes": [1], "scale": 0}),
    (
        ADULT,
        {"network_1": [["gender", "social class"]], "network_2": [["age", "gender"]], "sizes": [9]},
    ),
    (ADULT, {"network_2": [["gender", "social class"]], "sizes": [20, 10, 20], "scale": 1}),
    (PRICES, {"sizes": [1], "leads": [0.5]}),
    (PRICES, {"sizes": [20, 8, 20], "leads": [8, 1, 8]}),
    (PRICES, {"sizes": [300, 12], "leads": [4, 1e6, 2.5], "seed": 0}),
    (FORESIGHT, {"sizes": [1], "tolerances": [0]}),
    (FORESIGHT, {"sizes": [20, 8, 20], "tolerances": [0.3, 0.1]}),
    (FORESIGHT, {"sizes": [12], "tolerances": [1, 0.05, 0.2]}),
    (LIMITS, {"size": 12, "features": ["gender"], "tolerances": [0.2, 0]}),
    (LIMITS, {"size": 5, "tolerances": [0.1]}),
    (LIMITS, {"size": 6, "features": ["vote", "age"], "tolerances": [0.3, 0.1, 1]}),
    (FAIRNESS, {"features": ["gender"], "size": 4, "streams": 1}),
    (FAIRNESS, {"features": ["age", "vote"], "size": 10, "streams": 2, "tolerance": 0}),
    (FAIRNESS, {"features": ["region"], "size": 9, "streams": 1, "tolerance": 0.2}),
    (YOURS, {**FILES, "size": 1}),
    (YOURS, {"size": 62}),
    (YOURS, {**FILES, "size": 25, "tolerance": 0.1}),
    (DESK, {"size": 1, "tolerance": 0}),
    (DESK, {"size": 7, "tolerance": 1}),
    (DESK, {"size": 40, "tolerance": 0.1, "seed": 3}),
    (
        EXPERIMENT,
        {
            **MILLBROOK,
            "features": ["gender", "age"],
            "strategies": ["committees.beyond:Prices", {"RL-CMDP": {"scale": 0}}],
            "sizes": [20, 1, 20],
        },
    ),
    (EXPERIMENT, {**FILES, "strategies": ["CMDP"], "sizes": [5]}),
    (EXPERIMENT, {"features": ["vote"], "strategies": [{"Greedy": {"tolerance": 1}}]}),
    (ONE, {"strategy": "rl-cmdp", "features": ["age"], "options": {"scale": 0, "delta": 0.5}}),
    (ONE, {**MILLBROOK, "features": ["age"], "size": 20, "belief": {"65+": 2}}),
    (ONE, {"strategy": "CMDP", "size": 1, "belief": {"18-34": 0.5, "leave": 3}}),
    (ONE, {"strategy": "Foresight", "size": 20, "options": {"tolerance": 0}}),
    (ONE, {"strategy": "committees.beyond:Prices", "features": ["region", "vote"], "size": 30}),
    (SWEEPS, {"runs": 3}),
    (SWEEPS, {"seed": 0, "workers": 2}),
    (SWEEPS, {"seed": 5, "workers": None}),
]

#: A sentence to expect for each of these; the first is tried by `make test`.
BAD = [
    (FORMAL, {"features": ["sex"]}, "features: unknown 'sex', expected ethnicity"),
    (KNOWN, {"delta": 1}, "delta: expected a number between 0 and 1, got 1"),
    (UNKNOWN, {"scales": []}, "scales: expected a list of at least 1, got []"),
    (PAPER, {"sizes_2": [50, 0]}, "sizes_2: expected a whole number of at least 1, got 0"),
    (
        BERNSTEIN,
        {"n_features": 3, "support": 9},
        "support: expected at most 8, the number of types",
    ),
    (
        ADULT,
        {"network_2": [["age", "gender"], ["gender", "age"]]},
        "network_2: has a cycle, gender -> age -> gender",
    ),
    (PRICES, {"leads": [4, -1]}, "leads: expected a number"),
    (FORESIGHT, {"tolerances": [2]}, "tolerances: expected a number from 0 to 1, got 2"),
    (LIMITS, {"size": 0}, "size: expected a whole number of at least 1, got 0"),
    (FAIRNESS, {"streams": -1}, "streams: expected a whole number of at least 1, got -1"),
    (YOURS, {"targets": "nowhere.csv"}, "targets: there is no file 'nowhere.csv'"),
    (YOURS, {"targets": FILES["targets"]}, "targets, volunteers: give both files, or none"),
    (DESK, {"seed": 0.5}, "seed: expected a whole number of at least 0, got 0.5"),
    (EXPERIMENT, {"strategies": ["Lazy"]}, "strategies: there is no 'Lazy'; expected greedy"),
    (EXPERIMENT, {**MILLBROOK, "features": ["shoes"]}, "features: unknown 'shoes', expected age"),
    (ONE, {**MILLBROOK, "belief": {"18-34": 2}}, "belief: expected '16-29' or '30-44'"),
    (ONE, {"strategy": "Lazy"}, "strategy: there is no 'Lazy'; expected greedy, cmdp"),
    (ONE, {"strategy": "nowhere:Lazy"}, "strategy: cannot import 'nowhere': No module named"),
    (ONE, {"options": {"lead": 2}}, "options: Foresight has no 'lead', it has tolerance"),
    (ONE, {"belief": {"young": 2}}, "belief: expected 'white' or 'non-white'"),
    (SWEEPS, {"runs": 1}, "runs: expected a whole number of at least 2, got 1"),
]

#: The columns of a chapter's results that are measured; the others say of what.
MEASURED = {"screened", "screened ±", "loss", "loss ±"}


def cases(sets, quick):
    """Named after the chapter and numbered; `slow` unless `quick` says otherwise."""
    seen: dict[str, int] = {}
    for chapter, *rest in sets:
        seen[chapter] = seen.get(chapter, 0) + 1
        marks = [] if quick(chapter, seen[chapter]) else [pytest.mark.slow]
        yield pytest.param(chapter, *rest, id=f"{chapter}-{seen[chapter]}", marks=marks)


def run(chapter, parameters, folder):
    source = CHAPTERS / f"{chapter}.ipynb"
    known = papermill.inspect_notebook(source)
    assert set(parameters) <= set(known)
    short = {name: value for name, value in FEW.items() if name in known}
    if "structure_runs" in known:
        short["structure_runs"] = 1
    if "learning_runs" in known:
        short["learning_runs"] = 2
    target = folder / "out.ipynb"
    papermill.execute_notebook(
        source, target, {**short, **parameters}, cwd=source.parent, progress_bar=False
    )
    return nbformat.read(target, as_version=4)


def results(chapter, parameters, tmp_path):
    """The results of a chapter that ran to its end, warned of nothing and says no nonsense."""
    table = tmp_path / "table.csv"
    notebook = run(chapter, {**parameters, "table": str(table)}, tmp_path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output["text"] for output in outputs if output.get("name") == "stderr"]
    said = [output.get("data", {}).get("text/markdown", "") for output in outputs]
    assert not [words for words in said if re.search(r"\bnan\b|\binf\b", words)]
    values = glued(notebook)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for name, form in re.findall(r"\{glue:text\}`(\w+)(?::([^`]*))?`", text):
        assert not re.search(r"\bnan\b|\binf\b", values[name]), name
        if form:
            shown = format(float(values[name]), form).replace(",", "").rstrip("%")
            assert math.isfinite(float(shown)), name
    frame = pd.read_csv(table)
    assert len(frame)
    return frame


def refuses(chapter, parameters, sentence, tmp_path):
    """The chapter stops in the first cell after the parameters, with this sentence and no more."""
    table = tmp_path / "table.csv"
    table.write_text("of an earlier run")
    with pytest.raises(papermill.PapermillExecutionError) as caught:
        run(chapter, {"table": str(table), **parameters}, tmp_path)
    cells = nbformat.read(CHAPTERS / f"{chapter}.ipynb", as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    first = 1 + next(k for k, c in enumerate(code) if "parameters" in c.metadata.get("tags", []))
    assert caught.value.source == code[first].source
    assert sentence in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert "lib/" not in str(caught.value)
    assert table.read_text() == "of an earlier run"


@pytest.mark.parametrize("chapter", dict.fromkeys(chapter for chapter, _ in GOOD))
def test_chapter_describes_its_parameters(chapter):
    found = papermill.inspect_notebook(CHAPTERS / f"{chapter}.ipynb")
    expected = {"seed", "table"} | (set(FEW) if chapter in OF_THE_PAPER else set())
    assert expected <= set(found)
    for parameter in found.values():
        assert parameter["help"], parameter["name"]
        assert parameter["inferred_type_name"] in ("list", "dict", "int", "float", "str")


def test_chapter_that_writes_results_is_tried():
    """None is forgotten here."""
    instruments = {
        str(path.relative_to(CHAPTERS).with_suffix(""))
        for path in CHAPTERS.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts and "table" in papermill.inspect_notebook(path)
    }
    assert {chapter for chapter, _ in GOOD} == instruments
    assert {chapter for chapter, *_ in BAD} == instruments


@pytest.mark.parametrize(
    ("chapter", "parameters"),
    list(cases(GOOD, quick=lambda chapter, number: number == 1 and chapter != SWEEPS)),
)
def test_chapter_is_complete(chapter, parameters, tmp_path):
    frame = results(chapter, parameters, tmp_path)
    if chapter == SWEEPS:  # two sweeps with different parameters: some columns belong to one only
        return
    assert not frame.isna().any(axis=None)
    if chapter in OF_THE_PAPER:
        assert {"strategy", "size"} | MEASURED <= set(frame.columns)
        assert (frame["screened"] >= frame["size"]).all()
        assert frame["loss"].between(0, 1).all()
        assert not frame.duplicated(list(set(frame.columns) - MEASURED)).any()
        sizes = [parameters[name] for name in parameters if name.startswith("sizes")]
        assert set(frame["size"]) == {size for some in sizes for size in some}


@pytest.mark.parametrize(
    ("chapter", "parameters", "sentence"),
    list(cases(BAD, quick=lambda chapter, _: chapter == FORMAL)),
)
def test_chapter_refuses_nonsense_in_one_sentence(chapter, parameters, sentence, tmp_path):
    refuses(chapter, parameters, f"BadParameter: {sentence}", tmp_path)


@pytest.mark.slow
def test_your_assembly_writes_the_whole_table_for_the_door(tmp_path):
    door = tmp_path / "door.csv"
    results(YOURS, {**FILES, "size": 3, "door": str(door)}, tmp_path)
    sheet, problem = pd.read_csv(door), datasets.brexit()
    assert len(sheet) == len(problem.p)
    assert list(sheet)[:-2] == list(problem.features)
    fair = FairCMDP().policy(problem)
    np.testing.assert_allclose(sheet["chance"], fair.acceptance, atol=1e-6)


@pytest.mark.slow
def test_your_assembly_says_what_is_wrong_with_a_file(tmp_path):
    """As the reader of files says it, without a traceback."""
    bad = tmp_path / "bad.csv"
    bad.write_text("feature,value,target\ngender,female,0.5\ngender,male,0.6\n")
    files = {**FILES, "targets": str(bad)}
    refuses(YOURS, files, "bad.csv: gender: the shares add up to 1.1, expected 1", tmp_path)

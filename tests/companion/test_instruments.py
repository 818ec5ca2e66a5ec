"""The experiment chapters as instruments: whatever makes sense gives a whole chapter.

And what makes none gives one sentence, in the first cell after the parameters.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import papermill
import pytest

from committees import CMDP, Greedy, datasets, simulate
from companion import experiments
from companion.parameters import BadParameter, check
from companion.text import since, some, until
from instruments import CHAPTERS, names, nonsense, whole

FORMAL = "03_formal_setting"
KNOWN = "04_known_distribution"
UNKNOWN = "05_unknown_distribution"
PAPER = "06_experiments"
BERNSTEIN = "appendix/c_bernstein"
ADULT = "appendix/d_adult"

#: One of a kind, the smallest there is, unsorted and repeated, many, nothing: what a chapter must
#: not take for granted.
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
]

#: The columns of a chapter's table that hold its results; the others say of what.
MEASURED = {"people", "people ±", "loss", "loss ±"}

#: A sentence to expect for each of these.
BAD = [
    (FORMAL, {"features": ["sex"]}, "features: 'sex' is none of 'ethnicity'"),
    (KNOWN, {"delta": 1}, "delta: expected a number between"),
    (UNKNOWN, {"scales": []}, "scales: expected a list of at least 1, got []"),
    (PAPER, {"sizes_2": [50, 0]}, "sizes_2: expected a whole number of at least 1, got 0"),
    (BERNSTEIN, {"n_features": 3, "support": 9}, "support: expected at most 8"),
    (
        ADULT,
        {"network_2": [["age", "gender"], ["gender", "age"]]},
        "network_2: has a cycle, age -> gender -> ...",
    ),
]


def small(chapter):
    """What makes any chapter short."""
    short = {"runs": 2, "workers": 1}
    return {**short, "structure_runs": 1} if chapter == ADULT else short


@pytest.mark.parametrize("chapter", dict.fromkeys(chapter for chapter, _ in GOOD))
def test_every_parameter_says_what_it_is(chapter):
    found = papermill.inspect_notebook(CHAPTERS / f"{chapter}.ipynb")
    assert {"runs", "seed", "workers", "table"} <= set(found)
    for parameter in found.values():
        assert parameter["help"], parameter["name"]
        assert parameter["inferred_type_name"] in ("list", "int", "float", "str")


@pytest.mark.parametrize(("chapter", "parameters"), GOOD, ids=names(GOOD))
def test_a_chapter_is_whole_for_whatever_makes_sense(chapter, parameters, tmp_path):
    frame = whole(chapter, {**small(chapter), **parameters}, tmp_path)
    assert {"strategy", "size"} | MEASURED <= set(frame.columns)
    assert (frame["people"] >= frame["size"]).all()
    assert frame["loss"].between(0, 1).all()
    assert not frame.duplicated(list(set(frame.columns) - MEASURED)).any()
    wanted = {size for name in parameters if name.startswith("sizes") for size in parameters[name]}
    assert set(frame["size"]) == wanted


@pytest.mark.parametrize(("chapter", "parameters", "sentence"), BAD, ids=names(BAD))
def test_nonsense_ends_in_one_sentence_in_the_first_cell(chapter, parameters, sentence, tmp_path):
    nonsense(chapter, parameters, f"BadParameter: {sentence}", tmp_path)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"features": "gender"}, "features: expected a list"),
        ({"features": []}, "features: expected a list of at least 1"),
        ({"features": ["age", "age"]}, "the same feature twice"),
        ({"few_features": ["Age"]}, "few_features: 'Age' is none of"),
        ({"size": True}, "size: expected a whole number of at least 1, got True"),
        ({"size": 2.0}, "size: expected a whole number of at least 1, got 2.0"),
        ({"sizes": [10**7]}, "sizes: expected a whole number of at most 1,000,000"),
        ({"sizes": 50}, "sizes: expected a list of at least 1, got 50"),
        ({"tolerances": [0.02, 1.1]}, "tolerances: expected a number from 0 to 1, got 1.1"),
        ({"tolerances": ["0.02"]}, "tolerances: expected a number from 0 to 1, got '0.02'"),
        ({"tolerance": float("nan")}, "tolerance: expected a number from 0 to 1, got nan"),
        ({"scale": -0.1}, "scale: expected a number from 0 to 100, got -0.1"),
        ({"delta": 0}, "delta: expected a number between 1e-09 and 1, got 0"),
        ({"runs": 1}, "runs: expected a whole number of at least 2, got 1"),
        ({"structure_runs": 0}, "structure_runs: expected a whole number of at least 1"),
        ({"seed": 2**32}, "seed: expected a whole number of at most 4,294,967,295"),
        ({"workers": 0}, "workers: expected a whole number of at least 1, got 0"),
        ({"table": ""}, "table: expected the name of a CSV file"),
        ({"table": "nowhere/table.csv"}, "table: the folder of 'nowhere/table.csv' does not"),
        ({"table": "."}, "table: expected the name of a CSV file, '.' is a folder"),
        ({"n_features": 13}, "n_features: expected a whole number of at most 12, got 13"),
        ({"support": 1}, "support: expected a whole number of at least 2, got 1"),
        ({"n_features": 1, "support": 3}, "n_features = 1, got 3"),
        ({"network_1": "weak"}, "network_1: expected a list"),
        ({"network_1": [["age"]]}, "network_1: expected a list of at least 2, got ['age']"),
        ({"network_1": [["age", "vote"]]}, "network_1: 'vote' is none of"),
        ({"network_1": [["age", "gender", "age"]]}, "network_1: expected pairs (from, to)"),
        ({"network_1": [["age", "gender"]] * 2}, "network_1: .* has the same edge twice"),
        ({"network_2": [["age", "age"]]}, "network_2: has a cycle"),
        ({"targets": "nowhere.csv"}, "targets: there is no file 'nowhere.csv' in "),
        ({"targets": None, "volunteers": __file__}, "targets, volunteers: give both files, or"),
    ],
)
def test_check_refuses(parameters, sentence):
    pattern = sentence if ".*" in sentence else re.escape(sentence)
    with pytest.raises(BadParameter, match=pattern) as caught:
        check(**parameters)
    (line,) = caught.value._render_traceback_()
    assert line == f"BadParameter: {caught.value}"
    assert "\n" not in line


def test_check_lets_the_smallest_and_largest_pass(tmp_path):
    check(features=None, size=1, sizes=[1, 10**6], tolerance=0, tolerances=[0, 1], scale=0)
    check(scales=[100], delta=0.999, runs=2, seed=0, workers=None, table=None)
    check(seed=2**32 - 1, workers=1, table=str(tmp_path / "new.csv"), structure_runs=1)
    check(n_features=2, support=4, problems=1, network_1=[], network_2=[["age", "gender"]])
    check(support=10**6)  # only together with n_features is this too many


def test_what_is_said_is_a_plain_number(monkeypatch):
    """The text formats Python's numbers, not numpy's."""
    said = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: said.update({name: value}))
    glue_numbers(share=np.float64(0.25), seats=np.int64(3), word="few")
    assert said == {"share": 0.25, "seats": 3, "word": "few"}
    assert [type(value) for value in said.values()] == [float, int, str]


def test_leave_writes_all_or_nothing(tmp_path):
    table = tmp_path / "table.csv"
    save_results(None, pd.DataFrame({"a": [1]}))
    save_results(str(table), pd.DataFrame({"a": [1], "b": ["ü"]}))
    assert table.read_bytes() == "a,b\n1,ü\n".encode()

    class Broken(pd.DataFrame):
        def to_csv(self, path, **options):
            Path(path).write_text("a,")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        save_results(str(table), Broken({"a": [2]}))
    assert table.read_bytes() == "a,b\n1,ü\n".encode()
    assert list(tmp_path.iterdir()) == [table]


def test_words_for_sizes():
    assert [some(n, "seat", "seats") for n in (0, 1, 2500)] == ["0 seats", "1 seat", "2,500 seats"]
    sizes = [1, 10, 2000]
    for flags, start, end in [
        ((True, True, True), "from 1 seat on", "up to 2,000 seats"),
        ((False, True, True), "from 10 seats on", "at no size here"),
        ((True, False, True), "from 2,000 seats on", "up to 1 seat"),
        ((True, True, False), "at no size here", "up to 10 seats"),
        ((False, False, False), "at no size here", "at no size here"),
    ]:
        holds = pd.Series(flags, sizes)
        assert (since(holds), until(holds)) == (start, end)


def test_a_summary_is_the_means_and_their_errors():
    frame = simulate([Greedy(0.1), CMDP()], datasets.brexit(["age"]), [9, 3], runs=6, workers=1)
    table = experiments.summary(frame, figure="1")
    columns = ["figure", "strategy", "size", "people", "people ±", "loss", "loss ±"]
    assert list(table.columns) == columns
    assert list(table["strategy"]) == ["Greedy 0.1", "Greedy 0.1", "CMDP", "CMDP"]
    assert list(table["size"]) == [3, 9, 3, 9]
    last = frame[(frame["strategy"] == "CMDP") & (frame["size"] == 9)]
    assert table["people"].iloc[-1] == last["screened"].mean()
    assert table["loss ±"].iloc[-1] == pytest.approx(1.96 * last["loss"].std() / math.sqrt(6))


def test_statements_of_figure_1_need_no_particular_size_or_tolerance():
    frame = simulate(
        [Greedy(0.1), Greedy(0.3), CMDP()], datasets.brexit(["age"]), [150], runs=4, workers=1
    )
    found = experiments.figure_1_statements(frame, [0.3, 0.1])
    people = frame.groupby("strategy")["screened"].mean()
    assert found["times 0.02, small"] == people["Greedy 0.1"] / people["CMDP"]
    assert found["times 0.05"] == people["Greedy 0.3"] / people["CMDP"]


@pytest.mark.parametrize("least", [1, 2, 977])
def test_first_is_the_first(least):
    assert experiments.first(lambda people: people >= least) == least


def test_first_of_what_never_holds_is_refused():
    with pytest.raises(ValueError, match="it does not even hold for 1,000,000,000 people"):
        experiments.first(lambda _: False)

"""An organiser's files: what is harmless works, what is wrong is said, and the advice is right."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assembly.advice import expectations, in_words, relaxations
from assembly.csvfile import BadFile
from assembly.files import read_assembly
from committees import CMDP, Greedy, Problem, datasets, simulate
from committees.beyond.shrinkage import shrink
from committees.greedy import band
from committees.lp import best_policy
from samples import random_problem

EXAMPLES = datasets.DATA / "examples"
TARGETS = """\
feature,value,target
gender,female,0.5
gender,male,0.5
age,18-34,0.3
age,35-54,0.3
age,55+,0.4
"""
RANGES = """\
feature,value,min,max
gender,female,9,11
gender,male,9,11
age,18-34,5,7
age,35-54,5,7
age,55+,7,9
"""
SHARES = """\
feature,value,share
gender,female,0.4
gender,male,0.6
age,18-34,0.2
age,35-54,0.3
age,55+,0.5
"""
PEOPLE = """\
name,gender,age
Ann,female,18-34
Bob,male,55+
Cem,male,35-54
Dee,female,55+
Eva,female,35-54
"""


@pytest.fixture
def read(tmp_path):
    """Read texts (or bytes) as if they were files."""

    def read(targets=TARGETS, volunteers=SHARES, size=None):
        for name, text in (("targets.csv", targets), ("volunteers.csv", volunteers)):
            raw = text if isinstance(text, bytes) else text.encode()
            (tmp_path / name).write_bytes(raw)
        return read_assembly(tmp_path / "targets.csv", tmp_path / "volunteers.csv", size)

    return read


BROKEN = {
    "empty": ({"targets": ""}, "targets.csv: is empty"),
    "only commas": ({"targets": ",,\n,,\n"}, "targets.csv: is empty"),
    "header alone": ({"volunteers": "feature,value,share\n"}, "a header and no rows"),
    "missing column": (
        {"targets": TARGETS.replace("feature,value,target", "feature,value,quota")},
        "targets.csv: no column 'target'; expected feature, value, target (or feature, value, min",
    ),
    "misspelt column": (
        {"targets": TARGETS.replace("feature,", "featuer,")},
        "no column 'feature' (is 'featuer' meant for it?)",
    ),
    "semicolons and a thousand": (
        {"targets": RANGES.replace(",", ";").replace("9;11", "9;1,000", 1)},
        "targets.csv: line 2: the max '1,000' has a comma; write a point",
    ),
    "a cell too many between semicolons": (
        {"targets": TARGETS.replace(",", ";").replace("female;", "female;;", 1)},
        "targets.csv: line 2 has 4 cells, the header only 3",
    ),
    "a sum below one": (
        {"targets": TARGETS.replace("0.4", "0.39")},
        "targets.csv: age: the shares add up to 0.99, expected 1 (up to 0.002 more or less are",
    ),
    "not UTF-8": (
        {"targets": TARGETS.replace("female", "weiblich: für").encode("latin-1")},
        "targets.csv: line 2 is not UTF-8",
    ),
    "UTF-16": ({"targets": TARGETS.encode("utf-16")}, "targets.csv: line 1 is not UTF-8"),
    "a spreadsheet": ({"targets": b"PK\x03\x04" + bytes(50)}, "targets.csv: is a spreadsheet"),
    "no text": ({"targets": TARGETS.encode() + bytes(3)}, "targets.csv: is not a text file"),
    "an open quote": (
        {"targets": TARGETS.replace("male,0.5\nage", '"male,0.5\nage', 1)},
        "targets.csv: line 6: unexpected end of data",
    ),
    "a column twice": (
        {"volunteers": PEOPLE.replace("name,", "Age,")},
        "volunteers.csv: the column 'age' is there 2 times",
    ),
    "a comma too many": (
        {"volunteers": PEOPLE.replace("Bob,", "Smith, Bob,")},
        "volunteers.csv: line 3 has 4 cells, the header only 3",
    ),
    "not a number": (
        {"targets": TARGETS.replace("0.4", "two fifths")},
        "targets.csv: line 6: the target 'two fifths' is not a number",
    ),
    "not a number at all": ({"targets": TARGETS.replace("0.4", "nan")}, "'nan' is not a number"),
    "a missing number": (
        {"volunteers": SHARES.replace("male,0.6", "male,")},
        "volunteers.csv: line 3: the share is missing",
    ),
    "a missing word": (
        {"targets": TARGETS.replace("age,55+", "age,")},
        "targets.csv: line 6: the value is missing",
    ),
    "a decimal comma": (
        {"targets": TARGETS.replace("0.4", '"0,4"')},
        "line 6: the target '0,4' has a comma; write a point",
    ),
    "negative": (
        {"targets": TARGETS.replace("0.4", "-0.4")},
        "targets.csv: line 6: the target '-0.4' is negative",
    ),
    "per cent without a sign": (
        {"targets": TARGETS.replace("0.5", "50")},
        "gender 'female': 50 is more than 1; write shares such as 0.52, or 52%",
    ),
    "shares over one": (
        {"targets": TARGETS.replace("0.4", "0.45")},
        "targets.csv: age: the shares add up to 1.05, expected 1",
    ),
    "shares below one": (
        {"volunteers": SHARES.replace("0.6", "0.5")},
        "volunteers.csv: gender: the shares add up to 0.9, expected 1",
    ),
    "a row twice": (
        {"targets": TARGETS + "Gender,FEMALE,0.5\n"},
        "targets.csv: line 7: gender 'female' is already on line 2",
    ),
    "a feature without shares": (
        {"volunteers": SHARES[: SHARES.index("age")]},
        "volunteers.csv: no shares for the feature 'age'",
    ),
    "a value without a share": (
        {"volunteers": SHARES.replace("age,35-54,0.3\n", "")},
        "volunteers.csv: no share for age '35-54', which has a target",
    ),
    "a typo in the shares": (
        {"volunteers": SHARES.replace("female", "femal")},
        "volunteers.csv: line 2: gender 'femal' has no target; perhaps 'female' is meant",
    ),
    "a typo in the table": (
        {"volunteers": PEOPLE.replace("Bob,male", "Bob,mael")},
        "volunteers.csv: line 3: gender 'mael' has no target; perhaps 'male' is meant",
    ),
    "a value nobody thought of": (
        {"volunteers": PEOPLE + "Fay,x,55+\n"},
        "volunteers.csv: line 7: gender 'x' has no target; known are female, male",
    ),
    "an empty cell": (
        {"volunteers": PEOPLE.replace("Cem,male", "Cem,")},
        "volunteers.csv: line 4: gender is empty",
    ),
    "a feature without a column": (
        {"volunteers": PEOPLE.replace(",age", ",aged")},
        "no column for the feature 'age' (is 'aged' meant for it?)",
    ),
    "a target for nobody in the table": (
        {"volunteers": PEOPLE.replace("18-34", "55+")},
        "nobody has age '18-34', but its target is 0.3 (line 4 of the targets)",
    ),
    "a target for nobody in the shares": (
        {"volunteers": SHARES.replace("18-34,0.2", "18-34,0").replace("0.3\n", "0.5\n")},
        "volunteers.csv: nobody has age '18-34'",
    ),
    "a thousand with a comma": (
        {"volunteers": 'gender,age,count\nmale,55+,"1,000"\n'},
        "volunteers.csv: line 2: the count '1,000' is no whole number of people; write 1000",
    ),
    "half a person": (
        {"volunteers": "gender,age,count\nmale,55+,0.5\n"},
        "volunteers.csv: line 2: the count '0.5' is no whole number of people",
    ),
    "counts of nobody": (
        {"volunteers": "gender,age,count\nmale,55+,0\n"},
        "volunteers.csv: there is nobody in it",
    ),
    "min above max": (
        {"targets": RANGES.replace("9,11", "12,11", 1)},
        "targets.csv: line 2: gender 'female': min 12 is larger than max 11",
    ),
    "half a seat": (
        {"targets": RANGES.replace("5,7", "5.5,7", 1)},
        "line 4: age '18-34': min and max are seats, expected whole numbers",
    ),
    "seats beyond number": (
        {"targets": RANGES.replace("9,11", "9,1e400", 1)},
        "targets.csv: line 2: the max '1e400' is too large",
    ),
    "a target and a range": (
        {"targets": "feature,value,target,min,max\ngender,female,0.5,9,11\n"},
        "targets.csv: has a target, and min and max as well; keep one or the other",
    ),
    "decimal commas": (
        {"targets": "feature,value,target\ngender,female,0,5\n"},
        "line 2 has 4 cells, the header only 3; put words with a comma in double quotes, "
        "and write a point in numbers",
    ),
    "people counted twice": (
        {"volunteers": "gender,age,count,count\nfemale,18-34,10,1\n"},
        "volunteers.csv: the column 'count' is there 2 times",
    ),
    "a separator of lines within a cell": (
        {"targets": "feature,value,target\ngender,fe\u2028male,0.5\ngender,male,x\n"},
        "targets.csv: line 3: the target 'x' is not a number",
    ),
    "a range that leaves no committee": (
        {"targets": RANGES, "size": 30},
        "gender: between 18 and 22 seats in all, which leaves no committee of 30",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_said(read, name):
    files, sentence = BROKEN[name]
    with pytest.raises(BadFile) as caught:
        read(**files)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(("targets.csv: ", "volunteers.csv: "))


def test_there_are_twenty_ways_to_be_wrong():
    assert len(BROKEN) >= 20


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(BadFile, match=r"no_such\.csv: cannot be read"):
        read_assembly(tmp_path / "no_such.csv", EXAMPLES / "brexit_volunteers.csv")
    with pytest.raises(BadFile, match="cannot be read"):
        read_assembly(tmp_path, EXAMPLES / "brexit_volunteers.csv")


def test_all_that_is_wrong_is_said_at_once(read):
    bad = PEOPLE.replace("female", "femal").replace("55+", "")
    with pytest.raises(BadFile) as caught:
        read(volunteers=bad)
    assert [f"line {n}:" in str(caught.value) for n in range(2, 7)] == [
        True,
        True,
        False,
        True,
        True,
    ]
    with pytest.raises(BadFile, match="and 40 more like these"):
        read(volunteers=PEOPLE + "Fay,x,55+\n" * 50)


HARMLESS = {
    "a byte-order mark": "\ufeff" + TARGETS,
    "empty lines": "\n\n" + TARGETS.replace("\n", "\n\n,,\n"),
    "spaces": TARGETS.replace(",", "  , ").replace("\n", "  \n"),
    "capitals": TARGETS.upper(),
    "Windows line ends": TARGETS.replace("\n", "\r\n"),
    "quotes": '"' + TARGETS.strip().replace(",", '","').replace("\n", '"\n"') + '"\n',
    "no line end": TARGETS.rstrip(),
    "dashes": TARGETS.replace("-", "–"),
    "spaces that do not break": TARGETS.replace("0.5", "50\u00a0%"),
    "per cent": TARGETS.replace("0.5", "50%").replace("0.3", "30 %").replace("0.4", "40%"),
    "spare columns": TARGETS.replace("\n", ",\n"),
    "old names": TARGETS.replace("feature,value", "category,name"),
    "rounding": TARGETS.replace("0.4", "0.399"),
    "semicolons": TARGETS.replace(",", ";"),
    "semicolons and commas in numbers": TARGETS.replace(",", ";").replace("0.", "0,"),
    "tabs": TARGETS.replace(",", "\t"),
    "tabs and per cent": TARGETS.replace(",", "\t").replace("0.5", "50,0 %"),
}


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("volunteers", [SHARES, PEOPLE], ids=["shares", "people"])
def test_what_is_harmless_works(read, name, volunteers):
    plain, found = read(volunteers=volunteers), read(HARMLESS[name], volunteers)
    np.testing.assert_allclose(found.problem.rho, plain.problem.rho, atol=1e-3)
    np.testing.assert_allclose(found.problem.p, plain.problem.p, atol=1e-12)


def test_the_volunteers_may_be_written_as_carelessly(read):
    plain = read(volunteers=PEOPLE)
    careless = "\ufeff" + PEOPLE.upper().replace(",", " , ").replace("\n", "\r\n\r\n")
    np.testing.assert_array_equal(read(volunteers=careless).problem.p, plain.problem.p)


def test_names_are_those_of_the_targets(read):
    problem = read(TARGETS.replace("age", "Age  group"), SHARES.replace("age", "AGE_GROUP")).problem
    assert list(problem.features) == ["gender", "Age group"]


def test_ranges_of_seats(read):
    """In the middle when the size is not given; otherwise where the seats add up."""
    middle = read(RANGES).problem.rho * 20
    np.testing.assert_allclose(middle, [10, 10, 6, 6, 8], rtol=0, atol=1e-9)
    larger = read(RANGES, size=22).problem.rho * 22
    np.testing.assert_allclose(larger, [11, 11, 20 / 3, 20 / 3, 26 / 3], atol=1e-9)


def test_ranges_come_with_a_tolerance_that_keeps_them(read):
    """With it the band is inside every range; with a little more it is not."""
    for size in (18, 20, 22):
        found = read(RANGES, size=size)
        least, most = np.array([[9, 9, 5, 5, 7], [11, 11, 7, 7, 9]])
        low, high = band(found.problem, size, found.tolerance)
        assert (low >= least).all()
        assert (high <= most).all()
        low, high = band(found.problem, size, found.tolerance + 2e-4)
        assert (low < least).any() or (high > most).any()
        assert found.usual_tolerance == min(found.tolerance, 0.02)
    assert read().tolerance is None
    assert read().usual_tolerance == 0.02
    assert dataclasses.replace(read(), tolerance=0.0).usual_tolerance == 0.0


def test_what_nobody_in_the_table_is_can_be_asked(read):
    found = read(volunteers=PEOPLE)
    assert found.unmet.sum() == 6 - 5
    assert "of which 1 are nobody's in the table" in str(found)
    assert read().unmet is None
    assert "independent" in str(read())


def test_letters_may_be_composed_in_two_ways(read):
    targets = TARGETS.replace("female", "caf\u00e9")
    found = read(targets, SHARES.replace("female", "cafe\u0301"))
    assert found.problem.features["gender"] == ("caf\u00e9", "male")


def test_features_may_be_called_as_columns_are_elsewhere(read):
    targets = TARGETS.replace("gender", "category").replace("age", "name")
    people = PEOPLE.replace("name,gender,age", "notes,Category,Name").replace("Ann", "notes")
    assert list(read(targets, people).problem.features) == ["category", "name"]


def test_too_many_types_are_refused_at_once(read):
    rows = [f"feature {i},{v},0.1" for i in range(7) for v in range(10)]
    with pytest.raises(BadFile, match="makes 10,000,000 types, more than 1,000,000"):
        read("\n".join(["feature,value,target", *rows]))


def test_whose_files_were_read_is_said(read):
    for volunteers in (SHARES, PEOPLE):
        assert str(read(volunteers=volunteers)).startswith("Read targets.csv and volunteers.csv. ")


def test_that_people_were_counted_is_said(read):
    assert "rows" not in str(read(volunteers=PEOPLE))
    counted = "gender,age,count\nfemale,18-34,2\nmale,18-34,1\nfemale,35-54,1\nmale,55+,3\n"
    assert "volunteers: 7 (its column 'count' added up, over 4 rows)." in str(
        read(volunteers=counted)
    )


def test_counts_weigh_people(read):
    once = "gender,age\n" + "male,55+\n" * 3 + "female,18-34\nfemale,35-54\n"
    counted = "gender,age,count\nmale,55+,3\nfemale,18-34,1\nfemale,35-54,1\n"
    assert read(volunteers=once).problem == read(volunteers=counted).problem
    assert read(volunteers=counted).people == 5


def test_shrinking_is_the_best_mixture():
    """Over many samples, no fixed weight does better than the estimated one by more than a little.

    The formula estimates the weight that minimises the expected squared error.
    """
    rng = np.random.default_rng(7)
    truth = rng.dirichlet(np.full(60, 0.5)).reshape(6, 10)
    errors: dict[str, list[float]] = {"none": [], "all": [], "ours": [], "best": []}
    for _ in range(300):
        joint = rng.multinomial(200, truth.ravel()) / 200
        table = joint.reshape(6, 10)
        towards = np.outer(table.sum(axis=1), table.sum(axis=0)).ravel()
        ours, weight = shrink(joint, towards, 200)
        variance = (joint * (1 - joint)).sum() / 199  # of the shares, without bias
        assert weight == pytest.approx(min(1, variance / ((towards - joint) ** 2).sum()))
        grid = [joint + w * (towards - joint) for w in np.linspace(0, 1, 101)]
        error = [float(((p - truth.ravel()) ** 2).sum()) for p in grid]
        errors["none"].append(error[0])
        errors["all"].append(error[-1])
        errors["best"].append(min(error))
        errors["ours"].append(float(((ours - truth.ravel()) ** 2).sum()))
    mean = {name: float(np.mean(found)) for name, found in errors.items()}
    assert mean["best"] <= mean["ours"] < 0.98 * min(mean["none"], mean["all"])
    assert mean["ours"] < 1.1 * mean["best"]


def test_shrinking_at_the_extremes():
    half = np.array([0.5, 0.5])
    assert shrink(half, half, 10)[1] == 1
    assert shrink(np.array([1.0, 0.0]), np.array([1.0, 0.0]), 1)[1] == 1
    assert shrink(half, np.array([0.9, 0.1]), 10**6)[1] < 1e-5


def test_the_brexit_example_is_the_papers_problem():
    found = read_assembly(EXAMPLES / "brexit_targets.csv", EXAMPLES / "brexit_volunteers.csv")
    np.testing.assert_allclose(found.problem.p, datasets.brexit().p, atol=1e-15)
    assert found.problem.targets.equals(datasets.brexit().targets)


def test_the_invented_volunteers_are_drawn_by_their_script(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import make

    frame = make.people(900, 2021)
    frame.to_csv(tmp_path / "again.csv", index=False, lineterminator="\n")
    again = (tmp_path / "again.csv").read_bytes()
    assert again == (EXAMPLES / "millbrook_volunteers.csv").read_bytes()
    assert "make" in sys.modules


@pytest.fixture(scope="module")
def millbrook():
    names = ("millbrook_targets.csv", "millbrook_volunteers.csv")
    return read_assembly(*(EXAMPLES / name for name in names), 60)


def test_the_invented_volunteers_are_dependent(millbrook):
    problem = millbrook.problem
    independent = problem.product_over_values(problem.presence)
    assert millbrook.people == 900
    assert len(problem.features) == 5
    assert (problem.p > 0).all()
    assert np.abs(problem.p - independent).sum() > 0.1


@pytest.mark.parametrize("size", [25, 60])
def test_expectations_agree_with_recruitments(millbrook, size):
    """1,000 other recruitments, one volunteer at a time.

    Means within 4.5 standard errors, shares below the quantiles within 4.5 standard deviations of
    both samples: fewer than one false alarm in ten thousand runs of this test.
    """
    problem = millbrook.problem
    strategies = [CMDP(), Greedy(0.1)]
    table = expectations(simulate(strategies, problem, size, runs=400, seed=1), problem)
    frame = simulate(strategies, problem, size, 1000, 2, step_by_step=True, workers=1)
    for strategy in map(str, strategies):
        own = frame[frame["strategy"] == strategy]
        runs = np.inf if strategy == "CMDP" else 400
        spread = own["screened"].std() * np.sqrt(1 / 1000 + 1 / runs)
        assert abs(own["screened"].mean() - table.loc[strategy, "people"]) < 4.5 * spread
        for label, q in (("50%", 0.5), ("90%", 0.9), ("99%", 0.99)):
            below = (own["screened"] <= table.loc[strategy, label]).mean()
            error = np.sqrt(q * (1 - q) * (1 / 1000 + 1 / runs))
            at = (own["screened"] == round(table.loc[strategy, label])).mean()
            assert q - 4.5 * error - 1 / 400 < below < q + 4.5 * error + at + 1 / 400
        assert abs(own["loss"].mean() - table.loc[strategy, "loss"]) < 4.5 * own["loss"].std() * (
            np.sqrt(1 / 1000 + 1 / 400)
        )


@pytest.mark.parametrize("name", ["brexit", "millbrook", "adult"])
def test_shadow_prices_agree_with_solving_again(millbrook, name):
    problem = {
        "brexit": datasets.brexit(),
        "millbrook": millbrook.problem,
        "adult": datasets.adult("strong"),
    }[name]
    little = relaxations(problem, 100, points=1e-6)
    np.testing.assert_allclose(little["saved"], little["promised"], rtol=1e-4, atol=1e-8)
    point = relaxations(problem, 100, points=0.01)
    assert (point["saved"] <= point["promised"] + 1e-9).all()
    assert point["promised"].max() > 1
    assert point["promised"].is_monotonic_decreasing


def test_savings_are_told_in_words(millbrook):
    first, *_ = in_words(relaxations(millbrook.problem, 60), 60)
    assert first.startswith(
        "Lowering the target of age 16-29 from 21.7% to 20.7% would save 1.3 of"
    )
    assert first.endswith("(not the 5.0 of the first step: others run short next).")
    fair = Problem.from_marginals({"a": {"x": 0.5, "y": 0.5}}, {"a": {"x": 0.5, "y": 0.5}})
    assert in_words(relaxations(fair, 60), 60) == ["No single target holds the recruitment up."]


def test_relaxing_moves_the_others_in_proportion():
    problem = Problem.from_marginals(
        {"a": {"x": 0.5, "y": 0.3, "z": 0.2}}, {"a": {"x": 0.1, "y": 0.6, "z": 0.3}}
    )
    moved = pd.Series([0.49, 0.306, 0.204], problem.labels)
    table = relaxations(problem, 10).set_index("value")
    fewer = 10 / best_policy(problem).rate - 10 / best_policy(Problem(moved, problem.p)).rate
    assert table.loc["x", "saved"] == pytest.approx(fewer)
    assert fewer == pytest.approx(10 * 0.01 / 0.1)
    alone = Problem.from_marginals({"a": {"x": 1.0}}, {"a": {"x": 1.0}})
    assert relaxations(alone, 10)["saved"].tolist() == [0]


def test_the_largest_savings_come_first():
    draws = [np.random.default_rng(seed) for seed in range(20)]
    tables = [relaxations(random_problem(rng, [2, 3, 3]), 50, 0.05) for rng in draws]
    assert all(table["saved"].is_monotonic_decreasing for table in tables)
    assert not all(table["promised"].is_monotonic_decreasing for table in tables)


def test_seats_beyond_all_tolerance(read):
    """A range narrower than one part in ten thousand leaves none."""
    many = RANGES.replace("9,11", "999999,1000001").replace("5,7", "500000,700000")
    found = read(many.replace("7,9", "700000,900000"), size=2_000_000)
    assert found.tolerance == 0


def test_relaxing_one_target_may_clash_with_another():
    """If women are all old and men all young, the shares of both must move together."""
    half = {"woman": 0.5, "man": 0.5}
    problem = Problem({"gender": half, "age": {"old": 0.5, "young": 0.5}}, [0.5, 0, 0, 0.5])
    table = relaxations(problem, 10)
    assert table["saved"].tolist() == [-np.inf] * 4
    assert in_words(table, 10) == ["No single target holds the recruitment up."]


def test_the_examples_are_what_their_page_says():
    page = (datasets.DATA / "README.md").read_text()
    for path in sorted(Path(EXAMPLES).glob("*.csv")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"| examples/{path.name} | {digest} |" in page

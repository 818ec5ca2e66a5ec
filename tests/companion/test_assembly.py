"""Anybody's assembly from two files, and strategies by name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from committees import CMDP, Greedy, Problem, datasets
from committees.beyond import Prices
from companion.assembly import assembly, make_strategies

EXAMPLES = datasets.DATA / "examples"
TARGETS = "feature,value,target\nage,young,0.4\nage,old,0.6\nvote,yes,0.5\nvote,no,0.5\n"
SHARES = "feature,value,share\nvote,no,0.1\nvote,yes,0.9\nage,old,0.7\nage,young,0.3\n"
PEOPLE = "vote,age,name\nyes,young,Ann\nyes,old,Bea\nno,old,Cem\nyes,old,Dan\n"


def files(folder, targets, volunteers):
    """The names of two files with these texts."""
    paths = [folder / "ours.csv", folder / "callers.csv"]
    for path, text in zip(paths, (targets, volunteers), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_assembly_is_brexit_without_files():
    assert assembly() == datasets.brexit()
    assert assembly(["age", "vote"]) == datasets.brexit(["age", "vote"])


def test_assembly_reads_shares(tmp_path):
    names = files(tmp_path, TARGETS, SHARES)
    targets = {"age": {"young": 0.4, "old": 0.6}, "vote": {"yes": 0.5, "no": 0.5}}
    shares = {"age": {"young": 0.3, "old": 0.7}, "vote": {"yes": 0.9, "no": 0.1}}
    assert assembly(None, *names) == Problem.from_marginals(targets, shares)
    only_vote = Problem({"vote": {"yes": 0.5, "no": 0.5}}, [0.9, 0.1])
    assert assembly(["vote"], *names) == only_vote
    assert list(assembly(["vote", "age"], *names).features) == ["vote", "age"]


def test_assembly_reads_people(tmp_path):
    problem = assembly(None, *files(tmp_path, TARGETS, PEOPLE))
    assert problem.p.tolist() == [0.25, 0, 0.5, 0.25]


def test_assembly_reads_the_book_s_own_examples():
    """Table 2 again; and ranges of seats, whose middles are the targets."""
    names = [str(EXAMPLES / f"brexit_{name}.csv") for name in ("targets", "volunteers")]
    np.testing.assert_allclose(assembly(None, *names).p, datasets.brexit().p, atol=1e-12)
    names = [str(EXAMPLES / f"millbrook_{name}.csv") for name in ("targets", "volunteers")]
    problem = assembly(None, *names)
    ranges = pd.read_csv(names[0])
    assert problem.labels.to_list() == list(zip(ranges["feature"], ranges["value"], strict=True))
    middle = (ranges["min"] + ranges["max"]) / 2
    shares = middle / middle.groupby(ranges["feature"]).transform("sum")
    np.testing.assert_allclose(problem.rho, shares, atol=1e-12)
    people = pd.read_csv(names[1])
    share = (people["age"] == "65+").mean()
    assert problem.presence[3] == pytest.approx(share)


@pytest.mark.parametrize(
    ("targets", "volunteers", "sentence"),
    [
        ("", SHARES, "ours.csv: is no CSV file: No columns to parse"),
        ("age,target\nyoung,1\n", SHARES, "ours.csv: expected the columns feature, value, target"),
        ("feature,value,target\n", SHARES, "ours.csv: has no row"),
        (TARGETS.replace("0.4", "4"), SHARES, "ours.csv, callers.csv: feature 'age': the targets"),
        (TARGETS.replace("0.4", ""), SHARES, "ours.csv, callers.csv: feature 'age', value 'young'"),
        (TARGETS + "age,old,0.6\n", SHARES, "ours.csv, callers.csv: feature 'age', value 'old': h"),
        (TARGETS, SHARES.replace("vote,no,0.1\n", ""), "ours.csv, callers.csv: feature 'vote'"),
        (TARGETS, SHARES.replace("young", "junior"), "ours.csv, callers.csv: feature 'age', value"),
        (TARGETS, PEOPLE.replace("young", ""), "ours.csv, callers.csv: feature 'age', row 0: unk"),
        (TARGETS, "name\nAnn\n", "ours.csv, callers.csv: feature 'age': is not a column of the"),
        (TARGETS, "", "callers.csv: is no CSV file"),
        (
            "feature,value,min,max\nage,young,3,2\nage,old,1,9\n",
            SHARES,
            "ours.csv: feature 'age', value 'young': expected 0 <= min <= max",
        ),
        (
            "feature,value,min,max\nage,young,a few,2\n",
            SHARES,
            "ours.csv: feature 'age', value 'young': expected 0 <= min <= max",
        ),
    ],
)
def test_assembly_says_what_is_wrong_with_files(tmp_path, targets, volunteers, sentence):
    names = files(tmp_path, targets, volunteers)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        assembly(None, *names)


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        ("age", "features: expected a list of names, got 'age'"),
        (5, "features: expected a list of names, got 5"),
        ([], "features: expected some different features, got []"),
        (["age", "age"], "features: expected some different features, got ['age', 'age']"),
        (["shoes"], "features: unknown 'shoes', expected age, vote"),
    ],
)
def test_assembly_says_what_is_wrong_with_features(tmp_path, features, sentence):
    names = files(tmp_path, TARGETS, SHARES)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        assembly(features, *names)


def test_assembly_wants_both_files_and_finds_them(tmp_path):
    here, _ = files(tmp_path, TARGETS, SHARES)
    for pair in ((here, None), (None, here)):
        with pytest.raises(ValueError, match=r"^targets, volunteers: give both files, or none"):
            assembly(None, *pair)
    with pytest.raises(ValueError, match=r"^volunteers: there is no file 'nowhere\.csv'"):
        assembly(None, here, "nowhere.csv")


def test_assembly_reads_what_spreadsheets_write(tmp_path):
    """Blanks after commas, and a mark at the beginning of the file."""
    spaced = TARGETS.replace(",", ", ")
    names = files(tmp_path, spaced, SHARES)
    Path(names[1]).write_bytes(b"\xef\xbb\xbf" + SHARES.encode())
    assert assembly(None, *names) == assembly(None, *files(tmp_path, TARGETS, SHARES))


def test_make_strategies_takes_names_and_options():
    listed = ["cmdp", {"Greedy": {"tolerance": 0.1}}, "committees.beyond:Prices"]
    assert make_strategies(listed) == [CMDP(), Greedy(0.1), Prices()]


@pytest.mark.parametrize(
    ("listed", "sentence"),
    [
        ([], "strategies: expected a list of at least 1, got []"),
        ("CMDP", "strategies: expected a list of at least 1, got 'CMDP'"),
        (None, "strategies: expected a list of at least 1, got None"),
        ([5], "strategies: expected a name, or {name: {option: value}}, got 5"),
        ([{"Greedy": 0.1}], "strategies: expected a name, or {name: {option: value}}, got {"),
        ([{"Greedy": {}, "CMDP": {}}], "strategies: expected a name, or {name: {option: value}}"),
        (["Lazy"], "strategy: there is no 'Lazy'; expected greedy, cmdp"),
        (["CMDP", {"cmdp": {}}], "strategies: CMDP is there twice"),
        ([{"Prices": {"luck": 1}}], "options: Prices has no 'luck', it has lead"),
    ],
)
def test_make_strategies_refuses(listed, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        make_strategies(listed)

"""An organiser's two files: what is harmless works, what is wrong is said."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import make_examples
from assembly.csvfile import BadFile
from assembly.files import read_assembly
from committees import datasets
from committees.greedy import band
from committees.lp import MAX_TYPES_CVXPY
from organiser import EXAMPLES, PEOPLE, RANGES, SHARES, TARGETS

BROKEN = {
    "missing column": (
        {"targets": TARGETS.replace("feature,value,target", "feature,value,quota")},
        "targets.csv: there is no column 'target'; expected the columns feature, value, target "
        "(or feature, value, min, max), found feature, value, quota",
    ),
    "misspelt column": (
        {"targets": TARGETS.replace("feature,", "featuer,")},
        "targets.csv: there is no column 'feature'; expected the columns feature, value, target",
    ),
    "a sum below one": (
        {"targets": TARGETS.replace("0.4", "0.39")},
        "targets.csv: age: the shares add up to 0.99, expected 1 (up to 0.002 more or less are",
    ),
    "a column twice": (
        {"volunteers": PEOPLE.replace("name,", "Age,")},
        "volunteers.csv: the column 'age' appears 2 times",
    ),
    "per cent without a sign": (
        {"targets": TARGETS.replace("0.5", "50")},
        "targets.csv: gender 'female': 50 is more than 1; write shares such as 0.52, or 52%",
    ),
    "shares over one": (
        {"targets": TARGETS.replace("0.4", "0.45")},
        "targets.csv: age: the shares add up to 1.05, expected 1",
    ),
    "shares below one": (
        {"volunteers": SHARES.replace("0.6", "0.5")},
        "volunteers.csv: gender: the shares add up to 0.9, expected 1",
    ),
    "a feature without shares": (
        {"volunteers": SHARES[: SHARES.index("age")]},
        "volunteers.csv: there is no share for age '18-34', which has a target",
    ),
    "a value without a share": (
        {"volunteers": SHARES.replace("age,35-54,0.3\n", "")},
        "volunteers.csv: there is no share for age '35-54', which has a target",
    ),
    "a typo in the shares": (
        {"volunteers": SHARES.replace("female", "femal")},
        "volunteers.csv: line 2: gender: unknown value 'femal'; expected female or male",
    ),
    "a typo in the table": (
        {"volunteers": PEOPLE.replace("Bob,male", "Bob,mael")},
        "volunteers.csv: line 3: gender: unknown value 'mael'; expected female or male",
    ),
    "a value without a target": (
        {"volunteers": PEOPLE + "Fay,female,5+\n"},
        "volunteers.csv: line 7: age: unknown value '5+'; expected 18-34, 35-54 or 55+",
    ),
    "an empty cell": (
        {"volunteers": PEOPLE.replace("Cem,male", "Cem,")},
        "volunteers.csv: line 4: gender is empty",
    ),
    "a feature without a column": (
        {"volunteers": PEOPLE.replace(",age", ",aged")},
        "volunteers.csv: there is no column 'age'; expected a column for each feature, or the "
        "columns feature, value, share, found name, gender, aged",
    ),
    "a target for nobody in the table": (
        {"volunteers": PEOPLE.replace("18-34", "55+")},
        "volunteers.csv: nobody has age '18-34', but its target is 0.3 (line 4 of the targets)",
    ),
    "a target for nobody in the shares": (
        {"volunteers": SHARES.replace("18-34,0.2", "18-34,0").replace("0.3\n", "0.5\n")},
        "volunteers.csv: nobody has age '18-34'",
    ),
    "a target for people counted as none": (
        {"volunteers": "gender,age,count\nmale,55+,3\nfemale,35-54,2\nmale,18-34,0\n"},
        "volunteers.csv: nobody has age '18-34'",
    ),
    "a thousand with a comma": (
        {"volunteers": 'gender,age,count\nmale,55+,"1,000"\n'},
        "volunteers.csv: line 2: the count '1,000' is not a whole number such as 1000",
    ),
    "half a person": (
        {"volunteers": "gender,age,count\nmale,55+,0.5\n"},
        "volunteers.csv: line 2: the count '0.5' is not a whole number",
    ),
    "counts of nobody": (
        {"volunteers": "gender,age,count\nmale,55+,0\n"},
        "volunteers.csv: the counts add up to 0, expected at least one person",
    ),
    "people counted twice": (
        {"volunteers": "gender,age,count,count\nfemale,18-34,10,1\n"},
        "volunteers.csv: the column 'count' appears 2 times",
    ),
    "min above max": (
        {"targets": RANGES.replace("9,11", "12,11", 1)},
        "targets.csv: line 2: gender 'female': min 12 is larger than max 11",
    ),
    "half a seat": (
        {"targets": RANGES.replace("5,7", "5.5,7", 1)},
        "targets.csv: line 4: age '18-34': min and max are seats, expected whole numbers",
    ),
    "seats beyond number": (
        {"targets": RANGES.replace("9,11", "9,1e400", 1)},
        "targets.csv: line 2: the max '1e400' is too large",
    ),
    "a target and a range": (
        {"targets": "feature,value,target,min,max\ngender,female,0.5,9,11\n"},
        "targets.csv: has a target, and min and max as well; keep one or the other",
    ),
    "a range that leaves no committee": (
        {"targets": RANGES, "size": 30},
        "targets.csv: gender: min and max allow from 18 to 22 seats in all, expected 30",
    ),
    "a range of no seats": (
        {"targets": "feature,value,min,max\ngender,female,0,0\n"},
        "targets.csv: gender: min and max allow from 0 to 0 seats in all, expected some",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_read_assembly_says_what_is_wrong(read, name):
    files, sentence = BROKEN[name]
    with pytest.raises(BadFile) as caught:
        read(**files)
    assert str(caught.value).startswith(sentence)


def test_read_assembly_refuses_a_bad_size(read):
    with pytest.raises(ValueError, match="size: expected a whole number of at least 1, got 0"):
        read(size=0)


def test_read_assembly_says_at_once_all_that_is_wrong(read):
    bad = PEOPLE.replace("female", "femal").replace("55+", "")
    with pytest.raises(BadFile) as caught:
        read(volunteers=bad)
    told = [f"line {n}:" in str(caught.value) for n in range(2, 7)]
    assert told == [True, True, False, True, True]
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
def test_read_assembly_forgives_what_is_harmless(read, name, volunteers):
    plain, found = read(volunteers=volunteers), read(HARMLESS[name], volunteers)
    np.testing.assert_allclose(found.problem.rho, plain.problem.rho, atol=1e-3)
    np.testing.assert_allclose(found.problem.p, plain.problem.p, atol=1e-12)


def test_read_assembly_forgives_the_same_in_the_volunteers(read):
    plain = read(volunteers=PEOPLE)
    careless = "\ufeff" + PEOPLE.upper().replace(",", " , ").replace("\n", "\r\n\r\n")
    np.testing.assert_array_equal(read(volunteers=careless).problem.p, plain.problem.p)


def test_read_assembly_takes_names_from_the_targets(read):
    problem = read(TARGETS.replace("age", "Age  group"), SHARES.replace("age", "AGE_GROUP")).problem
    assert list(problem.features) == ["gender", "Age group"]


def test_read_assembly_ignores_features_without_targets(read):
    more = SHARES + "hair,red,0.1\nhair,other,0.9\n"
    assert read(volunteers=more).problem == read().problem
    assert read(volunteers=PEOPLE).problem == read(volunteers=PEOPLE.replace("name", "x")).problem


def test_read_assembly_does_not_mind_the_order_of_rows(read):
    header, *rows = TARGETS.splitlines()
    mixed = "\n".join([header, rows[2], rows[0], rows[3], rows[1], rows[4]])
    problem = read(mixed).problem
    assert list(problem.features) == ["age", "gender"]
    np.testing.assert_allclose(problem.presence, [0.2, 0.3, 0.5, 0.4, 0.6])


def test_read_assembly_knows_letters_that_are_composed_in_two_ways(read):
    targets = TARGETS.replace("female", "caf\u00e9")
    found = read(targets, SHARES.replace("female", "cafe\u0301"))
    assert found.problem.features["gender"] == ("caf\u00e9", "male")


def test_read_assembly_allows_features_that_are_called_as_columns_are_elsewhere(read):
    targets = TARGETS.replace("gender", "category").replace("age", "name")
    people = PEOPLE.replace("name,gender,age", "notes,Category,Name").replace("Ann", "notes")
    assert list(read(targets, people).problem.features) == ["category", "name"]


def test_read_assembly_allows_a_feature_called_count(read):
    targets, people = TARGETS.replace("age", "Count"), PEOPLE.replace("age", "count")
    assert read(targets, people).problem.p.tolist() == read(volunteers=PEOPLE).problem.p.tolist()


def test_read_assembly_refuses_too_many_types_at_once(read):
    rows = [f"feature {i},{v},0.1" for i in range(7) for v in range(10)]
    sentence = f"targets.csv: makes 10,000,000 types, more than {MAX_TYPES_CVXPY:,}"
    with pytest.raises(BadFile, match=sentence):
        read("\n".join(["feature,value,target", *rows]), b"nothing is computed, nor read")


def test_read_assembly_puts_targets_into_ranges_of_seats(read):
    """In the middle when the size is not given; otherwise where the seats add up."""
    middle = read(RANGES).problem.rho * 20
    np.testing.assert_allclose(middle, [10, 10, 6, 6, 8], rtol=0, atol=1e-9)
    larger = read(RANGES, size=22).problem.rho * 22
    np.testing.assert_allclose(larger, [11, 11, 20 / 3, 20 / 3, 26 / 3], atol=1e-9)


def test_read_assembly_finds_the_largest_tolerance_that_keeps_the_ranges(read):
    """With it the band is inside every range; with a little more it is not."""
    for size in (18, 20, 22):
        found = read(RANGES, size=size)
        least, most = np.array([[9, 9, 5, 5, 7], [11, 11, 7, 7, 9]])
        low, high = band(found.problem, size, found.max_tolerance)
        assert (low >= least).all()
        assert (high <= most).all()
        low, high = band(found.problem, size, found.max_tolerance + 2e-4)
        assert (low < least).any() or (high > most).any()
    assert read().max_tolerance == 1
    # A range narrower than one part in ten thousand leaves no tolerance.
    many = RANGES.replace("9,11", "99999,100001").replace("5,7", "50000,70000")
    found = read(many.replace("7,9", "70000,90000"), size=200_000)
    assert found.max_tolerance == 0


def test_read_assembly_knows_the_types_that_are_absent(read):
    found = read(volunteers=PEOPLE)
    assert found.absent.sum() == 6 - 5
    assert found.absent.tolist() == [False, False, False, True, False, False]
    assert "of which 1 do not occur in the table" in found.summary
    assert not read().absent.any()
    assert "independent" in read().summary


def test_read_assembly_says_whose_files_were_read(read):
    for volunteers in (SHARES, PEOPLE):
        summary = read(volunteers=volunteers).summary
        assert summary.startswith("Read targets.csv and volunteers.csv. ")


def test_read_assembly_says_that_people_were_counted(read):
    assert "rows" not in read(volunteers=PEOPLE).summary
    counted = "gender,age,count\nfemale,18-34,2\nmale,18-34,1\nfemale,35-54,1\nmale,55+,3\n"
    told = read(volunteers=counted).summary
    assert "volunteers: 7 (its column 'count' added up, over 4 rows)." in told


def test_read_assembly_weighs_people_by_their_count(read):
    once = "gender,age\n" + "male,55+\n" * 3 + "female,18-34\nfemale,35-54\n"
    counted = "gender,age,count\nmale,55+,3\nfemale,18-34,1\nfemale,35-54,1\n"
    assert read(volunteers=once).problem == read(volunteers=counted).problem
    assert "volunteers: 5 (" in read(volunteers=counted).summary


def test_read_assembly_of_the_brexit_example_is_the_papers_problem():
    found = read_assembly(EXAMPLES / "brexit_targets.csv", EXAMPLES / "brexit_volunteers.csv")
    assert found.problem == datasets.brexit()


def test_read_assembly_of_the_invented_volunteers(millbrook):
    """They are dependent, and everybody can occur."""
    problem = millbrook.problem
    independent = problem.product_over_values(problem.presence)
    assert "volunteers: 900." in millbrook.summary
    assert len(problem.features) == 5
    assert (problem.p > 0).all()
    assert np.abs(problem.p - independent).sum() > 0.1


def test_make_examples_draws_the_invented_volunteers(tmp_path):
    again = tmp_path / "again.csv"
    make_examples.draw_people(900, 2021).to_csv(again, index=False, lineterminator="\n")
    assert again.read_bytes() == (EXAMPLES / "millbrook_volunteers.csv").read_bytes()
    assert make_examples.VOLUNTEERS == EXAMPLES / "millbrook_volunteers.csv"


def test_examples_are_what_their_page_says():
    page = (datasets.DATA / "README.md").read_text()
    for path in sorted(EXAMPLES.glob("*.csv")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"| examples/{path.name} | {digest} |" in page

"""An organiser's two files: what is harmless works, what is wrong is said."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest

import make_examples
from callers import EXAMPLES, PEOPLE, RANGES, SHARES, TARGETS
from committees import datasets, simulate
from committees.beyond import Foresight
from committees.lp import MAX_TYPES_CVXPY
from organiser.csvfile import BadFile
from organiser.files import read_assembly

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
        {"targets": TARGETS.replace("0.4", "0.38")},
        "targets.csv: age: the shares add up to 0.98, expected 1 (up to 0.015 more or less are",
    ),
    "a sum that three digits do not explain": (
        {"targets": TARGETS.replace("0.4", "0.397")},
        "targets.csv: age: the shares add up to 0.997, expected 1 (up to 0.002 more or less are",
    ),
    "a column twice": (
        {"volunteers": PEOPLE.replace("name,", "Age,")},
        "volunteers.csv: the column 'age' appears 2 times",
    ),
    "per cents that are none": (
        {"targets": TARGETS.replace("0.5", "60")},
        "targets.csv: gender: the shares add up to 120, expected 100 (up to 1 more or less are put "
        "down to rounding); call the column count if these are counts",
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
    "nobody who answered everything": (
        {"volunteers": "gender,age\nmale,\n,55+\nmale,prefer not to say\n"},
        "volunteers.csv: has nobody who answered everything: expected at least one person",
    ),
    "a feature without a column": (
        {"volunteers": PEOPLE.replace(",age", ",aged")},
        "volunteers.csv: there is no column 'age'; expected a column for each feature, or the "
        "columns feature, value, share, found name, gender, aged",
    ),
    "a target for nobody in the table": (
        {"volunteers": PEOPLE.replace("18-34", "55+")},
        "volunteers.csv: nobody has age '18-34', but it must have seats (line 4 of the targets)",
    ),
    "a target for nobody in the shares": (
        {"volunteers": SHARES.replace("18-34,0.2", "18-34,0").replace("0.3\n", "0.5\n")},
        "volunteers.csv: nobody has age '18-34'",
    ),
    "a target for people counted as none": (
        {"volunteers": "gender,age,count\nmale,55+,3\nfemale,35-54,2\nmale,18-34,0\n"},
        "volunteers.csv: nobody has age '18-34'",
    ),
    "a thousand with a point": (
        {"volunteers": "gender,age,count\nmale,55+,1.000\n"},
        "volunteers.csv: line 2: the count '1.000' is not a whole number such as 1000",
    ),
    "half a person": (
        {"volunteers": "gender,age,count\nmale,55+,0.5\n"},
        "volunteers.csv: line 2: the count '0.5' is not a whole number",
    ),
    "counts of nobody": (
        {"volunteers": "gender,age,count\nmale,55+,0\n"},
        "volunteers.csv: has nobody who answered everything: expected at least one person",
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
        "targets.csv: gender: min and max allow from 18 to 22 seats in all, expected 30; with the "
        "max higher of 'female' by 4, 'male' by 4 there would be room",
    ),
    "a range that needs more seats than there are": (
        {"targets": RANGES, "size": 15},
        "targets.csv: gender: min and max allow from 18 to 22 seats in all, expected 15; with the "
        "min lower of 'female' by 2, 'male' by 1 there would be room",
    ),
    "a number without a value": (
        {"targets": RANGES + "age,,1,2\n"},
        "targets.csv: line 7: the value is missing",
    ),
    "a group that must have seats and does not come": (
        {"targets": RANGES, "volunteers": PEOPLE.replace("18-34", "55+")},
        "volunteers.csv: nobody has age '18-34', but it must have seats (line 4 of the targets): "
        "give its share among those who may come, in a file of shares, or a range that begins at 0",
    ),
    "an age outside all ranges": (
        {"volunteers": PEOPLE.replace("18-34", "12")},
        "volunteers.csv: line 2: age: unknown value '12'; expected 18-34, 35-54 or 55+",
    ),
    "an empty file": ({"targets": ""}, "targets.csv: is empty"),
    "a header alone": ({"targets": "feature,value,target\n"}, "targets.csv: has a header and no"),
    "a spreadsheet": ({"targets": b"PK\x03\x04 zip"}, "targets.csv: is a spreadsheet, not a CSV"),
    "no text": ({"volunteers": b"\0\1\2"}, "volunteers.csv: is not a text file; save it as"),
    "a cell too many": (
        {"targets": TARGETS.replace("female,0.5", "female,0.5,5")},
        "targets.csv: line 2 has 4 cells, the header only 3; put words with a comma in double",
    ),
    "a quote that does not end": (
        {"targets": TARGETS.replace("female", '"female')},
        "targets.csv: line 6: unexpected end of data",
    ),
    "no number": (
        {"targets": TARGETS.replace("female,0.5", "female,half")},
        "targets.csv: line 2: the target 'half' is not a number",
    ),
    "a target that is missing": (
        {"targets": TARGETS.replace("female,0.5", "female,")},
        "targets.csv: line 2: the target is missing",
    ),
    "a negative share": (
        {"volunteers": SHARES.replace("female,0.4", "female,-0.4")},
        "volunteers.csv: line 2: the share '-0.4' is negative",
    ),
    "a value twice": (
        {"targets": TARGETS + "Gender,FEMALE,0.1\n"},
        "targets.csv: line 7: gender 'female' is already on line 2",
    ),
    "ranges that nobody can fill together": (
        {
            "targets": "feature,value,min,max\na,x,5,5\na,y,5,5\nb,x,8,8\nb,y,2,2\n",
            "volunteers": "a,b,count\nx,y,50\ny,x,50\n",
            "size": 10,
        },
        "targets.csv: no 10 of the people who may come fit these ranges; the smallest change that "
        "would do: the min of b x 3 lower, the max of b y 3 higher",
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
    bad = PEOPLE.replace("female", "femal").replace("55+", "55 or so")
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
    "per cent without a sign": re.sub(r"0\.(\d)", r"\g<1>0", TARGETS),
    "a title": "Targets of our assembly\n" + TARGETS,
    "notes and totals": TARGETS + "\n* as of 2026,,\nage,Total,1\n",
    "UTF-16": TARGETS.encode("utf-16"),
    "a line for the spreadsheet": "sep=;\n" + TARGETS.replace(",", ";"),
    "a title and spare columns": "Our assembly,,,\n" + TARGETS.replace("\n", ",,a note\n"),
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


def test_read_assembly_keeps_the_ranges_of_the_file(read):
    assert read(RANGES, size=20).seats == ((9, 9, 5, 5, 7), (11, 11, 7, 7, 9))
    assert read().seats is None
    header, *rows = RANGES.splitlines()
    flexible = "\n".join([f"{header},min_flex,max_flex", *(f"{row},0,20" for row in rows)])
    assert read(flexible, size=20).flex == ((0,) * 5, (20,) * 5)
    assert read(RANGES, size=20).flex is None


def test_read_assembly_knows_the_types_that_are_absent(read):
    found = read(volunteers=PEOPLE)
    assert found.absent.sum() == 6 - 5
    assert found.absent.tolist() == [False, False, False, True, False, False]
    assert "Of 6 types 1 do not occur in it" in found.summary
    assert not read().absent.any()
    assert "independent" in read().summary


def test_read_assembly_says_whose_files_were_read(read):
    for volunteers in (SHARES, PEOPLE):
        summary = read(volunteers=volunteers).summary
        assert summary.startswith("Read targets.csv and volunteers.csv. ")


def test_read_assembly_weighs_people_by_their_count(read):
    once = "gender,age\n" + "male,55+\n" * 3 + "female,18-34\nfemale,35-54\n"
    counted = "gender,age,count\nmale,55+,3\nfemale,18-34,1\nfemale,35-54,1\n"
    assert read(volunteers=once).problem == read(volunteers=counted).problem
    assert "5 people in the table" in read(volunteers=counted).summary


def test_read_assembly_of_the_brexit_example_is_the_papers_problem():
    found = read_assembly(EXAMPLES / "brexit_targets.csv", EXAMPLES / "brexit_volunteers.csv")
    assert found.problem == datasets.brexit()


def test_read_assembly_of_the_invented_volunteers(millbrook):
    """They are dependent, and everybody can occur."""
    problem = millbrook.problem
    independent = problem.product_over_values(problem.presence)
    assert "900 people in the table" in millbrook.summary
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


# --- Formats of other software. All files are ours.

FIELD = {
    "sortition-algorithms": (
        "feature,value,min,max,min_flex,max_flex\n"
        "Gender,Female,9,11,8,12\nGender,Male,9,11,8,12\nGender,Non-binary or other,0,1,0,2\n"
        "Age,16-29,4,7,4,7\nAge,30-59,6,10,6,10\nAge,60+,4,7,4,7\n",
        "id,First,Last,Email,Gender,Age\n"
        "p1,A,B,a@x.org,Female,16-29\np2,C,D,c@x.org,Male,30-59\np3,E,F,e@x.org,Female,60+\n",
    ),
    "the same in small letters": (
        "category,name,min,max\ngender,female,9,11\ngender,male,9,11\n"
        "age,16-29,4,7\nage,30-59,6,10\nage,60+,4,7\n",
        "id,gender,age\n1,female,16-29\n2,male,30-59\n3,male,60+\n",
    ),
    "OpenDLP": (
        "category,name,min,max\nGender,Female,9,11\nGender,Male,9,11\n"
        "Age,16-29,4,7\nAge,30-59,6,10\nAge,60+,4,7\n,,,\n"
        "Soft targets are marked with a star,,,\nSee the handbook,,,\n",
        "external_id,address,Gender,Age,notes\n1,x,Female,16-29,\n2,y,Male,30-59,\n3,z,Male,60+,\n",
    ),
    "OpenDLP, monitoring": (
        "category,category value,min,max\nGender,Female,9,11\nGender,Male,9,11\n"
        "Gender,Non-binary,0,3\nAge,16-29,4,7\nAge,30-59,6,10\nAge,60+,4,7\n",
        "nationbuilder_id,Gender,Age\n7,Female,16-29\n8,Male,30-59\n9,Female,60+\n",
    ),
    "the companion of the paper in Nature": (
        "category,feature,min,max\nGender,Female,9,11\nGender,Male,9,11\n"
        "Age,16-29,4,7\nAge,30-59,6,10\nAge,60+,4,7\n",
        "Gender,Age\nFemale,16-29\nMale,30-59\nMale,60+\n",
    ),
    "newDemocracy": (
        "category,name,min,max,name of notes\nGender,Female,9,11,x\nGender,Male,9,11,\n"
        "Age,16-29,4,7,\nAge,30-59,6,10,\nAge,60+,4,7,\n",
        "nationbuilder_id,first_name,mobile_number,Gender,Age\n"
        "1,A,000,Female,16-29\n2,B,000,Male,30-59\n3,C,000,Male,60+\n",
    ),
    "counts of a census": (
        "feature,value,population\nGender,Female,226500\nGender,Male,216500\n"
        "Age,16-29,98000\nAge,30-59,195000\nAge,60+,150000\n",
        "Gender,Age\nFemale,1999\nMale,52\nMale,1950\nFemale,Prefer not to say\n,44\n",
    ),
    "Excel in Germany": (
        "sep=;\nfeature;value;target\nGender;Mädchen und Frauen;51\nGender;Männer;50\n"
        "Age;16-29;22\nAge;30-59;44\nAge;60+;33\n".encode("cp1252"),
        "Gender;Age\nMädchen und Frauen;16-29\nMänner;30-59\nMänner;60+\n".encode("cp1252"),
    ),
}


@pytest.mark.parametrize("name", FIELD)
def test_read_assembly_reads_what_others_write(read, name):
    found = read(*FIELD[name], size=20)
    problem = found.problem
    assert [feature.casefold() for feature in problem.features] == ["gender", "age"]
    assert list(problem.features["Age" if "Age" in problem.features else "age"]) == [
        "16-29",
        "30-59",
        "60+",
    ]
    assert (problem.p > 0).all()
    if found.seats is not None:
        rule = Foresight(seats=found.seats)
        frame = simulate(rule, problem, 20, 3, 1)
        assert (frame["screened"] >= 20).all()


def test_read_assembly_gives_a_small_share_to_a_group_that_may_be_absent(read):
    found = read(*FIELD["sortition-algorithms"], size=20)
    position = found.problem.labels.get_loc(("Gender", "Non-binary or other"))
    assert found.problem.presence[position] == pytest.approx(1 / 4)  # three people, and one more
    assert "Nobody in volunteers.csv has Gender 'Non-binary or other'" in found.summary
    shares = SHARES.replace("female,0.4", "female,0").replace("male,0.6", "male,1")
    found = read(RANGES.replace("female,9,11", "female,0,11").replace("male,9,", "male,8,"), shares)
    assert found.problem.presence[0] == pytest.approx(1 / 1001)


def test_read_assembly_says_what_it_guessed(read):
    census = read(*FIELD["counts of a census"]).summary
    assert "3 people in the table" in census
    assert "2 people in volunteers.csv left out an answer: not counted" in census
    excel = read(*FIELD["Excel in Germany"]).summary
    assert "targets.csv was read as Windows-1252: line 3 has “Mädchen”" in excel
    assert "targets.csv: Gender adds up to 101, not 100, which was put down to rounding" in excel
    notes = read(*FIELD["OpenDLP"]).summary
    assert "targets.csv, line 8 was left out: “Soft targets are marked with a star”" in notes


def test_read_assembly_counts_ages_from_the_year_of_the_assembly(read):
    people = "Gender,Age\nFemale,1997\nMale,52\nMale,80\n"
    targets = FIELD["counts of a census"][0]
    for year, young in ((2026, 1 / 3), (2027, 0)):
        if young:
            problem = read(targets, people, year=year).problem
            assert problem.presence[2] == pytest.approx(young)
        else:
            with pytest.raises(BadFile, match="nobody has Age '16-29'"):
                read(targets, people, year=year)

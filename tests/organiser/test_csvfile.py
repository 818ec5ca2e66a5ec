"""A CSV file: what cannot be mistaken works, what is wrong is said with the line."""

from __future__ import annotations

import pytest

from callers import PEOPLE, RANGES, TARGETS
from organiser.csvfile import MAX_COMPLAINTS_SHOWN, BadFile, CsvFile, same_word


@pytest.fixture
def file(tmp_path):
    """A file with this content."""

    def file(content):
        path = tmp_path / "wrong.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return CsvFile(path)

    return file


BROKEN = {
    "empty": ("", "is empty"),
    "only commas": (",,\n,,\n", "is empty"),
    "only quotes": ('""\n', "is empty"),
    "header alone": ("feature,value,share\n", "has a header and no rows"),
    "no encoding that we know": (
        TARGETS.replace("female", "f\x81r").encode("latin-1"),
        "line 2 is not UTF-8; save it as “CSV UTF-8”",
    ),
    "a spreadsheet": (b"PK\x03\x04" + bytes(50), "is a spreadsheet, not a CSV file"),
    "no text": (TARGETS.encode() + bytes(3), "is not a text file"),
    "an open quote": (
        TARGETS.replace("male,0.5\nage", '"male,0.5\nage', 1),
        "line 6: unexpected end of data",
    ),
    "a comma too many": (
        PEOPLE.replace("Bob,", "Smith, Bob,"),
        "line 3 has 4 cells, the header only 3; put words with a comma in double quotes",
    ),
    "decimal commas": (
        "feature,value,target\ngender,female,0,5\n",
        "line 2 has 4 cells, the header only 3; put words with a comma in double quotes, "
        "and write a point in numbers",
    ),
    "a cell too many between semicolons": (
        TARGETS.replace(",", ";").replace("female;", "female;;", 1),
        "line 2 has 4 cells, the header only 3",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_csv_file_says_what_is_wrong(file, name):
    content, sentence = BROKEN[name]
    with pytest.raises(BadFile) as caught:
        file(content)
    assert str(caught.value).startswith(f"wrong.csv: {sentence}")


def test_csv_file_that_is_not_there(tmp_path):
    with pytest.raises(BadFile, match=r"no_such\.csv: cannot be read \(No such file"):
        CsvFile(tmp_path / "no_such.csv")
    with pytest.raises(BadFile, match="cannot be read"):
        CsvFile(tmp_path)


NUMBERS = {
    "two fifths": "is not a number",
    "nan": "is not a number",
    "1,000,000": "is not a number",
    "0,4": "has a comma; write a point",
    "-0.4": "is negative",
    "1e400": "is too large",
}


@pytest.mark.parametrize("text", NUMBERS)
def test_number_says_what_is_wrong(file, text):
    with pytest.raises(BadFile) as caught:
        file(TARGETS.replace("0.4", f'"{text}"')).per_value(["target"], "")
    assert str(caught.value) == f"wrong.csv: line 6: the target {text!r} {NUMBERS[text]}"


def test_number_between_semicolons(file):
    """There a comma is a decimal comma, unless it could stand between thousands."""
    found = file(TARGETS.replace(",", ";").replace("0.", "0,")).per_value(["target"], "")
    assert found["target"].tolist() == [0.5, 0.5, 0.3, 0.3, 0.4]
    with pytest.raises(BadFile, match="line 2: the max '1,000' has a comma; write a point"):
        file(RANGES.replace(",", ";").replace("9;11", "9;1,000", 1)).per_value(["max"], "")


def test_number_that_is_missing(file):
    with pytest.raises(BadFile, match="line 3: the target is missing"):
        file(TARGETS.replace("male,0.5\nage", "male,\nage")).per_value(["target"], "")


@pytest.mark.parametrize("text", ["1,00", "1.000", "0.5", "-1", "", "many", "1" * 13])
def test_count_says_what_is_wrong(file, text):
    found = file("gender\nfemale\n")
    assert found.count(2, "12") == 12
    assert found.count(2, "1,000") == found.count(2, "1'000") == 1000
    assert found.count(2, text) == 0
    with pytest.raises(BadFile) as caught:
        found.stop_if_bad()
    assert str(caught.value) == f"wrong.csv: line 2: the count {text!r} is not a whole number " + (
        "such as 1000"
    )


def test_require_names_what_is_missing_and_what_is_there(file):
    found = file("featuer,value,Value\ngender,female,0.5\n")
    with pytest.raises(BadFile) as caught:
        found.require(["feature", "value"], "the columns feature, value")
    assert str(caught.value).splitlines() == [
        "wrong.csv: there is no column 'feature'; expected the columns feature, value, "
        "found featuer, value, value",
        "wrong.csv: the column 'value' appears 2 times",
    ]


def test_per_value_keeps_the_first_spelling(file):
    found = file("feature,value,share\nAge_group,Under  30,0.5\nage GROUP,Over,0.5\n")
    frame = found.per_value(["share"], "")
    assert list(frame.index) == [("Age_group", "Under 30"), ("Age_group", "Over")]
    assert frame["line"].tolist() == [2, 3]


def test_per_value_refuses_repeated_and_missing_words(file):
    with pytest.raises(BadFile, match="line 7: gender 'female' is already on line 2"):
        file(TARGETS + "Gender,FEMALE,0.5\n").per_value(["target"], "")
    for old, new, missing in (("age,55+", "age,", "value"), ("age,55+", ",55+", "feature")):
        with pytest.raises(BadFile, match=f"line 6: the {missing} is missing"):
            file(TARGETS.replace(old, new)).per_value(["target"], "")


def test_csv_file_keeps_separators_of_lines_within_cells(file):
    text = "feature,value,target\ngender,fe\u2028male,0.5\ngender,male,x\n"
    with pytest.raises(BadFile, match=r"wrong\.csv: line 3: the target 'x' is not a number"):
        file(text).per_value(["target"], "")


def test_bad_file_shows_some_complaints_and_counts_the_rest():
    many = [f"complaint {n}" for n in range(MAX_COMPLAINTS_SHOWN + 3)]
    shown = str(BadFile(many)).splitlines()
    assert shown == [*many[:MAX_COMPLAINTS_SHOWN], "and 3 more like these"]
    assert BadFile(many)._render_traceback_() == shown
    assert str(BadFile(many[:2])) == "complaint 0\ncomplaint 1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Age", " AGE "),
        ("age group", "age_group"),
        ("18-34", "18–34"),
        ("caf\u00e9", "cafe\u0301"),
        ("don't know", "Don’t  know"),
    ],
)
def test_same_word_forgives(one, other):
    assert same_word(one) == same_word(other)

"""A CSV file that a person has made: its rows with their line numbers, and what is wrong with it.

What cannot be mistaken is forgiven: a byte-order mark, empty lines, spaces, capital letters, kinds
of dashes, and semicolons or tabs between columns, with which commas may stand in numbers. What can
be guessed is guessed, and said: an old encoding, a title above the header, rows that are notes or
totals. All else is refused, with a sentence that names the file and the line.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from committees.checks import MAX_SEATS

#: So many complaints about one file are shown; further ones are only counted.
MAX_COMPLAINTS_SHOWN = 10

#: How files of other selection software call features and their values, and we: feature, value.
PAIRS = [("feature", "value"), ("category", "category value"), ("category", "feature")]
PAIRS += [("category", "value"), ("category", "name"), ("feature", "name")]
#: Columns that say what share a value has, of the committee or of the volunteers.
SHARES = ("target", "share", "percent", "percentage", "count", "seats", "people", "population")
COUNTS = SHARES[4:]
#: Other names of columns.
ALIASES = {"minimum": "min", "maximum": "max", "%": "percent"}
#: The first words of rows that add up the others.
TOTALS = ("total", "totals", "sum", "overall", "gesamt", "summe")

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"\d*,\d+")
COMMA_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+")
THOUSANDS = re.compile(r"[1-9]\d{0,2}([,' ]\d{3})+")


class BadFile(ValueError):
    """What is wrong with a file, a sentence each."""

    def __init__(self, complaints: Sequence[str]) -> None:
        shown = list(complaints[:MAX_COMPLAINTS_SHOWN])
        if len(complaints) > len(shown):
            shown.append(f"and {len(complaints) - len(shown)} more like these")
        super().__init__("\n".join(shown))

    def _render_traceback_(self) -> list[str]:
        """A notebook shows the sentences alone."""
        return str(self).split("\n")


class CsvFile:
    """A CSV file with its line numbers, and what is wrong with it.

    Attributes
    ----------
    name : str
        The file's name without its folder, for messages.
    header : list of str
        The names of the columns, as `same_word` makes them.
    rows : list of (int, dict)
        For each row that is not empty, its line in the file and its cells by column.
    notes : list of str
        What was guessed or left out, a sentence each.
    """

    def __init__(self, path: str | Path) -> None:
        self.name = Path(path).name
        self.header: list[str] = []
        self.rows: list[tuple[int, dict[str, str]]] = []
        self.notes: list[str] = []
        self._complaints: list[str] = []
        self._separator = ","
        self._read(self._decode(Path(path)))
        self.stop_if_bad()

    def complain(self, sentence: str) -> None:
        """Note something that is wrong."""
        self._complaints.append(f"{self.name}: {sentence}")

    def stop_if_bad(self) -> None:
        """Raise `BadFile` if anything was wrong so far."""
        if self._complaints:
            raise BadFile(self._complaints)

    def refuse(self, sentence: str) -> BadFile:
        """What to raise if nothing more can be read."""
        return BadFile([f"{self.name}: {sentence}"])

    def _decode(self, path: Path) -> str:
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise self.refuse(f"cannot be read ({error.strerror})") from None
        if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            raise self.refuse("is a spreadsheet, not a CSV file; save it as “CSV UTF-8”")
        wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
        try:
            text = raw.decode("utf-16" if wide else "utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            try:
                text = raw.decode("cp1252")
            except UnicodeDecodeError:
                told = f"line {line} is not UTF-8; save it as “CSV UTF-8”"
                raise self.refuse(told) from None
            word = next(word for word in re.split(r"[\s,;]", text) if not word.isascii())
            self.notes.append(f"{self.name} was read as Windows-1252: line {line} has “{word}”")
        if "\0" in text:
            raise self.refuse("is not a text file; save it as “CSV UTF-8”")
        return text

    def _read(self, text: str) -> None:
        lines = list(io.StringIO(text, newline=""))  # other line separators may stand in cells
        first = next((line for line in lines if line.strip(" ,;\t\r\n")), "")
        # Where a comma stands in numbers, spreadsheets separate columns by something else.
        if named := re.fullmatch(r"sep=(.)\s*", first):
            lines[lines.index(first)] = "\n"
            self._separator = named[1]
        else:
            marks = [mark for mark in ";\t" if mark in first and "," not in first]
            self._separator = marks[0] if marks else ","
        reader = csv.reader(lines, strict=True, delimiter=self._separator)
        try:
            cells = [(reader.line_num, [_tidy(cell) for cell in row]) for row in reader]
        except csv.Error as error:
            raise self.refuse(f"line {reader.line_num}: {error}") from None
        rows = [(line, row) for line, row in cells if any(row)]
        if not rows:
            raise self.refuse("is empty")
        while len(rows) > 1 and _filled(rows[0][1]) == 1 < _filled(rows[1][1]):
            line, cells_above = rows.pop(0)
            title = next(filter(None, cells_above))
            self.notes.append(f"{self.name}, line {line} was taken for a title: “{title}”")
        _, header = rows.pop(0)
        self.header = _columns([same_word(name) for name in header])
        for line, row in rows:
            if any(row[len(header) :]):
                told = f"line {line} has {len(row)} cells, the header only {len(header)}"
                hint = "; put words with a comma in double quotes, and write a point in numbers"
                self.complain(told + hint if self._separator == "," else told)
            padded = row + [""] * (len(header) - len(row))
            self.rows.append((line, dict(zip(self.header, padded, strict=False))))
        if not rows:
            self.complain("has a header and no rows")

    def require(self, columns: Iterable[str], expected: str) -> None:
        """Refuse the file if one of these columns is missing, or appears more than once."""
        for column in columns:
            times = self.header.count(column)
            if times > 1:
                self.complain(f"the column {column!r} appears {times} times")
            elif not times:
                found = ", ".join(self.header)
                self.complain(f"there is no column {column!r}; expected {expected}, found {found}")
        self.stop_if_bad()

    def number(self, line: int, column: str, text: str) -> float:
        """A number of at least zero; otherwise a complaint, and 0."""
        where = f"line {line}: the {column}"
        if column in COUNTS and text:
            return self.count(line, text, column)
        if self._separator != "," and not COMMA_THOUSANDS.fullmatch(text):
            text = text.replace(",", ".", 1)
        digits = text.removesuffix("%").rstrip()
        if not text:
            self.complain(f"{where} is missing")
        elif DECIMAL_COMMA.fullmatch(digits):
            self.complain(f"{where} {text!r} has a comma; write a point")
        elif not NUMBER.fullmatch(digits):
            self.complain(f"{where} {text!r} is not a number")
        elif float(digits) < 0:
            self.complain(f"{where} {text!r} is negative")
        elif float(digits) > MAX_SEATS:
            self.complain(f"{where} {text!r} is too large")
        else:
            return float(digits) / (100 if text.endswith("%") else 1)
        return 0.0

    def count(self, line: int, text: str, column: str = "count") -> int:
        """A whole number of people; otherwise a complaint, and 0."""
        plain = re.sub("[,' ]", "", text) if THOUSANDS.fullmatch(text) else text
        if re.fullmatch(r"\d{1,12}", plain):
            return int(plain)
        self.complain(f"line {line}: the {column} {text!r} is not a whole number such as 1000")
        return 0

    def per_value(
        self, columns: Sequence[str], expected: str, optional: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Numbers for each value of each feature; rows without a value are notes.

        Returns
        -------
        DataFrame
            Indexed by (feature, value), each spelt as where it stands first; the columns that were
            asked for, those of the optional ones that are there, and `line`, where the numbers
            stand in the file.
        """
        self.require(["feature", "value", *columns], expected)
        columns = [*columns, *(name for name in optional if name in self.header)]
        found: dict[tuple[str, str], list[float]] = {}
        spelt: dict[tuple[str, ...], str] = {}
        for line, row in self.rows:
            words = same_word(row["feature"]), same_word(row["value"])
            is_total = any(word.split(" ")[0].rstrip(":") in TOTALS for word in words)
            if is_total or not (all(words) or any(row[name] for name in columns)):
                shown = ", ".join(filter(None, row.values()))
                self.notes.append(f"{self.name}, line {line} was left out: “{shown}”")
                continue
            if missing := [name for name in ("feature", "value") if not row[name]]:
                self.complain(f"line {line}: the {missing[0]} is missing")
                continue
            feature = spelt.setdefault(words[:1], row["feature"])
            value = spelt.setdefault(words, row["value"])
            numbers = [self.number(line, column, row[column]) for column in columns]
            if (feature, value) in found:
                first = found[feature, value][-1]
                self.complain(f"line {line}: {feature} {value!r} is already on line {first}")
            found.setdefault((feature, value), [*numbers, line])
        self.stop_if_bad()
        index = pd.MultiIndex.from_tuples(list(found), names=["feature", "value"])
        return pd.DataFrame(list(found.values()), index, [*columns, "line"])


def _filled(cells: list[str]) -> int:
    return sum(map(bool, cells))


def _columns(header: list[str]) -> list[str]:
    """The names of columns as we call them; a table of people keeps its own.

    >>> _columns(["category", "feature", "min", "max"])
    ['feature', 'value', 'min', 'max']
    """
    header = [ALIASES.get(name, name) for name in header]
    if not {"min", *SHARES} & {*header}:
        return header
    pair = next((pair for pair in PAIRS if {*pair} <= {*header}), PAIRS[0])
    names = dict(zip(pair, PAIRS[0], strict=True))
    return [names.get(name, name) for name in header]


def _tidy(cell: str) -> str:
    """A cell without needless spaces, its letters composed in one way."""
    return " ".join(unicodedata.normalize("NFKC", cell).split())


def same_word(word: str) -> str:
    """What makes two spellings the same word.

    >>> same_word(" Age_Group ") == same_word("age group")
    True
    """
    plain = _tidy(word.replace("_", " ")).replace("’", "'")
    return re.sub("[‐-―−]", "-", plain).casefold()


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """What is said of a word that is not among those known.

    >>> unknown("value", "x", ["a", "b", "c"])
    "unknown value 'x'; expected a, b or c"
    """
    *most, last = known
    expected = f"{', '.join(most)} or {last}" if most else last
    return f"unknown {what} {word!r}; expected {expected}"


def harmless(word: str) -> str:
    """A word that a spreadsheet takes for a word, whatever it begins with.

    >>> harmless("=1+1"), harmless("+44 20"), harmless("Ann")
    ("'=1+1", "'+44 20", 'Ann')
    """
    return f"'{word}" if word[:1] in tuple("=+-@\t\r") and word[1:] else word

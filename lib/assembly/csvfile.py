"""A CSV file that a person has made: its rows with their line numbers, and what is wrong with it.

What cannot be mistaken is forgiven: a byte-order mark, empty lines, spaces, capital letters, kinds
of dashes, and semicolons between columns, with which commas may stand in numbers. What can be is
refused, with a sentence that names the file and the line.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from committees.checks import MAX_SEATS

#: So many complaints about one file are read; more are counted.
PATIENCE = 10

#: What older files call the same columns.
ALIASES = {"category": "feature", "name": "value"}


#: Where each value of each feature is spoken of.
Lines = dict[tuple[str, str], int]


class BadFile(ValueError):
    """What is wrong with a file, a sentence each."""

    def __init__(self, complaints: list[str]) -> None:
        self.complaints = complaints
        more = len(complaints) - PATIENCE
        rest = [f"and {more} more like these"] if more > 0 else []
        super().__init__("\n".join(complaints[:PATIENCE] + rest))

    def _render_traceback_(self) -> list[str]:
        """A notebook shows the sentences alone."""
        return str(self).split("\n")


class Table:
    """A CSV file: its header, its rows with their line numbers, and what is wrong with it."""

    def __init__(self, path: str | Path) -> None:
        self.name = Path(path).name
        self.complaints: list[str] = []
        self.header: list[str] = []
        self.rows: list[tuple[int, dict[str, str]]] = []
        self._read(self._text(Path(path)))
        self.stop_if_bad()

    def complain(self, sentence: str) -> None:
        self.complaints.append(f"{self.name}: {sentence}")

    def stop_if_bad(self) -> None:
        if self.complaints:
            raise BadFile(self.complaints)

    def _fail(self, sentence: str) -> BadFile:
        return BadFile([f"{self.name}: {sentence}"])

    def _text(self, path: Path) -> str:
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise self._fail(f"cannot be read ({error.strerror})") from None
        if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            raise self._fail("is a spreadsheet, not a CSV file; save it as “CSV UTF-8”")
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise self._fail(f"line {line} is not UTF-8; save it as “CSV UTF-8”") from None
        if "\0" in text:
            raise self._fail("is not a text file; save it as “CSV UTF-8”")
        return text

    def _read(self, text: str) -> None:
        lines = list(io.StringIO(text, newline=""))  # other separators of lines are left to cells
        first = next((line for line in lines if line.strip(" ,;\t\r\n")), None)
        if first is None:
            raise self._fail("is empty")
        # Where a comma stands in numbers, spreadsheets separate columns by something else.
        self._mark = next((mark for mark in ";\t" if mark in first and "," not in first), ",")
        reader = csv.reader(lines, strict=True, delimiter=self._mark)
        try:
            cells = [
                (reader.line_num, [unicodedata.normalize("NFKC", cell).strip() for cell in row])
                for row in reader
            ]
        except csv.Error as error:
            raise self._fail(f"line {reader.line_num}: {error}") from None
        full = [(line, row) for line, row in cells if any(row)]
        self.header = [same_word(name) for name in full[0][1]]
        if {"min", "target", "share"} & set(self.header):
            self.header = [ALIASES.get(name, name) for name in self.header]
        for line, row in full[1:]:
            if any(row[len(self.header) :]):
                hint = "; put words with a comma in double quotes, and write a point in numbers"
                told = f"line {line} has {len(row)} cells, the header only {len(self.header)}"
                self.complain(told + (hint if self._mark == "," else ""))
            padded = row + [""] * (len(self.header) - len(row))
            self.rows.append((line, dict(zip(self.header, padded, strict=False))))
        if not self.rows and not self.complaints:
            self.complain("has a header and no rows")

    def once(self, columns: Iterable[str]) -> None:
        """Refuse columns that are there more than once."""
        for name in columns:
            if self.header.count(name) > 1:
                self.complain(f"the column {name!r} is there {self.header.count(name)} times")
        self.stop_if_bad()

    def number(self, line: int, text: str, column: str) -> float:
        """A number of at least zero; otherwise a complaint, and something harmless."""
        where = f"line {line}: the {column}"
        thousands = re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", text)
        if self._mark != "," and not thousands:
            text = text.replace(",", ".", 1)
        percent = text.endswith("%")
        if not text:
            self.complain(f"{where} is missing")
        elif re.fullmatch(r"\d*,\d+ ?%?", text):
            self.complain(f"{where} {text!r} has a comma; write a point")
        elif not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)? ?%?", text, re.IGNORECASE):
            self.complain(f"{where} {text!r} is not a number")
        elif float(text.rstrip("% ")) < 0:
            self.complain(f"{where} {text!r} is negative")
        elif float(text.rstrip("% ")) > MAX_SEATS:
            self.complain(f"{where} {text!r} is too large")
        else:
            return float(text.rstrip("% ")) / (100 if percent else 1)
        return 0.0

    def people(self, line: int, text: str) -> float:
        """A whole number of people; otherwise a complaint."""
        if re.fullmatch(r"\d{1,12}", text):
            return float(text)
        plain = re.sub(r"[,. ']", "", text)
        hint = f"; write {plain}" if re.fullmatch(r"\d{1,3}([,. ']\d{3})+", text) else ""
        self.complain(f"line {line}: the count {text!r} is no whole number of people{hint}")
        return 0.0

    def numbers(self, columns: list[str]) -> tuple[dict[str, dict[str, list[float]]], Lines]:
        """Numbers for each value of each feature, and the lines where they stand."""
        for column in ("feature", "value", *columns):
            if column not in self.header:
                expected = ", ".join(["feature", "value", *columns])
                if columns == ["target"]:
                    expected += " (or feature, value, min, max)"
                raise self._fail(
                    f"no column {column!r}{perhaps(column, self.header)}; expected {expected}"
                )
        self.once(["feature", "value", *columns])
        found: dict[str, dict[str, list[float]]] = {}
        lines: Lines = {}
        names: dict[str, str] = {}
        for line, row in self.rows:
            if not row["feature"] or not row["value"]:
                self.complain(
                    f"line {line}: the {'value' if row['feature'] else 'feature'} is missing"
                )
                continue
            feature = names.setdefault(same_word(row["feature"]), " ".join(row["feature"].split()))
            value = names.setdefault(
                f"{same_word(feature)}\0{same_word(row['value'])}", " ".join(row["value"].split())
            )
            if (feature, value) in lines:
                first = lines[feature, value]
                self.complain(f"line {line}: {feature} {value!r} is already on line {first}")
            lines.setdefault((feature, value), line)
            numbers = [self.number(line, row[column], column) for column in columns]
            found.setdefault(feature, {}).setdefault(value, numbers)
        self.stop_if_bad()
        return found, lines


def same_word(word: str) -> str:
    """What makes two spellings the same word."""
    plain = unicodedata.normalize("NFKC", word).replace("’", "'").replace("_", " ")
    return " ".join(re.sub("[‐-―−]", "-", plain).split()).casefold()


def perhaps(word: str, known: Iterable[str]) -> str:
    """A guess at what was meant, in brackets; nothing if none is close."""
    close = difflib.get_close_matches(same_word(word), [same_word(other) for other in known], n=1)
    return f" (is {close[0]!r} meant for it?)" if close else ""

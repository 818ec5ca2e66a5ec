"""The folder that a sweep leaves its results in.

    results.csv          all tables in one, with a column for each parameter that varies
    index.html           what was run, how it went, and the results
    runs/NAME.ipynb      the executed notebook of each run
    runs/NAME.csv        its table
    runs/NAME.json       its record, written last

A run is done when its record says so, for the same parameters, the same source of the notebook, the
same library, the same content of the files that parameters name, and an undamaged table. Only the
process that holds the folder's lock writes here, and each file at once. So whatever is killed, and
whenever, only the runs under way are lost.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import io
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from companion.sweep.grid import TABLE, Grid, Run
from companion.sweep.page import State, page
from companion.sweep.values import BadGrid, as_text, digest

#: The file that makes a folder ours, and that the sweep at work has locked: it names the process,
#: and the grid whose results are here.
LOCK = ".sweep"


@dataclass(frozen=True)
class Outcome:
    """What comes of a run: the executed notebook, and either its table or an error."""

    notebook: bytes = b""
    table: bytes = b""
    error: str = ""
    cell: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Record:
    """What is remembered of a run; fingerprints of files, the notebook and the like."""

    parameters: dict[str, Any]
    files: dict[str, str]
    notebook: str
    library: str
    table: str
    error: str
    cell: int | None
    seconds: float

    def __str__(self) -> str:
        if not self.error:
            return "done"
        return f"In [{self.cell}]: {self.error}" if self.cell else self.error


@dataclass(frozen=True)
class Folder:
    """The results of a grid, as far as there are any."""

    path: Path
    grid: Grid

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep others out; whatever happens to us, the system lets them in."""
        try:
            if self.path.is_dir() and any(self.path.iterdir()) and not self._lock.exists():
                raise BadGrid(f"output: {self.path} holds other files; choose a new folder")
            self.path.mkdir(parents=True, exist_ok=True)
            lock = self._lock.open("a+")  # the first file: from now on the folder is ours
        except OSError as error:
            raise BadGrid(f"output: {self.path} cannot be used: {error.strerror}") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                other = f"another sweep (process {_lines(lock)[0]}) is at work"
                raise BadGrid(f"output: {other} in {self.path}; wait for it") from None
            grid = os.path.relpath(self.grid.path.resolve(), self.path)
            _, owner = _lines(lock)
            if owner not in ("", grid):
                theirs = (self.path / owner).resolve()
                raise BadGrid(
                    f"output: {self.path} holds the results of another grid, {theirs}; "
                    "choose another folder"
                )
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n{grid}\n")
            lock.flush()
            (self.path / "runs").mkdir(exist_ok=True)
            yield

    def why(self, run: Run) -> str:
        """Why this run is to be done; empty if it is done."""
        record = self.record(run)
        if record is None:
            return "to do"
        if digest(record.parameters) != digest(dict(run.parameters)):
            return "was run with other parameters"
        if record.notebook != self.grid.digest:
            return "the notebook has changed"
        if record.library != self.grid.library:
            return "the library or its data have changed"
        for name in sorted(record.files.keys() | run.files.keys()):
            if record.files.get(name) != run.files.get(name):
                return f"the file {name!r} has changed"
        if record.error:
            return f"failed: {first_line(str(record))}"
        if record.table != _sha256(contents(self._file(run, "csv"))):
            return "its table is missing or damaged"
        return "" if self._file(run, "ipynb").exists() else "its notebook is missing"

    def record(self, run: Run) -> Record | None:
        """What is remembered of a run."""
        try:
            return Record(**json.loads(contents(self._file(run, "json"))))
        except (TypeError, ValueError):
            return None

    def keep(self, run: Run, outcome: Outcome) -> None:
        """Keep what came of a run; the record last, since it vouches for the rest."""
        table = b"" if outcome.error else outcome.table
        record = Record(
            dict(run.parameters),
            dict(run.files),
            self.grid.digest,
            self.grid.library,
            _sha256(table),
            outcome.error,
            outcome.cell,
            outcome.seconds,
        )
        for kind, content in (("ipynb", outcome.notebook), ("csv", table)):
            if content:
                _write(self._file(run, kind), content)
            else:
                self._file(run, kind).unlink(missing_ok=True)
        _write(self._file(run, "json"), json.dumps(asdict(record), indent=1).encode() + b"\n")

    def gather(self) -> pd.DataFrame:
        """Put the tables of the runs that are done into one, as text: no digit changes."""
        done = [run for run in self.grid.runs if not self.why(run)]
        tables = [rows_of(contents(self._file(run, "csv"))) for run in done]
        columns = list(dict.fromkeys(name for header, *_ in tables for name in header))
        labels = {name: _apart(name, columns) for name in self.grid.runs[0].labels}
        text = io.StringIO()
        writer = csv.DictWriter(text, [*labels.values(), *columns], lineterminator="\n")
        writer.writeheader()
        for run, (header, *rows) in zip(done, tables, strict=True):
            own = {labels[name]: as_text(value) for name, value in run.labels.items()}
            writer.writerows(own | dict(zip(header, row, strict=True)) for row in rows)
        results = self.path / "results.csv"
        _write(results, text.getvalue().encode())
        shown = pd.read_csv(results, dtype=str, keep_default_na=False)
        states = map(self._state, self.grid.runs)
        _write(self.path / "index.html", page(self.grid, states, shown).encode())
        return pd.read_csv(results, keep_default_na=False, na_values=[""])

    def _state(self, run: Run) -> State:
        record, notebook = self.record(run), self._file(run, "ipynb")
        return State(
            words=str(record or "lost"),
            done=record is not None and not record.error,
            seconds=f"{record.seconds:.1f}" if record else "",
            notebook=f"runs/{notebook.name}" if notebook.exists() else "",
        )

    @property
    def _lock(self) -> Path:
        return self.path / LOCK

    def _file(self, run: Run, kind: str) -> Path:
        return self.path / "runs" / f"{run.name}.{kind}"


def rows_of(table: bytes) -> list[list[str]]:
    """The rows of a CSV file, the header first; a `ValueError` if it is not one."""
    if not table:
        raise ValueError(f"no table; does it call leave({TABLE}, ...)?")
    try:
        rows = list(csv.reader(io.StringIO(table.decode(), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"a table that is not CSV: {error}") from None
    names = rows[0]
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise ValueError(f"a table with {len(names)} columns, but {len(row)} in row {number}")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"a table with the columns {names}, expected different ones")
    return rows


def _apart(name: str, columns: Collection[str]) -> str:
    """What a parameter's column is called, so that no column of the tables is called the same."""
    return _apart(f"parameter {name}", columns) if name in columns else name


def contents(path: Path) -> bytes:
    """What is in a file; nothing if there is none."""
    return path.read_bytes() if path.exists() else b""


def first_line(text: str) -> str:
    """The first line of a text."""
    return text.partition("\n")[0]


def _write(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    os.replace(part, path)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _lines(lock: TextIO) -> tuple[str, str]:
    """What the lock's file says: the process, and the grid."""
    lock.seek(0)
    process, _, grid = lock.read().partition("\n")
    return process.strip(), grid.strip()

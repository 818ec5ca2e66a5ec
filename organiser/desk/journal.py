"""A journal that survives being killed: an SQLite file with one transaction for each record.

A record is on disk when `Journal.append` returns. What was being written when the machine stopped
is rolled back by SQLite when the file is opened again. While a journal is open the file is locked;
the operating system unlocks it when the process ends, however it ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

Record = dict[str, Any]

#: SQLite takes a file of a single byte for an empty one; a journal is never as small as this.
MIN_JOURNAL_BYTES = 512

#: A table name that no file of another program has.
TABLE = "desk_records"

NOT_OURS = "is not the journal of a desk; choose another name"
REASONS = {sqlite3.SQLITE_NOTADB: NOT_OURS, sqlite3.SQLITE_BUSY: "is in use by another desk"}


def fingerprints(records: list[Record]) -> list[str]:
    """The fingerprint of a journal after each of its records: of all records until then."""
    made, found = hashlib.sha256(), list[str]()
    for record in records:
        made.update(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        found.append(made.hexdigest())
    return found


def number_of(record: Record) -> int:
    """The number of the caller whose person a record is about."""
    return int(record.get("caller") or record["corrected"])


class JournalError(RuntimeError):
    """The journal cannot be used; the sentence says why, and what to do."""


class Journal:
    """Records that are on disk when `append` returns.

    Parameters
    ----------
    path : str or Path
        The file; it is made if it does not exist.

    Attributes
    ----------
    path : Path
    records : list of dict
        What is in the file, in the order in which it was written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        size = self.path.stat().st_size if self.path.is_file() else 0
        if 0 < size < MIN_JOURNAL_BYTES or (self.path.exists() and not self.path.is_file()):
            raise JournalError(f"{self.path}: {NOT_OURS}")
        try:
            if not self.path.exists():  # for nobody else's eyes
                os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
            self._database = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            told = getattr(error, "strerror", None) or error
            raise JournalError(f"{self.path}: cannot be opened ({told})") from None
        try:
            self.records = self._open()
        except sqlite3.Error as error:
            self.close()
            reason = REASONS.get(error.sqlite_errorcode, f"cannot be opened ({error})")
            raise JournalError(f"{self.path}: {reason}") from None
        self._identity = os.stat(self.path)

    def _open(self) -> list[Record]:
        """Lock the file, make its table if it is new, and read it."""
        run = self._database.execute
        run("PRAGMA locking_mode=exclusive")
        run("PRAGMA synchronous=extra")
        run("BEGIN EXCLUSIVE")
        tables = run("SELECT name FROM sqlite_master").fetchall()
        if tables not in ([], [(TABLE,)]):
            self.close()  # nothing was changed
            raise JournalError(f"{self.path}: {NOT_OURS}")
        run(f"CREATE TABLE IF NOT EXISTS {TABLE} (number INTEGER PRIMARY KEY, record TEXT)")
        rows = run(f"SELECT record FROM {TABLE} ORDER BY number").fetchall()
        run("COMMIT")
        try:
            records = [dict(json.loads(text)) for (text,) in rows]
        except (ValueError, TypeError):
            self.close()
            raise JournalError(f"{self.path}: is damaged, or no journal of a desk") from None
        return records

    def append(self, record: Record) -> None:
        """Write a record; when this returns, it is on disk."""
        text = json.dumps(record, ensure_ascii=False)
        try:
            if not os.path.samestat(os.stat(self.path), self._identity):
                raise FileNotFoundError(None, "this is another file now")
            self._database.execute(f"INSERT INTO {TABLE} (record) VALUES (?)", (text,))
            self.records.append(json.loads(text))
        except sqlite3.ProgrammingError:
            raise JournalError(f"{self.path}: is closed; open the journal again") from None
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise JournalError(
                f"{self.path}: could not be written ({getattr(error, 'strerror', error)}); this "
                "decision does not count, open the journal again"
            ) from None

    @property
    def head(self) -> str:
        """The fingerprint of all records."""
        return fingerprints(self.records)[-1]

    def replace(self, records: list[Record]) -> None:
        """Put these records in the place of all others, of which nothing is left in the file."""
        run = self._database.execute
        run("PRAGMA secure_delete=on")
        run("BEGIN")
        run(f"DELETE FROM {TABLE}")
        for record in records:
            text = json.dumps(record, ensure_ascii=False)
            run(f"INSERT INTO {TABLE} (record) VALUES (?)", (text,))
        run("COMMIT")
        run("VACUUM")
        self.records = records

    def close(self) -> None:
        """Close the file, and let others have it."""
        self._database.close()

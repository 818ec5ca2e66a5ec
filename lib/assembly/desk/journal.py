"""A journal that survives being killed: one JSON record a line, on disk before it counts.

Every line carries a check of itself and of all lines before it, so that a change, a missing line or
a line cut short is noticed. A line without its end was being written when the power failed: nobody
was told of it, and it may be removed, but only if asked to. Anything else is not for us to guess.

The file is locked while it is open; the operating system unlocks it when the process ends, however
it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

Record = dict[str, Any]

#: How a desk's journal begins.
BEGINNING = b'{"desk": '


class JournalError(RuntimeError):
    """The journal cannot be used; the sentence says why, and what to do."""


class Journal:
    """Records that are on disk when `append` returns.

    Parameters
    ----------
    path
        The file; it is made if it does not exist.
    repair
        Whether to remove a last line that was cut short.
    """

    def __init__(self, path: str | Path, *, repair: bool = False) -> None:
        self.path = Path(path)
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise JournalError(f"{self.path}: cannot be opened ({error.strerror})") from None
        try:
            self._lock()
            self._check = ""
            self._end = 0
            self.records = self._read(repair)
            _sync_folder(self.path.parent)
        except BaseException:
            self.close()
            raise

    def append(self, record: Record) -> None:
        """Write a record; when this returns, it is on disk."""
        self.check_open()
        now = os.fstat(self._file)
        if now.st_nlink == 0 or now.st_size != self._end:
            self.close()
            raise JournalError(f"{self.path}: was changed or removed by somebody else")
        line, check = _line(record, self._check)
        try:
            _write(self._file, line)
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._end)
            self.close()
            raise JournalError(
                f"{self.path}: could not be written ({error.strerror}); this decision does not "
                "count, open the journal again"
            ) from None
        self._check = check
        self._end += len(line)
        self.records.append(record)

    def check_open(self) -> None:
        """Refuse a journal that was closed."""
        if self._file < 0:
            raise JournalError(f"{self.path}: is closed; open the journal again")

    def close(self) -> None:
        """Close the file, and let others have it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalError(f"{self.path}: is in use by another desk") from None

    def _read(self, repair: bool) -> list[Record]:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise JournalError(f"{self.path}: is not a file")
        content = self.path.read_bytes()
        if content and not content.startswith(BEGINNING[:1]):
            raise JournalError(f"{self.path}: is not a journal")
        *lines, rest = content.split(b"\n")
        records = []
        for number, text in enumerate(lines, 1):
            record = _parse(text)
            line, check = _line(record, self._check)
            if line != text + b"\n":
                raise JournalError(
                    f"{self.path}, line {number}: is damaged, or something before it was changed; "
                    "go back to a copy of the journal"
                )
            records.append(record)
            self._check = check
        self._end = len(content) - len(rest)
        if rest and not records and not rest.startswith(BEGINNING[: len(rest)]):
            raise JournalError(f"{self.path}: is not a journal")
        if rest and not repair:
            raise JournalError(
                f"{self.path}, line {len(lines) + 1}: is cut short; it was being written when the "
                "machine stopped, and its decision was never announced; open the journal with "
                "repair to remove it"
            )
        if rest:
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)
        return records


def _line(record: Record, before: str) -> tuple[bytes, str]:
    body = json.dumps(record, ensure_ascii=False)
    check = hashlib.sha256((before + body).encode()).hexdigest()[:16]
    return f"{json.dumps({**record, 'check': check}, ensure_ascii=False)}\n".encode(), check


def _parse(text: bytes) -> Record:
    """The record of a line, without its check; an empty one if it makes no sense."""
    try:
        record = json.loads(text)
    except ValueError:
        return {}
    return {k: v for k, v in record.items() if k != "check"} if isinstance(record, dict) else {}


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _sync_folder(folder: Path) -> None:
    """Have the file's name on disk as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

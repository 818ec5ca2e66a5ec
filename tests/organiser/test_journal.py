"""The journal: what was appended is there, and a file of another kind is left alone."""

from __future__ import annotations

import inspect
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from organiser.desk.journal import Journal, JournalError

RECORDS = [{"size": 2, "seed": 2**64 - 1}, {"caller": 1, "person": {"âge": "65+"}}]


@pytest.fixture
def written(tmp_path):
    """A journal with two records."""
    path = tmp_path / "a.journal"
    journal = Journal(path)
    for record in RECORDS:
        journal.append(record)
    journal.close()
    return path


def test_journal_keeps_what_was_appended(written):
    journal = Journal(written)
    assert journal.records == RECORDS
    journal.append({"caller": 2})
    journal.close()
    again = Journal(written)
    again.close()
    assert again.records == [*RECORDS, {"caller": 2}]
    assert [path.name for path in written.parent.iterdir()] == ["a.journal"]


def test_journal_is_durable_and_one_transaction_a_record(written):
    """Nothing is buffered: an append ends its transaction, with everything synchronised."""
    journal = Journal(written)
    journal.append({"caller": 2})
    assert not journal._database.in_transaction
    (synchronous,) = journal._database.execute("PRAGMA synchronous").fetchone()
    assert synchronous == 3  # extra
    journal.close()


def test_journal_is_not_changed_by_being_opened(written):
    before = written.read_bytes()
    Journal(written).close()
    assert written.read_bytes() == before


def test_journal_refuses_a_second_desk(written):
    first = Journal(written)
    with pytest.raises(JournalError, match=r"a\.journal: is in use by another desk"):
        Journal(written)
    source = inspect.getsourcefile(Journal)
    code = f"import runpy; runpy.run_path({source!r})['Journal']({str(written)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "JournalError" in done.stderr
    assert "is in use by another desk" in done.stderr
    first.append({"caller": 2})
    first.close()
    Journal(written).close()


def database(path, mode):
    """A file that another program keeps in SQLite."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.execute("CREATE TABLE notes (text)")
    connection.execute("INSERT INTO notes VALUES ('mine')")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "content",
    [
        b"feature,value,target\n",
        b"\n",
        b"my notes, " * 1000,
        b'{"desk": 1, "size": 10}\n' * 40,
        bytes(5000),
        b"SQLite format 3\0" + bytes(1000),
        "delete",
        "wal",
    ],
)
def test_journal_leaves_alone_what_is_not_its_own(tmp_path, content):
    path = tmp_path / "notes"
    if isinstance(content, str):
        database(path, content)
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(JournalError, match="notes: is not the journal of a desk; choose another"):
        Journal(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["notes"]


def test_journal_refuses_what_is_no_file(tmp_path):
    for path in (Path(os.devnull), tmp_path):
        with pytest.raises(JournalError, match="is not the journal of a desk"):
            Journal(path)


def test_journal_that_cannot_be_opened(tmp_path):
    with pytest.raises(JournalError, match=r"cannot be opened \(No such file or directory\)"):
        Journal(tmp_path / "no such folder" / "a.journal")


def test_journal_may_begin_with_an_empty_file(tmp_path):
    """A process that was killed before its first record leaves one behind."""
    (tmp_path / "a.journal").touch()
    journal = Journal(tmp_path / "a.journal")
    assert journal.records == []
    journal.append({"size": 2})
    journal.close()


def test_journal_that_is_closed(written):
    journal = Journal(written)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="is closed; open the journal again"):
        journal.append({"caller": 2})


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_journal_that_somebody_else_removes_takes_no_records(written, how):
    journal = Journal(written)
    written.unlink()
    if how == "replaced":
        written.touch()
    for _ in range(2):
        with pytest.raises(JournalError, match=r"could not be written .* does not count"):
            journal.append({"caller": 2})


def test_journal_on_a_full_disk_keeps_what_it_has(written):
    """A limit on the number of pages is, for SQLite, a full disk."""
    journal = Journal(written)
    journal._database.execute("PRAGMA max_page_count=2")
    journal.append({"note": "short"})
    with pytest.raises(JournalError, match=r"could not be written \(database or disk is full\)"):
        journal.append({"note": "x" * 9000})
    again = Journal(written)
    again.close()
    assert again.records == [*RECORDS, {"note": "short"}]

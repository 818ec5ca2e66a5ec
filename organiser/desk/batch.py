"""Answers from a web form: decide about the new rows of a file, and write down all decisions."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pandas as pd

from organiser.csvfile import CsvFile, same_word
from organiser.desk.desk import Desk, this_year
from organiser.desk.state import NOT_STATED, State

COLUMNS = ["id", "caller", "decision", "reason"]


def decide_file(desk: Desk, answers: Path, decisions: Path) -> None:
    """Decide about the rows that were not decided before, in their order, by their id.

    What was decided about each row of the file, now or before, is written anew each time, so that
    nothing is lost if a run is cut short. All that could be wrong is looked at before.
    """
    file = CsvFile(answers)
    columns = {feature: same_word(feature) for feature in desk.state.problem.features}
    numbers = {caller.id: n for n, caller in desk.state.callers.items() if caller.id}
    _check_rows(file, columns, desk.state, numbers)
    _check_place(answers, decisions)
    before = _before(decisions)
    ids = {row["id"] for _, row in file.rows}
    rows = [row for id, row in before.items() if id not in ids]
    n_new = 0
    for _, row in file.rows:
        id = row["id"]
        if id in numbers:
            reason = before[id][-1] if id in before else "decided before"
            rows.append(_told(desk.state, id, numbers[id], reason))
        elif desk.state.is_full:
            why = f"all {desk.state.size} seats are filled"
            rows.append((id, "", "not decided", why))
        else:
            household = row.get("household", "") if "household" not in columns.values() else ""
            decision = desk.offer(_person(row, columns), id, household)
            rows.append(_told(desk.state, id, decision.number, decision.reason))
            n_new += 1
    _write(rows, decisions)
    print(f"{n_new} new rows. {desk}. What was decided stands in {decisions}.")


def _check_rows(
    file: CsvFile, columns: dict[str, str], state: State, numbers: dict[str, int]
) -> None:
    """Refuse a file in which any row cannot be decided about."""
    file.require(["id", *columns.values()], "an id, and a column per feature")
    lines: dict[str, int] = {}
    for line, row in file.rows:
        id = row["id"]
        first = lines.setdefault(id, line)
        if not id:
            file.complain(f"line {line}: the id is missing")
        elif first != line:
            file.complain(f"line {line}: the id {id!r} is already on line {first}")
        elif id not in numbers:
            try:
                state.read(_person(row, columns), this_year())
            except ValueError as error:
                file.complain(f"line {line}: {error}")
    file.stop_if_bad()


def _person(row: dict[str, str], columns: dict[str, str]) -> dict[str, str]:
    return {feature: row[column] or NOT_STATED for feature, column in columns.items()}


def _told(state: State, id: str, number: int, reason: str) -> tuple[str, ...]:
    """The row of somebody who was decided about."""
    word = "not accepted"
    if number in state.seats:
        word = "accepted"
    elif state.callers[number].accepted:
        word = "seat given back"
    return id, str(number), word, reason


def _write(rows: list[tuple[str, ...]], decisions: Path) -> None:
    """Write all decisions, completely or not at all."""
    temporary = _temporary(decisions)
    pd.DataFrame(rows, columns=COLUMNS).to_csv(temporary, index=False, lineterminator="\n")
    os.replace(temporary, decisions)


def _before(decisions: Path) -> dict[str, tuple[str, ...]]:
    """What a file of decisions says already, by id."""
    if not decisions.exists():
        return {}
    frame = pd.read_csv(decisions, dtype=str, keep_default_na=False)
    return {row[0]: row for row in frame.itertuples(index=False, name=None)}


def _temporary(decisions: Path) -> Path:
    return decisions.with_name(f".{decisions.name}.{os.getpid()}")


def _check_place(answers: Path, decisions: Path) -> None:
    """Refuse to write over anything but decisions, or where nothing can be written."""
    is_ours = False
    if decisions.exists():
        with suppress(ValueError, OSError):
            is_ours = list(pd.read_csv(decisions, nrows=0).columns) == COLUMNS
        if not is_ours or decisions.resolve() == answers.resolve():
            raise ValueError(f"{decisions}: exists, and is no file of decisions; choose another")
    temporary = _temporary(decisions)
    try:
        temporary.touch()
        temporary.unlink()
    except OSError as error:
        raise ValueError(f"{decisions}: cannot be written ({error.strerror})") from None

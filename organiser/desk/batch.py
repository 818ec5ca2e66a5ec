"""Answers from a web form: decide about the new rows of a file, and write down all decisions."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pandas as pd

from organiser.csvfile import CsvFile, same_word
from organiser.desk.desk import Desk, this_year

COLUMNS = ["id", "caller", "decision", "reason"]


def decide_file(desk: Desk, answers: Path, decisions: Path) -> None:
    """Decide about the rows that were not decided before, in their order, by their id.

    What was decided about each row of the file, now or before, is written anew each time, so that
    nothing is lost if a run is cut short. All that could be wrong is looked at before.
    """
    file, known = CsvFile(answers), {c.id: n for n, c in desk.callers.items() if c.id}
    features = {feature: same_word(feature) for feature in desk.problem.features}
    file.require(["id", *features.values()], "an id, and a column per feature")
    lines: dict[str, int] = {}
    for line, row in file.rows:
        first = lines.setdefault(row["id"], line)
        if not row["id"]:
            file.complain(f"line {line}: the id is missing")
        elif first != line:
            file.complain(f"line {line}: the id {row['id']!r} is already on line {first}")
        elif row["id"] not in known:
            try:
                desk.read({f: row[name] or "-" for f, name in features.items()}, this_year())
            except ValueError as error:
                file.complain(f"line {line}: {error}")
    file.stop_if_bad()
    _check_place(answers, decisions)
    before = _before(decisions)
    rows, new = [row for name, row in before.items() if name not in lines], 0
    for _, row in file.rows:
        name, number, reason = row["id"], known.get(row["id"]), "decided before"
        reason = before[name][-1] if name in before else reason
        if number is None:
            if desk.seated == desk.size:
                rows.append((name, "", "not decided", f"all {desk.size} seats are filled"))
                continue
            home = row.get("household", "") if "household" not in features.values() else ""
            decision = desk.offer({f: row[c] or "-" for f, c in features.items()}, name, home)
            number, reason, new = decision.number, decision.reason, new + 1
        word = "accepted" if number in desk.seats else "not accepted"
        if desk.callers[number].accepted and number not in desk.seats:
            word = "seat given back"
        rows.append((name, str(number), word, reason))
    temporary = _temporary(decisions)
    pd.DataFrame(rows, columns=COLUMNS).to_csv(temporary, index=False, lineterminator="\n")
    os.replace(temporary, decisions)
    print(f"{new} new rows. {desk}. What was decided stands in {decisions}.")


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

"""Read a journal as somebody who was not there: decide everything again, or forget the people."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assembly.desk.journal import Journal, JournalError, Record
from assembly.desk.plan import Plan
from assembly.desk.state import State


def verify(path: str | Path) -> tuple[str, str]:
    """Decide everything in a journal again, from its plan and its seed alone.

    Returns
    -------
    str, str
        The first difference, in words (empty if there is none); and the fingerprint of the journal.
    """
    journal = _open(path)
    first, *records = journal.records
    journal.close()
    if "forgotten" in first:
        return "its people were forgotten, so nothing can be decided again", journal.head
    state = State(Plan.read(first["plan"]), first["seed"])
    for position, record in enumerate(records, 2):
        try:
            wrong = _difference(state, record, position)
            if not wrong:
                state.take_in(record)
                wrong = "more seats than there are" if state.seated > state.size else ""
        except (KeyError, IndexError, ValueError, TypeError) as error:
            wrong = f"cannot be taken in ({type(error).__name__}: {error})"
        if wrong:
            return f"record {position}: {wrong}", journal.head
    return "", journal.head


def _difference(state: State, record: Record, position: int) -> str:
    """What a record says that was not so; empty if it could have happened."""
    if "caller" in record and record["caller"] != state.seen + 1:
        return f"caller {record['caller']} comes after caller {state.seen}"
    number = record.get("caller") or record.get("corrected")
    if number is None:
        number = record.get("withdrawn")
        return f"caller {number} has no seat" if number and number not in state.seats else ""
    words, type_ids = state.read(record["person"], 0)
    type_id = state.commonest(type_ids)
    if (record["type"], record["person"]) != (type_id, words):
        return f"caller {number} is not of the type that was written"
    if number in state.seats:
        return "" if record["accepted"] else f"caller {number} lost the seat"
    key = (number,) if "caller" in record else (number, position - 1)
    others = (state.callers[seat].household for seat in state.seats)
    has_seat = bool(record.get("household")) and record["household"] in others
    chance, coin = 0.0 if has_seat else state.chance(type_ids), state.coin(*key)
    if not np.allclose([record["chance"], record["coin"]], [chance, coin], rtol=1e-9, atol=1e-12):
        return f"caller {number} had a chance of {chance:g}, and the coin {coin:.6f}"
    is_so = record["accepted"] == (coin < chance)
    return "" if is_so else f"caller {number} was {'' if coin < chance else 'not '}accepted"


def forget(path: str | Path) -> None:
    """Leave nothing in a journal but its plan, how many of each group called, and the members."""
    journal = _open(path)
    try:
        first, *records = journal.records
        state = State(Plan.read(first["plan"]), first["seed"])
        for record in records:
            state.take_in(record)
        table = state.progress()
        names = [" ".join(label) for label in state.problem.labels]
        called = dict(zip(names, table["called"].tolist(), strict=True))
        kept = {"plan": state.plan.record(), "seed": first["seed"], "forgotten": journal.head}
        members = [state.callers[number].person for number in sorted(state.seats)]
        journal.replace([{**kept, "seen": state.seen, "called": called, "members": members}])
    finally:
        journal.close()


def _open(path: str | Path) -> Journal:
    if not Path(path).is_file():
        raise JournalError(f"{path}: there is no such journal")
    journal = Journal(path)
    if not journal.records:
        journal.close()
        raise JournalError(f"{path}: nothing has happened yet")
    return journal

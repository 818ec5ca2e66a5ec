"""Read a journal as somebody who was not there: decide everything again, or forget the people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from committees.strategy import Strategy
from organiser.desk import outlook
from organiser.desk.journal import Journal, JournalError, Record, fingerprints, number_of
from organiser.desk.plan import Plan
from organiser.desk.state import State

#: A strategy of one's own that the journal may have.
Own = type[Strategy] | None
#: What a journal leads to that no desk has written.
NONSENSE = (LookupError, ValueError, TypeError, AttributeError, StopIteration)
FORGOTTEN = "its people were forgotten: only counts and members are left"


def verify(path: str | Path, own: Own = None) -> tuple[str, list[str]]:
    """Decide everything in a journal again, from its plan and its seed alone.

    What was typed in cannot be checked: that somebody gave a seat back, or was somebody else than
    noted at first. What was made of it can.

    Returns
    -------
    str, list of str
        The first difference, in words (empty if there is none); and the fingerprint of the journal
        after each of its records.
    """
    first, *records = _read(path)
    if "forgotten" in first:
        return FORGOTTEN, [first["forgotten"], *fingerprints([first])]
    position = 0
    try:
        state = State(Plan.read(first["plan"], own), first["seed"])
        for position, record in enumerate(records, 1):
            if wrong := state.refusal(record) or _difference(state, record, position):
                break
            state.take_in(record)
        else:
            wrong = ""
    except NONSENSE as error:
        wrong = f"makes no sense ({type(error).__name__}: {error})"
    return wrong and f"record {position + 1}: {wrong}", fingerprints([first, *records])


def _difference(state: State, record: Record, position: int) -> str:
    """What a record says of a person that was not so; empty if it could have happened."""
    if "person" not in record:
        return ""
    caller = f"caller {number_of(record)}"
    words, _ = state.read(record["person"])
    if record["person"] != words:
        return f"{caller} is in other words than those of the plan"
    decided = state.decide(record, position)
    if record["type"] != decided["type"]:
        return f"{caller} is not of the type that was written"
    if record.get("plan") != decided.get("plan"):
        return f"{caller} was corrected, and the plan should be another"
    for key in ("chance", "coin"):
        if not np.isclose(record.get(key, -1), decided.get(key, -1), rtol=1e-9, atol=1e-12):
            so = f"a chance of {decided['chance']:g}, and the coin {decided['coin']:.6f}"
            return f"{caller} had {so}"
    if record["accepted"] == decided["accepted"]:
        return ""
    return f"{caller} was {'' if decided['accepted'] else 'not '}accepted"


def members(path: str | Path, own: Own = None) -> pd.DataFrame:
    """Who is seated, by the callers' numbers; also if all others were forgotten."""
    first, *records = _read(path)
    if "forgotten" in first:
        return pd.DataFrame(**first["members"]).rename_axis("caller")
    return outlook.members(_replay(first, records, own))


def forget(path: str | Path, own: Own = None) -> None:
    """Leave nothing in a journal but its plan, how many of each group called, and the members."""
    journal = _open(path)
    try:
        first, *records = journal.records
        if "forgotten" in first:
            raise JournalError(f"{path}: {FORGOTTEN}")
        state = _replay(first, records, own)
        names = [" ".join(label) for label in state.problem.labels]
        called = outlook.progress(state)["called"].tolist()
        left: Record = {
            "plan": state.plan.record(),
            "forgotten": journal.head,
            "seen": state.seen,
            "called": dict(zip(names, called, strict=True)),
            "members": outlook.members(state).to_dict("split"),
        }
        journal.replace([left])
    finally:
        journal.close()


def _replay(first: Record, records: list[Record], own: Own) -> State:
    try:
        state = State(Plan.read(first["plan"], own), first["seed"])
        for record in records:
            state.take_in(record)
    except NONSENSE as error:
        raise JournalError(f"the journal makes no sense ({error}); --verify says where") from None
    return state


def _open(path: str | Path) -> Journal:
    """A journal that exists, and in which something has happened."""
    if not Path(path).is_file():
        raise JournalError(f"{path}: there is no such journal")
    journal = Journal(path)
    if not journal.records:
        journal.close()
        raise JournalError(f"{path}: nothing has happened yet")
    return journal


def _read(path: str | Path) -> list[Record]:
    journal = _open(path)
    journal.close()
    return journal.records

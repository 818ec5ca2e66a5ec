"""A desk follows a plan for one committee, and keeps a journal of what it decides.

What it decides depends on the plan, on what happened before, and on one seed: the coin of the n-th
caller is always the same. So its journal, read again, brings back exactly the desk that wrote it,
and anybody can check it (`assembly.desk.audit`). All that happens is a record, which is in the
journal before the strategy takes it in and before anybody is told.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from assembly.csvfile import same_word
from assembly.desk.journal import Journal, JournalError, Record
from assembly.desk.plan import Plan
from assembly.desk.state import Caller, State
from committees.checks import IntArray, check_integer
from committees.problem import Problem
from committees.strategy import Session, Strategy


class Refused(RuntimeError):
    """What was asked of the desk cannot be done; the sentence says why."""


@dataclass(frozen=True)
class Decision:
    """What a volunteer is told. True if they are accepted."""

    #: The number of the caller, counted from one.
    number: int
    accepted: bool
    #: The probability with which people of this type were accepted at this moment.
    chance: float
    #: Why, in words.
    reason: str

    def __bool__(self) -> bool:
        return self.accepted


class Desk(State):
    """One committee, recruited from real people.

    Parameters
    ----------
    strategy, problem, size : Strategy, Problem, int, optional
        The plan. Left out, the journal's last plan is followed.
    journal : str or Path
        A file that keeps everything. If it exists, the desk goes on where it ended.
    seed : int, optional
        Where the coins come from; by default a new one, which the journal keeps.
    """

    def __init__(
        self,
        strategy: Strategy | None = None,
        problem: Problem | None = None,
        size: int | None = None,
        *,
        journal: str | Path,
        seed: int | None = None,
    ) -> None:
        given = None
        if strategy is not None and problem is not None and size is not None:
            given = Plan(strategy, problem, size)
            _check_words("features", problem.features)
            for feature, values in problem.features.items():
                _check_words(f"feature {feature!r}: the values", values)
        if seed is not None:
            check_integer("seed", seed, 0)
        self._journal = Journal(journal)
        try:
            self._resume(given, None if seed is None else int(seed))
        except BaseException:
            self.close()
            raise

    def offer(self, person: Mapping[str, str], id: str = "", household: str = "") -> Decision:
        """Decide about a volunteer, given as `{feature: value}`, at once and for good.

        Whoever does not want to answer a question (`-`) is accepted if whatever they might have
        answered would be, and counts as the commonest people like them. An `id` can call once. Of a
        `household` (any word) one person can have a seat.
        """
        if self.seated == self.size:
            raise Refused(f"all {self.size} seats are filled")
        for number, caller in self.callers.items():
            if id and caller.id == id:
                raise Refused(f"{id} has called before, as caller {number}")
        words, type_ids = self.read(person, this_year())
        has_seat = household and any(self.callers[n].household == household for n in self.seats)
        extra = {key: word for key, word in (("id", id), ("household", household)) if word}
        return self._decide({"caller": self.seen + 1, **extra}, words, type_ids, bool(has_seat))

    def correct(self, number: int, person: Mapping[str, str]) -> Decision:
        """Change what was noted of a caller. A seat is kept; without one, it is decided again."""
        caller = self._caller(number)
        words, type_ids = self.read(person, this_year())
        if number not in self.seats:
            if self.seated == self.size:
                raise Refused(f"all {self.size} seats are filled")
            return self._decide({"corrected": int(number)}, words, type_ids)
        self._check_can_leave()
        type_id, counts = self.commonest(type_ids), self.counts
        counts[self.problem.codes[caller.type_id]] -= 1
        counts[self.problem.codes[type_id]] += 1
        plan = self.plan.widened(counts, self.size - self.seated)
        if plan is not self.plan:
            self._happen({"plan": plan.record(), "reason": f"caller {number} was corrected"})
        kept = {"corrected": int(number), "person": words, "type": type_id, "accepted": True}
        self._happen(kept)
        return Decision(int(number), True, 1.0, "the seat was promised, and is kept")

    def withdraw(self, number: int) -> None:
        """Free the seat of a caller who does not want it any more."""
        self._caller(number)
        if number not in self.seats:
            raise Refused(f"caller {number} has no seat")
        self._check_can_leave()
        self._happen({"withdrawn": int(number)})

    def seat_again(self, number: int) -> None:
        """Give a free seat to somebody who gave one back, or is on the reserve list."""
        caller = self._caller(number)
        if number in self.seats:
            raise Refused(f"caller {number} has a seat")
        if self.seated == self.size:
            raise Refused(f"all {self.size} seats are filled")
        if not (caller.accepted or caller.reserve):
            raise Refused(f"caller {number} was not accepted, and is not on the reserve list")
        if not self.chance(np.array([caller.type_id])) > 0:
            told = self.reason(caller.type_id, 0, 1)
            raise Refused(f"caller {number} cannot have a seat now: {told}")
        self._happen({"seated again": int(number)})

    def keep_in_reserve(self, number: int) -> None:
        """Note that a caller who was not accepted may be called back."""
        if self._caller(number).accepted:
            raise Refused(f"caller {number} was accepted")
        self._happen({"reserve": int(number)})

    def revise(self, plan: Plan, reason: str) -> None:
        """Go on with another plan: other targets, tolerance, volunteers or size."""
        if not reason.strip():
            raise Refused("a change of the plan needs a reason")
        if plan.problem.labels.tolist() != self.problem.labels.tolist():
            raise Refused("the features and their values must stay as they are")
        if why := plan.cannot_end(self.counts, plan.size - self.seated):
            raise Refused(f"with those who are seated no committee fits: {why}")
        self._happen({"plan": plan.record(), "reason": reason.strip()}, plan)

    @property
    def head(self) -> str:
        """A fingerprint of the whole journal: once published, nothing before it can be changed."""
        return self._journal.head

    def close(self) -> None:
        """Let go of the journal."""
        self._journal.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        people = "1 person" if self.seen == 1 else f"{self.seen} people"
        return f"{self.seated} of {self.size} seats filled, {people} seen"

    def _resume(self, given: Plan | None, seed: int | None) -> None:
        """Begin the journal, or take in all that is in it."""
        path, records = self._journal.path, self._journal.records
        if not records:
            if given is None:
                raise JournalError(f"{path}: is empty, and there is no plan to begin with")
            super().__init__(given, secrets.randbits(64) if seed is None else seed)
            about = {"seed": self.seed, "version": version("committees"), "time": _now()}
            self._journal.append({"plan": given.record(), **about})
            return
        first = records[0]
        last = [record["plan"] for record in records if "plan" in record][-1]
        if seed not in (None, first["seed"]):
            told = f"whose seed is {first['seed']!r}, not {seed!r}"
            raise JournalError(f"{path}: belongs to another desk, {told}")
        if given is not None and given.record() != last:
            raise JournalError(f"{path}: belongs to another desk, {_difference(last, given)}")
        only_plan = (
            given if given is not None and last == first["plan"] else Plan.read(first["plan"])
        )
        super().__init__(only_plan, first["seed"])
        for record in records[1:]:
            self.take_in(record)

    def _decide(
        self, record: Record, words: dict[str, str], type_ids: IntArray, has_seat: bool = False
    ) -> Decision:
        """Decide about somebody who may be of one of these types."""
        number = record.get("caller") or record["corrected"]
        key = (number,) if "caller" in record else (number, len(self._journal.records))
        chance = 0.0 if has_seat else self.chance(type_ids)
        coin, type_id = self.coin(*key), self.commonest(type_ids)
        accepted = coin < chance
        reason = self.reason(type_id, chance, coin)
        reason = "somebody of this household has a seat" if has_seat else reason
        told = {"person": words, "type": type_id, "accepted": accepted}
        self._happen({**record, **told, "chance": chance, "coin": coin})
        return Decision(number, accepted, chance, reason)

    def _happen(self, record: Record, plan: Plan | None = None) -> None:
        """Write a record, then take it in."""
        try:
            self._journal.append({**record, "time": _now()})
            self.take_in(record if plan is None else {**record, "plan": plan})
        except BaseException:
            self.close()  # taken in by half; opened again, the journal brings all of it back
            raise

    def _caller(self, number: int) -> Caller:
        check_integer("number", number, 1)
        if number not in self.callers:
            raise Refused(f"there is no caller {number}")
        return self.callers[int(number)]

    def _check_can_leave(self) -> None:
        if type(self._session).leave is Session.leave:
            raise Refused(f"{self.strategy} cannot take a seat back")


def _difference(last: Record, given: Plan) -> str:
    """In what two plans differ."""
    own = given.record()
    if last["size"] != own["size"]:
        return f"whose size is {last['size']}, not {own['size']}"
    (mine, theirs) = (f"{one['strategy'].split(':')[-1]} {one['options']}" for one in (own, last))
    if mine != theirs:
        return f"whose strategy is {theirs}, not {mine}"
    return "with other targets or other volunteers"


def _check_words(what: str, words: Iterable[str]) -> None:
    """Refuse words that cannot be told apart."""
    known: dict[str, str] = {}
    for word in words:
        other = known.setdefault(same_word(word), word)
        if other != word:
            raise ValueError(f"{what} {other!r} and {word!r} are the same word at a desk")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def this_year() -> int:
    """The year from which years of birth are counted at a desk."""
    return datetime.now(UTC).year

"""The desk: volunteers call, and each is told at once.

A desk follows one strategy for one committee. What it decides depends on the strategy, the people
who called before, and one seed: the coin of the n-th caller is always the same. So its journal,
read again, brings back exactly the desk that wrote it.

A decision is in the journal before anybody is told, and is told before the strategy takes it in,
which may take a while: `prepare` is for the time between two calls.

`python -m assembly.desk TARGETS VOLUNTEERS --size K` is a desk at a prompt.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from assembly.csvfile import same_word
from assembly.desk.journal import Journal, JournalError, Record
from committees.checks import check_integer, check_size
from committees.problem import Problem
from committees.simulation import MIN_ACCEPTANCE_RATE
from committees.strategy import Session, Strategy, check_strategy

__all__ = ["Decision", "Desk", "JournalError", "Refused"]


class Refused(RuntimeError):
    """What was asked of the desk cannot be done; the sentence says why."""


@dataclass(frozen=True)
class Decision:
    """What a volunteer is told: whether they are in, and why. True if they are."""

    number: int
    accepted: bool
    chance: float
    reason: str

    def __bool__(self) -> bool:
        return self.accepted


class Desk:
    """One committee, recruited from real people.

    Parameters
    ----------
    strategy, problem, size
        Who decides, about whom, and how many seats there are.
    journal
        A file that keeps every decision. If it exists, the desk goes on where it ended.
    seed
        Where the coins come from; by default a new one, which the journal keeps.
    repair
        Whether to remove a last line of the journal that was cut short.
    """

    def __init__(
        self,
        strategy: Strategy,
        problem: Problem,
        size: int,
        *,
        journal: str | Path,
        seed: int | None = None,
        repair: bool = False,
    ) -> None:
        check_strategy(strategy)
        check_size(size)
        if seed is not None:
            check_integer("seed", seed, 0)
        _refuse_same_words(problem)
        self.strategy, self.problem, self.size = strategy, problem, int(size)
        self._session = strategy.start(problem, size)
        self._callers: list[int] = []  # the type of each
        #: Who is seated: the caller's number, and type as a position in `problem.types`.
        self.seats: dict[int, int] = {}
        self._news: Callable[[], object] | None = None  # what the session has not taken in yet
        self._journal = Journal(journal, repair=repair)
        try:
            self._resume(None if seed is None else int(seed))
        except BaseException:
            self._journal.close()
            raise

    @property
    def seen(self) -> int:
        """How many people have called."""
        return len(self._callers)

    @property
    def seated(self) -> int:
        """How many seats are filled."""
        return len(self.seats)

    def offer(self, person: Mapping[str, str]) -> Decision:
        """Decide about a volunteer, given as `{feature: value}`, at once and for good."""
        if self.seated == self.size:
            raise Refused(f"all {self.size} seats are filled")
        type_id = self._type_id(person)
        self.prepare()
        number = self.seen + 1
        chance = float(self._session.acceptance[type_id])
        coin = float(np.random.default_rng([self.seed, number]).random())
        decision = Decision(number, coin < chance, chance, self._reason(type_id, chance, coin))
        words = map(str, self.problem.index[type_id])
        person = dict(zip(self.problem.features, words, strict=True))
        self._journal.append({"caller": number, "person": person, "accepted": decision.accepted})
        self._note(type_id, decision.accepted)
        return decision

    def prepare(self) -> None:
        """Take in the last decision, and plan for the next; `offer` does it if nobody has."""
        self._journal.check_open()
        if self._news:
            try:
                self._news()
            except BaseException:
                self.close()  # half taken in: the journal knows better
                raise
            self._news = None

    def withdraw(self, number: int) -> None:
        """Free the seat of the caller with this number, who does not want it any more."""
        check_integer("number", number, 1)
        number = int(number)
        if number not in self.seats:
            raise Refused(f"caller {number!r} has no seat")
        if type(self._session).leave is Session.leave:
            raise Refused(f"{self.strategy} cannot take a seat back")
        self.prepare()
        self._journal.append({"withdrawn": number})
        self._free(number)

    def undo(self) -> None:
        """Refused: a decision is immediate, and final."""
        raise Refused(
            "decisions are announced at once and cannot be undone; "
            "a volunteer who gives the seat back can withdraw"
        )

    def progress(self) -> pd.DataFrame:
        """For each value of each feature: the seats it should have, and those it has."""
        type_ids = np.fromiter(self.seats.values(), dtype=np.intp)
        counts = np.bincount(self.problem.codes[type_ids].ravel(), minlength=len(self.problem.rho))
        wanted = self.problem.targets * self.size
        return pd.DataFrame({"wanted": wanted, "seated": counts, "missing": wanted - counts})

    def members(self) -> pd.DataFrame:
        """Who is seated, in the order of their calls: the caller's number, and the features."""
        chosen = self.problem.index[list(self.seats.values())]
        frame = chosen.to_frame(index=False).set_index(pd.Index(self.seats, name="caller"))
        return frame.sort_index()

    @property
    def last(self) -> str:
        """The last decision in words, for whoever was not told; empty if nobody has called."""
        told = [record for record in self._journal.records if "caller" in record]
        if not told:
            return ""
        record = told[-1]
        number, person = record["caller"], ", ".join(record["person"].values())
        outcome = "was accepted" if record["accepted"] else "was not accepted"
        if record["accepted"] and number not in self.seats:
            outcome += ", and has given the seat back"
        return f"Caller {number} ({person}) {outcome}"

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

    def _resume(self, seed: int | None) -> None:
        """Start a journal, or live through the one that is there."""
        opened: Record = {
            "desk": 1,
            "size": self.size,
            "strategy": repr(self.strategy),
            "problem": self.problem.digest,
        }
        if not self._journal.records:
            self.seed = secrets.randbits(64) if seed is None else seed
            self._journal.append({**opened, "seed": self.seed})
            return
        first, *records = self._journal.records
        self.seed = first.get("seed", 0)
        for name, value in {**opened, "seed": self.seed if seed is None else seed}.items():
            if first.get(name) != value:
                other = f"whose {name} is {first.get(name)!r}, not {value!r}"
                if name == "problem":
                    other = "with other targets or other volunteers"
                raise JournalError(f"{self._journal.path}: belongs to another desk, {other}")
        for record in records:
            if "withdrawn" in record:
                self._free(record["withdrawn"])
            else:
                self._note(self._type_id(record["person"]), record["accepted"])
            self.prepare()

    def _note(self, type_id: int, accepted: bool) -> None:
        self._callers.append(type_id)
        if accepted:
            self.seats[self.seen] = type_id
        self._news = partial(self._session.see, np.array([type_id]), np.array([accepted]))

    def _free(self, number: int) -> None:
        self._news = partial(self._session.leave, self.seats.pop(number))

    def _type_id(self, person: Mapping[str, str]) -> int:
        """The type of a person; words are compared as in the organiser's files."""
        given = {same_word(str(feature)): str(value) for feature, value in person.items()}
        if len(given) < len(person):
            raise ValueError("a feature is given twice, in two spellings")
        place = []
        for feature, values in self.problem.features.items():
            if same_word(feature) not in given:
                raise ValueError(f"{feature}: is missing")
            value = given.pop(same_word(feature))
            known = [same_word(other) for other in values]
            if same_word(value) not in known:
                raise ValueError(f"{feature}: {value!r} is none of {', '.join(values)}")
            place.append(known.index(same_word(value)))
        if given:
            raise ValueError(f"{next(iter(given))!r}: is no feature of this assembly")
        return int(np.ravel_multi_index(place, self.problem.shape))

    def _reason(self, type_id: int, chance: float, coin: float) -> str:
        if chance >= 1:
            return "everybody like this is wanted now"
        if chance > 0:
            outcome = "this one is" if coin < chance else "this one is not"
            share = "fewer than 1%" if chance < 0.01 else f"{chance:.0%}"
            share = "more than 99%" if chance > 0.99 else share
            return f"{share} of the people like this are taken, by lot, and {outcome}"
        weight = self.problem.p * self._session.acceptance
        if not weight.sum() > MIN_ACCEPTANCE_RATE:
            return "as things stand nobody can be taken: the strategy has reached a dead end"
        open_to = self.problem.incidence @ weight
        closed = [
            " ".join(self.problem.labels[code])
            for code in self.problem.codes[type_id]
            if not open_to[code] > 0
        ]
        if closed:
            return f"there is no room now for {' or '.join(closed)}"
        return "more people like this come than are needed, so others go first"


def _refuse_same_words(problem: Problem) -> None:
    """At the desk, capital letters and the like do not tell features or values apart."""
    for what, words in (
        ("features", list(problem.features)),
        *((f"feature {feature!r}: the values", list(v)) for feature, v in problem.features.items()),
    ):
        known: dict[str, str] = {}
        for word in words:
            other = known.setdefault(same_word(word), word)
            if other != word:
                raise ValueError(f"{what} {other!r} and {word!r} are the same word at a desk")

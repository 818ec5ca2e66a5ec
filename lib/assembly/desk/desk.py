"""A desk follows one strategy for one committee, and keeps a journal of what it decides.

What it decides depends on the strategy, the people who called before, and one seed: the coin of the
n-th caller is always the same. So its journal, read again, brings back exactly the desk that wrote
it. A decision is in the journal before the strategy takes it in and before anybody is told.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from assembly.csvfile import same_word, unknown
from assembly.desk.journal import Journal, JournalError, Record
from committees.checks import check_integer, check_size
from committees.problem import Problem
from committees.simulation import MIN_ACCEPTANCE_RATE
from committees.strategy import Strategy, check_strategy


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


class Desk:
    """One committee, recruited from real people.

    Parameters
    ----------
    strategy : Strategy
    problem : Problem
    size : int
        The number of seats.
    journal : str or Path
        A file that keeps every decision. If it exists, the desk goes on where it ended.
    seed : int, optional
        Where the coins come from; by default a new one, which the journal keeps.

    Attributes
    ----------
    seen : int
        How many people have called.
    seats : dict of int to int
        Who is seated: the caller's number, and type_id.
    """

    def __init__(
        self,
        strategy: Strategy,
        problem: Problem,
        size: int,
        *,
        journal: str | Path,
        seed: int | None = None,
    ) -> None:
        check_strategy(strategy)
        check_size(size)
        if seed is not None:
            check_integer("seed", seed, 0)
        self.strategy, self.problem, self.size = strategy, problem, int(size)
        self._features = _by_word("features", problem.features)
        self._values = {
            feature: _by_word(f"feature {feature!r}: the values", values)
            for feature, values in problem.features.items()
        }
        self._session = strategy.start(problem, size)
        self.seen = 0
        self.seats: dict[int, int] = {}
        self._last: Record = {}  # the last decision
        self._journal = Journal(journal)
        try:
            self._resume(None if seed is None else int(seed))
        except BaseException:
            self.close()
            raise

    @property
    def seated(self) -> int:
        """How many seats are filled."""
        return len(self.seats)

    def offer(self, person: Mapping[str, str]) -> Decision:
        """Decide about a volunteer, given as `{feature: value}`, at once and for good."""
        if self.seated == self.size:
            raise Refused(f"all {self.size} seats are filled")
        type_id = self._type_id(person)
        number = self.seen + 1
        chance = float(self._session.acceptance[type_id])
        coin = float(np.random.default_rng([self.seed, number]).random())
        decision = Decision(number, coin < chance, chance, self._reason(type_id, chance, coin))
        words = dict(zip(self.problem.features, self.problem.index[type_id], strict=True))
        record = {"caller": number, "person": words, "accepted": decision.accepted}
        try:
            self._journal.append(record)
            self._take_in(record)
        except BaseException:
            self.close()  # taken in by half; opened again, the journal brings all of it back
            raise
        return decision

    def withdraw(self, number: int) -> None:
        """Free the seat of the caller with this number, who does not want it any more."""
        check_integer("number", number, 1)
        number = int(number)
        if number not in self.seats:
            raise Refused(f"caller {number} has no seat")
        try:
            self._session.leave(self.seats[number])  # first, since a strategy may refuse
            self._journal.append({"withdrawn": number})
            del self.seats[number]
        except NotImplementedError:
            raise Refused(f"{self.strategy} cannot take a seat back") from None
        except BaseException:
            self.close()
            raise

    def progress(self) -> pd.DataFrame:
        """The seats that each value should have, those that it has, and those that are missing.

        Returns
        -------
        DataFrame
            Indexed by (feature, value), with the columns `wanted`, `seated` and `missing`.
        """
        type_ids = np.fromiter(self.seats.values(), dtype=np.intp)
        counts = np.bincount(self.problem.codes[type_ids].ravel(), minlength=len(self.problem.rho))
        wanted = self.problem.targets * self.size
        return pd.DataFrame({"wanted": wanted, "seated": counts, "missing": wanted - counts})

    def members(self) -> pd.DataFrame:
        """Who is seated: a column per feature, indexed by the callers' numbers in order."""
        chosen = self.problem.index[list(self.seats.values())]
        frame = chosen.to_frame(index=False).set_index(pd.Index(self.seats, name="caller"))
        return frame.sort_index()

    @property
    def last(self) -> str:
        """The last decision in words, for whoever was not told; empty if nobody has called."""
        if not self._last:
            return ""
        number, person = self._last["caller"], ", ".join(self._last["person"].values())
        outcome = "was accepted" if self._last["accepted"] else "was not accepted"
        if self._last["accepted"] and number not in self.seats:
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
        """Begin the journal, or take in all that is in it."""
        own: Record = {
            "size": self.size,
            "strategy": repr(self.strategy),
            "problem": self.problem.digest,
        }
        if not self._journal.records:
            self.seed = secrets.randbits(64) if seed is None else seed
            self._journal.append({**own, "seed": self.seed})
            return
        first, *records = self._journal.records
        self.seed = first["seed"]
        for name, value in {**own, "seed": self.seed if seed is None else seed}.items():
            if first[name] != value:
                other = f"whose {name} is {first[name]!r}, not {value!r}"
                if name == "problem":
                    other = "with other targets or other volunteers"
                raise JournalError(f"{self._journal.path}: belongs to another desk, {other}")
        for record in records:
            if "withdrawn" in record:
                self._session.leave(self.seats.pop(record["withdrawn"]))
            else:
                self._take_in(record)

    def _take_in(self, record: Record) -> None:
        """Change seats and strategy as a decision in the journal says."""
        type_id, accepted = self._type_id(record["person"]), record["accepted"]
        self._last = record
        self.seen = record["caller"]
        if accepted:
            self.seats[self.seen] = type_id
        self._session.see(np.array([type_id]), np.array([accepted]))

    def _type_id(self, person: Mapping[str, str]) -> int:
        """The type of a person; words are compared as in the organiser's files."""
        found: dict[str, int] = {}
        for name, value in person.items():
            feature = self._features.get(same_word(str(name)))
            if feature is None:
                raise ValueError(unknown("feature", str(name), self._values))
            if feature in found:
                raise ValueError(f"{feature}: is given twice, in two spellings")
            values = self.problem.features[feature]
            spelt = self._values[feature].get(same_word(str(value)))
            if spelt is None:
                raise ValueError(f"{feature}: {unknown('value', str(value), values)}")
            found[feature] = values.index(spelt)
        for feature in self._values:
            if feature not in found:
                raise ValueError(f"{feature}: is missing")
        place = [found[feature] for feature in self._values]
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


def _by_word(what: str, words: Sequence[str] | Mapping[str, object]) -> dict[str, str]:
    """Each of these words by what makes two spellings the same; two of the same are refused."""
    known: dict[str, str] = {}
    for word in words:
        other = known.setdefault(same_word(word), word)
        if other != word:
            raise ValueError(f"{what} {other!r} and {word!r} are the same word at a desk")
    return known

"""How a recruitment stands: what has happened so far, and what would be decided now.

A state is made of records, taken in one after the other: by a desk while they happen, and by
whoever reads its journal again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binom

from assembly import ages
from assembly.csvfile import same_word, unknown
from assembly.desk.journal import Record
from assembly.desk.plan import Plan
from assembly.files import NO_ANSWER
from committees.beyond.foresight import ForesightSession
from committees.checks import IntArray
from committees.problem import Problem
from committees.simulation import MIN_ACCEPTANCE_RATE
from committees.strategy import Strategy

#: A group is said to be late if as few would call by chance with a smaller probability than this.
ALARM = 0.001
#: What is written for an answer that somebody did not want to give.
NOT_STATED = "not stated"


@dataclass
class Caller:
    """Somebody who has called."""

    person: dict[str, str]
    type_id: int
    accepted: bool
    id: str = ""
    household: str = ""
    #: Whether they may be called back when a seat falls free.
    reserve: bool = False


class State:
    """How a recruitment stands.

    Parameters
    ----------
    plan : Plan
        What is followed at first.
    seed : int
        Where coins come from.

    Attributes
    ----------
    plan : Plan
        What is followed now.
    callers : dict of int to Caller
        Everybody who has called, by number.
    seats : dict of int to int
        Who is seated: the caller's number, and type_id.
    """

    def __init__(self, plan: Plan, seed: int) -> None:
        self.seed = seed
        self.callers: dict[int, Caller] = {}
        self.seats: dict[int, int] = {}
        self.last = ""  #: what happened last, in words
        self._follow(plan)

    @property
    def problem(self) -> Problem:
        """Targets and volunteers."""
        return self.plan.problem

    @property
    def strategy(self) -> Strategy:
        """Who decides."""
        return self.plan.strategy

    @property
    def size(self) -> int:
        """The number of seats."""
        return self.plan.size

    @property
    def seen(self) -> int:
        """How many people have called."""
        return len(self.callers)

    @property
    def seated(self) -> int:
        """How many seats are filled."""
        return len(self.seats)

    @property
    def counts(self) -> IntArray:
        """How many seats each value has."""
        type_ids = np.fromiter(self.seats.values(), dtype=np.intp)
        return np.bincount(self.problem.codes[type_ids].ravel(), minlength=len(self.problem.rho))

    # --- What happens.

    def take_in(self, record: Record) -> None:
        """Change as a record says."""
        if "plan" in record:
            plan = record["plan"]
            self._follow(plan if isinstance(plan, Plan) else Plan.read(plan))
            self.last = f"The plan was changed: {record['reason']}"
        elif "caller" in record:
            own = {key: record[key] for key in ("id", "household") if record.get(key)}
            caller = Caller(record["person"], record["type"], record["accepted"], **own)
            self.callers[record["caller"]] = caller
            self._say(record["caller"], "was accepted" if caller.accepted else "was not accepted")
            self._see(record["caller"], caller.accepted)
        elif "withdrawn" in record:
            self._session.leave(self.seats.pop(record["withdrawn"]))
            self._say(record["withdrawn"], "has given the seat back")
        elif "seated again" in record:
            self._see(record["seated again"], True)
            self._say(record["seated again"], "has a seat again")
        elif "reserve" in record:
            self.callers[record["reserve"]].reserve = True
            self._say(record["reserve"], "may be called back")
        elif "corrected" in record:
            number, caller = record["corrected"], self.callers[record["corrected"]]
            had_seat = number in self.seats
            if had_seat:
                self._session.leave(self.seats.pop(number))
            caller.person, caller.type_id = record["person"], record["type"]
            caller.accepted = record["accepted"]
            if caller.accepted:
                self._see(number, True)
            has = "has a seat" if caller.accepted else "has no seat"
            self._say(number, f"was corrected, and {has}")

    def _follow(self, plan: Plan) -> None:
        """Begin a plan, or go on with another: those who have called count as before."""
        self.plan = plan
        self._session = plan.strategy.start(plan.problem, plan.size)
        for number, caller in self.callers.items():
            accepted = np.array([number in self.seats])
            self._session.see(np.array([caller.type_id]), accepted)

    def _see(self, number: int, accepted: bool) -> None:
        type_id = self.callers[number].type_id
        if accepted:
            self.seats[number] = type_id
        self._session.see(np.array([type_id]), np.array([accepted]))

    def _say(self, number: int, what: str) -> None:
        self.last = f"Caller {number} ({', '.join(self.callers[number].person.values())}) {what}"

    # --- What would be decided.

    def read(self, person: Mapping[str, str], year: int) -> tuple[dict[str, str], IntArray]:
        """A person in the words of the files, and the types that they may be of."""
        features = {same_word(feature): feature for feature in self.problem.features}
        words: dict[str, str] = {}
        for name, given in person.items():
            feature = features.get(same_word(str(name)))
            if feature is None:
                raise ValueError(unknown("feature", str(name), self.problem.features))
            if feature in words:
                raise ValueError(f"{feature}: is given twice, in two spellings")
            found = self.value_of(feature, str(given), year)
            if found is None and same_word(str(given)) not in NO_ANSWER - {""} | {NOT_STATED}:
                told = unknown("value", str(given), self.problem.features[feature])
                raise ValueError(f"{feature}: {told}")
            words[feature] = found or NOT_STATED
        for feature in self.problem.features:
            if feature not in words:
                raise ValueError(f"{feature}: is missing")
        words = {feature: words[feature] for feature in self.problem.features}
        fits = np.ones(self.problem.shape, dtype=bool)
        for axis, (feature, values) in enumerate(self.problem.features.items()):
            if words[feature] != NOT_STATED:
                own = np.arange(len(values)) == values.index(words[feature])
                fits &= own.reshape([-1 if k == axis else 1 for k in range(fits.ndim)])
        return words, np.flatnonzero(fits)

    def value_of(self, feature: str, word: str, year: int) -> str | None:
        """The value that a word stands for: itself, an age or a year of birth; None if none."""
        values, plain = self.problem.features[feature], same_word(word)
        spelt = {same_word(value): value for value in values}
        return spelt.get(plain) or ages.find(plain, values, year)

    def chance(self, type_ids: IntArray) -> float:
        """The probability with which somebody of one of these types is accepted now."""
        return float(self._session.acceptance[type_ids].min())

    def commonest(self, type_ids: IntArray) -> int:
        """Of these types, that of most volunteers."""
        return int(type_ids[np.argmax(self.problem.p[type_ids])])

    def coin(self, *key: int) -> float:
        """The coin of a caller, who has the same whenever and wherever it is tossed."""
        return float(np.random.default_rng([self.seed, *key]).random())

    def reason(self, type_id: int, chance: float, coin: float) -> str:
        """Why somebody is accepted or not, in words."""
        if 0 < chance < 1:
            outcome = "this one is" if coin < chance else "this one is not"
            share = "fewer than 1%" if chance < 0.01 else f"{chance:.0%}"
            share = "more than 99%" if chance > 0.99 else share
            return f"{share} of the people like this are taken, by lot, and {outcome}"
        told = self._more_people(type_id)
        if chance >= 1:
            return told or "everybody like this is wanted now"
        if not self.problem.p @ self._session.acceptance > MIN_ACCEPTANCE_RATE:
            return "as things stand nobody can be taken: the strategy has reached a dead end"
        is_open = self.open_values().to_numpy()
        closed = [code for code in self.problem.codes[type_id] if not is_open[code]]
        if closed:
            names = " or ".join(" ".join(self.problem.labels[code]) for code in closed)
            return f"there is no room now for {names}"
        return told or "more people like this come than are needed, so others go first"

    def _more_people(self, type_id: int) -> str:
        """What a strategy that looks ahead says; empty if it does not."""
        if not isinstance(self._session, ForesightSession):
            return ""
        ahead, after = self._session.ahead, self._session.ahead_with[type_id]
        if not (np.isfinite(ahead) and np.isfinite(after)):
            return ""
        digits = 0 if abs(after - ahead) >= 1 else 1
        told = f"with this person we expect to see {after:,.{digits}f} more"
        return f"{told}, without {ahead:,.{digits}f}"

    # --- What is known.

    def progress(self) -> pd.DataFrame:
        """How far each value is: DataFrame indexed by (feature, value).

        Returns
        -------
        DataFrame
            Seats `wanted`, `seated` and `missing`; `fewest` and `most` where the strategy keeps to
            such; people `called`, and `expected` to have called if the volunteers are those of the
            plan.
        """
        counts, wanted = self.counts, self.problem.targets * self.size
        frame = pd.DataFrame({"wanted": wanted, "seated": counts, "missing": wanted - counts})
        if self.plan.band is not None:
            frame["fewest"], frame["most"] = self.plan.band
        own = [self.problem.codes[caller.type_id] for caller in self.callers.values()]
        called = np.bincount(np.array(own, dtype=np.intp).ravel(), minlength=len(counts))
        return frame.assign(called=called, expected=self.seen * self.problem.presence)

    def ahead(self) -> tuple[float, float]:
        """People still to be seen until the next seat, and the last, is filled; NaN: unknown."""
        if self.seated == self.size:
            return 0.0, 0.0
        rate = float(self.problem.p @ self._session.acceptance)
        until_next = 1 / rate if rate > MIN_ACCEPTANCE_RATE else np.inf
        until_last = self._session.ahead if isinstance(self._session, ForesightSession) else np.nan
        return until_next, until_last

    def open_values(self) -> pd.Series:
        """For each value, whether somebody who has it may be accepted now: Series of bool."""
        weight = self.problem.p * self._session.acceptance
        is_open = self.problem.incidence @ weight > 0
        return pd.Series(is_open & (self.seated < self.size), self.problem.labels)

    def members(self) -> pd.DataFrame:
        """Who is seated: a column per feature, indexed by the callers' numbers in order."""
        numbers = sorted(self.seats)
        rows = [self.callers[n].person for n in numbers]
        frame = pd.DataFrame(rows, pd.Index(numbers, name="caller"), list(self.problem.features))
        ids = [self.callers[n].id for n in numbers]
        return frame.assign(id=ids) if any(ids) else frame

    def reserve(self) -> list[int]:
        """Callers of the reserve list who could have a seat now, in an order drawn by lot."""
        if self.seated == self.size:
            return []
        fits = [n for n, c in self.callers.items() if c.reserve and n not in self.seats]
        fits = [n for n in fits if self._session.acceptance[self.callers[n].type_id] > 0]
        return sorted(fits, key=lambda number: self.coin(number, 0, 1))

    def late(self) -> list[str]:
        """The groups of whom so few have called that it is hardly chance, a sentence each.

        The probability that as few call by chance is below `ALARM`, if the volunteers are those of
        the plan: so for each group one alarm in a thousand times that one looks is false.
        """
        table = self.progress()
        chances = binom.cdf(table["called"], self.seen, self.problem.presence)
        return [
            f"{' '.join(label)}: {called} have called, {expected:.0f} were expected"
            for label, called, expected, chance in zip(
                table.index, table["called"], table["expected"], chances, strict=True
            )
            if chance < ALARM
        ]

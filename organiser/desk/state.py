"""How a recruitment stands: what has happened, what may happen next, what would be decided now.

A state is made of records, taken in one after the other: by a desk while they happen, and by
whoever reads its journal again. Both ask it the same before: why a record cannot happen now
(`refusal`), and what is decided about a person (`decide`). So what a desk refuses, no journal can
claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from committees.checks import IntArray
from committees.problem import Problem
from committees.strategy import Session, Strategy
from organiser import ages
from organiser.csvfile import same_word, unknown
from organiser.desk.journal import Record, number_of
from organiser.desk.plan import TRUSTED, Plan
from organiser.files import NO_ANSWER

#: What is written for an answer that somebody did not want to give.
NOT_STATED = "-"
#: What can happen. A record has one of these words, with the caller's number or the new plan.
KINDS = ("caller", "corrected", "withdrawn", "seated again", "reserve", "declined", "plan")


@dataclass
class Caller:
    """Somebody who has called."""

    person: dict[str, str]
    type_id: int
    #: Whether they have, or had, a seat.
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
        self._own = type(plan.strategy)
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
        return self._count(self.seats)

    def _count(self, seats: Mapping[int, int]) -> IntArray:
        type_ids = np.fromiter(seats.values(), dtype=np.intp)
        return np.bincount(self.problem.codes[type_ids].ravel(), minlength=len(self.problem.rho))

    # --- What may happen.

    def refusal(self, record: Record) -> str:
        """Why this cannot happen now, in words; empty if it can."""
        kinds = [kind for kind in KINDS if kind in record]
        if len(kinds) != 1 and kinds != ["corrected", "plan"]:
            return "nobody knows what this means"
        if (kind := kinds[0]) == "plan":
            return self._refuses_plan(record)
        number = record[kind]
        told = f"caller {number}"
        if kind == "caller":
            ids = {caller.id: n for n, caller in self.callers.items() if caller.id}
            if number != self.seen + 1:
                return f"{told} comes after caller {self.seen}"
            if (name := record.get("id")) in ids:
                return f"{name} has called before, as caller {ids[name]}"
            return self._full()
        if number not in self.callers:
            return f"there is no {told}"
        caller, is_seated = self.callers[number], number in self.seats
        if kind == "reserve":
            return f"{told} was accepted" if caller.accepted else ""
        if kind == "declined":
            return "" if caller.reserve else f"{told} is not on the reserve list"
        if is_seated:
            if kind == "seated again":
                return f"{told} has a seat"
            cannot = type(self._session).leave is Session.leave
            return f"{self.strategy} cannot take a seat back" if cannot else ""
        if kind == "withdrawn":
            return f"{told} has no seat"
        return self._full() or (self._refuses_seat(number) if kind == "seated again" else "")

    def _full(self) -> str:
        return f"all {self.size} seats are filled" if self.seated >= self.size else ""

    def _refuses_seat(self, number: int) -> str:
        """Why somebody who had a seat, or may be called back, cannot have one now."""
        caller = self.callers[number]
        if not (caller.accepted or caller.reserve):
            return f"caller {number} was not accepted, and is not on the reserve list"
        if self.has_household_seat({"corrected": number}):
            return f"caller {number} cannot have a seat now: somebody of this household has one"
        if self.is_open(caller.type_id) if caller.accepted else self.chance([caller.type_id]) > 0:
            return ""
        return f"caller {number} cannot have a seat now: others are needed more"

    def _refuses_plan(self, record: Record) -> str:
        plan = self._read_plan(record["plan"])
        if not str(record.get("reason", "")).strip():
            return "a change of the plan needs a reason"
        if plan.problem.labels.tolist() != self.problem.labels.tolist():
            return "the features and their values must stay as they are"
        kinds = {type(plan.strategy), self._own}
        if len(kinds) > 1 and not all(kind.__module__.startswith(TRUSTED) for kind in kinds):
            return "a strategy of one's own cannot take the place of another"
        why = plan.cannot_end(self.counts, plan.size - self.seated)
        return f"with those who are seated no committee fits: {why}" if why else ""

    # --- What happens.

    def take_in(self, record: Record) -> None:
        """Change as a record says."""
        kind = next(kind for kind in KINDS if kind in record)
        if kind == "plan":
            self._follow(self._read_plan(record["plan"]))
            self.last = f"The plan was changed: {record['reason']}"
            return
        number = record[kind]
        if kind == "caller":
            own = {key: record[key] for key in ("id", "household") if record.get(key)}
            caller = Caller(record["person"], record["type"], record["accepted"], **own)
            self.callers[number] = caller
            self._say(number, "was accepted" if caller.accepted else "was not accepted")
            self._see(number, caller.accepted)
        else:
            self._say(number, self._change(kind, number, self.callers[number], record))

    def _say(self, number: int, what: str) -> None:
        self.last = f"Caller {number} ({', '.join(self.callers[number].person.values())}) {what}"

    def _change(self, kind: str, number: int, caller: Caller, record: Record) -> str:
        """What becomes of somebody who has called before; in words."""
        if kind in ("reserve", "declined"):
            caller.reserve = kind == "reserve"
            return "may be called back" if caller.reserve else "does not want a seat any more"
        if kind == "seated again":
            caller.accepted, caller.reserve = True, False
            self._see(number, True)
            return "has a seat again"
        if number in self.seats:
            self._session.leave(self.seats.pop(number))
        if kind == "withdrawn":
            return "has given the seat back"
        caller.person, caller.type_id = record["person"], record["type"]
        caller.accepted = record["accepted"]
        if caller.accepted:
            self.seats[number] = caller.type_id
        if "plan" in record:
            self._follow(self._read_plan(record["plan"]))
        elif caller.accepted:
            self._see(number, True)
        return f"was corrected, and {'has a seat' if caller.accepted else 'has no seat'}"

    def _read_plan(self, plan: Plan | Record) -> Plan:
        return plan if isinstance(plan, Plan) else Plan.read(plan, self._own)

    def _follow(self, plan: Plan) -> None:
        """Begin a plan, or go on with another: those who have called count as before."""
        self.plan, self._since = plan, len(self.callers)
        self._session = plan.strategy.start(plan.problem, plan.size)
        for number, caller in self.callers.items():
            accepted = np.array([number in self.seats])
            self._session.see(np.array([caller.type_id]), accepted)

    def _see(self, number: int, accepted: bool) -> None:
        type_id = self.callers[number].type_id
        if accepted:
            self.seats[number] = type_id
        self._session.see(np.array([type_id]), np.array([accepted]))

    # --- What would be decided.

    def read(self, person: Mapping[str, str], year: int = 0) -> tuple[dict[str, str], IntArray]:
        """A person in the words of the files, and the types that they may be of."""
        features = {same_word(feature): feature for feature in self.problem.features}
        found: dict[str, str | None] = {}
        for name, given in person.items():
            feature = features.get(same_word(str(name)))
            if feature is None:
                raise ValueError(unknown("feature", str(name), self.problem.features))
            if feature in found:
                raise ValueError(f"{feature}: is given twice, in two spellings")
            found[feature] = self.value_of(feature, str(given), year)
            if found[feature] is None and same_word(str(given)) not in NO_ANSWER - {""}:
                told = unknown("value", str(given), self.problem.features[feature])
                raise ValueError(f"{feature}: {told}")
        fits = np.ones(self.problem.shape, dtype=bool)
        for axis, (feature, values) in enumerate(self.problem.features.items()):
            if feature not in found:
                raise ValueError(f"{feature}: is missing")
            if (value := found[feature]) is not None:
                own = np.arange(len(values)) == values.index(value)
                fits &= own.reshape([-1 if k == axis else 1 for k in range(fits.ndim)])
        words = {feature: found[feature] or NOT_STATED for feature in self.problem.features}
        return words, np.flatnonzero(fits)

    def value_of(self, feature: str, word: str, year: int) -> str | None:
        """The value that a word stands for: itself, an age or a year of birth; None if none."""
        values, plain = self.problem.features[feature], same_word(word)
        spelt = {same_word(value): value for value in values}
        return spelt.get(plain) or ages.find(plain, values, year)

    def decide(self, record: Record, position: int) -> Record:
        """What is decided about the person of a record, before which there are `position` others.

        Returns
        -------
        dict
            `type` and whether `accepted`; the `chance` and the `coin` of somebody who had no seat;
            for a correction that leaves the band, the `plan` with the nearest band.
        """
        number, type_ids = number_of(record), self.read(record["person"])[1]
        type_id = int(type_ids[np.argmax(self.problem.p[type_ids])])  # the commonest
        if number in self.seats:
            counts, left = self._count(self.seats | {number: type_id}), self.size - self.seated
            plan = self.plan.widened(counts, left)
            wider = {} if plan is self.plan else {"plan": plan.record()}
            return {"type": type_id, "accepted": True, **wider}
        chance = 0.0 if self.has_household_seat(record) else self.chance(type_ids)
        coin = self.coin(number, *([position] if number in self.callers else []))
        return {"type": type_id, "accepted": coin < chance, "chance": chance, "coin": coin}

    def has_household_seat(self, record: Record) -> bool:
        """Whether somebody of the household of a record's person is seated."""
        known = self.callers.get(number_of(record))
        household = same_word(known.household if known else record.get("household", ""))
        return household in {same_word(self.callers[n].household) for n in self.seats} - {""}

    def chance(self, type_ids: IntArray | list[int]) -> float:
        """The probability with which somebody of one of these types is accepted now."""
        return float(self._session.acceptance[type_ids].min())

    def is_open(self, type_id: int) -> bool:
        """Whether a committee with one more of this type can end as it should."""
        if self._session.ahead_with is not None:
            return bool(np.isfinite(self._session.ahead_with[type_id]))
        return self.chance([type_id]) > 0

    def coin(self, *key: int) -> float:
        """The coin of a caller, who has the same whenever and wherever it is tossed."""
        return float(np.random.default_rng([self.seed, *key]).random())

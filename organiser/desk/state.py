"""How a recruitment stands: what has happened, what may happen next, what would be decided now.

A state is made of records, taken in one after the other: by a desk while they happen, and by
whoever reads its journal again. Both ask it the same before: why a record cannot happen now
(`refusal`), and what is decided about a person (`decide`). So what a desk refuses, no journal can
claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    session : Session
        The strategy's session, which has seen everybody.
    callers : dict of int to Caller
        Everybody who has called, by number.
    seats : dict of int to int
        Who is seated: the caller's number, and type_id.
    last : str
        What happened last, in words.
    plans : int
        How many plans have been followed, today's included.
    called_before : int
        How many people had called when the plan was changed last.
    """

    plan: Plan
    session: Session
    called_before: int

    def __init__(self, plan: Plan, seed: int) -> None:
        self.seed = seed
        self.callers: dict[int, Caller] = {}
        self.seats: dict[int, int] = {}
        self.last = ""
        self.plans = 0
        self._first_class = type(plan.strategy)
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
    def is_full(self) -> bool:
        """Whether all seats are filled."""
        return self.seated >= self.size

    @property
    def counts(self) -> IntArray:
        """How many seats each value has: ndarray of int, per value."""
        return self.count(self.seats.values())

    def count(self, type_ids: Iterable[int]) -> IntArray:
        """How many people of these types have each value: ndarray of int, per value."""
        codes = self.problem.codes[np.fromiter(type_ids, dtype=np.intp)]
        return np.bincount(codes.ravel(), minlength=len(self.problem.rho))

    def __str__(self) -> str:
        people = "1 person" if self.seen == 1 else f"{self.seen} people"
        return f"{self.seated} of {self.size} seats filled, {people} seen"

    # --- What may happen.

    def refusal(self, record: Record) -> str:
        """Why this cannot happen now, in words; empty if it can."""
        kinds = [kind for kind in KINDS if kind in record]
        if len(kinds) != 1 and kinds != ["corrected", "plan"]:
            return "nobody knows what this means"
        kind = kinds[0]
        if kind == "plan":
            return self._refuses_plan(record)
        number = record[kind]
        if kind == "caller":
            return self._refuses_caller(number, record.get("id"))
        if number not in self.callers:
            return f"there is no caller {number}"
        refuses = {
            "corrected": self._refuses_correction,
            "withdrawn": self._refuses_withdrawal,
            "seated again": self._refuses_seat,
            "reserve": self._refuses_reserve,
            "declined": self._refuses_decline,
        }
        return refuses[kind](number)

    def _refuses_caller(self, number: int, id: str | None) -> str:
        if number != self.seen + 1:
            return f"caller {number} comes after caller {self.seen}"
        for earlier, caller in self.callers.items():
            if caller.id and same_word(caller.id) == same_word(id or ""):
                return f"{id} has called before, as caller {earlier}"
        return self._refuses_another()

    def _refuses_another(self) -> str:
        return f"all {self.size} seats are filled" if self.is_full else ""

    def _refuses_correction(self, number: int) -> str:
        if number in self.seats:
            return self._refuses_leave()
        return self._refuses_another()

    def _refuses_withdrawal(self, number: int) -> str:
        if number not in self.seats:
            return f"caller {number} has no seat"
        return self._refuses_leave()

    def _refuses_leave(self) -> str:
        has_leave = type(self.session).leave is not Session.leave
        return "" if has_leave else f"{self.strategy} cannot take a seat back"

    def _refuses_reserve(self, number: int) -> str:
        return f"caller {number} was accepted" if self.callers[number].accepted else ""

    def _refuses_decline(self, number: int) -> str:
        is_listed = self.callers[number].reserve
        return "" if is_listed else f"caller {number} is not on the reserve list"

    def _refuses_seat(self, number: int) -> str:
        """Why somebody who had a seat, or may be called back, cannot have one now."""
        caller = self.callers[number]
        if number in self.seats:
            return f"caller {number} has a seat"
        if self.is_full:
            return self._refuses_another()
        if not (caller.accepted or caller.reserve):
            return f"caller {number} was not accepted, and is not on the reserve list"
        if self.has_household_seat(caller.household):
            return f"caller {number} cannot have a seat now: somebody of this household has one"
        # A seat that was given back by mistake is given again if a committee can still end well.
        fits = self.is_open(caller.type_id)
        if not caller.accepted:
            fits = self.chance([caller.type_id]) > 0
        return "" if fits else f"caller {number} cannot have a seat now: others are needed more"

    def _refuses_plan(self, record: Record) -> str:
        plan = self.read_plan(record["plan"])
        if not str(record.get("reason", "")).strip():
            return "a change of the plan needs a reason"
        if plan.problem.labels.tolist() != self.problem.labels.tolist():
            return "the features and their values must stay as they are"
        classes = {type(plan.strategy), self._first_class}
        are_ours = all(one.__module__.startswith(TRUSTED) for one in classes)
        if len(classes) > 1 and not are_ours:
            return "a strategy of one's own cannot take the place of another"
        why = plan.cannot_end(self.counts, plan.size - self.seated)
        return f"with those who are seated no committee fits: {why}" if why else ""

    # --- What happens.

    def take_in(self, record: Record) -> None:
        """Change as a record says."""
        kind = next(kind for kind in KINDS if kind in record)
        if kind == "plan":
            self._follow(self.read_plan(record["plan"]))
            self.last = f"The plan was changed: {record['reason']}"
            return
        number = record[kind]
        if kind == "caller":
            what = self._take_caller(number, record)
        elif kind == "corrected":
            what = self._correct(number, record)
        else:
            what = self._change(kind, number)
        words = ", ".join(self.callers[number].person.values())
        self.last = f"Caller {number} ({words}) {what}"

    def _take_caller(self, number: int, record: Record) -> str:
        """Somebody calls; what came of it, in words."""
        caller = Caller(record["person"], record["type"], record["accepted"])
        caller.id = record.get("id", "")
        caller.household = record.get("household", "")
        self.callers[number] = caller
        self._see(number, caller.accepted)
        return "was accepted" if caller.accepted else "was not accepted"

    def _change(self, kind: str, number: int) -> str:
        """What becomes of somebody of whom nothing is to be decided, in words."""
        caller = self.callers[number]
        if kind == "reserve":
            caller.reserve = True
            return "may be called back"
        if kind == "declined":
            caller.reserve = False
            return "does not want a seat any more"
        if kind == "seated again":
            caller.accepted = True
            caller.reserve = False
            self._see(number, True)
            return "has a seat again"
        self.session.leave(self.seats.pop(number))
        return "has given the seat back"

    def _correct(self, number: int, record: Record) -> str:
        """Somebody is another person than was noted; what came of it, in words."""
        caller = self.callers[number]
        if number in self.seats:
            self.session.leave(self.seats.pop(number))
        caller.person = record["person"]
        caller.type_id = record["type"]
        caller.accepted = record["accepted"]
        if "plan" in record:
            self.seats[number] = caller.type_id
            self._follow(self.read_plan(record["plan"]))
        elif caller.accepted:
            self._see(number, True)
        return f"was corrected, and {'has a seat' if caller.accepted else 'has no seat'}"

    def read_plan(self, plan: Plan | Record) -> Plan:
        """A plan that may still be a record."""
        return plan if isinstance(plan, Plan) else Plan.read(plan, self._first_class)

    def _follow(self, plan: Plan) -> None:
        """Begin a plan, or go on with another: those who have called count as before."""
        self.plan = plan
        self.plans += 1
        self.called_before = self.seen
        self.session = plan.strategy.start(plan.problem, plan.size)
        for number, caller in self.callers.items():
            self.session.see_one(caller.type_id, number in self.seats)

    def _see(self, number: int, accepted: bool) -> None:
        type_id = self.callers[number].type_id
        if accepted:
            self.seats[number] = type_id
        self.session.see_one(type_id, accepted)

    # --- What would be decided.

    def read(self, person: Mapping[str, str], year: int = 0) -> tuple[dict[str, str], IntArray]:
        """A person in the words of the files, and the types that they may be of."""
        values = self._values(person, year)
        fits = np.ones(len(self.problem.p), dtype=bool)
        for axis, feature in enumerate(self.problem.features):
            if feature not in values:
                raise ValueError(f"{feature}: is missing")
            value = values[feature]
            if value is not None:
                code = self.problem.labels.get_loc((feature, value))
                fits &= self.problem.codes[:, axis] == code
        words = {feature: values[feature] or NOT_STATED for feature in self.problem.features}
        return words, np.flatnonzero(fits)

    def _values(self, person: Mapping[str, str], year: int) -> dict[str, str | None]:
        """What was answered, by feature; None for an answer that somebody did not want to give."""
        features = {same_word(feature): feature for feature in self.problem.features}
        values: dict[str, str | None] = {}
        for name, answer in person.items():
            feature = features.get(same_word(str(name)))
            if feature is None:
                raise ValueError(unknown("feature", str(name), self.problem.features))
            if feature in values:
                raise ValueError(f"{feature}: is given twice, in two spellings")
            values[feature] = self._value_of(feature, str(answer), year)
        return values

    def _value_of(self, feature: str, answer: str, year: int) -> str | None:
        """The value that a word stands for: itself, an age or a year of birth; None if none."""
        word = same_word(answer)
        values = self.problem.features[feature]
        spelt = {same_word(value): value for value in values}
        value = spelt.get(word) or ages.find(word, values, year)
        if value is None and word not in NO_ANSWER - {""}:
            raise ValueError(f"{feature}: {unknown('value', answer, values)}")
        return value

    def decide(self, record: Record, position: int) -> Record:
        """What is decided about the person of a record, before which there are `position` others.

        Returns
        -------
        dict
            `type` and whether `accepted`; the `chance` and the `coin` of somebody who had no seat;
            for a correction that leaves the band, the `plan` with the nearest band.
        """
        number = number_of(record)
        _, type_ids = self.read(record["person"])
        if number in self.seats:
            commonest = int(type_ids[np.argmax(self.problem.p[type_ids])])
            return {"type": commonest, "accepted": True, **self._wider_plan(number, commonest)}
        chance = 0.0
        if not self.is_of_seated_household(record):
            chance = self.chance(type_ids)
        is_second_time = number in self.callers
        coin = self.coin(number, position) if is_second_time else self.coin(number)
        type_id = self.counts_as(type_ids)
        return {"type": type_id, "accepted": coin < chance, "chance": chance, "coin": coin}

    def _wider_plan(self, number: int, type_id: int) -> Record:
        """The plan to go on with if somebody who is seated is of this type; empty if the same."""
        counts = self.count((self.seats | {number: type_id}).values())
        plan = self.plan.widened(counts, self.size - self.seated)
        return {} if plan is self.plan else {"plan": plan.record()}

    def is_of_seated_household(self, record: Record) -> bool:
        """Whether somebody of the household of a record's person is seated."""
        caller = self.callers.get(number_of(record))
        household = record.get("household", "") if caller is None else caller.household
        return self.has_household_seat(household)

    def has_household_seat(self, household: str) -> bool:
        """Whether somebody of this household is seated."""
        seated = {same_word(self.callers[number].household) for number in self.seats}
        return same_word(household) in seated - {""}

    def chance(self, type_ids: IntArray | list[int]) -> float:
        """The probability with which somebody of one of these types is accepted now.

        Whoever did not answer a question is one of several types: the mean over what they may be,
        among the volunteers. Groups that are to have no seat at all are left out.
        """
        possible = self._with_seats(np.asarray(type_ids))
        shares = self.problem.p[possible]
        if not shares.sum() > 0:
            return float(self.session.acceptance[possible].mean())
        return float(self.session.acceptance[possible] @ shares / shares.sum())

    def counts_as(self, type_ids: IntArray) -> int:
        """The type that somebody of one of these counts as: the likeliest who is accepted now.

        The commonest, if none of them is. So whoever is accepted leaves the committee one that can
        end as it should, whatever they did not say.
        """
        possible = self._with_seats(type_ids)
        likely = self.problem.p[possible] * self.session.acceptance[possible]
        if not likely.any():
            likely = self.problem.p[possible]
        return int(possible[np.argmax(likely)])

    def _with_seats(self, type_ids: IntArray) -> IntArray:
        """Those of these types whose values may all have a seat; all of them, if none has."""
        if self.plan.band is None:
            return type_ids
        _, most = self.plan.band
        may_have_a_seat = (most[self.problem.codes[type_ids]] > 0).all(axis=1)
        return type_ids[may_have_a_seat] if may_have_a_seat.any() else type_ids

    def is_open(self, type_id: int) -> bool:
        """Whether a committee with one more of this type can end as it should."""
        ahead_with = self.session.ahead_with
        if ahead_with is None:
            return self.chance([type_id]) > 0
        return bool(np.isfinite(ahead_with[type_id]))

    def coin(self, *key: int) -> float:
        """The coin of a caller, who has the same whenever and wherever it is tossed."""
        return float(np.random.default_rng([self.seed, *key]).random())

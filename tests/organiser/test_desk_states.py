"""The desk as a machine: whatever happens in whatever order, its promises hold.

The machine remembers what it was told, in the simplest way there is, and says beforehand what must
be refused. What was tried in vain must leave the journal as it was.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from callers import SMALL, person
from committees import CMDP, RLCMDP, Greedy
from committees.beyond import Foresight, Prices
from organiser.desk import Desk, Plan, Refused, audit, outlook

STRATEGIES = [
    Foresight(0.05),
    Foresight(0.2),
    Foresight(0.2, learn=True),
    Greedy(1),
    Greedy(0.1),
    Prices(2),
    CMDP(),
    RLCMDP(scale=0.1),
]
SIZES = [4, 6]
FEATURES = list(SMALL.features)

people = st.builds(
    lambda type_id, unanswered: person(SMALL, type_id) | dict.fromkeys(unanswered, "-"),
    st.integers(0, len(SMALL.p) - 1),
    st.one_of(st.just([]), st.lists(st.sampled_from(FEATURES), max_size=2)),
)
#: Often the number of somebody who has called; see `number`.
places = st.integers(0, 40)


@dataclass
class Known:
    """What the machine knows of a caller."""

    person: dict
    household: str
    accepted: bool
    seated: bool
    reserve: bool = False


def refusal_of(act, *arguments):
    """Why something is refused; empty if it is done."""
    try:
        act(*arguments)
    except Refused as error:
        return str(error)
    return ""


class AnyDay(RuleBasedStateMachine):
    @initialize(
        strategy=st.sampled_from(STRATEGIES), size=st.sampled_from(SIZES), seed=st.integers(0, 99)
    )
    def open(self, strategy, size, seed):
        self.folder = tempfile.TemporaryDirectory()
        self.journal = Path(self.folder.name, "a.journal")
        self.plan = Plan(strategy, SMALL, size)
        self.desk = Desk(strategy, SMALL, size, journal=self.journal, seed=seed)
        self.known = {}
        self.is_widened = False

    def teardown(self):
        if hasattr(self, "desk"):
            self.open_again()
            self.desk.close()
            self.folder.cleanup()

    # --- What the machine expects.

    def seated(self):
        return [number for number, caller in self.known.items() if caller.seated]

    def is_full(self):
        return len(self.seated()) == self.plan.size

    def has_seat(self, household):
        """Whether somebody of a household sits."""
        homes = [self.known[number].household for number in self.seated()]
        return bool(household) and household.casefold() in map(str.casefold, homes)

    def number(self, place):
        """The number of somebody who has called, or the next one, who has not."""
        return 1 + place % (len(self.known) + 1)

    def must_be_refused(self, act, *arguments):
        head = self.desk.head
        with pytest.raises(Refused):
            act(*arguments)
        assert self.desk.head == head

    # --- What may happen.

    @rule(who=people, household=st.sampled_from(["", "", "", "High St 1", "high st 1", "Mill"]))
    def offer(self, who, household):
        if self.is_full():
            self.must_be_refused(self.desk.offer, who)
            return
        number = len(self.known) + 1
        decision = self.desk.offer(who, id=f"id {number}", household=household)
        assert decision.number == number
        assert not (decision and self.has_seat(household))
        self.known[number] = Known(who, household, decision.accepted, decision.accepted)

    @rule(many=st.lists(people, min_size=3, max_size=8))
    def offer_many(self, many):
        for who in many:
            self.offer(who, "")

    @precondition(lambda self: self.known)
    @rule(who=people, place=places)
    def offer_twice(self, who, place):
        earlier = 1 + place % len(self.known)
        self.must_be_refused(self.desk.offer, who, f"id {earlier}")

    @rule(place=places)
    def withdraw(self, place):
        number = self.number(place)
        if number not in self.seated():
            self.must_be_refused(self.desk.withdraw, number)
            return
        self.desk.withdraw(number)
        self.known[number].seated = False

    @precondition(lambda self: self.known)
    @rule(place=places)
    def seat_again(self, place):
        number = 1 + place % len(self.known)
        caller = self.known[number]
        may_have = caller.accepted or caller.reserve
        if caller.seated or self.is_full() or not may_have or self.has_seat(caller.household):
            self.must_be_refused(self.desk.seat_again, number)
            return
        is_on_offer = number in outlook.reserve(self.desk.state)
        why = refusal_of(self.desk.seat_again, number)
        if why:
            assert why.endswith("others are needed more")
            assert not is_on_offer
            return
        assert caller.accepted or is_on_offer
        self.known[number] = Known(caller.person, caller.household, True, True)

    @precondition(lambda self: self.seated())
    @rule(place=places)
    def give_back_by_mistake(self, place):
        """Where the rule knows who fits, who has given a seat back by mistake has it again."""
        number = self.seated()[place % len(self.seated())]
        self.desk.withdraw(number)
        self.known[number].seated = False
        if self.desk.state.session.ahead_with is not None:
            self.desk.seat_again(number)
            self.known[number].seated = True
            self.known[number].reserve = False

    @rule(place=places)
    def keep_in_reserve(self, place):
        number = self.number(place)
        if number not in self.known or self.known[number].accepted:
            self.must_be_refused(self.desk.keep_in_reserve, number)
            return
        self.desk.keep_in_reserve(number)
        self.known[number].reserve = True

    @rule(place=places)
    def decline(self, place):
        number = self.number(place)
        if number not in self.known or not self.known[number].reserve:
            self.must_be_refused(self.desk.decline, number)
            return
        self.desk.decline(number)
        self.known[number].reserve = False

    @rule(place=places, who=people)
    def correct(self, place, who):
        number = self.number(place)
        caller = self.known.get(number)
        if caller is None or (not caller.seated and self.is_full()):
            self.must_be_refused(self.desk.correct, number, who)
            return
        decision = self.desk.correct(number, who)
        if caller.seated:
            assert decision, "a seat that was promised is kept"
            self.is_widened = self.is_widened or self.desk.state.plan != self.plan
        else:
            assert not (decision and self.has_seat(caller.household))
        caller.person = who
        caller.accepted = caller.seated = decision.accepted

    @rule(strategy=st.sampled_from(STRATEGIES), size=st.sampled_from(SIZES))
    def revise(self, strategy, size):
        plan = Plan(strategy, SMALL, size)
        if not self.can_end(plan):
            self.must_be_refused(self.desk.revise, plan, "a try")
            return
        self.must_be_refused(self.desk.revise, plan, " ")
        self.desk.revise(plan, "for a reason")
        self.plan = plan
        self.is_widened = False

    @rule()
    def open_again(self):
        """The journal alone brings everything back, and whoever checks it finds nothing wrong."""
        before = self.desk.state
        head = self.desk.head
        self.desk.close()
        wrong, heads = audit.verify(self.journal)
        assert (wrong, heads[-1]) == ("", head)
        self.desk = Desk(journal=self.journal)
        after = self.desk.state
        assert after.callers == before.callers
        assert after.seats == before.seats
        assert after.last == before.last
        assert after.plan == before.plan
        assert outlook.progress(after).equals(outlook.progress(before))
        assert outlook.late(after) == outlook.late(before)
        assert outlook.reserve(after) == outlook.reserve(before)
        assert (after.session.acceptance == before.session.acceptance).all()

    # --- What always holds.

    def can_end(self, plan):
        """Whether those who are seated fit into a plan, counted from the words on the types."""
        seats_left = plan.size - len(self.seated())
        if seats_left < 0:
            return False
        if plan.band is None:
            return True
        counts = self.counts()
        low, high = plan.band
        missing = np.maximum(low - counts, 0)
        first = SMALL.labels.get_level_values(0)
        needed = max(missing[first == feature].sum() for feature in FEATURES)
        return bool((counts <= high).all() and needed <= seats_left)

    def counts(self):
        counts = np.zeros(len(SMALL.labels), dtype=int)
        for type_id in self.desk.state.seats.values():
            for label in person(SMALL, type_id).items():
                counts[SMALL.labels.get_loc(label)] += 1
        return counts

    @invariant()
    def the_desk_knows_what_was_told(self):
        state = self.desk.state
        assert sorted(state.seats) == self.seated()
        assert state.seated <= state.size == self.plan.size
        assert state.seen == len(self.known)
        for number, caller in self.known.items():
            noted = state.callers[number]
            assert noted.person == caller.person
            assert (noted.accepted, noted.reserve) == (caller.accepted, caller.reserve)
            words = person(SMALL, state.seats.get(number, noted.type_id))
            stated = {f: word for f, word in caller.person.items() if word != "-"}
            assert stated.items() <= words.items()

    @invariant()
    def the_committee_can_end_in_the_band(self):
        assert self.can_end(self.desk.state.plan)
        assert (self.desk.state.counts == self.counts()).all()
        if not self.is_widened:
            assert self.desk.state.plan == self.plan

    @invariant()
    def nobody_sits_beside_somebody_of_the_same_household(self):
        homes = [self.known[number].household.casefold() for number in self.seated()]
        homes = [home for home in homes if home]
        assert len(homes) == len(set(homes))

    @invariant()
    def who_is_on_offer_can_have_a_seat(self):
        on_offer = outlook.reserve(self.desk.state)
        assert not on_offer or not self.is_full()
        assert all(self.known[n].reserve and not self.known[n].seated for n in on_offer)
        assert not any(self.has_seat(self.known[number].household) for number in on_offer)


TestAnyDay = AnyDay.TestCase
TestAnyDay.settings = settings(stateful_step_count=30)

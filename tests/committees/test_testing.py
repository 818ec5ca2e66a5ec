"""Sound strategies pass `check_strategy`; of every other a sentence says what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from committees import (
    CMDP,
    Greedy,
    Recruitment,
    Session,
    Strategy,
    datasets,
    recruit,
    simulate,
    simulation,
)
from committees.beyond import Believing, Foresight
from committees.beyond.registry import STRATEGIES
from committees.testing import check_strategy, p_value
from samples import random_problem

SMALL = random_problem(np.random.default_rng(5), [2, 2, 2])
BREXIT = datasets.brexit(["gender", "age"])


@pytest.mark.parametrize("name", STRATEGIES)
def test_check_strategy_accepts_every_strategy_of_the_book(name):
    """9 comparisons at the level of 1 in 1,000; the seed is fixed."""
    check_strategy(STRATEGIES[name](), SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", STRATEGIES)
def test_check_strategy_accepts_them_in_larger_committees(name, fresh_seed):
    """Where learners solve several programs. In fewer than 9 of 1,000 test runs one is refused."""
    check_strategy(STRATEGIES[name](), BREXIT, size=40, runs=200, seed=fresh_seed % 10**6)


def test_check_strategy_accepts_who_is_told_a_wrong_p():
    for rule in (CMDP(), Foresight(0.1), Foresight(0.1, learn=True)):
        check_strategy(Believing(rule, random_problem(np.random.default_rng(6), [2, 2, 2])), SMALL)


class Pace(Session):
    """Sound: at most so many seats ahead of the first value's target. Tests break it."""

    def __init__(self, problem, size):
        self.problem, self.seated, self.ahead = problem, 0, 0.0
        self.acceptance = np.ones(len(problem.p))

    def see(self, type_ids, accepted):
        self.note(type_ids[0], accepted[0])
        return 1

    def note(self, type_id, accepted):
        if accepted:
            self.ahead += (self.problem.codes[type_id, 0] == 0) - self.problem.rho[0]
            self.decide()

    def decide(self):
        first = self.problem.codes[:, 0] == 0
        self.acceptance = np.where(first, self.ahead < 1, self.ahead > -1).astype(float)


class TooLikely(Pace):
    def decide(self):
        self.acceptance = np.full(len(self.problem.p), 2.0)


class TooShort(Pace):
    def decide(self):
        self.acceptance = np.ones(3)


class NotANumber(Pace):
    def decide(self):
        self.acceptance = np.full(len(self.problem.p), np.nan)


class NotesNobody(Pace):
    def see(self, type_ids, accepted):
        return 0


class NotesNothing(Pace):
    def see(self, type_ids, accepted):
        super().see(type_ids, accepted)


class NotesTooMany(Pace):
    def see(self, type_ids, accepted):
        return len(type_ids) + 1


class ChangesInPlace(Pace):
    def decide(self):
        self.acceptance[0] = 0.5


class TossesCoins(Pace):
    def decide(self):
        self.acceptance = np.random.default_rng().random(len(self.problem.p))


class Remembers(Pace):
    seen = 0

    def decide(self):
        Remembers.seen += 1
        self.acceptance = np.full(len(self.problem.p), 1 / (1 + Remembers.seen % 7))


class DoesNotStop(Pace):
    def see(self, type_ids, accepted):
        for type_id, yes in zip(type_ids, accepted, strict=True):
            self.note(type_id, yes)
        return len(type_ids)


class LearnsInSilence(Pace):
    def note(self, type_id, accepted):
        self.ahead += (self.problem.codes[type_id, 0] == 0) - self.problem.rho[0]
        self.decide()


class LooksAtTheSize(Pace):
    def __init__(self, problem, size):
        super().__init__(problem, size)
        self.acceptance = np.full(len(problem.p), 5 / size)

    def decide(self):
        pass


@dataclass(frozen=True)
class Rule(Strategy):
    session: type
    sized = False
    family = "Rule"

    def start(self, problem, size):
        return self.session(problem, size)


def test_check_strategy_accepts_a_sound_rule():
    check_strategy(Rule(Pace), SMALL)


@pytest.mark.parametrize(
    ("session", "sentence"),
    [
        (TooLikely, "acceptance must be 8 numbers from 0 to 1, one per type, got array"),
        (TooShort, "acceptance must be 8 numbers from 0 to 1, one per type, got array"),
        (NotANumber, "acceptance must be 8 numbers from 0 to 1, one per type, got array"),
        (NotesNobody, "see must return how many of 1 people it noted, at least 1, got 0"),
        (NotesNothing, "see must return how many of 1 people it noted, at least 1, got None"),
        (NotesTooMany, "see must return how many of 1 people it noted, at least 1, got 2"),
        (ChangesInPlace, "acceptance must be a new array when it changes"),
        (TossesCoins, "decides otherwise the second time: sessions share something, or draw"),
        (Remembers, "decides otherwise the second time: sessions share something, or draw"),
        (DoesNotStop, "decides otherwise on many at once: `see` must stop where acceptance"),
        (LearnsInSilence, "decides otherwise if not told whom it rejects: `learns` should be"),
        (LooksAtTheSize, "decides otherwise in a larger committee: `sized` should be True"),
        (lambda problem, size: 5, "start must return a Session, got 5"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_check_strategy_says_what_is_wrong(session, sentence):
    with pytest.raises(ValueError, match=r"^Rule: ") as caught:
        check_strategy(Rule(session), SMALL)
    assert str(caught.value).startswith(f"Rule: {sentence}")


def test_check_strategy_wants_a_strategy_whose_name_begins_with_its_family():
    class Misnamed(CMDP):
        family = "Rule"
        name = "CMDP"

    with pytest.raises(ValueError, match="CMDP: the name does not begin with the family, Rule"):
        check_strategy(Misnamed(), SMALL)
    with pytest.raises(ValueError, match=r"strategy: expected one such as CMDP\(\), got"):
        check_strategy(CMDP, SMALL)


def test_check_strategy_finds_what_would_give_wrong_numbers():
    """A learner that does not say so has other people in each simulator."""
    fast, slow = (
        simulate(Rule(LearnsInSilence), SMALL, 20, 200, step_by_step=step, workers=1)[
            "screened"
        ].mean()
        for step in (False, True)
    )
    assert abs(fast - slow) > 0.2 * slow


def test_p_value_is_small_by_chance_as_often_as_it_says():
    """Of discrete, dependent columns, at a level of 0.1; four standard errors."""
    rng = np.random.default_rng(3)
    shares = [0.5, 0.3, 0.15, 0.05]
    found = [p_value(*rng.multinomial(10, shares, (2, 200)).astype(float)) for _ in range(400)]
    assert np.mean(np.array(found) <= 0.1) <= 0.1 + 4 * (0.1 * 0.9 / 400) ** 0.5
    assert max(found) <= 1


def test_p_value_finds_a_difference():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(600, 3)), rng.normal([0, 0, 0.4], size=(600, 3))
    assert p_value(one, other) < 1e-3 < p_value(one, rng.normal(size=(600, 3)))


# Simulators that are broken


def counts_failures_instead_of_trials(strategy, problem, size, rng):
    found = recruit(strategy, problem, size, rng)
    return replace(found, screened=np.maximum(found.screened - np.arange(1, size + 1), 1))


def forgets_to_weigh_by_acceptance(strategy, problem, size, rng):
    acceptance = strategy.start(problem, size).acceptance
    found = recruit(strategy, problem, size, rng)
    open_types = np.flatnonzero(acceptance)
    weights = problem.p[open_types] / problem.p[open_types].sum()
    return replace(found, type_ids=rng.choice(open_types, size, p=weights))


def notices_full_quotas_one_person_late(strategy, problem, size, rng):
    """Keeps drawing from the old probabilities once after each change."""
    session = strategy.start(problem, size)
    type_ids, screened, seen = [], [], 0
    stale = session.acceptance
    while len(type_ids) < size:
        weights = problem.p * stale
        stale = session.acceptance
        seen += rng.geometric(min(1.0, weights.sum()))
        type_id = rng.choice(len(weights), p=weights / weights.sum())
        session.see(np.array([type_id]), np.array([True]))
        type_ids.append(type_id)
        screened.append(seen)
    return Recruitment(np.array(type_ids), np.array(screened), np.array(screened, float), session)


@pytest.mark.parametrize(
    ("broken", "strategy"),
    [
        (counts_failures_instead_of_trials, CMDP()),
        (forgets_to_weigh_by_acceptance, CMDP()),
        (notices_full_quotas_one_person_late, Greedy(0.0)),
    ],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_check_strategy_refuses_simulators_that_disagree(broken, strategy, monkeypatch):
    problem = datasets.brexit(features=["age", "gender"])
    check_strategy(strategy, problem)

    def sometimes_broken(*arguments, step_by_step=False):
        return recruit(*arguments, step_by_step=True) if step_by_step else broken(*arguments)

    monkeypatch.setattr(simulation, "recruit", sometimes_broken)
    with pytest.raises(ValueError, match=f"{strategy}: the simulators disagree on its law"):
        check_strategy(strategy, problem)

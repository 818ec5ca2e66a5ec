"""The desk: what is announced is kept, whatever happens."""

from __future__ import annotations

import multiprocessing
import random
import signal
import time
from typing import ClassVar

import numpy as np
import pytest

from assembly.desk import Desk, JournalError, Refused
from assembly.desk.journal import Journal
from committees import CMDP, RLCMDP, Greedy, Problem, Session, Strategy, datasets, recruit
from committees.beyond import Foresight, Prices
from organiser import SMALL, callers, fill, person, work

STRATEGIES = [
    Greedy(0.05),
    CMDP(),
    RLCMDP(scale=0.1),
    Prices(1),
    Foresight(0.02),
    Foresight(0.02, learn=True),
]


def records(path):
    """What is in a journal that no desk has open."""
    journal = Journal(path)
    journal.close()
    return journal.records


@pytest.fixture
def written(tmp_path):
    """The journal of a desk to which six people have called."""
    path = tmp_path / "a.journal"
    with Desk(Greedy(0.1), SMALL, 10, journal=path, seed=1) as desk:
        fill(desk, callers(SMALL, 6))
    return path


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_offer_decides_as_the_simulator_would(strategy, tmp_path):
    """The same people and coins, through the simulator and over the desk."""

    class Coins:
        def __init__(self, seed):
            self._seed, self._number, self._rng = seed, 0, np.random.default_rng(3)

        def random(self, shape):
            """People, as places in the distribution, and the coins of a desk with this seed."""
            numbers = range(self._number + 1, self._number + shape[1] + 1)
            self._number += shape[1]
            coins = [np.random.default_rng([self._seed, n]).random() for n in numbers]
            return np.array([self._rng.random(shape[1]), coins])

    found = recruit(strategy, SMALL, 20, Coins(5), step_by_step=True)
    type_ids = np.searchsorted(
        np.cumsum(SMALL.p), np.random.default_rng(3).random(1024), side="right"
    )
    with Desk(strategy, SMALL, 20, journal=tmp_path / "a.journal", seed=5) as desk:
        said = fill(desk, [person(SMALL, type_id) for type_id in type_ids])
    numbers = [decision.number for decision in said if decision]
    assert numbers == found.screened.tolist()
    assert [type_ids[n - 1] for n in numbers] == found.type_ids.tolist()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_desk_opened_again_goes_on_as_if_nothing_had_been(strategy, tmp_path):
    one, two = tmp_path / "one.journal", tmp_path / "two.journal"
    people = callers(SMALL, 2000)
    with Desk(strategy, SMALL, 25, journal=one, seed=8) as desk:
        undisturbed = fill(desk, people)
        final = desk.progress()
    said = []
    while len(said) < len(undisturbed):
        with Desk(strategy, SMALL, 25, journal=two, seed=8) as desk:
            assert desk.seen == len(said)
            said += [desk.offer(one) for one in people[len(said) : len(undisturbed)][:7]]
    assert said == undisturbed
    with Desk(strategy, SMALL, 25, journal=two) as desk:
        assert desk.progress().equals(final)
    assert records(one) == records(two)


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_desk_killed_at_any_time_loses_nothing_that_was_announced(tmp_path, kills):
    """SIGKILL, many times, each after a random number of decisions and a random time."""
    strategy = Prices(1)
    people = callers(SMALL, 5000, seed=12)
    with Desk(strategy, SMALL, 60, journal=tmp_path / "undisturbed", seed=11) as desk:
        expected = [int(decision.accepted) for decision in fill(desk, people)]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["assembly.desk", "committees.beyond"])
    chance = random.Random(13)
    rounds = 0
    while kills > 0:
        journal = tmp_path / f"{rounds}.journal"
        announced: dict[int, int] = {}
        done = False
        while not done:
            receive, send = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(strategy, journal, people, send))
            process.start()
            send.close()
            with open(receive.fileno(), "rb", closefd=False) as stream:
                lines = []
                if kills > 0:
                    lines = [stream.readline() for _ in range(chance.randrange(6))]
                    time.sleep(chance.random() * 0.02)
                    process.kill()
                    kills -= 1
                lines += stream.readlines()
            process.join()
            assert process.exitcode in (-signal.SIGKILL, 0)
            receive.close()
            for line in filter(None, lines):
                if line == b"done\n":
                    done = True
                else:
                    number, accepted = map(int, line.split())
                    assert announced.setdefault(number, accepted) == accepted
            with Desk(strategy, SMALL, 60, journal=journal, seed=11) as desk:
                assert desk.seen >= max(announced, default=0)
        assert [announced.get(n, expected[n - 1]) for n in range(1, len(expected) + 1)] == expected
        assert records(journal) == records(tmp_path / "undisturbed")
        rounds += 1


def test_offer_is_in_the_journal_before_it_is_taken_in(tmp_path, monkeypatch):
    """Whoever interrupts the planning finds the decision in the journal, which brings all back."""
    path = tmp_path / "a.journal"
    people = callers(SMALL, 40)
    with Desk(Foresight(0.02), SMALL, 30, journal=tmp_path / "other", seed=1) as straight:
        assert straight.last == ""
        undisturbed = fill(straight, people)
    desk = Desk(Foresight(0.02), SMALL, 30, journal=path, seed=1)
    fill(desk, people[:10])

    def interrupted(session, type_ids, accepted):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(desk._session), "see", interrupted)
        with pytest.raises(KeyboardInterrupt):
            desk.offer(people[10])
    with pytest.raises(JournalError, match="is closed; open the journal again"):
        desk.offer(people[11])
    with Desk(Foresight(0.02), SMALL, 30, journal=path) as again:
        outcome = "was accepted" if undisturbed[10] else "was not accepted"
        assert again.last == f"Caller 11 ({', '.join(people[10].values())}) {outcome}"
        assert fill(again, people[11:]) == undisturbed[11:]


def test_offer_that_cannot_be_written_is_no_decision(tmp_path):
    path = tmp_path / "a.journal"
    desk = Desk(Greedy(0.1), SMALL, 10, journal=path, seed=1)
    one, two = callers(SMALL, 2)
    desk.offer(one)
    desk._journal._database.execute("PRAGMA query_only=1")  # SQLite refuses to write from now on
    with pytest.raises(JournalError, match=r"could not be written .*; this decision does"):
        desk.offer(two)
    assert desk.seen == 1
    with pytest.raises(JournalError, match="closed"):
        desk.offer(two)
    with Desk(Greedy(0.1), SMALL, 10, journal=path) as again:
        assert again.seen == 1
        again.offer(two)


def test_desk_refuses_words_that_it_cannot_tell_apart(tmp_path):
    half = {"a": 0.5, "b": 0.5}
    for targets, sentence in (
        ({"g": {"A": 0.9, "a": 0.1}}, "feature 'g': the values 'A' and 'a' are the same word"),
        ({"Age": half, "age": half}, "features 'Age' and 'age' are the same word"),
    ):
        problem = Problem.from_marginals(targets, targets)
        with pytest.raises(ValueError, match=sentence):
            Desk(Greedy(0.1), problem, 10, journal=tmp_path / "a.journal")
    assert not any(tmp_path.iterdir())


def test_desk_takes_whole_numbers_of_any_kind(tmp_path):
    size, seed = np.int64(3), np.int64(5)
    with Desk(Greedy(1), SMALL, size, journal=tmp_path / "a.journal", seed=seed) as desk:
        desk.offer(callers(SMALL, 1)[0])
        desk.withdraw(np.int64(1))
        for wrong in (True, 2.0, "1"):
            with pytest.raises(ValueError, match="number: expected a whole number"):
                desk.withdraw(wrong)


def test_desk_refuses_a_second_one_on_its_journal(written):
    with Desk(Greedy(0.1), SMALL, 10, journal=written) as first:
        with pytest.raises(JournalError, match="is in use by another desk"):
            Desk(Greedy(0.1), SMALL, 10, journal=written)
        assert first.seen == 6
    Desk(Greedy(0.1), SMALL, 10, journal=written).close()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"strategy": Greedy(0.2)}, "strategy"),
        ({"problem": datasets.brexit(["gender", "age"])}, "problem"),
        ({"size": 11}, "size"),
        ({"seed": 2}, "seed"),
    ],
)
def test_desk_refuses_the_journal_of_another(written, change, name):
    desk = {"strategy": Greedy(0.1), "problem": SMALL, "size": 10, "seed": 1, **change}
    before = written.read_bytes()
    told = "with other targets" if name == "problem" else f"whose {name} is"
    with pytest.raises(JournalError, match=f"belongs to another desk, {told}"):
        Desk(**desk, journal=written)
    assert written.read_bytes() == before
    Desk(Greedy(0.1), SMALL, 10, journal=written).close()  # and the lock was let go


def test_desk_writes_who_it_is_and_what_it_decided(written):
    first, second, *_ = records(written)
    assert first == {
        "size": 10,
        "strategy": "Greedy(tolerance=0.1)",
        "problem": SMALL.digest,
        "seed": 1,
    }
    assert second["caller"] == 1
    assert second["person"] == callers(SMALL, 1)[0]


def test_desk_without_a_seed_has_its_own(tmp_path):
    seeds = set()
    for name in ("one", "two"):
        with Desk(CMDP(), SMALL, 5, journal=tmp_path / name) as desk:
            seeds.add(desk.seed)
        with Desk(CMDP(), SMALL, 5, journal=tmp_path / name) as again:
            assert again.seed == desk.seed
    assert len(seeds) == 2


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_withdraw_frees_the_seat(strategy, tmp_path):
    people = callers(SMALL, 5000, seed=4)
    path = tmp_path / "a.journal"
    with Desk(strategy, SMALL, 12, journal=path, seed=2) as desk:
        said = fill(desk, people)
        leaver = next(decision.number for decision in said if decision)
        desk.withdraw(leaver)
        assert desk.seated == 11
        with pytest.raises(Refused, match="has no seat"):
            desk.withdraw(leaver)
        rejected = next(decision.number for decision in said if not decision)
        with pytest.raises(Refused, match="has no seat"):
            desk.withdraw(rejected)
        progress = desk.progress()
    with Desk(strategy, SMALL, 12, journal=path) as desk:
        assert desk.progress().equals(progress)
        fill(desk, people[desk.seen :])
        assert desk.seated == 12
        assert desk.progress()["seated"].groupby("feature").sum().eq(12).all()


def test_withdraw_makes_room_for_people_of_the_same_type(tmp_path):
    """Greedy fills a quota, turns the next away, and takes them after a withdrawal."""
    like = {"gender": "female", "age": "55+", "vote": "leave"}
    with Desk(Greedy(0), SMALL, 10, journal=tmp_path / "a.journal") as desk:
        first = [desk.offer(like) for _ in range(5)]
        assert [bool(decision) for decision in first] == [True] * 4 + [False]
        assert first[-1].reason == "there is no room now for age 55+"
        desk.withdraw(2)
        assert desk.offer(like)
        assert not desk.offer(like)


def test_withdraw_is_refused_before_anything_is_written(tmp_path):
    """By a strategy that cannot take a seat back."""

    class Open(Session):
        def __init__(self, problem):
            self.acceptance = np.ones(len(problem.p))

        def see(self, type_ids, accepted):
            return len(type_ids)

    class Everybody(Strategy):
        family: ClassVar[str] = "Everybody"

        def start(self, problem, size):
            return Open(problem)

        def __repr__(self):
            return "Everybody()"

    with Desk(Everybody(), SMALL, 3, journal=tmp_path / "a.journal") as desk:
        one, two = callers(SMALL, 2)
        desk.offer(one)
        with pytest.raises(Refused, match="Everybody cannot take a seat back"):
            desk.withdraw(1)
        assert desk.offer(two).number == 2  # and it is still open
    assert len(records(tmp_path / "a.journal")) == 3
    with Desk(Everybody(), SMALL, 3, journal=tmp_path / "a.journal") as desk:
        assert desk.seated == 2


def test_withdraw_that_cannot_be_written_closes_the_desk(written):
    desk = Desk(Greedy(0.1), SMALL, 10, journal=written)
    desk._journal._database.execute("PRAGMA query_only=1")
    seat = next(iter(desk.seats))
    with pytest.raises(JournalError, match="could not be written"):
        desk.withdraw(seat)
    with Desk(Greedy(0.1), SMALL, 10, journal=written) as again:
        assert seat in again.seats


def test_offer_is_refused_when_all_seats_are_filled(tmp_path):
    with Desk(Greedy(1), SMALL, 2, journal=tmp_path / "a.journal") as desk:
        people = callers(SMALL, 3)
        fill(desk, people)
        with pytest.raises(Refused, match="all 2 seats are filled"):
            desk.offer(people[2])
        assert str(desk) == "2 of 2 seats filled, 2 people seen"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"age": None}, "age: is missing"),
        ({"age": "54-35"}, "age: unknown value '54-35'; expected 18-34, 35-54 or 55+"),
        ({"hair": "red"}, "unknown feature 'hair'; expected gender, age or vote"),
        ({"Age": "35-54"}, "age: is given twice, in two spellings"),
    ],
)
def test_offer_refuses_a_person_who_makes_no_sense(written, change, sentence):
    good = {"gender": "Female", "AGE": "18–34", "vote": " leave "}
    bad = {"gender": "female", "age": "18-34", "vote": "leave", **change}
    bad = {feature: value for feature, value in bad.items() if value is not None}
    with Desk(Greedy(0.1), SMALL, 10, journal=written) as desk:
        with pytest.raises(ValueError, match=sentence.replace("+", r"\+")):
            desk.offer(bad)
        assert desk.seen == 6
        assert desk.offer(good).number == 7


def test_offer_gives_reasons(tmp_path):
    problem = datasets.brexit()
    with Desk(CMDP(), problem, 60, journal=tmp_path / "a.journal", seed=1) as desk:
        said = fill(desk, callers(problem, 500))
    assert len(said) > 80
    for decision in said:
        assert (decision.chance == 1) == (decision.reason == "everybody like this is wanted now")
        assert ("by lot" in decision.reason) == (0 < decision.chance < 1)
        assert decision.accepted or decision.chance < 1
    coins = [d for d in said if 0 < d.chance < 1]
    assert {d.accepted for d in coins} == {True, False}
    assert all(d.reason.endswith("and this one is" if d else "is not") for d in coins)
    never = [d.reason for d in said if d.chance == 0]
    assert set(never) == {"more people like this come than are needed, so others go first"}


def test_offer_tells_of_a_dead_end(tmp_path):
    """No old woman will ever come; after a young man nobody else would do."""
    halves = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
    problem = Problem(halves, [0.3, 0.4, 0.0, 0.3])
    with Desk(Greedy(0), problem, 2, journal=tmp_path / "a.journal") as desk:
        assert desk.offer({"gender": "M", "age": "J"})
        refused = desk.offer({"gender": "F", "age": "J"})
        assert not refused
        assert "the strategy has reached a dead end" in refused.reason

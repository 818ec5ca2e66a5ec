"""The desk: what is announced is kept, whatever happens."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assembly.desk import Desk, Refused
from assembly.desk.__main__ import _answers, _marks, main
from assembly.desk.journal import Journal, JournalError
from committees import CMDP, RLCMDP, Greedy, Problem, datasets, recruit
from committees.beyond import Resolving
from committees.strategy import Session, Strategy

SMALL = datasets.brexit(["gender", "age", "vote"])
EXAMPLES = datasets.DATA / "examples"
STRATEGIES = [Greedy(0.05), CMDP(), RLCMDP(scale=0.1), Resolving(0.02), Resolving(0.02, learn=True)]


def person(problem, type_id):
    return dict(zip(problem.features, problem.index[type_id], strict=True))


def callers(problem, number, seed=3):
    type_ids = np.random.default_rng(seed).choice(len(problem.p), number, p=problem.p)
    return [person(problem, type_id) for type_id in type_ids]


def fill(desk, people):
    """Offer people until the desk is full; what was announced."""
    said = []
    for one in people:
        if desk.seated == desk.size:
            break
        said.append(desk.offer(one))
    return said


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_a_desk_decides_as_the_simulator_would(strategy, tmp_path):
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
    with Desk(strategy, SMALL, 20, journal=tmp_path / "journal", seed=5) as desk:
        said = fill(desk, [person(SMALL, type_id) for type_id in type_ids])
    numbers = [decision.number for decision in said if decision]
    assert numbers == found.screened.tolist()
    assert [type_ids[n - 1] for n in numbers] == found.type_ids.tolist()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_opened_again_it_goes_on_as_if_nothing_had_been(strategy, tmp_path):
    people = callers(SMALL, 2000)
    with Desk(strategy, SMALL, 25, journal=tmp_path / "one", seed=8) as desk:
        undisturbed = fill(desk, people)
        final = desk.progress()
    said = []
    while len(said) < len(undisturbed):
        with Desk(strategy, SMALL, 25, journal=tmp_path / "two", seed=8) as desk:
            assert desk.seen == len(said)
            said += [desk.offer(one) for one in people[len(said) : len(undisturbed)][:7]]
    assert said == undisturbed
    with Desk(strategy, SMALL, 25, journal=tmp_path / "two") as desk:
        assert desk.progress().equals(final)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def _work(strategy, journal, people, pipe):
    """A desk in a process of its own; what it announces goes through the pipe."""
    with Desk(strategy, SMALL, 60, journal=journal, seed=11) as desk:
        for one in people[desk.seen :]:
            if desk.seated == desk.size:
                break
            decision = desk.offer(one)
            os.write(pipe.fileno(), f"{decision.number} {int(decision.accepted)}\n".encode())
    os.write(pipe.fileno(), b"done\n")


def test_killed_at_any_time_it_loses_nothing_that_was_announced(tmp_path, monkeypatch):
    """SIGKILL, 100 times, each after a random number of decisions and a random time."""
    strategy = Resolving(0.02)
    # The server of forks imports this file once, if it finds it; then a child starts at once.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    people = callers(SMALL, 5000, seed=12)
    with Desk(strategy, SMALL, 60, journal=tmp_path / "undisturbed", seed=11) as desk:
        expected = [int(decision.accepted) for decision in fill(desk, people)]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["assembly.desk", __name__])
    chance = random.Random(13)
    kills = rounds = 0
    while kills < 100:
        journal = tmp_path / f"killed {rounds}"
        announced: dict[int, int] = {}
        done = False
        while not done:
            receive, send = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(strategy, journal, people, send))
            process.start()
            send.close()
            line = b""
            with open(receive.fileno(), "rb", closefd=False) as stream:
                for _ in range(chance.randrange(6)):
                    line = stream.readline()
                    if not line or line == b"done\n":
                        break
                    number, accepted = map(int, line.split())
                    assert announced.setdefault(number, accepted) == accepted
                time.sleep(chance.random() * 0.002)
                process.kill()
                process.join()
                assert process.exitcode in (-signal.SIGKILL, 0)
                kills += 1
                rest = [text for text in stream.read().split(b"\n") if text]
            receive.close()
            done = b"done" in rest or line == b"done\n"
            for text in rest:
                if text != b"done":
                    number, accepted = map(int, text.split())
                    assert announced.setdefault(number, accepted) == accepted
            # The kill may have cut a line short, rarely; what it said was not announced.
            with Desk(strategy, SMALL, 60, journal=journal, seed=11, repair=True) as desk:
                assert desk.seen >= max(announced, default=0)
        assert [announced.get(n, expected[n - 1]) for n in range(1, len(expected) + 1)] == expected
        assert journal.read_bytes() == (tmp_path / "undisturbed").read_bytes()
        rounds += 1
    assert kills >= 100


def test_it_is_on_disk_before_it_is_said(tmp_path, monkeypatch):
    """At the moment of fsync the line is complete; only then does the desk change."""
    path = tmp_path / "journal"
    desk = Desk(Greedy(0.1), SMALL, 10, journal=path, seed=1)
    seen = []

    def fsync(file):
        seen.append((desk.seen, path.read_text().count("\n")))

    monkeypatch.setattr(os, "fsync", fsync)
    for one in callers(SMALL, 3):
        desk.offer(one)
    assert seen == [(0, 2), (1, 3), (2, 4)]
    desk.close()


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_is_no_decision(tmp_path, monkeypatch, call):
    path = tmp_path / "journal"
    desk = Desk(Greedy(0.1), SMALL, 10, journal=path, seed=1)
    one, two, *_ = callers(SMALL, 2)
    desk.offer(one)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(JournalError, match="No space left on device"):
            desk.offer(two)
    assert path.read_bytes() == before
    assert desk.seen == 1
    with pytest.raises(JournalError, match="closed"):
        desk.offer(two)
    with Desk(Greedy(0.1), SMALL, 10, journal=path) as again:
        assert again.seen == 1
        again.offer(two)


def test_a_write_in_pieces_is_whole(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:5]))
    with Desk(Greedy(0.1), SMALL, 10, journal=tmp_path / "journal", seed=1) as desk:
        fill(desk, callers(SMALL, 4))
    with Desk(Greedy(0.1), SMALL, 10, journal=tmp_path / "journal") as desk:
        assert desk.seen == 4


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "journal"
    with Desk(Greedy(0.1), SMALL, 10, journal=path, seed=1) as desk:
        fill(desk, callers(SMALL, 6))
    return path


def test_every_way_of_cutting_the_last_line_is_noticed(written):
    whole = written.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for end in range(start + 1, len(whole)):
        written.write_bytes(whole[:end])
        with pytest.raises(JournalError, match="line 7: is cut short"):
            Desk(Greedy(0.1), SMALL, 10, journal=written)
    assert written.read_bytes() == whole[: len(whole) - 1]  # nothing was touched
    with Desk(Greedy(0.1), SMALL, 10, journal=written, repair=True) as desk:
        assert desk.seen == 5
    assert written.read_bytes() == whole[:start]


def test_every_changed_byte_is_noticed(written):
    whole = written.read_bytes()
    for place in range(len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        written.write_bytes(changed)
        sentence = r"line [1-7]: is" if place else "is not a journal"
        with pytest.raises(JournalError, match=sentence):
            Desk(Greedy(0.1), SMALL, 10, journal=written, repair=True)


def test_what_is_no_journal_is_left_alone(tmp_path):
    other = tmp_path / "targets.csv"
    other.write_text("feature,value,target\n")
    for path, sentence in ((other, "is not a journal"), (Path(os.devnull), "is not a file")):
        with pytest.raises(JournalError, match=sentence):
            Desk(Greedy(0.1), SMALL, 10, journal=path, repair=True)
    assert other.read_text() == "feature,value,target\n"


def test_words_that_a_desk_cannot_tell_apart_are_refused(tmp_path):
    half = {"a": 0.5, "b": 0.5}
    for targets, sentence in (
        ({"g": {"A": 0.9, "a": 0.1}}, "feature 'g': the values 'A' and 'a' are the same word"),
        ({"Age": half, "age": half}, "features 'Age' and 'age' are the same word"),
    ):
        problem = Problem.from_marginals(targets, targets)
        with pytest.raises(ValueError, match=sentence):
            Desk(Greedy(0.1), problem, 10, journal=tmp_path / "journal")
    assert not any(tmp_path.iterdir())


def test_a_decision_is_told_before_the_strategy_takes_it_in(tmp_path, monkeypatch):
    """Planning takes a while: whoever interrupts it has been told, and the journal brings it all
    back."""
    path = tmp_path / "journal"
    people = callers(SMALL, 40)
    desk = Desk(Resolving(0.02), SMALL, 30, journal=path, seed=1)
    fill(desk, people[:10])
    desk.prepare()
    planned = []
    see = type(desk._session).see

    def interrupted(session, type_ids, accepted):
        see(session, type_ids, accepted)
        planned.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(desk._session), "see", interrupted)
    said = desk.offer(people[10])
    assert not planned
    with pytest.raises(KeyboardInterrupt):
        desk.prepare()
    with pytest.raises(JournalError, match="is closed; open the journal again"):
        desk.offer(people[11])
    monkeypatch.undo()
    with Desk(Resolving(0.02), SMALL, 30, journal=path) as again:
        outcome = "was accepted" if said else "was not accepted"
        assert again.last == f"Caller 11 ({', '.join(people[10].values())}) {outcome}"
        after = [bool(decision) for decision in fill(again, people[11:])]
    with Desk(Resolving(0.02), SMALL, 30, journal=tmp_path / "other", seed=1) as straight:
        assert straight.last == ""
        assert [bool(decision) for decision in fill(straight, people)][11:] == after


def test_a_missing_or_moved_line_is_noticed(written):
    lines = written.read_bytes().splitlines(keepends=True)
    for order in ([0, 1, 2, 4, 5, 6], [0, 2, 1, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [0, 1, 1, 2]):
        written.write_bytes(b"".join(lines[i] for i in order))
        with pytest.raises(JournalError, match="damaged, or something before it was changed"):
            Desk(Greedy(0.1), SMALL, 10, journal=written)


def test_what_was_never_a_journal_is_left_alone(tmp_path):
    for text in (b"my notes, no newline", b"my notes\n", b'{"some": "json"'):
        (tmp_path / "notes").write_bytes(text)
        for repair in (False, True):
            with pytest.raises(JournalError, match=r"is not a journal|is damaged"):
                Desk(Greedy(0.1), SMALL, 10, journal=tmp_path / "notes", repair=repair)
        assert (tmp_path / "notes").read_bytes() == text


def test_a_journal_cut_in_its_first_line_can_be_repaired(tmp_path):
    (tmp_path / "journal").write_bytes(b'{"desk": 1, "si')
    with pytest.raises(JournalError, match="line 1: is cut short"):
        Desk(Greedy(0.1), SMALL, 10, journal=tmp_path / "journal")
    Desk(Greedy(0.1), SMALL, 10, journal=tmp_path / "journal", repair=True).close()


@pytest.mark.parametrize("how", ["removed", "added to"])
def test_a_journal_that_somebody_else_touches_is_no_place_for_decisions(written, how):
    with Desk(Greedy(0.1), SMALL, 10, journal=written) as desk:
        if how == "removed":
            written.unlink()
        else:
            written.write_bytes(written.read_bytes() + b"a note\n")
        with pytest.raises(JournalError, match="was changed or removed by somebody else"):
            desk.offer(callers(SMALL, 1)[0])
        assert desk.seen == 6


def test_a_dead_end_is_told(tmp_path):
    """No old woman will ever come; after a young man nobody else would do."""
    halves = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
    problem = Problem(halves, [0.3, 0.4, 0.0, 0.3])
    with Desk(Greedy(0), problem, 2, journal=tmp_path / "journal") as desk:
        assert desk.offer({"gender": "M", "age": "J"})
        refused = desk.offer({"gender": "F", "age": "J"})
        assert not refused
        assert "the strategy has reached a dead end" in refused.reason


def test_whole_numbers_of_any_kind_will_do(tmp_path):
    size, seed = np.int64(3), np.int64(5)
    with Desk(Greedy(1), SMALL, size, journal=tmp_path / "journal", seed=seed) as desk:
        desk.offer(callers(SMALL, 1)[0])
        desk.withdraw(np.int64(1))
        for wrong in (True, 2.0, "1"):
            with pytest.raises(ValueError, match="number: expected a whole number"):
                desk.withdraw(wrong)


def test_two_desks_on_one_journal_are_refused(written):
    with Desk(Greedy(0.1), SMALL, 10, journal=written) as first:
        with pytest.raises(JournalError, match="is in use by another desk"):
            Desk(Greedy(0.1), SMALL, 10, journal=written)
        code = f"from assembly.desk.journal import Journal; Journal({str(written)!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "is in use by another desk" in done.stderr
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
def test_another_desks_journal_is_refused(written, change, name):
    desk = {"strategy": Greedy(0.1), "problem": SMALL, "size": 10, "seed": 1, **change}
    before = written.read_bytes()
    told = "with other targets" if name == "problem" else f"whose {name} is"
    with pytest.raises(JournalError, match=f"belongs to another desk, {told}"):
        Desk(**desk, journal=written)
    assert written.read_bytes() == before
    Desk(Greedy(0.1), SMALL, 10, journal=written).close()  # and the lock was let go


def test_a_journal_that_cannot_be_opened(tmp_path):
    with pytest.raises(JournalError, match="cannot be opened"):
        Journal(tmp_path / "no such folder" / "journal")


def test_without_a_seed_each_desk_has_its_own(tmp_path):
    seeds = set()
    for name in ("one", "two"):
        with Desk(CMDP(), SMALL, 5, journal=tmp_path / name) as desk:
            seeds.add(desk.seed)
        with Desk(CMDP(), SMALL, 5, journal=tmp_path / name) as again:
            assert again.seed == desk.seed
    assert len(seeds) == 2


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_a_volunteer_who_withdraws_frees_the_seat(strategy, tmp_path):
    people = callers(SMALL, 5000, seed=4)
    path = tmp_path / "journal"
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


def test_who_leaves_makes_room_for_their_like(tmp_path):
    """Greedy fills a quota, turns the next away, and takes them after a withdrawal."""
    like = {"gender": "female", "age": "55+", "vote": "leave"}
    with Desk(Greedy(0), SMALL, 10, journal=tmp_path / "journal") as desk:
        first = [desk.offer(like) for _ in range(5)]
        assert [bool(decision) for decision in first] == [True] * 4 + [False]
        assert first[-1].reason == "there is no room now for age 55+"
        desk.withdraw(2)
        assert desk.offer(like)
        assert not desk.offer(like)


def test_a_strategy_that_cannot_take_seats_back_is_asked_first(tmp_path):
    class Open(Session):
        def __init__(self, problem):
            self.acceptance = np.ones(len(problem.p))

        def see(self, type_ids, accepted):
            return len(type_ids)

    class Everybody(Strategy):
        def start(self, problem, size):
            return Open(problem)

        def __repr__(self):
            return "Everybody()"

        __str__ = __repr__

    with Desk(Everybody(), SMALL, 3, journal=tmp_path / "journal") as desk:
        desk.offer(callers(SMALL, 1)[0])
        with pytest.raises(Refused, match="cannot take a seat back"):
            desk.withdraw(1)
        with pytest.raises(NotImplementedError, match="Open cannot take a seat back"):
            Open(SMALL).leave(0)
    with Desk(Everybody(), SMALL, 3, journal=tmp_path / "journal") as desk:
        assert desk.seated == 1


def test_undo_is_refused_and_a_full_desk_is_closed_to_callers(tmp_path):
    with Desk(Greedy(1), SMALL, 2, journal=tmp_path / "journal") as desk:
        people = callers(SMALL, 3)
        fill(desk, people)
        with pytest.raises(Refused, match="cannot be undone"):
            desk.undo()
        with pytest.raises(Refused, match="all 2 seats are filled"):
            desk.offer(people[2])
        assert str(desk) == "2 of 2 seats filled, 2 people seen"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"age": None}, "age: is missing"),
        ({"age": "54-35"}, "age: '54-35' is none of 18-34, 35-54, 55+"),
        ({"hair": "red"}, "'hair': is no feature of this assembly"),
        ({"Age": "35-54"}, "a feature is given twice"),
    ],
)
def test_a_person_who_makes_no_sense_is_no_caller(written, change, sentence):
    good = {"gender": "Female", "AGE": "18–34", "vote": " leave "}
    bad = {"gender": "female", "age": "18-34", "vote": "leave", **change}
    bad = {feature: value for feature, value in bad.items() if value is not None}
    with Desk(Greedy(0.1), SMALL, 10, journal=written) as desk:
        with pytest.raises(ValueError, match=sentence.replace("+", r"\+")):
            desk.offer(bad)
        assert desk.seen == 6
        assert desk.offer(good).number == 7


def test_reasons(tmp_path):
    problem = datasets.brexit()
    with Desk(CMDP(), problem, 60, journal=tmp_path / "journal", seed=1) as desk:
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


def test_the_journal_reads_like_one(written):
    first, second, *_ = map(json.loads, written.read_text().splitlines())
    assert first["strategy"] == "Greedy(tolerance=0.1)"
    assert second["caller"] == 1
    assert set(second["person"]) == set(SMALL.features)


def arguments(folder: Path, *more: str) -> list[str]:
    files = [str(EXAMPLES / f"brexit_{name}.csv") for name in ("targets", "volunteers")]
    return [*files, "--size", "10", "--journal", str(folder / "journal"), "--seed", "4", *more]


def at_the_prompt(monkeypatch, capsys, answers, argv):
    left = iter(answers)

    def answer(question):
        print(question)
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    code = main(argv)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_the_prompt(tmp_path, monkeypatch, capsys):
    ann = ["white", "abc1", "a", "lo", "FEMALE", "remain", ""]
    answers = [*ann, "help", "progress", "withdraw", "withdraw 9", "withdraw 1", "undo", "blue"]
    answers += ["1", "over", *ann[:-1], "hm", "", "quit"]
    code, out, err = at_the_prompt(monkeypatch, capsys, answers, arguments(tmp_path))
    assert (code, err) == (0, "")
    assert "Caller 1 is ACCEPTED: " in out
    assert "Whose seat?" in out
    assert "caller 9 has no seat" in out
    assert "Caller 1 has given the seat back. 0 of 10 seats filled, 1 person seen" in out
    assert "a volunteer who gives the seat back can withdraw" in out
    assert "'blue' is no answer here" in out
    assert out.count("Caller 2\n") == 2  # started over
    assert "white, ABC1, 18-34, London, female, remain" in out
    assert "2 people seen" in out.splitlines()[-1]
    code, out, _ = at_the_prompt(monkeypatch, capsys, [], arguments(tmp_path))
    assert code == 0
    assert out.splitlines()[0].startswith("Reading the journal ")
    assert "2 people seen" in out.splitlines()[1]
    assert out.splitlines()[3].startswith("Caller 2 (white, ")


def test_who_is_seated_is_told(tmp_path, monkeypatch, capsys):
    ann = ["white", "abc1", "a", "lo", "FEMALE", "remain", ""]
    bob = ["2", "abc1", "a", "lo", "male", "leave", ""]
    cleo = ["white", "c2de", "c", "2", "female", "leave", ""]
    answers = ["list", *ann, *bob, *cleo, "withdraw 1", "list", "progress", "quit"]
    _, out, _ = at_the_prompt(monkeypatch, capsys, answers, arguments(tmp_path))
    assert "0 of 10 seats filled, 0 people seen\n" in out
    seated = out[out.index("Caller 1 has given the seat back") :]
    assert re.search(r"^2 +non-white +ABC1 +18-34 +London +male +leave$", seated, re.MULTILINE)
    assert re.search(r"^3 +white +C2DE +.+ +female +leave$", seated, re.MULTILINE)
    assert not re.search(r"^1 +white", seated, re.MULTILINE)
    assert re.search(r"wanted +seated +missing +fewest +most\n", seated)

    table = tmp_path / "members.csv"
    argv = arguments(tmp_path, "--members", str(table))
    code, out, _ = at_the_prompt(monkeypatch, capsys, [], argv)
    assert code == 0
    assert f"2 of 10 seats filled, 3 people seen. Who is seated stands in {table}." in out
    frame = pd.read_csv(table)
    assert frame["caller"].tolist() == [2, 3]
    assert frame["gender"].tolist() == ["male", "female"]
    code, _, err = at_the_prompt(monkeypatch, capsys, [], argv)
    assert (code, err) == (2, f"{table}: is there already; choose another name\n")
    elsewhere = tmp_path / "other.csv"
    nobody = ["--journal", str(tmp_path / "none"), "--members", str(elsewhere)]
    code, _, err = at_the_prompt(monkeypatch, capsys, [], arguments(tmp_path, *nobody))
    assert (code, err) == (
        2,
        f"{tmp_path / 'none'}: there is no such journal, so nobody is seated\n",
    )
    assert not elsewhere.exists()
    assert not (tmp_path / "none").exists()
    argv[-1] = str(tmp_path / "nowhere" / "members.csv")
    code, _, err = at_the_prompt(monkeypatch, capsys, [], argv)
    assert code == 2
    assert "cannot be written" in err


def test_a_seat_given_back_is_not_told_as_an_acceptance(tmp_path, monkeypatch, capsys):
    ann = ["white", "abc1", "a", "lo", "FEMALE", "remain", ""]
    answers = [*ann, "withdraw 1", "quit"]
    at_the_prompt(monkeypatch, capsys, answers, arguments(tmp_path))
    _, out, _ = at_the_prompt(monkeypatch, capsys, [], arguments(tmp_path))
    assert "remain) was accepted, and has given the seat back.\n" in out
    assert out.startswith("Reading the journal ")


def test_the_strategies_of_the_prompt_are_those_of_the_page(tmp_path, monkeypatch, capsys):
    """The table for the door is the fair one, and the learner has a tenth of its radius."""
    for name, told in (("cmdp", "CMDP fair. "), ("rl-cmdp", "RL-CMDP ×0.1. ")):
        argv = arguments(tmp_path / name, "--strategy", name)
        (tmp_path / name).mkdir()
        _, out, _ = at_the_prompt(monkeypatch, capsys, [], argv)
        assert out.startswith(told)
        assert ("takes most people while it learns" in out) == (name == "rl-cmdp")


def test_a_full_committee_waits_for_somebody_to_withdraw(tmp_path, monkeypatch, capsys):
    anyone = ["1", "1", "a", "1", "1", "1", ""]
    argv = arguments(tmp_path, "--strategy", "rl-cmdp")  # which at first accepts everybody
    code, out, _ = at_the_prompt(monkeypatch, capsys, anyone * 10, argv)
    assert code == 0
    assert "The committee is full" in out
    assert out.splitlines()[-1] == "10 of 10 seats filled, 10 people seen."
    answers = ["progress", "withdraw 99", "withdraw 3", *anyone, "quit"]
    code, out, _ = at_the_prompt(monkeypatch, capsys, answers, argv)
    assert "is continued" in out
    assert "caller 99 has no seat" in out
    assert "Caller 3 has given the seat back" in out
    assert out.splitlines()[-1] == "10 of 10 seats filled, 11 people seen."


def test_answers_that_could_mean_two_things_do_not(tmp_path, monkeypatch, capsys):
    """Values that look like numbers are marked with letters, and commands are commands."""
    targets, volunteers = tmp_path / "t.csv", tmp_path / "v.csv"
    rows = [
        "children,0,0.4",
        "children,1,0.3",
        "children,3+,0.3",
        "age,over 30,0.5",
        "age,under,0.5",
    ]
    targets.write_text("\n".join(["feature,value,target", *rows]))
    volunteers.write_text("\n".join(["feature,value,share", *rows]))
    argv = [str(targets), str(volunteers), "--size", "4", "--seed", "1"]
    answers = ["3", "over", "c", "over 30", "", "quit"]
    code, out, _ = at_the_prompt(monkeypatch, capsys, answers, argv)
    assert code == 0
    assert "children: a 0  b 1  c 3+" in out
    assert out.count("Caller 1\n") == 2  # "over" started again
    assert "3+, over 30. Enter to decide" in out
    assert (tmp_path / "t.journal").exists()  # beside the targets


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        (("woman", "man"), ["1", "2"]),
        (("18-34", "35+", "unknown"), ["a", "b", "c"]),
        (tuple(map(str, range(18, 60))), ["aa", "ab", "ac"]),
        (("1", "a"), [".1", ".2"]),
    ],
)
def test_a_mark_is_never_the_beginning_of_a_value(values, marks):
    assert _marks(values)[: len(marks)] == marks
    assert len(set(_marks(values))) == len(values)


def test_a_number_that_could_count_the_values_is_no_beginning():
    ages = ("18-34", "35-44", "45-64", "65+")
    answers = _answers(_marks(ages), ages)
    assert [answers.get(text) for text in ("4", "6", "45", "d")] == [None, "65+", "45-64", "65+"]


def test_a_full_disk_at_the_prompt_is_a_sentence(tmp_path, monkeypatch, capsys):
    sync = os.fsync
    calls = iter([sync] * 3)  # the file, its name and the first line; then no more

    def fsync(file):
        try:
            next(calls)(file)
        except StopIteration:
            raise OSError(28, "No space left on device") from None

    monkeypatch.setattr(os, "fsync", fsync)
    anyone = ["1", "1", "a", "1", "1", "1", ""]
    code, _, err = at_the_prompt(monkeypatch, capsys, anyone * 5, arguments(tmp_path))
    assert code == 2
    assert "this decision does not count" in err
    assert "Traceback" not in err


def test_ranges_of_seats_are_kept_unless_told_otherwise(tmp_path, monkeypatch, capsys):
    targets = tmp_path / "t.csv"
    targets.write_text("feature,value,min,max\nage,young,20,20\nage,old,40,40\n")
    (tmp_path / "v.csv").write_text("feature,value,share\nage,young,0.2\nage,old,0.8\n")
    argv = [str(targets), str(tmp_path / "v.csv"), "--size", "60"]
    _, out, _ = at_the_prompt(monkeypatch, capsys, [], argv)
    assert out.startswith("Resolving 0.0166.")
    (tmp_path / "t.journal").unlink()
    _, out, _ = at_the_prompt(monkeypatch, capsys, [], [*argv, "--tolerance", "0.05"])
    assert "above a tolerance of 0.0166 the min and max of the file may be missed" in out
    for strategy, told in (("cmdp", True), ("greedy", True), ("resolving-learning", False)):
        (tmp_path / "t.journal").unlink()
        _, out, _ = at_the_prompt(monkeypatch, capsys, [], [*argv, "--strategy", strategy])
        assert ("may miss the min and max of the file" in out) == told, strategy


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({0: "no_such.csv"}, "no_such.csv: cannot be read"),
        ({3: "0"}, "size: expected a whole number of at least 1"),
        ({7: "-1"}, "seed: expected"),
    ],
)
def test_what_the_prompt_cannot_start_with(tmp_path, monkeypatch, capsys, change, sentence):
    argv = arguments(tmp_path)
    for place, word in change.items():
        argv[place] = word
    code, out, err = at_the_prompt(monkeypatch, capsys, [], argv)
    assert (code, out) == (2, "")
    assert sentence in err
    assert not (tmp_path / "journal").exists()


def test_the_module_runs(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "assembly.desk", *arguments(tmp_path)]
    answers = "\n".join(["1", "1", "a", "1", "1", "1", "", "quit", ""])
    done = subprocess.run(command, input=answers, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "1 person seen" in done.stdout
    for name in ("targets", "--tolerance", "--repair", "example:"):
        helped = subprocess.run([*command[:5], "--help"], capture_output=True, text=True)
        assert name in helped.stdout

"""The desk at a prompt: `python -m organiser.desk`."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys

import pandas as pd
import pytest

from callers import EXAMPLES
from committees.beyond.foresight import ForesightSession
from organiser.desk import audit
from organiser.desk.__main__ import main
from organiser.desk.prompt import _choices

ANN = ["white", "abc1", "18", "lo", "FEMALE", "remain", ""]
BOB = ["2", "abc1", "18", "lo", "male", "leave", ""]
CLEO = ["white", "c2de", "55", "2", "female", "leave", ""]
ANYBODY = ["1", "1", "18", "1", "1", "1", ""]


def arguments(folder, *more):
    files = [str(EXAMPLES / f"brexit_{name}.csv") for name in ("targets", "volunteers")]
    return [*files, "--size", "10", "--journal", str(folder / "a.journal"), "--seed", "4", *more]


@pytest.fixture
def prompt(monkeypatch, capsys):
    """Run the prompt with these answers; the exit code, what was printed, and complaints."""

    def prompt(answers, argv):
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

    return prompt


def test_main_asks_decides_and_goes_on(tmp_path, prompt):
    answers = [*ANN, "help", "progress", "withdraw", "withdraw 9", "withdraw 1", "n"]
    answers += ["withdraw 1", "y", "blue", "1", "back", "1", "over", *ANN[:-1], "hm", "", "quit"]
    code, out, err = prompt(answers, arguments(tmp_path))
    assert (code, err) == (0, "")
    assert "a.journal is new.\n" in out
    assert "ethnicity: 1 white, 2 non-white > " in out
    assert "age: 18-34, 35-54, 55+ > " in out
    assert "Caller 1 is ACCEPTED: " in out
    assert "Answer with the number before a value" in out
    assert out.count("Whose? Type withdraw and the number of a caller.") == 2
    assert "gives the seat back? y or n > " in out
    assert "Nothing was changed." in out
    assert "remain) has given the seat back. 0 of 10 seats filled, 1 person seen" in out
    assert "unknown answer 'blue'; type help for help" in out
    assert out.count("Caller 2\n") == 2  # started over
    assert "white, ABC1, 18-34, London, female, remain" in out
    assert "2 people seen" in out.splitlines()[-1]
    code, out, _ = prompt([], arguments(tmp_path))
    assert code == 0
    assert out.splitlines()[0].endswith("a.journal is continued.")
    assert out.splitlines()[1] == "Foresight 0.02. 1 of 10 seats filled, 2 people seen. " + (
        "Type help for help."
    )
    assert out.splitlines()[2].startswith("Caller 2 (white, ")


def test_main_shows_who_is_seated(tmp_path, prompt):
    answers = ["list", *ANN, *BOB, *CLEO, "withdraw 1", "y", "list", "list 2", "progress", "quit"]
    _, out, _ = prompt(answers, arguments(tmp_path))
    assert "0 of 10 seats filled, 0 people seen\n" in out
    seated = out[out.index("has given the seat back") :]
    assert "Caller 2: non-white, ABC1, 18-34, London, male, leave, seated." in seated
    assert re.search(r"^2 +non-white +ABC1 +18-34 +London +male +leave$", seated, re.MULTILINE)
    assert re.search(r"^3 +white +C2DE +.+ +female +leave$", seated, re.MULTILINE)
    assert not re.search(r"^1 +white", seated, re.MULTILINE)
    assert re.search(r"wanted +seated +missing +fewest +most +called +expected\n", seated)
    assert re.search(r"About \d+ more callers until the next seat is filled, \d+ until", seated)


def test_main_writes_the_members(tmp_path, prompt):
    prompt([*ANN, *BOB, *CLEO, "withdraw 1", "y"], arguments(tmp_path))
    table = tmp_path / "members.csv"
    argv = arguments(tmp_path, "--members", str(table))
    code, out, _ = prompt([], argv)
    assert code == 0
    assert out == f"2 people are seated. Who they are stands in {table}.\n"
    frame = pd.read_csv(table)
    assert frame["caller"].tolist() == [2, 3]
    assert frame["gender"].tolist() == ["male", "female"]
    code, _, err = prompt([], argv)
    assert (code, err) == (2, f"{table}: cannot be written (File exists)\n")
    assert len(pd.read_csv(table)) == 2
    argv[-1] = str(tmp_path / "nowhere" / "members.csv")
    code, _, err = prompt([], argv)
    assert code == 2
    assert "cannot be written" in err


def test_main_has_no_members_without_a_journal(tmp_path, prompt):
    elsewhere, none = tmp_path / "other.csv", tmp_path / "none.journal"
    argv = arguments(tmp_path, "--journal", str(none), "--members", str(elsewhere))
    code, out, err = prompt([], argv)
    assert (code, out) == (2, "")
    assert err == f"{none}: there is no such journal\n"
    assert not any(tmp_path.iterdir())


def test_main_tells_a_seat_given_back_from_an_acceptance(tmp_path, prompt):
    prompt([*ANN, "withdraw 1", "y", "quit"], arguments(tmp_path))
    _, out, _ = prompt([], arguments(tmp_path))
    assert "remain) has given the seat back.\n" in out


def test_main_knows_the_strategies_by_name(tmp_path, prompt):
    for name, told in (("cmdp-fair", "CMDP fair. "), ("rl-cmdp", "RL-CMDP ×0.075. ")):
        (tmp_path / name).mkdir()
        _, out, _ = prompt([], arguments(tmp_path / name, "--strategy", name))
        assert out.splitlines()[1].startswith(told)


def test_main_with_a_full_committee_waits_for_somebody_to_withdraw(tmp_path, prompt):
    argv = arguments(tmp_path, "--strategy", "rl-cmdp")  # which at first accepts everybody
    code, out, _ = prompt(ANYBODY * 10, argv)
    assert code == 0
    assert "The committee is full" in out
    assert out.splitlines()[-1] == "10 of 10 seats filled, 10 people seen."
    answers = ["progress", "withdraw 99", "withdraw 3", "y", *ANYBODY, "quit"]
    code, out, _ = prompt(answers, argv)
    assert "is continued" in out
    assert "Whose? Type withdraw and the number of a caller." in out
    assert re.search(r"Caller 3 \(.*\) has given the seat back", out)
    assert out.splitlines()[-1] == "10 of 10 seats filled, 11 people seen."


def test_main_does_not_guess_what_an_answer_means(tmp_path, prompt):
    """Values that begin with digits have no numbers, and commands are commands."""
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
    code, out, _ = prompt(["3", "over", "3+", "over 30", "", "quit"], argv)
    assert code == 0
    assert "children: 0, 1, 3+ > " in out
    assert "unknown answer '3'" in out
    assert out.count("Caller 1\n") == 2  # "over" started again
    assert "3+, over 30. Enter to decide" in out
    assert (tmp_path / "t.journal").exists()  # beside the targets


@pytest.mark.parametrize(
    ("values", "offered", "meant"),
    [
        (("woman", "man"), "1 woman, 2 man", {"1": "woman", "w": "woman", "MAN": "man"}),
        (("18-34", "35+"), "18-34, 35+", {"1": None, "18": "18-34", "3": "35+", "35+": "35+"}),
        (("18-34", "35-44", "45-64"), "18-34, 35-44, 45-64", {"3": None, "4": "45-64"}),
        (("0", "1", "2"), "0, 1, 2", {"1": "1", "2": "2", "3": None}),
        (("north", "north east"), "1 north, 2 north east", {"north": "north", "n": None}),
        (("listed", "quitter"), "1 listed, 2 quitter", {"list": None, "quitt": "quitter"}),
    ],
)
def test_choices_mean_one_thing(values, offered, meant):
    shown, answers = _choices(values)
    assert shown == offered
    assert {text: answers.get(text.casefold()) for text in meant} == meant


def test_main_ends_in_a_sentence_if_the_journal_cannot_be_written(tmp_path, prompt, monkeypatch):
    connect = sqlite3.connect

    class Full(sqlite3.Connection):
        """Refuses to write decisions, as on a full disk."""

        def execute(self, text, *parameters):
            if "INSERT" in text and "caller" in parameters[0][0]:
                super().execute("PRAGMA query_only=1")
            return super().execute(text, *parameters)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Full))
    code, out, err = prompt(ANYBODY * 5, arguments(tmp_path))
    assert code == 2
    assert "this decision does not count" in err
    assert "Traceback" not in err
    assert "ACCEPTED" not in out


def test_main_keeps_to_ranges_of_seats_unless_told_otherwise(tmp_path, prompt):
    targets = tmp_path / "t.csv"
    targets.write_text("feature,value,min,max\nage,young,20,20\nage,old,40,40\n")
    (tmp_path / "v.csv").write_text("feature,value,share\nage,young,0.2\nage,old,0.8\n")
    argv = [str(targets), str(tmp_path / "v.csv"), "--size", "60"]
    _, out, _ = prompt([], argv)
    assert out.splitlines()[1].startswith("Foresight seats.")
    assert "Beware" not in out
    code, _, err = prompt([], [*argv, "--tolerance", "0.05"])
    assert (code, err.startswith("tolerance: the file has min and max")) == (2, True)
    for strategy, told in (("cmdp", True), ("greedy", True), ("foresight-learning", False)):
        (tmp_path / "t.journal").unlink()
        _, out, _ = prompt([], [*argv, "--strategy", strategy])
        assert ("may miss the file's min and max" in out) == told, strategy


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({0: "no_such.csv"}, "no_such.csv: cannot be read"),
        ({3: "0"}, "size: expected a whole number of at least 1"),
        ({7: "-1"}, "seed: expected"),
    ],
)
def test_main_refuses_what_it_cannot_start_with(tmp_path, prompt, change, sentence):
    argv = arguments(tmp_path)
    for place, word in change.items():
        argv[place] = word
    code, _, err = prompt([], argv)
    assert code == 2
    assert sentence in err
    assert not (tmp_path / "a.journal").exists()


def test_main_can_be_interrupted_while_it_reads(tmp_path, prompt, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("organiser.desk.__main__.read_assembly", interrupted)
    assert prompt([], arguments(tmp_path)) == (130, "", "")


def test_main_tells_the_decision_that_an_interruption_has_hidden(tmp_path, prompt, monkeypatch):
    """Ctrl-C while it is noted: the decision is in the journal, and is told at the end."""

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ForesightSession, "see", interrupted)
        code, out, _ = prompt(ANN, arguments(tmp_path))
    told = ["Caller 1 (white, ABC1, 18-34, London, female, remain) was accepted."]
    assert (code, out.splitlines()[-2:]) == (0, [*told, "1 of 10 seats filled, 1 person seen."])
    assert "ACCEPTED" not in out
    _, out, _ = prompt([], arguments(tmp_path))
    assert out.splitlines()[2:3] == told


def test_main_runs_without_what_windows_does_not_have(tmp_path):
    """As `python -m organiser.desk` does, in a process that lacks the modules of Unix."""
    code = "import runpy, sys; sys.modules.update(fcntl=None, pwd=None, grp=None, termios=None)\n"
    code += "runpy.run_module('organiser.desk', run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-W", "error", "-c", code, *arguments(tmp_path)]
    answers = "\n".join([*ANYBODY, "quit", ""])
    done = subprocess.run(command, input=answers, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "1 person seen" in done.stdout


def test_main_explains_its_arguments(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    for name in ("targets", "--tolerance", "--members", "cmdp-fair", "example:"):
        assert name in shown


# --- What is done without a prompt, and what goes beyond it.


def test_main_corrects_calls_back_and_tells_who_is_wanted(tmp_path, prompt):
    argv = arguments(tmp_path, "--strategy", "greedy", "--tolerance", "0")
    answers = [*(ANN * 3), "y"]  # London has two seats, and no room for a third
    answers += ["wanted", "withdraw 1", "y", "reserve", "again 3", "correct 2", *BOB[:-1], "quit"]
    code, out, err = prompt(answers, argv)
    assert (code, err) == (0, "")
    assert "Caller 3 is not accepted: there is no room now for region London" in out
    assert re.search(r"^  region: North, Midlands, East of England, South,", out, re.MULTILINE)
    assert "  caller 3: white, ABC1, 18-34, London, female, remain" in out
    assert "remain) has a seat again" in out
    assert "Caller 2 was noted as white, ABC1" in out
    assert "Caller 2 has a seat: the seat was promised, and is kept." in out


def test_main_takes_ages_at_the_prompt(tmp_path, prompt):
    answers = [*ANN[:2], "67", *ANN[3:], "quit"]
    _, out, _ = prompt(answers, arguments(tmp_path))
    assert "white, ABC1, 55+, London, female, remain. Enter to decide" in out


def test_main_goes_on_with_another_tolerance_if_there_is_a_reason(tmp_path, prompt):
    prompt([*ANN, "quit"], arguments(tmp_path))
    code, _, err = prompt([], arguments(tmp_path, "--tolerance", "0.2"))
    assert code == 2
    assert "belongs to another desk, whose strategy is" in err
    argv = arguments(tmp_path, "--tolerance", "0.2")
    code, out, _ = prompt([], [*argv, "--revise", "too few volunteers"])
    assert code == 0
    assert "Foresight 0.2. 1 of 10 seats filled" in out
    assert "The plan was changed: too few volunteers." in out
    code, out, _ = prompt([], argv)
    assert (code, "Foresight 0.2. 1 of 10" in out) == (0, True)


def test_main_verifies_and_forgets(tmp_path, prompt):
    _, out, _ = prompt([*ANN, *BOB, "quit"], arguments(tmp_path))
    head = re.search(r"fingerprint is (\w{64})\.", out)[1]
    code, out, _ = prompt([], arguments(tmp_path, "--verify"))
    assert code == 0
    assert "was decided again, and came out the same" in out
    assert head in out
    code, out, _ = prompt([], arguments(tmp_path, "--verify", head))
    assert (code, f"{head} was its fingerprint after record 3: " in out) == (0, True)
    code, out, _ = prompt([], arguments(tmp_path, "--verify", head[::-1]))
    assert (code, f"{head[::-1]} was never its fingerprint" in out) == (1, True)
    (journal,) = tmp_path.glob("*.journal")
    code, out, _ = prompt([], ["--journal", str(journal), "--verify", head])  # needs no files
    assert code == 0
    code, out, _ = prompt([], arguments(tmp_path, "--forget"))
    assert (code, "nothing is left but" in out) == (0, True)
    assert prompt([], arguments(tmp_path, "--verify"))[0] == 1
    members = tmp_path / "members.csv"
    assert prompt([], ["--journal", str(journal), "--members", str(members)])[0] == 0
    assert pd.read_csv(members)["gender"].tolist() == ["female", "male"]
    code, _, err = prompt([], arguments(tmp_path))
    assert (code, "its people were forgotten, so it cannot go on" in err) == (2, True)
    assert prompt([], ["--verify"])[::2] == (
        2,
        "expected TARGETS, VOLUNTEERS and --size, or the --journal to look at\n",
    )


def test_main_decides_about_the_new_rows_of_a_file(tmp_path, prompt):
    header = "id,ethnicity,social class,age,region,gender,vote\n"
    row = "{},white,ABC1,{},London,female,\n"
    (tmp_path / "answers.csv").write_text(header + row.format("a", "30") + row.format("b", "55+"))
    argv = arguments(tmp_path, "--from", str(tmp_path / "answers.csv"), "--to")
    code, out, err = prompt([], [*argv, str(tmp_path / "one.csv")])
    assert (code, err) == (0, "")
    assert "2 new rows. " in out
    one = pd.read_csv(tmp_path / "one.csv")
    assert one["id"].tolist() == ["a", "b"]
    assert one["caller"].tolist() == [1, 2]
    assert set(one["decision"]) <= {"accepted", "not accepted"}
    with (tmp_path / "answers.csv").open("a") as file:
        file.write(row.format("c", "40"))
    _, out, _ = prompt([], [*argv, str(tmp_path / "one.csv")])  # written anew, nothing is lost
    assert "1 new rows. " in out
    two = pd.read_csv(tmp_path / "one.csv")
    assert two["id"].tolist() == ["a", "b", "c"]
    assert two.loc[:1, "decision"].tolist() == one["decision"].tolist()
    assert two["reason"].tolist()[:2] == one["reason"].tolist()
    (tmp_path / "more.csv").write_text(header + row.format("d", "40"))
    argv[argv.index(str(tmp_path / "answers.csv"))] = str(tmp_path / "more.csv")
    prompt([], [*argv, str(tmp_path / "one.csv")])  # another file of answers: all are kept
    assert pd.read_csv(tmp_path / "one.csv")["id"].tolist() == ["a", "b", "c", "d"]


BAD_ANSWERS = {
    "age": (["d,{}tall,London,female,-\n"], "line 2: age: unknown value 'tall'"),
    "id": ([",{}30,London,female,-\n"], "line 2: the id is missing"),
    "twice": (["d,{}30,London,female,-\n"] * 2, "line 3: the id 'd' is already on line 2"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_main_decides_about_no_row_of_a_file_in_which_one_is_wrong(tmp_path, prompt, name):
    rows, sentence = BAD_ANSWERS[name]
    text = "id,ethnicity,social class,age,region,gender,vote\n"
    (tmp_path / "answers.csv").write_text(text + "".join(rows).format(*["white,ABC1,"] * 2))
    out = tmp_path / "decisions.csv"
    argv = arguments(tmp_path, "--from", str(tmp_path / "answers.csv"), "--to", str(out))
    code, _, err = prompt([], argv)
    assert (code, sentence in err, out.exists()) == (2, True, False)
    (journal,) = tmp_path.glob("*.journal")
    assert audit.members(journal).empty


@pytest.mark.parametrize("place", ["answers.csv", "other.csv", "nowhere/decisions.csv"])
def test_main_decides_about_nobody_if_it_could_not_be_written_down(tmp_path, prompt, place):
    text = "id,ethnicity,social class,age,region,gender,vote\nd,white,ABC1,30,London,female,-\n"
    for name in ("answers.csv", "other.csv"):
        (tmp_path / name).write_text(text)
    files = str(tmp_path / "answers.csv"), "--to", str(tmp_path / place)
    code, _, err = prompt([], arguments(tmp_path, "--from", *files))
    assert code == 2
    assert "choose another" in err or "cannot be written" in err
    assert (tmp_path / "other.csv").read_text() == text
    (journal,) = tmp_path.glob("*.journal")
    assert audit.members(journal).empty


def test_main_asks_for_ids_and_households(tmp_path, prompt):
    asked = ["a17", "1 High Street", *ANN, "a17", "", *BOB, "a18", "1 HIGH STREET", *CLEO]
    _, out, _ = prompt(asked, arguments(tmp_path, "--ask", "id", "household"))
    assert "a17 has called before, as caller 1" in out
    assert "somebody of this household has a seat" in out
    code, out, _ = prompt(["over", "quit"], arguments(tmp_path, "--ask", "id"))
    assert code == 0
    assert "3 people seen" not in out


def test_main_notes_who_may_be_called_back_at_any_time(tmp_path, prompt):
    """Also if, asked whether to call back, one corrects the caller into a seat first."""
    _, out, _ = prompt([*ANN, "reserve 1", "reserve 99"], arguments(tmp_path))
    assert "caller 1 was accepted" in out
    assert "Whose? Type reserve and the number of a caller." in out


@pytest.mark.parametrize("words", [["back"], ["1", "back", "1"], ["over"]])
def test_main_goes_back_a_question(tmp_path, prompt, words):
    code, out, _ = prompt([*words, *ANN], arguments(tmp_path))
    assert code == 0
    assert "Caller 1 is ACCEPTED" in out


@pytest.mark.parametrize("word", ["back", "over"])
def test_main_goes_back_where_there_is_no_question_before(tmp_path, prompt, word):
    """At the question whether to decide, and whether to withdraw."""
    code, out, _ = prompt([*ANN[:-1], word, *ANN, "withdraw 1", word], arguments(tmp_path))
    assert code == 0
    assert "Caller 1 is ACCEPTED" in out
    assert "Nothing was changed." in out


@pytest.mark.parametrize("people", ["0", "40"])
def test_main_rehearses_and_keeps_nothing(tmp_path, prompt, people):
    code, out, _ = prompt([], arguments(tmp_path, "--rehearse", people))
    assert code == 0
    assert "A rehearsal: nothing of it is kept." in out
    assert out.count(") is ACCEPTED: ") == 10 or f"{people} people seen" in out
    assert not any(tmp_path.iterdir())

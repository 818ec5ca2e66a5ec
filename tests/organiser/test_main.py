"""The commands of an organiser: `python -m organiser.desk`, and where an extra is missing."""

from __future__ import annotations

import re
import subprocess
import sys

import pandas as pd
import pytest

from callers import EXAMPLES
from committees.beyond.foresight import ForesightSession
from organiser.desk import audit
from organiser.desk.__main__ import main
from organiser.desk.browser import act

FEATURES = ["ethnicity", "social class", "age", "region", "gender", "vote"]
ANN, BOB, CLEO = (
    dict(zip(FEATURES, words, strict=True))
    for words in (
        ("white", "ABC1", "18-34", "London", "female", "remain"),
        ("non-white", "ABC1", "18-34", "London", "male", "leave"),
        ("white", "C2DE", "55+", "Midlands", "female", "leave"),
    )
)
WITHDRAWN = {"what": "withdraw", "number": 1}


OWN_STRATEGIES = """
import numpy as np
from committees import CMDP


class Keeps(CMDP):
    def band(self, problem, size):
        return np.array([2, 4]), np.array([2, 4])


class Wider(CMDP):
    def band(self, problem, size):
        return np.array([0, 0]), np.array([6, 6])
"""


def offer(person, **more):
    return {"what": "offer", "person": person, **more}


def arguments(folder, *more):
    files = [str(EXAMPLES / f"brexit_{name}.csv") for name in ("targets", "volunteers")]
    return [*files, "--size", "10", "--journal", str(folder / "a.journal"), "--seed", "4", *more]


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command, with a browser that asks for these things and is closed.

    The exit code, what was printed, and complaints.
    """

    def run(argv, *requests):
        def serve(desk, *, is_shown, title):
            print(f"{title} is {'shown' if is_shown else 'served'}.")
            for request in requests:
                print(act(desk, **request))

        monkeypatch.setattr("organiser.desk.browser.serve", serve)
        code = main(argv)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_main_opens_a_desk_and_goes_on(tmp_path, run):
    code, out, err = run(arguments(tmp_path), offer(ANN), WITHDRAWN, offer(BOB))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].endswith("a.journal is new.")
    assert lines[1] == "Foresight 0.02. 0 of 10 seats filled, 0 people seen."
    assert "Desk is shown." in lines
    assert "Caller 1 is ACCEPTED: " in out
    assert "remain) has given the seat back.\n" in out
    assert lines[-1].endswith("2 people seen.")
    code, out, _ = run(arguments(tmp_path, "--no-open"))
    lines = out.splitlines()
    assert code == 0
    assert lines[0].endswith("a.journal is continued.")
    assert lines[1].endswith("2 people seen.")
    assert lines[2].startswith("Caller 2 (non-white, ABC1, 18-34, London, male, leave) was ")
    assert lines[3] == "Desk is served."


def test_main_writes_the_members(tmp_path, run):
    run(arguments(tmp_path), offer(ANN), offer(BOB), offer(CLEO), WITHDRAWN)
    table = tmp_path / "members.csv"
    argv = arguments(tmp_path, "--members", str(table))
    code, out, _ = run(argv)
    assert code == 0
    assert out == f"2 people are seated. Who they are stands in {table}.\n"
    frame = pd.read_csv(table)
    assert frame["caller"].tolist() == [2, 3]
    assert frame["gender"].tolist() == ["male", "female"]
    code, _, err = run(argv)
    assert (code, err) == (2, f"{table}: cannot be written (File exists)\n")
    assert len(pd.read_csv(table)) == 2
    argv[-1] = str(tmp_path / "nowhere" / "members.csv")
    code, _, err = run(argv)
    assert code == 2
    assert "cannot be written" in err


def test_main_has_no_members_without_a_journal(tmp_path, run):
    elsewhere, none = tmp_path / "other.csv", tmp_path / "none.journal"
    argv = arguments(tmp_path, "--journal", str(none), "--members", str(elsewhere))
    code, out, err = run(argv)
    assert (code, out) == (2, "")
    assert err == f"{none}: there is no such journal\n"
    assert not any(tmp_path.iterdir())


def test_main_knows_the_strategies_by_name(tmp_path, run):
    for name, told in (("cmdp-fair", "CMDP fair. "), ("rl-cmdp", "RL-CMDP ×0.075. ")):
        (tmp_path / name).mkdir()
        _, out, _ = run(arguments(tmp_path / name, "--strategy", name))
        assert out.splitlines()[1].startswith(told)


def test_main_keeps_to_ranges_of_seats_unless_told_otherwise(tmp_path, run):
    targets = tmp_path / "t.csv"
    targets.write_text("feature,value,min,max\nage,young,20,20\nage,old,40,40\n")
    (tmp_path / "v.csv").write_text("feature,value,share\nage,young,0.2\nage,old,0.8\n")
    argv = [str(targets), str(tmp_path / "v.csv"), "--size", "60"]
    _, out, _ = run(argv)
    assert out.splitlines()[1].startswith("Foresight seats.")
    assert "Beware" not in out
    assert (tmp_path / "t.journal").exists()  # beside the targets
    code, _, err = run([*argv, "--tolerance", "0.05"])
    assert (code, err.startswith("tolerance: the file has min and max")) == (2, True)
    for strategy, told in (("cmdp", True), ("greedy", True), ("foresight-learning", False)):
        (tmp_path / "t.journal").unlink()
        _, out, _ = run([*argv, "--strategy", strategy])
        assert ("may miss the file's min and max" in out) == told, strategy


def test_main_believes_the_band_of_a_strategy_of_ones_own(tmp_path, run, monkeypatch):
    """Who keeps to the file's min and max needs no warning, whoever wrote it."""
    (tmp_path / "kept_to.py").write_text(OWN_STRATEGIES)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "t.csv").write_text("feature,value,min,max\nage,young,2,2\nage,old,4,4\n")
    (tmp_path / "v.csv").write_text("feature,value,share\nage,young,0.2\nage,old,0.8\n")
    argv = [str(tmp_path / "t.csv"), str(tmp_path / "v.csv"), "--size", "6"]
    for name, told in (("Keeps", False), ("Wider", True)):
        journal = str(tmp_path / name)
        code, out, _ = run([*argv, "--strategy", f"kept_to:{name}", "--journal", journal])
        assert (code, "may miss the file's min and max" in out) == (0, told)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({0: "no_such.csv"}, "no_such.csv: cannot be read"),
        ({3: "0"}, "size: expected a whole number of at least 1"),
        ({7: "-1"}, "seed: expected"),
    ],
)
def test_main_refuses_what_it_cannot_start_with(tmp_path, run, change, sentence):
    argv = arguments(tmp_path)
    for place, word in change.items():
        argv[place] = word
    code, _, err = run(argv)
    assert code == 2
    assert sentence in err
    assert not (tmp_path / "a.journal").exists()


def test_main_can_be_interrupted_while_it_reads(tmp_path, run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("organiser.desk.__main__.read_assembly", interrupted)
    assert run(arguments(tmp_path)) == (130, "", "")


def test_main_tells_the_decision_that_an_interruption_has_hidden(tmp_path, run, monkeypatch):
    """Stopped while it is noted: the decision is in the journal, and is told the next time."""

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ForesightSession, "see", interrupted)
        code, out, _ = run(arguments(tmp_path), offer(ANN))
    assert (code, "ACCEPTED" in out) == (130, False)
    _, out, _ = run(arguments(tmp_path))
    told = "Caller 1 (white, ABC1, 18-34, London, female, remain) was accepted."
    assert out.splitlines()[2] == told


def in_a_process(code, argv, module="organiser.desk"):
    """Run a module as a command, in a process of its own in which this was done before."""
    code += f"\nimport runpy; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-W", "error", "-c", code, *argv]
    return subprocess.run(command, capture_output=True, text=True)


ANSWERS = "id,ethnicity,social class,age,region,gender,vote\na,white,ABC1,30,London,female,\n"


def test_main_runs_without_what_windows_and_a_small_installation_do_not_have(tmp_path):
    """For a file of answers: neither the modules of Unix are needed, nor any extra."""
    (tmp_path / "answers.csv").write_text(ANSWERS)
    absent = dict.fromkeys(["fcntl", "pwd", "grp", "termios", "tornado"])
    files = ["--from", str(tmp_path / "answers.csv"), "--to", str(tmp_path / "out.csv")]
    done = in_a_process(f"import sys; sys.modules.update({absent})", arguments(tmp_path, *files))
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 person seen" in done.stdout


@pytest.mark.parametrize(
    ("module", "what"),
    [("organiser.desk", "the desk in the browser"), ("organiser.page", "the page")],
)
def test_commands_name_the_extra_that_is_missing_and_write_nothing(tmp_path, module, what):
    for name in ("targets", "volunteers"):
        text = (EXAMPLES / f"brexit_{name}.csv").read_text()
        (tmp_path / f"{name}.csv").write_text(text)
    before = sorted(tmp_path.iterdir())
    absent = "import sys; sys.modules['tornado'] = None"
    argv = [str(tmp_path / "targets.csv"), str(tmp_path / "volunteers.csv"), "--size", "10"]
    done = in_a_process(absent, argv, module)
    told = f"{what} needs the extra desk: pip install 'committees[desk]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    assert sorted(tmp_path.iterdir()) == before
    shown = in_a_process(absent, ["--help"], module)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "example:" in shown.stdout


def test_main_explains_its_arguments(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    for name in ("targets", "--tolerance", "--members", "--no-open", "cmdp-fair", "example:"):
        assert name in shown


def test_main_goes_on_with_another_tolerance_if_there_is_a_reason(tmp_path, run):
    run(arguments(tmp_path), offer(ANN))
    code, _, err = run(arguments(tmp_path, "--tolerance", "0.2"))
    assert code == 2
    assert "belongs to another desk, whose strategy is" in err
    argv = arguments(tmp_path, "--tolerance", "0.2")
    code, out, _ = run([*argv, "--revise", "too few volunteers"])
    assert code == 0
    assert "Foresight 0.2. 1 of 10 seats filled" in out
    assert "The plan was changed: too few volunteers." in out
    code, out, _ = run(argv)
    assert (code, "Foresight 0.2. 1 of 10" in out) == (0, True)


def test_main_verifies_and_forgets(tmp_path, run):
    _, out, _ = run(arguments(tmp_path), offer(ANN), offer(BOB))
    head = re.search(r"fingerprint is (\w{64})\.", out)[1]
    code, out, _ = run(arguments(tmp_path, "--verify"))
    assert code == 0
    assert "was decided again, and came out the same" in out
    assert head in out
    code, out, _ = run(arguments(tmp_path, "--verify", head))
    assert (code, f"{head} was its fingerprint after record 3: " in out) == (0, True)
    code, out, _ = run(arguments(tmp_path, "--verify", head[::-1]))
    assert (code, f"{head[::-1]} was never its fingerprint" in out) == (1, True)
    (journal,) = tmp_path.glob("*.journal")
    code, out, _ = run(["--journal", str(journal), "--verify", head])  # needs no files
    assert code == 0
    code, out, _ = run(arguments(tmp_path, "--forget"))
    assert (code, "nothing is left but" in out) == (0, True)
    assert run(arguments(tmp_path, "--verify"))[0] == 1
    members = tmp_path / "members.csv"
    assert run(["--journal", str(journal), "--members", str(members)])[0] == 0
    assert pd.read_csv(members)["gender"].tolist() == ["female", "male"]
    assert members.read_bytes().startswith(b"\xef\xbb\xbf")  # a spreadsheet then reads UTF-8
    code, _, err = run(arguments(tmp_path))
    assert (code, "its people were forgotten, so it cannot go on" in err) == (2, True)
    assert run(["--verify"])[::2] == (
        2,
        "expected TARGETS, VOLUNTEERS and --size, or the --journal to look at\n",
    )


def test_main_decides_about_the_new_rows_of_a_file(tmp_path, run):
    header = "id,ethnicity,social class,age,region,gender,vote\n"
    row = "{},white,ABC1,{},London,female,\n"
    (tmp_path / "answers.csv").write_text(header + row.format("a", "30") + row.format("b", "55+"))
    argv = arguments(tmp_path, "--from", str(tmp_path / "answers.csv"), "--to")
    code, out, err = run([*argv, str(tmp_path / "one.csv")])
    assert (code, err) == (0, "")
    assert "2 new rows. " in out
    one = pd.read_csv(tmp_path / "one.csv")
    assert one["id"].tolist() == ["a", "b"]
    assert one["caller"].tolist() == [1, 2]
    assert set(one["decision"]) <= {"accepted", "not accepted"}
    with (tmp_path / "answers.csv").open("a") as file:
        file.write(row.format("c", "40"))
    _, out, _ = run([*argv, str(tmp_path / "one.csv")])  # written anew, nothing is lost
    assert "1 new rows. " in out
    two = pd.read_csv(tmp_path / "one.csv")
    assert two["id"].tolist() == ["a", "b", "c"]
    assert two.loc[:1, "decision"].tolist() == one["decision"].tolist()
    assert two["reason"].tolist()[:2] == one["reason"].tolist()
    (tmp_path / "more.csv").write_text(header + row.format("d", "40"))
    argv[argv.index(str(tmp_path / "answers.csv"))] = str(tmp_path / "more.csv")
    run([*argv, str(tmp_path / "one.csv")])  # another file of answers: all are kept
    assert pd.read_csv(tmp_path / "one.csv")["id"].tolist() == ["a", "b", "c", "d"]


BAD_ANSWERS = {
    "age": (["d,{}tall,London,female,-\n"], "line 2: age: unknown value 'tall'"),
    "id": ([",{}30,London,female,-\n"], "line 2: the id is missing"),
    "twice": (["d,{}30,London,female,-\n"] * 2, "line 3: the id 'd' is already on line 2"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_main_decides_about_no_row_of_a_file_in_which_one_is_wrong(tmp_path, run, name):
    rows, sentence = BAD_ANSWERS[name]
    text = "id,ethnicity,social class,age,region,gender,vote\n"
    (tmp_path / "answers.csv").write_text(text + "".join(rows).format(*["white,ABC1,"] * 2))
    out = tmp_path / "decisions.csv"
    argv = arguments(tmp_path, "--from", str(tmp_path / "answers.csv"), "--to", str(out))
    code, _, err = run(argv)
    assert (code, sentence in err, out.exists()) == (2, True, False)
    (journal,) = tmp_path.glob("*.journal")
    assert audit.members(journal).empty


@pytest.mark.parametrize("place", ["answers.csv", "other.csv", "nowhere/decisions.csv"])
def test_main_decides_about_nobody_if_it_could_not_be_written_down(tmp_path, run, place):
    text = "id,ethnicity,social class,age,region,gender,vote\nd,white,ABC1,30,London,female,-\n"
    for name in ("answers.csv", "other.csv"):
        (tmp_path / name).write_text(text)
    files = str(tmp_path / "answers.csv"), "--to", str(tmp_path / place)
    code, _, err = run(arguments(tmp_path, "--from", *files))
    assert code == 2
    assert "choose another" in err or "cannot be written" in err
    assert (tmp_path / "other.csv").read_text() == text
    (journal,) = tmp_path.glob("*.journal")
    assert audit.members(journal).empty


@pytest.mark.parametrize("people", ["0", "40"])
def test_main_rehearses_and_keeps_nothing(tmp_path, run, people):
    code, out, _ = run(arguments(tmp_path, "--rehearse", people))
    assert code == 0
    assert "A rehearsal: nothing of it is kept." in out
    assert "Rehearsal is shown." in out
    assert out.count(") is ACCEPTED: ") == 10 or f"{people} people seen" in out
    assert not any(tmp_path.iterdir())

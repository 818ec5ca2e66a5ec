"""Sweeps: what is refused, what is run, and that nothing is lost or done twice."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import nbformat
import papermill
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from companion.sweep import BadGrid, RunsFailed, sweep
from companion.sweep.__main__ import main
from companion.sweep.folder import Folder, Outcome
from companion.sweep.grid import LIBRARY, read
from companion.sweep.run import scratch

ROOT = Path(__file__).resolve().parents[2]

PARAMETERS = """\
a: int = 1  # a number
b: float = 0.5  # another
word: str = "x"  # any
items: list = None  # several
workers: int = None  # processes
table: str = None  # CSV file to leave the results in
"""

# It notes each execution in a file beside it, and needs nothing but the standard library.
CODE = """\
import csv, os, pathlib, time
with open("executed.txt", "a") as file:
    file.write(f"a={a},b={b}\\n")
if word == "slow":
    time.sleep(0.7)
if word == "fragile" and a == 2 and not pathlib.Path("corrected").exists():
    raise KeyError("a glass is broken")
if word == "fragile" and a == 3 and not pathlib.Path("corrected").exists():
    os.kill(os.getpid(), 9)
if word == "fragile" and a == 4 and not pathlib.Path("corrected").exists():
    table = os.devnull
where = [workers, os.environ["PYTHONHASHSEED"], os.environ["OMP_NUM_THREADS"]]
with open(table, "w", newline="") as file:
    rows = [[row, a * b / (row + 3), *where] for row in range(2)]
    csv.writer(file, lineterminator="\\n").writerows([["row", "value", "pool", "h", "t"], *rows])
"""


def write_notebook(folder, parameters=PARAMETERS, code=CODE, tags=("parameters",)):
    cells = [new_code_cell(parameters, metadata={"tags": list(tags)}), new_code_cell(code)]
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
    book = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(book, folder / "tiny.ipynb")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a notebook to sweep, in which we stand."""
    write_notebook(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, text, name="grid.yml"):
    path = folder / name
    path.write_text("notebook: tiny.ipynb\n" + text)
    return path


def executed(folder):
    """What was executed since we last asked."""
    notes = folder / "executed.txt"
    found = sorted(notes.read_text().split()) if notes.exists() else []
    notes.unlink(missing_ok=True)
    return found


class Pretend(Executor):
    """Executes nothing, but knows what it was asked for."""

    def __init__(self, outcome=None):
        self.asked = []
        self.outcome = outcome or (lambda p: Outcome(b"{}", f"value\n{p['a']}\n".encode()))

    def submit(self, work, task):
        future = Future()
        self.asked.append(task.parameters)
        try:
            future.set_result(self.outcome(task.parameters))
        except OSError as error:
            future.set_exception(error)
        return future

    def values(self):
        asked, self.asked = [p["a"] for p in self.asked], []
        return asked


# --- what is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid: {a: [1], c: [2]}", "grid.yml: grid: unknown parameter 'c'; known are a, b, word"),
        ("grid: {wrod: [x]}", "unknown parameter 'wrod'; did you mean 'word'?"),
        ("parameters: {itms: [x]}\ngrid: {a: [1]}", "'itms'; did you mean 'items'?"),
        ("gird: {a: [1]}", "grid.yml: unknown key 'gird'; did you mean 'grid'?"),
        ("grid: {a: []}", "grid.yml: grid: a: expected a list of values, got []"),
        ("grid: {a: 1}", "grid: a: expected a list of values, got 1"),
        ("grid: {}", "grid.yml: needs a 'grid' or 'groups'"),
        ("parameters: {a: 1}", "grid.yml: needs a 'grid' or 'groups'"),
        ("grid: [a]", "grid.yml: grid: expected names with values, got ['a']"),
        ("grid:", "grid.yml: grid: expected names with values, got None"),
        ("grid: {1: [1]}", "grid.yml: grid: expected a name, got 1"),
        ("parameters: {a: 1}\ngrid: {a: [1]}", "'a' is given twice, as a parameter and in"),
        ("grid: {a: [1]}\ngrid: {b: [1]}", "grid.yml, line 3: is not YAML that we can use: 'grid'"),
        ("grid:\n  a: [1]\n  a: [2]", "line 4: is not YAML that we can use: 'a' is given twice"),
        ("grid: {a: [1}", "grid.yml, line 2: is not YAML that we can use"),
        ("grid: {a: [!!python/name:os.system ]}", "line 2: is not YAML that we can use"),
        (f"grid: {{a: [{10**50}]}}", "line 2: is not YAML that we can use: a whole number of more"),
        (f"grid: {{a: [0x{'f' * 5000}]}}", "a whole number of more than 128 bits"),
        ("grid: {a: [2021-13-45]}", "grid.yml: is not YAML that we can use: month must be"),
        ("grid: {word: [2021-12-24]}", "is no plain value; did you forget quotes?"),
        ("grid: {a: &x [*x]}", "is no plain value"),
        ("grid: {table: [x.csv]}", "grid: 'table' is set by the sweep itself"),
        ("parameters: {table: x.csv}\ngrid: {a: [1]}", "'table' is set by the sweep itself"),
        ("grid: {a: [1, 2, 1]}", "two runs would be the same: a=1 and a=1"),
        ("grid: {b: [1, 1.0]}", "two runs would be the same: b=1 and b=1.0"),
        ("groups: {one: {}, two: {parameters: {a: 1}}}", "would be the same: one and two"),
        ("groups: {one: {a: 1}}", "grid.yml: group 'one': unknown key 'a'; known are"),
        ("groups: {one: 1}", "grid.yml: group 'one': expected names with values, got 1"),
        ("groups: {one: {grid: {c: [1]}}}", "group 'one': grid: unknown parameter 'c'"),
        ("grid: {a: [1]}\ngroups: {one: {grid: {a: [2]}}}", "'a' is given twice, here and for all"),
        ("grid: {a: [1.5]}", "grid.yml: a: expected int, as in the notebook, got 1.5"),
        ("grid: {a: [true]}", "a: expected int, as in the notebook, got True"),
        ("grid: {items: [x, y]}", "expected list, as in the notebook, got 'x'; a grid lists"),
        ("parameters: {word: no}\ngrid: {a: [1]}", "word: expected str, as in the notebook, got F"),
        (f"grid: {{a: {list(range(400))}, b: {list(range(400))}}}", "makes 160,000 runs, more"),
    ],
)
def test_bad_grids_are_named_and_nothing_is_written(text, message, folder, capsys):
    path = write(folder, text)
    before = sorted(folder.rglob("*"))
    assert main([str(path)]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not said.out
    assert sorted(folder.rglob("*")) == before


def test_files_that_cannot_be_read_are_named(folder):
    with pytest.raises(BadGrid, match=r"none.yml: cannot be read: No such file"):
        read(folder / "none.yml")
    with pytest.raises(BadGrid, match=r"cannot be read: Is a directory"):
        read(folder)
    (folder / "latin.yml").write_bytes("notebook: é.ipynb".encode("latin-1"))
    with pytest.raises(BadGrid, match=r"latin.yml: is not text in UTF-8"):
        read(folder / "latin.yml")
    (folder / "other.yml").write_text("grid: {a: [1]}")
    with pytest.raises(BadGrid, match=r"other.yml: 'notebook' should name one, got None"):
        read(folder / "other.yml")
    (folder / "other.yml").write_text("notebook: none.ipynb\ngrid: {a: [1]}")
    with pytest.raises(BadGrid, match=r"notebook .*none.ipynb: cannot be read: No such file"):
        read(folder / "other.yml")
    (folder / "other.yml").write_text("just words")
    with pytest.raises(BadGrid, match=r"other.yml: expected names with values, got 'just words'"):
        read(folder / "other.yml")


def test_notebooks_that_cannot_be_swept_are_named(folder):
    path = write(folder, "grid: {a: [1]}")
    write_notebook(folder, tags=())
    with pytest.raises(BadGrid, match=r"tiny.ipynb: has no cell tagged 'parameters'"):
        read(path)
    write_notebook(folder, parameters="a: int = 1")
    with pytest.raises(BadGrid, match=r"tiny.ipynb: has no parameter 'table'"):
        read(path)
    write_notebook(folder, parameters=f"group: int = 1\n{PARAMETERS}")
    with pytest.raises(BadGrid, match=r"the notebook has a parameter 'group'"):
        read(write(folder, "groups: {one: {grid: {a: [1]}}}"))
    (folder / "tiny.ipynb").write_text("{}, not a notebook")
    with pytest.raises(BadGrid, match=r"tiny.ipynb: is not a notebook"):
        read(path)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_are_counted_in_whole_numbers(workers, folder):
    with pytest.raises(BadGrid, match="workers: expected a whole number of at least 1"):
        sweep(write(folder, "grid: {a: [1]}"), workers=workers)
    assert not (folder / "sweeps").exists()


def test_folders_of_others_are_left_alone(folder):
    path = write(folder, "grid: {a: [1]}")
    with pytest.raises(BadGrid, match="holds other files; choose a new folder"):
        sweep(path, folder)
    with pytest.raises(BadGrid, match=r"output: .*grid.yml cannot be used: "):
        sweep(path, path)
    assert not (folder / "runs").exists()


def test_a_sweep_killed_while_it_made_its_folder_can_be_started_again(folder, monkeypatch):
    path = write(folder, "grid: {a: [1]}")
    mkdir = Path.mkdir

    def killed(self, *args, **options):
        if self.name == "runs":
            raise KeyboardInterrupt
        mkdir(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", killed)
        with pytest.raises(KeyboardInterrupt):
            sweep(path, "out", executor=Pretend())
    assert (folder / "out").exists()
    assert len(sweep(path, "out", executor=Pretend())) == 1


def test_two_sweeps_do_not_share_a_folder(folder, capsys):
    path = write(folder, "grid: {a: [1]}")
    with Folder(folder / "out", read(path)).locked():
        assert main([str(path), "--output", "out"]) == 2
    message = f"output: another sweep (process {os.getpid()}) is at work in {folder / 'out'}"
    assert message in capsys.readouterr().err
    assert len(sweep(path, "out", executor=Pretend())) == 1


def test_a_missing_or_silent_cluster_is_told(folder, capsys, monkeypatch):
    path = write(folder, "grid: {a: [1]}")
    assert main([str(path), "--dask", "nonsense://nowhere"]) == 2
    assert "--dask: no scheduler answers at 'nonsense://nowhere'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main([str(path), "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "--dask: needs the package 'distributed'" in capsys.readouterr().err
    assert not (folder / "sweeps").exists()


def test_an_address_without_a_port_is_refused_at_once(folder, capsys):
    path = write(folder, "grid: {a: [1]}")
    assert main([str(path), "--dask", "nonsense"]) == 2
    assert "--dask: expected the address HOST:PORT of a scheduler" in capsys.readouterr().err


def test_another_grid_of_the_same_name_is_not_written_over(folder):
    first = write(folder, "grid: {a: [1]}")
    before = sweep(first, "out")
    (folder / "other").mkdir()
    write_notebook(folder / "other")
    second = write(folder / "other", "grid: {a: [2]}")
    with pytest.raises(
        BadGrid, match=r"out holds the results of another grid, .*grid\.yml; choose"
    ):
        sweep(second, "out")
    assert sweep(first, "out").equals(before)
    assert (folder / "executed.txt").read_text().count("\n") == 1


def test_keys_that_are_numbers_stay_the_same_when_written(folder):
    path = write(folder, "grid: {items: [[{2: a, 10: b}]]}")
    sweep(path, "out")
    assert main([str(path), "--output", "out", "--list"]) == 0
    sweep(path, "out")
    assert (folder / "executed.txt").read_text().count("\n") == 1


def test_the_library_does_not_import_what_only_sweeps_need():
    code = (
        "import sys, committees; print({'papermill', 'nbformat', 'distributed'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n"
    code = code.replace("committees;", "companion.sweep;")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n"


# --- what is run


def test_every_combination_in_order(folder):
    grid = read(write(folder, "parameters: {word: w}\ngrid: {b: [1e-3, 2], a: [2, 1]}"))
    assert [dict(run.parameters) for run in grid.runs] == [
        {"word": "w", "b": b, "a": a} for b in (0.001, 2) for a in (2, 1)
    ]
    assert [run.name for run in grid.runs] == ["b=0.001,a=2", "b=0.001,a=1", "b=2,a=2", "b=2,a=1"]
    assert all(list(run.labels) == ["b", "a"] for run in grid.runs)


def test_groups_share_what_stands_above_them(folder):
    text = """
        parameters: {word: w}
        grid: {a: [1, 2]}
        groups:
          first: {parameters: {b: 7}}
          second one: {grid: {items: [[u, v], null]}}
    """
    grid = read(write(folder, re.sub("^ {8}", "", text, flags=re.MULTILINE)))
    assert [run.name for run in grid.runs] == [
        *("first,a=1", "first,a=2"),
        *("second-one,a=1,items=u+v", "second-one,a=1,items=None"),
        *("second-one,a=2,items=u+v", "second-one,a=2,items=None"),
    ]
    assert dict(grid.runs[1].parameters) == {"word": "w", "b": 7, "a": 2}
    # What a group does not say has the notebook's default.
    assert grid.runs[1].labels == {"group": "first", "a": 2, "b": 7, "items": None}
    assert grid.runs[2].labels == {"group": "second one", "a": 1, "b": 0.5, "items": ["u", "v"]}


def test_parameters_may_be_added_and_replaced(folder):
    path = write(folder, "parameters: {word: w}\ngrid: {a: [1]}")
    (run,) = read(path, {"word": "v", "b": 2.0}).runs
    assert dict(run.parameters) == {"word": "v", "b": 2.0, "a": 1}
    with pytest.raises(BadGrid, match="'a' is given twice"):
        read(path, {"a": 2})
    pretend = Pretend()
    sweep(path, parameters={"word": "v"}, executor=pretend)
    assert pretend.asked == [{"workers": 1, "word": "v", "a": 1}]


def test_names_of_files_are_safe_short_and_different(folder):
    words = ["a/b", "a b", "A B", "..", "ü", "x" * 300, "x" * 301, "", "-", "a,b=c", "nul\\0"]
    grid = read(write(folder, f"grid: {{word: {words}, items: [[p, q], [], null, ['p+q']]}}"))
    names = [run.name for run in grid.runs]
    assert len({name.casefold() for name in names}) == len(names) == 4 * len(words)
    assert all(re.fullmatch(r"[A-Za-z0-9_,=+~-][A-Za-z0-9_.,=+~-]{0,79}", name) for name in names)


def test_workers_are_one_unless_the_grid_says_otherwise(folder):
    pretend = Pretend()
    sweep(write(folder, "grid: {a: [1], workers: [2, null]}"), executor=pretend)
    assert [asked["workers"] for asked in pretend.asked] == [2, None]


def test_tables_are_gathered_as_they_are(folder):
    """Other columns, quotes, many digits, and columns named like parameters."""
    tables = {1: 'x,b\n1.10,"p, ""q"""\n', 2: "y,x\n0.1000000000000000055,\n", 3: "y\n"}
    pretend = Pretend(lambda p: Outcome(b"{}", tables[p["a"]].encode()))
    path = write(folder, "grid: {a: [1, 2, 3], b: [7]}")
    frame = sweep(path, executor=pretend)
    text = (folder / "sweeps/grid/results.csv").read_text()
    assert text == 'a,parameter b,x,b,y\n1,7,1.10,"p, ""q""",\n2,7,,,0.1000000000000000055\n'
    assert list(frame["a"]) == [1, 2]


def test_words_are_not_missing(folder):
    pretend = Pretend(lambda _: Outcome(b"{}", b"x,y\nNA,\n"))
    frame = sweep(write(folder, "groups: {None: {grid: {a: [7]}}}"), executor=pretend)
    assert frame["group"].tolist() == ["None"]
    assert frame["x"].tolist() == ["NA"]
    assert frame["y"].isna().all()


def test_a_parameter_has_a_column_of_its_own(folder):
    pretend = Pretend(lambda _: Outcome(b"{}", b"parameter a,a\n1,2\n"))
    frame = sweep(write(folder, "grid: {a: [7]}"), executor=pretend)
    assert frame.to_dict("records") == [{"parameter parameter a": 7, "parameter a": 1, "a": 2}]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"", "no table; does it call leave(table, ...)?"),
        (b"x,y\n1\n", "a table with 2 columns, but 1 in row 2"),
        (b"x,x\n1,2\n", "a table with the columns ['x', 'x'], expected different ones"),
        (b"\xff", "a table that is not CSV"),
        (b'x\n"1', "a table that is not CSV"),
    ],
)
def test_tables_that_are_none_are_failures(table, message, folder, monkeypatch):
    def leave_this(source, target, parameters, **_):
        Path(parameters["table"]).write_bytes(table)

    monkeypatch.setattr(papermill, "execute_notebook", leave_this)
    with pytest.raises(RunsFailed, match=re.escape(message)):
        sweep(write(folder, "grid: {a: [1]}"))


def test_a_kernel_that_does_not_start_is_tried_once_more(folder, monkeypatch):
    attempts = []

    def start(source, target, parameters, **_):
        attempts.append(parameters["a"])
        if len(attempts) == 1 or parameters["a"] == 2:
            raise RuntimeError("Kernel died before replying to kernel_info")
        Path(target).write_text("{}")
        Path(parameters["table"]).write_text("x\n1\n")

    monkeypatch.setattr(papermill, "execute_notebook", start)
    with pytest.raises(RunsFailed, match="1 of 2 runs failed:\n  a=2  the kernel did not start"):
        sweep(write(folder, "grid: {a: [1, 2]}"), workers=1)
    assert attempts == [1, 1, 2, 2]


# --- what is done, and what is not


def test_only_what_is_not_done_is_run(folder):
    text = "parameters: {word: w}\ngrid: {a: [1, 2, 3, 4]}"
    path, pretend = write(folder, text), Pretend()
    runs = folder / "sweeps/grid/runs"

    def again(**options):
        sweep(path, executor=pretend, **options)
        return pretend.values()

    assert again() == [1, 2, 3, 4]
    assert again() == []
    (runs / "a=1.json").unlink()
    (runs / "a=2.csv").write_text("value\n3\n")
    (runs / "a=3.ipynb").unlink()
    (runs / "a=4.json").write_text('{"cut sho')
    assert again() == [1, 2, 3, 4]
    (runs / "a=2.csv").unlink()
    (runs / "a=4.json").write_text("{}")
    assert again() == [2, 4]
    write(folder, text.replace("[1, 2, 3, 4]", "[4, 5, 1]"))
    assert again() == [5]
    assert (folder / "sweeps/grid/results.csv").read_text() == "a,value\n4,4\n5,5\n1,1\n"
    assert again(parameters={"word": "v"}) == [4, 5, 1]
    write_notebook(folder, code=CODE + "\n# changed")
    assert again(parameters={"word": "v"}) == [4, 5, 1]
    assert again(parameters={"word": "v"}, force=True) == [4, 5, 1]
    assert again(parameters={"word": "v"}) == []


def test_outputs_of_the_notebook_do_not_matter(folder):
    path, pretend = write(folder, "grid: {a: [1, 2]}"), Pretend()
    sweep(path, executor=pretend)
    book = nbformat.read(folder / "tiny.ipynb", as_version=4)
    book.cells[1].execution_count = 12345
    nbformat.write(book, folder / "tiny.ipynb")
    assert "12345" not in read(path).source
    sweep(path, executor=pretend)
    assert pretend.values() == [1, 2]
    book.cells.append(new_markdown_cell("More to read."))
    nbformat.write(book, folder / "tiny.ipynb")
    sweep(path, executor=pretend)
    assert pretend.values() == [1, 2]


def test_a_changed_library_or_file_makes_runs_stale(folder, monkeypatch, capsys):
    library = folder / "library"
    library.mkdir()
    (library / "module.py").write_text("1")
    monkeypatch.setattr("companion.sweep.grid.LIBRARY", ((library, "**/*.py"),))
    (folder / "people.csv").write_text("someone")
    path = write(folder, f"grid: {{word: [people.csv, nobody.csv, {'w' * 5000}]}}")
    pretend = Pretend(lambda _: Outcome(b"{}", b"value\n1\n"))

    def listed():
        assert main([str(path), "--list"]) == 0
        return [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()]

    sweep(path, executor=pretend)
    assert listed() == ["done", "done", "done"]
    (folder / "people.csv").write_text("someone else")
    assert listed() == ["the file 'people.csv' has changed", "done", "done"]
    (folder / "people.csv").unlink()
    (folder / "nobody.csv").write_text("somebody")
    assert listed() == [
        "the file 'people.csv' has changed",
        "the file 'nobody.csv' has changed",
        "done",
    ]
    sweep(path, executor=pretend)
    assert len(pretend.asked) == 5
    (library / "sub").mkdir()
    (library / "sub" / "more.py").write_text("2")
    assert listed() == 3 * ["the library or its data have changed"]


def test_the_library_that_is_watched_is_ours():
    watched = [path.name for folder, pattern in LIBRARY for path in folder.glob(pattern)]
    assert {"problem.py", "folder.py", "brexit.csv", "adult.csv.gz"} <= {*watched}


def test_a_worker_that_is_lost_loses_one_run(folder):
    def lost(parameters):
        if parameters["a"] == 2:
            raise OSError("the machine is gone")
        return Outcome(b"{}", b"x\n1\n")

    path = write(folder, "grid: {a: [1, 2, 3]}")
    with pytest.raises(
        RunsFailed, match="1 of 3 runs failed:\n  a=2  its worker was lost: OSError"
    ):
        sweep(path, executor=Pretend(lost))
    assert (folder / "sweeps/grid/results.csv").read_text() == "a,x\n1,1\n3,1\n"
    pretend = Pretend()
    sweep(path, executor=pretend)
    assert pretend.values() == [2]


def test_list_says_what_is_to_be_done_and_does_nothing(folder, capsys):
    path = write(folder, "grid: {a: [1, 2]}")
    assert main([str(path), "--list"]) == 0
    assert capsys.readouterr().out == "a=1: to do\na=2: to do\n"
    assert not (folder / "sweeps").exists()
    sweep(path, executor=Pretend())
    (folder / "sweeps/grid/runs/a=2.csv").unlink()
    assert main([str(path), "--list"]) == 0
    assert capsys.readouterr().out == "a=1: done\na=2: its table is missing or damaged\n"
    assert main([str(path), "--list", "-p", "b", "[1"]) == 2
    assert "-p b, line 1: is not YAML" in capsys.readouterr().err


# --- with real kernels

SIX = "parameters: {word: slow}\ngrid: {a: [3, 1, 2], b: [0.1, 7]}"
SIX_NAMES = [f"a={a},b={b}" for a in (3, 1, 2) for b in (0.1, 7)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What six runs give, one after the other."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_notebook(folder)
    frame = sweep(write(folder, SIX), folder / "out", workers=1)
    assert executed(folder) == sorted(SIX_NAMES)
    assert frame.shape == (12, 7)
    return (folder / "out/results.csv").read_bytes()


def test_results_follow_the_grid(undisturbed):
    rows = undisturbed.decode().splitlines()
    assert rows[0] == "a,b,row,value,pool,h,t"
    expected = [(a, b, row) for a in (3, 1, 2) for b in (0.1, 7) for row in (0, 1)]
    # One process for a chapter's own simulations, hashes as everywhere, one thread.
    assert rows[1:] == [f"{a},{b},{r},{a * b / (r + 3)},1,0,1" for a, b, r in expected]


def test_failures_are_told_and_the_others_go_on(folder, capsys):
    path = write(folder, "parameters: {word: fragile}\ngrid: {a: [1, 2, 3, 4]}")
    assert main([str(path), "--workers", "2"]) == 1
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        "sweep: 3 of 4 runs failed:",
        "  a=2  In [3]: KeyError: 'a glass is broken'",
        "  a=3  the kernel died; was it killed, or out of memory?",
        "  a=4  the notebook left no table; does it call leave(table, ...)?",
    ]
    out = folder / "sweeps/grid"
    assert (out / "results.csv").read_text().count("\n") == 3
    page = BeautifulSoup((out / "index.html").read_text(), "html.parser")
    assert "1 of 4 runs of the notebook tiny.ipynb are done" in page.get_text()
    assert "KeyError: 'a glass is broken'" in page.select("tr.failed")[0].get_text()
    links = [link["href"] for link in page.select("a")]
    assert [(out / link.replace("%3D", "=")).exists() for link in links] == [True] * 5
    assert not page.find(["script", "link", "img"])

    assert executed(folder) == [f"a={a},b=0.5" for a in (1, 2, 3, 4)]
    (folder / "corrected").touch()
    assert main([str(path), "--workers", "2"]) == 0
    assert executed(folder) == [f"a={a},b=0.5" for a in (2, 3, 4)]
    assert (out / "results.csv").read_text().count("\n") == 9


def test_killed_at_any_time_a_sweep_goes_on_where_it_was(folder, undisturbed):
    path = write(folder, SIX)
    command = [sys.executable, "-m", "companion.sweep", str(path), "--output", "out"]
    command += ["--workers", "2"]
    there = {**os.environ, "TMPDIR": str(folder)}  # what is killed does not tidy up
    killed = subprocess.Popen(command, start_new_session=True, env=there)
    with killed:
        deadline = time.monotonic() + 60
        while len(list(folder.glob("out/runs/*.json"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
    recorded = {path.stem for path in folder.glob("out/runs/*.json")}
    assert 2 <= len(recorded) < 6
    assert not (folder / "out/results.csv").exists()
    executed(folder)
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert {*executed(folder)} == {*SIX_NAMES} - recorded
    assert (folder / "out/results.csv").read_bytes() == undisturbed


def test_whoever_interrupts_a_sweep_goes_on_from_there(folder, undisturbed):
    path = write(folder, SIX)
    (folder / "scratch").mkdir()
    # Whoever runs the tests in the background may have told them to ignore interrupts.
    code = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from companion.sweep.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", code, str(path), "--output", "out"]
    there = {**os.environ, "TMPDIR": str(folder / "scratch")}
    with subprocess.Popen(command, env=there, stderr=subprocess.PIPE, text=True) as stopped:
        deadline = time.monotonic() + 60
        while not list(folder.glob("out/runs/*.json")) and time.monotonic() < deadline:
            time.sleep(0.02)
        stopped.send_signal(signal.SIGINT)
        assert "stopped; the same command goes on from here" in stopped.stderr.read()
    assert stopped.returncode == 130
    assert not list((folder / "scratch").iterdir())
    assert main([str(path), "--output", "out"]) == 0
    assert (folder / "out/results.csv").read_bytes() == undisturbed


def test_nothing_is_left_by_runs_that_do_not_end(tmp_path, monkeypatch):
    """They make folders and write files in the middle of the tidying up, until they fail."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def go_on(here, started):
        with contextlib.suppress(FileNotFoundError):
            for _ in range(5000):
                folder = Path(tempfile.mkdtemp(dir=here))
                for name in "abc":
                    (folder / name).touch()
                started.set()

    with scratch() as here:
        begun = [threading.Event() for _ in range(4)]
        runs = [threading.Thread(target=go_on, args=(here, e), daemon=True) for e in begun]
        for run, started in zip(runs, begun, strict=True):
            run.start()
            started.wait()
    for run in runs:
        run.join(timeout=60)
        assert not run.is_alive()
    assert not list(tmp_path.iterdir())


def test_a_cluster_gives_the_same(folder, undisturbed):
    from distributed import LocalCluster

    path = write(folder, SIX)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(processes=True, protocol="tcp", **options) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tcp://")
        assert main([str(path), "--output", "out", "--dask", address]) == 0
    assert (folder / "out/results.csv").read_bytes() == undisturbed
    assert executed(folder) == sorted(SIX_NAMES)


# --- what ships


@pytest.mark.parametrize("path", sorted((ROOT / "chapters/beyond/grids").glob("*.yml")))
def test_the_grids_of_the_book_can_be_run(path):
    assert len(read(path).runs) > 4

"""What sweeps refuse, run and run again; quick tests let papermill do all but start kernels."""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from companion.sweep import main, sweep

BOOK_GRIDS = Path(__file__).resolve().parents[2] / "chapters/beyond/grids"
COMMAND = [sys.executable, "-m", "companion.sweep", "grid.yml"]

PARAMETERS = "a: int = 1\nb: float = 0.5\nword: str = 'x'\nitems: list = None\n"
PARAMETERS += "workers: int = None\ntable: str = None\n"

# It notes each execution in a file beside it.
CODE = """\
import os, time
print(f"a={a},b={b}", file=open("executed.txt", "a"), flush=True)
time.sleep(0.7)
if word == "fragile" and a == 2:
    raise KeyError("a glass is broken")
if word == "fragile" and a == 3:
    os.kill(os.getpid(), 9)
with open(os.devnull if word == "fragile" and a == 4 else table, "w", newline="") as file:
    file.write("row,value,pool,hash\\n")
    for row in range(2):
        file.write(f"{row},{a * b / (row + 3)},{workers},{os.environ['PYTHONHASHSEED']}\\n")
"""

FRAGILE = """\
sweep: 3 of 4 runs failed:
  a=2: KeyError: 'a glass is broken'
  a=3: Kernel died
  a=4: no results; the notebook should call save_results(table, ...)
"""
SIX = "grid: {a: [3, 1, 2], b: [0.1, 7]}"
POINTS = [(a, b) for a in (3, 1, 2) for b in (0.1, 7)]
ROWS = [f"{a},{b},{row},{a * b / (row + 3)},1,0\n" for a, b in POINTS for row in (0, 1)]
ROWS.insert(0, "a,b,row,value,pool,hash\n")
SIX_NAMES = {f"a={a},b={b}" for a, b in POINTS}


def write_notebook(folder, parameters=PARAMETERS):
    cells = [new_code_cell(parameters, metadata={"tags": ["parameters"]}), new_code_cell(CODE)]
    kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "tiny.ipynb")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_notebook(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_grid(text, notebook="tiny.ipynb"):
    Path("grid.yml").write_text(f"notebook: {notebook}\n{text}")
    return "grid.yml"


class Papermill:
    """Does what papermill does without starting kernels, and notes the parameters."""

    def __init__(self):
        self.asked, self.failing, self.tables = [], {}, {}  # what to raise and write, by `a`
        self.execute_notebook = papermill.execute_notebook

    def __call__(self, source, target, parameters, **_):
        a = parameters.get("a")
        self.asked.append({n: value for n, value in parameters.items() if n != "table"})
        book = self.execute_notebook(source, target, parameters, prepare_only=True)
        book.metadata.papermill.update(end_time="now", exception=None)
        nbformat.write(book, target)
        Path(parameters["table"]).write_text(self.tables.get(a, f"value\n{a}\n"))
        if a in self.failing:
            raise self.failing[a]

    def values(self):
        asked, self.asked = [parameters["a"] for parameters in self.asked], []
        return asked


@pytest.fixture
def no_kernels(monkeypatch):
    pretend = Papermill()
    monkeypatch.setattr(papermill, "execute_notebook", pretend)
    return pretend


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid: {a: [1], c: [2]}", "unknown parameter 'c'; the notebook has a, b, word, items"),
        ("grid: {a: [1], table: [x.csv]}", "unknown parameter 'table'"),
        ("grid: {a: [1]}\ngird: {b: [1]}", "expected the keys 'notebook', 'grid' and perhaps"),
        ("grid:\n  a: [1]\n  a: [2]", "the key 'a' is there twice, line 4"),
        ("grid: {}", "the grid is empty: expected lists of values, 'grid: {size: "),
        ("grid: []", "the grid is empty"),
        ("grid:", "the grid is empty"),
        ("grid: [{a: [1]}, {}]", "the grid is empty"),
        ("grid: {a: [1}", "expected ',' or ']', but got '}'"),
        ("grid: {a: 1}", "parameter 'a' needs to be a list"),
        ("parameters: {a: 1}\ngrid: {a: [1]}", "'a' is fixed, and in the grid as well"),
        ("grid: {word: [2021-12-24]}", "type date is not JSON serializable"),
    ],
)
def test_main_refuses_a_grid_in_one_sentence_and_writes_nothing(text, message, folder, capsys):
    path = write_grid(text)
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit, match="2"):
        main([path])
    sentence = rf"sweep: grid\.yml: .*{re.escape(message)}.*\n"
    assert re.fullmatch(sentence, capsys.readouterr().err)
    assert sorted(folder.rglob("*")) == before


def test_sweep_refuses_files_that_it_cannot_use(folder):
    with pytest.raises(ValueError, match=r"none.yml: .*No such file.*none.yml"):
        sweep("none.yml", "out")
    with pytest.raises(ValueError, match=r"grid.yml: .*No such file.*none.ipynb"):
        sweep(write_grid("grid: {a: [1]}", notebook="none.ipynb"), "out")
    write_notebook(folder, parameters="a: int = 1")
    with pytest.raises(ValueError, match=r"tiny.ipynb has no parameter 'table'"):
        sweep(write_grid("grid: {a: [1]}"), "out")
    assert not Path("out").exists()


def test_sweep_runs_every_combination(folder, no_kernels):
    path = write_grid("parameters: {word: no}\ngrid: {b: [1e-3, 2], a: [2, 1]}")
    frame = sweep(path, "out", parameters={"items": ["u"]}, workers=1)
    fixed = {"workers": 1, "word": "no", "items": ["u"]}
    assert no_kernels.asked == [{**fixed, "a": a, "b": b} for a in (2, 1) for b in (0.001, 2)]
    rows = Path("out/results.csv").read_text().split()
    assert rows == ["a,b,value", "2,0.001,2", "2,2,2", "1,0.001,1", "1,2,1"]
    assert frame["b"].tolist() == [0.001, 2, 0.001, 2]


def test_main_takes_parameters_in_place_of_those_of_the_file(folder, no_kernels):
    path = write_grid("parameters: {word: no, b: 2}\ngrid: {a: [1]}")
    main([path, "-p", "word=yes, we do", "-p", "items=[u, 1e-3]", "--workers", "1"])
    assert no_kernels.asked == [
        {"workers": 1, "word": "yes, we do", "b": 2, "items": ["u", 0.001], "a": 1}
    ]


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("runs", "-p: expected NAME=VALUE, as in -p runs=2, got 'runs'"),
        ("=2", "-p: expected NAME=VALUE"),
        ("items=[1", "-p: items: '[1' is no value in YAML"),
        ("wort=x", "grid.yml: unknown parameter 'wort'; the notebook has a, b, word"),
        ("a=2", "grid.yml: 'a' is fixed, and in the grid as well"),
    ],
)
def test_main_refuses_parameters_in_a_sentence(folder, capsys, assignment, message):
    with pytest.raises(SystemExit, match="2"):
        main([write_grid("grid: {a: [1]}"), "-p", assignment])
    assert capsys.readouterr().err.startswith(f"sweep: {message}")
    assert not Path("sweeps").exists()


@pytest.mark.parametrize("workers", [0, -2, 1.5])
def test_sweep_refuses_odd_numbers_of_workers(folder, workers):
    with pytest.raises(ValueError, match="workers: expected a whole number of at least 1"):
        sweep(write_grid("grid: {a: [1]}"), "out", workers=workers)


def test_main_tells_what_would_run_and_runs_nothing(folder, no_kernels, capsys):
    path = write_grid("parameters: {word: w}\ngrid: {a: [1, 2, 3]}")
    main([path, "--dry-run"])
    assert capsys.readouterr().out == (
        "3 of 3 runs of tiny.ipynb are left to do.\n"
        'In all of them: workers=1, word="w".\n  a=1\n  a=2\n  a=3\n'
    )
    assert no_kernels.asked == []
    assert not Path("sweeps").exists()
    write_grid("parameters: {word: w}\ngrid: {a: [2]}")
    main([path, "--workers", "1"])
    write_grid("parameters: {word: w}\ngrid: {a: [1, 2, 3]}")
    capsys.readouterr()
    main([path, "--dry-run"])
    assert capsys.readouterr().out.endswith('word="w".\n  a=1\n  a=3\n')
    main([path, "--dry-run", "--force"])
    assert capsys.readouterr().out.startswith("3 of 3 runs of tiny.ipynb")


def test_sweep_records_what_its_results_depend_on(folder, no_kernels):
    write_notebook(folder, PARAMETERS + "seed: int = 2021\n")
    path = write_grid("parameters: {word: w}\ngrid: {a: [1, 2]}")
    sweep(path, "out", workers=1)
    record = json.loads(Path("out/results.json").read_text())
    assert record["notebook"] == "tiny.ipynb"
    assert record["parameters"] == {"workers": 1, "word": "w"}
    assert record["runs"] == [{"a": 1}, {"a": 2}]
    assert record["seed"] == 2021
    assert record["versions"]["numpy"] == metadata.version("numpy")
    assert record["versions"]["python"] == platform.python_version()
    assert record["commit"] is None
    sweep(path, "out", workers=1, parameters={"seed": 7})
    assert json.loads(Path("out/results.json").read_text())["seed"] == 7


def test_sweep_records_the_commit_of_its_notebook(folder, no_kernels):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(["git", *who, *arguments], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def recorded():
        sweep("grid.yml", "out", workers=1)
        return json.loads(Path("out/results.json").read_text())["commit"]

    write_grid("grid: {a: [1]}")
    git("init")
    git("add", "tiny.ipynb")
    git("commit", "-m", "first")
    commit = git("rev-parse", "HEAD")
    assert recorded() == commit
    Path("tiny.ipynb").write_text(Path("tiny.ipynb").read_text() + "\n")
    assert recorded() == f"{commit}-dirty"


@pytest.mark.parametrize("absent", ["papermill", "ruamel.yaml", "sklearn.model_selection"])
def test_sweep_says_which_extra_it_needs(absent, monkeypatch):
    monkeypatch.setitem(sys.modules, absent, None)
    monkeypatch.delitem(sys.modules, "companion.sweep")
    with pytest.raises(
        ImportError, match=r"sweeps need the extra `book`: pip install 'committees\[book"
    ):
        importlib.import_module("companion.sweep")


def test_sweep_takes_several_grids_and_fills_in_defaults(folder, no_kernels):
    sweep(write_grid("grid: [{a: [2], b: [7]}, {a: [4], items: [[u, v]], workers: [2]}]"), "out")
    rows = Path("out/results.csv").read_text().splitlines()
    assert rows == ["a,b,items,workers,value", "2,7,,,2", "4,0.5,\"['u', 'v']\",2,4"]


def test_sweep_gathers_tables_as_they_are(folder, no_kernels):
    no_kernels.tables = {1: 'x,b\n1.10,"p, ""q"""\n', 2: "y,x\n0.1000000000000000055,NA\n"}
    frame = sweep(write_grid("grid: {a: [1, 2], b: [7]}"), "out")
    assert frame["x"].tolist() == ["1.10", "NA"]
    text = 'a,parameter b,x,b,y\n1,7,1.10,"p, ""q""",\n2,7,NA,,0.1000000000000000055\n'
    assert Path("out/results.csv").read_text() == text


def test_sweep_names_files_that_differ_and_are_safe(folder, no_kernels):
    words = ["a/b", "a b", "A B", "..", "x" * 300, "x" * 301, "", "-", "nul\\0", "1", 1]
    sweep(write_grid(f"grid: {{word: {words}, items: [[p, q], [], null]}}"), "out")
    names = [path.name.casefold() for path in Path("out/runs").glob("*.ipynb")]
    assert len(set(names)) == len(names) == 3 * len(words)
    assert max(map(len, names)) < 80


of_the_book = pytest.mark.parametrize(
    "path", sorted(BOOK_GRIDS.glob("*.yml")), ids=lambda path: path.stem
)


@of_the_book
def test_grids_of_the_book_say_how_long_they_take(path):
    comments = [line for line in path.read_text().splitlines() if line.startswith("#")]
    assert "Takes " in " ".join(comments)
    assert "minute" in " ".join(comments)


@of_the_book
def test_sweep_accepts_the_grids_of_the_book(path, tmp_path, no_kernels):
    assert len(sweep(path, tmp_path)) == len(no_kernels.asked) > 4


def sweep_apart(path, folder, **parameters):
    """What `sweep` gathers, or how it ends, in a process of its own: threads leave loops behind."""
    code = f"from companion.sweep import sweep; sweep({str(path)!r}, {str(folder)!r}, workers=2, "
    command = [sys.executable, "-c", f"{code} parameters={parameters})"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr if done.returncode else pd.read_csv(folder / "results.csv")


@pytest.mark.slow
@of_the_book
def test_sweep_runs_the_grids_of_the_book(path, tmp_path):
    """All their runs, with two recruitments each; every one leaves numbers."""
    frame = sweep_apart(path, tmp_path, runs=2)
    assert isinstance(frame, pd.DataFrame), frame
    runs = list((tmp_path / "runs").glob("*~????????.ipynb"))
    assert len(runs) > 4
    assert len(frame) >= 2 * len(runs)
    assert frame["loss"].between(0, 1).all()


@pytest.mark.slow
def test_sweep_takes_a_strategy_of_ones_own(tmp_path, monkeypatch):
    """The one that the page shows, with its options, beside one of the book's."""
    page = BOOK_GRIDS.parent / "one_recruitment.ipynb"
    cells = nbformat.read(page, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    rules, check = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    (tmp_path / "my_rules.py").write_text(rules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    subprocess.run([sys.executable, "-c", check], check=True)
    (command,) = re.findall(r"^```bash\n.venv/bin/(papermill .*?)^```", text, re.S | re.M)
    command = command.replace("\\\n", " ").replace(
        "chapters/beyond/one_recruitment.ipynb", str(page)
    )
    words = shlex.split(command)
    command = [str(Path(sys.executable).parent / words[0]), *words[1:], "-p", "runs", "2"]
    with monkeypatch.context() as patch:
        patch.delenv("PYTHONPATH")  # then it is the folder of the call that counts
        subprocess.run(command, check=True, capture_output=True)
    assert "**Lottery** screens" in Path("mine.ipynb").read_text()
    grid = f"""\
notebook: {page}
parameters: {{runs: 20, size: 20, features: [gender]}}
grid:
  - {{strategy: ["my_rules:Lottery"], options: [{{chance: 0.25}}, {{chance: 1.0}}]}}
  - {{strategy: [Prices]}}
"""
    Path("grid.yml").write_text(grid)
    frame = sweep_apart("grid.yml", tmp_path)
    people = frame.groupby(["strategy", "chance"], dropna=False)["screened"].mean()
    assert people["my_rules:Lottery", 1.0] == 20
    assert 60 < people["my_rules:Lottery", 0.25] < 100
    assert 20 <= people["Prices"].item() < 60
    Path("grid.yml").write_text(grid.replace("chance: 0.25", "luck: 0.25"))
    said = sweep_apart("grid.yml", tmp_path)
    assert "BadParameter: options: my_rules:Lottery has no 'luck', it has chance" in said


def test_sweep_names_failures_and_goes_on(folder, no_kernels, capsys):
    arguments = [write_grid("grid: {a: [1, 2, 3, 4], b: [7]}"), "--workers", "1"]
    lines = ["Traceback", "KeyError: 'glass'"]
    failed = papermill.PapermillExecutionError(1, 3, "", "KeyError", "'glass'", lines)
    no_kernels.failing, no_kernels.tables = {2: failed, 3: RuntimeError("Kernel")}, {4: ""}
    with pytest.raises(SystemExit, match="1"):
        main(arguments)
    first, *runs = capsys.readouterr().err.splitlines()
    assert first == "sweep: 3 of 4 runs failed:"
    assert runs[:2] == ["  a=2, b=7: KeyError: 'glass'", "  a=3, b=7: Kernel"]
    assert runs[2:] == ["  a=4, b=7: No columns to parse from file"]
    assert Path("sweeps/grid/results.csv").read_text() == "a,b,value\n1,7,1\n"
    assert no_kernels.values() == [1, 2, 3, 3, 3, 4]  # a kernel may fail to start twice
    no_kernels.failing, no_kernels.tables = {}, {}
    main(arguments)
    assert no_kernels.values() == [2, 3, 4]
    assert Path("sweeps/grid/results.csv").read_text().count("\n") == 5
    assert "All runs are done: sweeps/grid/results.csv" in capsys.readouterr().out


def test_sweep_gathers_nothing_when_all_failed(folder, no_kernels):
    no_kernels.failing = {1: OSError("disk full")}
    with pytest.raises(RuntimeError, match="1 of 1 runs failed:\n  a=1: disk full"):
        sweep(write_grid("grid: {a: [1]}"), "out")
    assert Path("out/results.csv").read_text() == "a\n"


def test_sweep_runs_only_what_is_missing_or_changed(folder, no_kernels):
    text = "parameters: {word: w}\ngrid: {a: [1, 2, 3, 4]}"
    write_grid(text)

    def again(**options):
        sweep("grid.yml", "out", workers=1, **options)
        return no_kernels.values()

    assert again() == [1, 2, 3, 4]
    assert again() == []
    next(Path("out/runs").glob("a=1~*.ipynb")).write_text('{"cut sho')
    next(Path("out/runs").glob("a=3~*.csv")).unlink()
    for a, record in {2: {"exception": True}, 4: {"end_time": None}}.items():
        (path,) = Path("out/runs").glob(f"a={a}~*.ipynb")
        book = nbformat.read(path, as_version=4)
        book.metadata.papermill.update(record)
        nbformat.write(book, path)
    assert again() == [1, 2, 3, 4]
    write_grid(text.replace("[1, 2, 3, 4]", "[4, 5, 1]"))
    assert again() == [5]
    assert Path("out/results.csv").read_text() == "a,value\n4,4\n5,5\n1,1\n"
    assert again(parameters={"word": "v"}) == [4, 5, 1]
    assert again() == [4, 5, 1]
    assert again(force=True) == [4, 5, 1]
    book = nbformat.read("tiny.ipynb", as_version=4)
    book.cells[1].execution_count = 12345
    nbformat.write(book, "tiny.ipynb")
    assert again() == []
    book.cells.append(new_markdown_cell("More to read."))
    nbformat.write(book, "tiny.ipynb")
    assert again() == [4, 5, 1]


def test_main_stopped_while_forced_goes_on_with_the_rest(folder, no_kernels, capsys):
    arguments = [write_grid("grid: {a: [1, 2, 3]}"), "--workers", "1"]
    main(arguments)
    no_kernels.failing = {2: KeyboardInterrupt()}
    with pytest.raises(SystemExit, match="130"):
        main([*arguments, "--force"])
    assert "stopped; the same command goes on from here" in capsys.readouterr().err
    assert no_kernels.values() == [1, 2, 3, 1, 2]
    assert not list(Path("sweeps/grid/runs").glob("a=2~????????.ipynb"))  # only .part.ipynb
    no_kernels.failing.clear()
    main(arguments)
    assert no_kernels.values() == [2, 3]


def run_six(*arguments):
    """Run the command with kernels, check its results, and return the runs that were executed."""
    Path("executed.txt").unlink(missing_ok=True)
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path("sweeps/grid/results.csv").read_text() == "".join(ROWS)
    return sorted(Path("executed.txt").read_text().split())


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_main_gives_the_same_with_any_number_of_workers(workers, folder):
    write_grid(SIX)
    assert run_six("--workers", workers) == sorted(SIX_NAMES)


@pytest.mark.slow
def test_main_killed_and_started_again_gives_the_same(folder):
    write_grid(SIX)

    def ended():
        return {p.name[:-15] for p in Path("sweeps/grid/runs").glob("*~????????.ipynb")}

    with subprocess.Popen([*COMMAND, "--workers", "2"], start_new_session=True) as killed:
        deadline = time.monotonic() + 120
        while len(ended()) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
    before = ended()
    assert 2 <= len(before) < 6
    assert not Path("sweeps/grid/results.csv").exists()
    assert run_six("--workers", "2") == sorted(SIX_NAMES - before)


@pytest.mark.slow
def test_main_gives_the_same_on_a_dask_cluster(folder):
    from distributed import LocalCluster

    write_grid(SIX)
    # Two threads share a process, and with it the current folder.
    options = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None}
    with LocalCluster(processes=True, protocol="tcp", **options) as cluster:
        assert cluster.scheduler_address.startswith("tcp://")
        assert run_six("--dask", cluster.scheduler_address) == sorted(SIX_NAMES)


@pytest.mark.slow
def test_main_goes_on_when_kernels_fail_or_die(folder):
    write_grid("parameters: {word: fragile}\ngrid: {a: [1, 2, 3, 4]}")
    for executed in (4, 4 + 3):  # the second time, only what failed
        done = subprocess.run([*COMMAND, "--workers", "2"], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.endswith(FRAGILE)
        assert Path("executed.txt").read_text().count("\n") == executed
    assert Path("sweeps/grid/results.csv").read_text().count("\n") == 3

"""The rooms of the library: how large each may be, which may import which, what each must have."""

from __future__ import annotations

import importlib
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIB, TESTS = ROOT / "lib", ROOT / "tests"

#: Where a room's modules are, and the most lines of Python that they may have in all.
ROOMS = {
    "committees": (LIB / "committees", 2000),
    "beyond": (LIB / "committees" / "beyond", 1000),
    "companion": (LIB / "companion", 2454),
    "pages": (LIB / "companion" / "pages", 682),
    "assembly": (LIB / "assembly", 2724),
}
MOST_LINES_IN_ALL = 8840
MOST_LINES_PER_FILE = 300
MOST_FILES_OF_THE_PAPER = 16

#: Tests of a room that are about several of its modules at once, or about a tool that uses them.
SEVERAL_MODULES = {
    "committees": set[str](),
    "beyond": {"counts", "offline"},
    "companion": {"beyond", "growth", "radius"},  # of tools
    "pages": set[str](),
    "assembly": {"ranges"},
}


def files(room):
    """The room's Python files; those of `beyond` are not the paper's."""
    folder, _ = ROOMS[room]
    inner = {path for path, _ in ROOMS.values() if path != folder and folder in path.parents}
    return [path for path in sorted(folder.rglob("*.py")) if not inner & set(path.parents)]


def lines(paths):
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def modules(room):
    """For each of the room's modules, its name and those of the packages that it is in."""
    folder, _ = ROOMS[room]
    for path in files(room):
        *packages, name = path.relative_to(folder).with_suffix("").parts
        if name != "__init__":
            yield [name.strip("_"), *packages]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_keep_to_their_budget(room):
    assert lines(files(room)) <= ROOMS[room][1]


def test_rooms_together_keep_to_their_budget():
    assert lines(LIB.rglob("*.py")) <= MOST_LINES_IN_ALL
    assert {path.name for path in LIB.iterdir() if path.suffix != ".egg-info"} == {
        folder.relative_to(LIB).parts[0] for folder, _ in ROOMS.values()
    }


def test_rooms_paper_has_few_files():
    assert len(files("committees")) <= MOST_FILES_OF_THE_PAPER


def test_rooms_have_no_long_file():
    sources = [path for path in LIB.rglob("*.*") if path.suffix in (".py", ".js", ".css", ".html")]
    long = {path.name: lines([path]) for path in sources if lines([path]) > MOST_LINES_PER_FILE}
    assert long == {}


def test_rooms_have_a_folder_of_tests_each():
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert folders == {*ROOMS, "book", "helpers"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_have_a_test_file_for_each_module(room):
    """`test_<module>.py`; where several modules make one package, `test_<package>.py` will do."""
    tests = {path.stem.removeprefix("test_") for path in (TESTS / room).glob("test_*.py")}
    found = list(modules(room))
    assert [names for names in found if not tests & set(names)] == []
    known = {name for names in found for name in names} | SEVERAL_MODULES[room]
    assert tests - known == set()


MODULES = [
    ".".join(path.relative_to(LIB).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(LIB.rglob("*.py"))
]


@pytest.mark.parametrize("name", MODULES)
def test_rooms_describe_everything_public(name):
    """Modules, functions and classes; methods too, unless a base class describes them."""
    module = importlib.import_module(name)
    assert module.__doc__ or not Path(module.__file__).read_text(), f"{name} has no docstring"
    for key, thing in vars(module).items():
        if key.startswith("_") or getattr(thing, "__module__", None) != name or not callable(thing):
            continue
        assert thing.__doc__, f"{name}.{key} has no docstring"
        if not inspect.isclass(thing):
            continue
        # A dataclass without a docstring is given its signature for one.
        assert not thing.__doc__.startswith(f"{key}("), f"{name}.{key} has no docstring"
        for part in vars(thing):
            method = getattr(thing, part)
            if not part.startswith("_") and (callable(method) or isinstance(method, property)):
                assert inspect.getdoc(method), f"{name}.{key}.{part} has no docstring"


# --- The contracts of pyproject.toml hold, and refuse what they should.


def lint(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(folder / "lib"))
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path):
    """A copy of the library, for a wrong import."""
    shutil.copytree(LIB, tmp_path / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_import_contracts_hold(copy, monkeypatch):
    done = lint(copy, monkeypatch)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("importer", "line", "complaint"),
    [
        ("committees/lp", "import committees.beyond", "committees.lp -> committees.beyond"),
        ("committees/cmdp", "import committees.simulation", "cmdp -> committees.simulation"),
        ("committees/exact", "import matplotlib.pyplot", "committees.exact -> matplotlib"),
        ("committees/checks", "import companion", "committees.checks -> companion"),
        ("assembly/advice", "import companion.text", "assembly.advice -> companion.text"),
        ("companion/text", "import assembly.advice", "companion.text -> assembly.advice"),
        ("companion/text", "import pgmpy", "companion.text -> pgmpy"),
        ("companion/text", "import highspy", "companion.text -> highspy"),
        ("companion/text", "import papermill", "companion.text -> papermill"),
        ("companion/text", "import sphinx", "companion.text -> sphinx"),
    ],
)
def test_import_contracts_refuse(copy, monkeypatch, importer, line, complaint):
    with (copy / "lib" / f"{importer}.py").open("a") as file:
        file.write(f"\n{line}\n")
    done = lint(copy, monkeypatch)
    assert done.returncode == 1
    assert complaint in done.stdout


def test_import_contracts_know_every_module_of_the_paper(copy, monkeypatch):
    (copy / "lib" / "committees" / "newcomer.py").write_text("")
    done = lint(copy, monkeypatch)
    assert done.returncode == 1
    assert "newcomer" in done.stdout

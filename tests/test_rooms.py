"""The rooms of the project: which may import which, and what each must have."""

from __future__ import annotations

import importlib
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from companion.measurements import REGISTRY

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"

#: Where a room's modules are, and where its tests.
ROOMS = {
    "committees": (ROOT / "lib" / "committees", TESTS / "committees"),
    "beyond": (ROOT / "lib" / "committees" / "beyond", TESTS / "beyond"),
    "companion": (ROOT / "lib" / "companion", TESTS / "companion"),
    "organiser": (ROOT / "organiser", TESTS / "organiser"),
    "pages": (ROOT / "_ext" / "pages", TESTS / "pages"),
}

#: Tests of a room that are about several of its modules at once.
SEVERAL_MODULES = {"beyond": {"counts"}, "organiser": {"desk_states", "ranges"}}


def files(room):
    """The room's Python files; those of `beyond` are not the paper's."""
    folder, _ = ROOMS[room]
    inner = {path for path, _ in ROOMS.values() if path != folder and folder in path.parents}
    return [path for path in sorted(folder.rglob("*.py")) if not inner & set(path.parents)]


def modules(room):
    """For each of the room's modules, its name and those of the packages that it is in."""
    folder, _ = ROOMS[room]
    for path in files(room):
        *packages, name = path.relative_to(folder).with_suffix("").parts
        if name != "__init__":
            yield [name.strip("_"), *packages]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_have_a_test_file_for_each_module(room):
    """`test_<module>.py`; where several modules make one package, `test_<package>.py` will do."""
    tests = {path.stem.removeprefix("test_") for path in ROOMS[room][1].glob("test_*.py")}
    found = list(modules(room))
    assert [names for names in found if not tests & set(names)] == []
    known = {name for names in found for name in names} | SEVERAL_MODULES.get(room, set())
    assert tests - known == set()


#: From where each package is imported.
ROOTS = (ROOT / "lib", ROOT / "lib", ROOT / "lib", ROOT, ROOT / "_ext")
MODULES = [
    ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    for room, root in zip(ROOMS, ROOTS, strict=True)
    for path in files(room)
]


@pytest.mark.parametrize("name", MODULES)
def test_rooms_describe_everything_public(name):
    """Modules, functions and classes; methods too, unless a base class describes them.

    A function that measures a claim is described by the claim.
    """
    module = importlib.import_module(name)
    measures = set(REGISTRY.values())
    assert module.__doc__ or not Path(module.__file__).read_text(), f"{name} has no docstring"
    for key, thing in vars(module).items():
        if key.startswith("_") or getattr(thing, "__module__", None) != name or not callable(thing):
            continue
        if thing in measures:
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
    places = [folder / "lib", folder, folder / "_ext"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, places)))
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path):
    """A copy of all rooms, for a wrong import."""
    for name in ("lib", "organiser", "_ext"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_import_contracts_hold(copy, monkeypatch):
    done = lint(copy, monkeypatch)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("importer", "line", "complaint"),
    [
        ("lib/committees/lp", "import committees.beyond", "committees.lp -> committees.beyond"),
        ("lib/committees/cmdp", "import committees.simulation", "cmdp -> committees.simulation"),
        ("lib/committees/exact", "import matplotlib.pyplot", "committees.exact -> matplotlib"),
        ("lib/committees/checks", "import companion", "committees.checks -> companion"),
        ("organiser/advice", "import companion.text", "organiser.advice -> companion.text"),
        ("lib/companion/text", "import organiser.advice", "companion.text -> organiser.advice"),
        ("lib/companion/text", "import pgmpy", "companion.text -> pgmpy"),
        ("lib/companion/text", "import highspy", "companion.text -> highspy"),
        ("lib/companion/text", "import papermill", "companion.text -> papermill"),
        ("lib/companion/text", "import sphinx", "companion.text -> sphinx"),
    ],
)
def test_import_contracts_refuse(copy, monkeypatch, importer, line, complaint):
    with (copy / f"{importer}.py").open("a") as file:
        file.write(f"\n{line}\n")
    done = lint(copy, monkeypatch)
    assert done.returncode == 1
    assert complaint in done.stdout


def test_import_contracts_know_every_module_of_the_paper(copy, monkeypatch):
    (copy / "lib" / "committees" / "newcomer.py").write_text("")
    done = lint(copy, monkeypatch)
    assert done.returncode == 1
    assert "newcomer" in done.stdout

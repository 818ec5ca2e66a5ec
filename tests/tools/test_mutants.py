"""The mutation tester: what it changes, and that it finds what tests do not notice."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import mutants

MODULE = """\
def over(a: int | None, b: int = 2) -> int:
    \"\"\"Whether one number is over the other, as 1 or 0.

    >>> over(3, 1)
    1
    \"\"\"
    if a > b:
        return 1
    return 0


def total(numbers):
    left = list(numbers)
    found = 0
    while left:
        found += left.pop()
    return found
"""
STRONG = """\
from module import over, total

def test_over():
    assert [over(1, 2), over(5, 2), over(2), over(3)] == [0, 1, 0, 1]

def test_total():
    assert total([1, 2, 4]) == 7
"""
WEAK = """\
from module import over, total

def test_total():
    assert total([]) == 0
"""


def kinds(text):
    """What is tried, in words."""
    count = len(list(mutants.changes(ast.parse(text))))
    return [mutants.mutant(Path("m.py"), k, text).words for k in range(count)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("c = a < b", ["comparison: a < b  ->  a <= b"]),
        ("c = a is not b", ["comparison: a is not b  ->  a is b"]),
        ("c = a // b", ["arithmetic: a // b  ->  a * b"]),
        ("a -= b", ["arithmetic: a -= b  ->  a += b", "removed statement: a -= b"]),
        ("c = 5", ["constant: 5  ->  6"]),
        ("c = True", ["constant: True  ->  False"]),
        ("c = a if b else d", ["negated condition: a if b else d  ->  a if not b else d"]),
        ("f(a, b)", ["swapped arguments: f(a, b)  ->  f(b, a)", "removed statement: f(a, b)"]),
        ("def f():\n    return a", ["return None: return a  ->  return None"]),
        ("raise error", ["removed statement: raise error"]),
    ],
)
def test_changes_are_these(text, words):
    assert sorted(kinds(text)) == sorted(words)


@pytest.mark.parametrize(
    "text",
    [
        "'words'",
        "def f(a: int | None) -> int | str:\n    'Add 1.'",
        "@given(a, b)\ndef f(): 'So.'",
        "from a import b",
        "c = f'{a:{b + 1}}'",
        "c = a",
        "c = None",
    ],
)
def test_nothing_else_is_changed(text):
    assert kinds(text) == []


def test_a_mutant_has_one_change_and_is_a_program():
    number = len(list(mutants.changes(ast.parse(MODULE))))
    assert number > 5
    texts = {mutants.mutant(Path("m.py"), k, MODULE).text for k in range(number)}
    assert len(texts) == number
    original = ast.unparse(ast.parse(MODULE)).splitlines()
    for text in texts:
        compile(text, "m.py", "exec")
        changed = text.splitlines()
        assert len(changed) == len(original)
        assert sum(a != b for a, b in zip(changed, original, strict=True)) == 1


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one room with one module."""
    monkeypatch.setattr(mutants, "ROOMS", {"room": ("lib", "tests")})
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "LEAST_SECONDS", 3)
    for name, text in {"lib/module.py": MODULE, "lib/untested.py": "a = 1"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    browser\n")
    return tmp_path


def test_draw_depends_on_the_seed_alone(project):
    def words(seed, number=4):
        return [str(each) for each in mutants.draw(project, [Path("lib/module.py")], number, seed)]

    assert words(1) == words(1)
    assert words(1) != words(2)
    assert len(words(1)) == 4
    assert len(set(words(1, number=1000))) == len(words(1, number=1000)) < 20


def test_modules_have_the_tests_of_their_name():
    found = mutants.modules_of(mutants.ROOT, "committees")
    assert found[Path("lib/committees/greedy.py")] == [Path("tests/committees/test_greedy.py")]
    assert not [path for path in found if "beyond" in path.parts]
    assert len(mutants.modules_of(mutants.ROOT, "beyond")) > 5


def test_an_endless_mutant_is_stopped_and_counts_as_killed(project):
    (project / "tests" / "test_module.py").write_text(STRONG)
    (project / "lib" / "module.py").write_text(MODULE.replace("left.pop()", "len(left)"))
    module, test = Path("lib/module.py"), Path("tests/test_module.py")
    lives, seconds = mutants.survives(project, module, [test], 3)
    assert not lives
    assert 2 < seconds < 10


def test_strong_tests_kill_all_mutants(project, capsys):
    (project / "tests" / "test_module.py").write_text(STRONG)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    mutants.main(["--room", "room", "--number", "4", "--seed", "3", "--at-least", "1"])
    assert "4 of 4 mutants of room were killed." in capsys.readouterr().out
    assert {path: path.read_bytes() for path in before} == before


def test_the_outcome_is_written(project):
    (project / "tests" / "test_module.py").write_text(WEAK)
    file = project / "outcome.json"
    mutants.main(["--room", "room", "--number", "3", "--seed", "1", "--into", str(file)])
    outcome = json.loads(file.read_text())
    assert (outcome["room"], outcome["seed"], outcome["tried"]) == ("room", 1, 3)
    assert 0 < len(outcome["survivors"]) == 3 - outcome["killed"]


def test_weak_tests_let_mutants_live(project, capsys):
    (project / "tests" / "test_module.py").write_text(WEAK)
    with pytest.raises(SystemExit, match="1"):
        mutants.main(["--room", "room", "--number", "3", "--seed", "1", "--at-least", "1"])
    printed = capsys.readouterr().out
    assert "mutants of room were killed.\n  lib/module.py:" in printed
    assert "SURVIVES  lib/module.py:" in printed


def test_tests_that_fail_without_a_change_say_nothing(project):
    (project / "tests" / "test_module.py").write_text("def test():\n    assert False")
    with pytest.raises(ValueError, match=r"module\.py: its tests fail without any change"):
        mutants.main(["--room", "room", "--number", "1"])

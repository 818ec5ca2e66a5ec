"""Change the library a little, one place at a time, and see whether its tests notice.

A **mutant** is a module with one change: another comparison, another sign, another constant, a
condition negated, two arguments swapped, a statement left out, or None returned. Places are drawn
at random, from one seed. Each mutant is tested by the test file of its module and by the module's
own doctests, until one fails: then it is killed. One that survives is an error that nobody would
notice; or a change that makes no difference, which only a reader can tell.

All of this happens in a temporary copy of the project. Tests that take much more of the processor's
time than without the change count as failed: most often the change made a loop endless.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from execute import IGNORED, ROOT

#: Where the modules of a room are, and where its tests.
ROOMS = {
    "committees": ("lib/committees", "tests/committees"),
    "beyond": ("lib/committees/beyond", "tests/beyond"),
    "companion": ("lib/companion", "tests/companion"),
    "organiser": ("organiser", "tests/organiser"),
}

#: A mutant may take so many times as long as the module without a change, and at least so long.
PATIENCE = 5
LEAST_SECONDS = 30
#: Seconds by the clock, for one that waits without computing.
MOST_SECONDS = 1800
#: What pytest returns where there is no test.
NO_TESTS = 5

OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


# --- What can be changed


@dataclass
class Change:
    """One change of a syntax tree."""

    kind: str
    node: ast.AST  #: what is changed
    make: Callable[[], None]  #: changes it, in place


def changes(tree: ast.Module) -> Iterator[Change]:
    """All changes that are tried."""
    for node in _code(tree):
        yield from _changed_expressions(node)
        yield from _changed_statements(node)


def _changed_expressions(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER_COMPARISON:
        other = OTHER_COMPARISON[type(node.ops[0])]()
        yield _assignment("comparison", node, "ops", [other, *node.ops[1:]])
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OTHER_OPERATOR:
        yield _assignment("arithmetic", node, "op", OTHER_OPERATOR[type(node.op)]())
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _assignment("constant", node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield _assignment("constant", node, "value", node.value + 1)
    if isinstance(node, ast.Call) and len(node.args) > 1:
        first, second, *others = node.args
        yield _assignment("swapped arguments", node, "args", [second, first, *others])


def _changed_statements(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        negated = ast.UnaryOp(ast.Not(), node.test)
        yield _assignment("negated condition", node, "test", negated)
    if isinstance(node, ast.Return) and node.value is not None:
        yield _assignment("return None", node, "value", ast.Constant(None))
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        for place, statement in enumerate(block if isinstance(block, list) else []):
            is_removable = isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise)
            if is_removable and not _is_docstring(statement):
                leave_out = partial(block.__setitem__, place, ast.Pass())
                yield Change("removed statement", statement, leave_out)


def _assignment(kind: str, node: ast.AST, field: str, value: object) -> Change:
    return Change(kind, node, partial(setattr, node, field, value))


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are executed and matter: no annotation, docstring, message or import."""
    yield node
    for field, part in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in part if isinstance(part, list) else [part]:
            is_code = isinstance(child, ast.AST) and not _is_docstring(child)
            if is_code and not isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom):
                yield from _code(child)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: Path  #: from the root of the project
    number: int  #: which of its changes
    line: int
    words: str
    text: str  #: the whole module

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.words}"


def mutant(module: Path, number: int, text: str) -> Mutant:
    """The module with change number `number`."""
    tree = ast.parse(text)
    change = list(changes(tree))[number]
    line: int = getattr(change.node, "lineno", 1)
    before = _first_line(change.node)
    change.make()
    words = f"{change.kind}: {before}"
    if change.kind != "removed statement":
        words += f"  ->  {_first_line(change.node)}"
    return Mutant(module, number, line, words, ast.unparse(tree))


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]


def draw(root: Path, modules: list[Path], number: int, seed: int) -> list[Mutant]:
    """So many mutants of these modules, drawn at random; all of them if there are fewer."""
    texts = {module: (root / module).read_text(encoding="utf-8") for module in modules}
    places = [
        (module, place)
        for module, text in texts.items()
        for place in range(len(list(changes(ast.parse(text)))))
    ]
    chosen = random.Random(seed).sample(places, min(number, len(places)))
    return [mutant(module, place, texts[module]) for module, place in sorted(chosen)]


# --- Whether the tests notice


def modules_of(root: Path, room: str) -> dict[Path, list[Path]]:
    """The modules of a room, each with its test files; those without one are left out."""
    folder, tests = (Path(place) for place in ROOMS[room])
    rooms = [Path(place) for place, _ in ROOMS.values()]
    inner = {root / room for room in rooms if folder in room.parents}
    found = {}
    for path in sorted((root / folder).rglob("*.py")):
        if inner & {*path.parents}:
            continue
        names = path.relative_to(root / folder).with_suffix("").parts
        files = [tests / f"test_{name.strip('_')}.py" for name in names]
        of_module = [file for file in files if (root / file).exists()]
        if of_module:
            found[path.relative_to(root)] = of_module
    return found


def survives(
    root: Path, module: Path, tests: list[Path], seconds: float | None = None
) -> tuple[bool, float]:
    """Whether all tests pass, and the seconds of the processor's time that they took."""
    before = _cpu_seconds()
    # One after the other: pytest imports a module whose doctests it runs a second time.
    passes = all(_passes(root, files, seconds) for files in ([module], tests))
    return passes, _cpu_seconds() - before


def _passes(root: Path, files: list[Path], seconds: float | None) -> bool:
    """Whether the tests in these files pass, if there are any."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["--doctest-modules", "-m", "not slow and not browser", *map(str, files)]
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=_environment(root),
            preexec_fn=partial(_limit, seconds) if seconds else None,
            timeout=MOST_SECONDS,
            capture_output=True,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, NO_TESTS)


def _limit(seconds: float) -> None:
    whole = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment(root: Path) -> dict[str, str]:
    """The copy comes before the project itself; bytecode of one mutant is not for the next.

    Plugins of pytest, which these tests do not need, take a second of each of very many starts.
    """
    places = [root / "lib", root, root / "_ext"]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "LOKY_MAX_CPU_COUNT": "1",
    }


def survivors(root: Path, room: str, number: int, seed: int) -> tuple[list[Mutant], int]:
    """The mutants that no test notices, and how many were tried; in a copy of the project."""
    tests = modules_of(root, room)
    mutants = draw(root, list(tests), number, seed)
    living = []
    limits: dict[Path, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(root, copy, ignore=IGNORED)
        for each in mutants:
            module = each.module
            if module not in limits:
                limits[module] = _usual_seconds(copy, module, tests[module])
            original = (copy / module).read_text(encoding="utf-8")
            (copy / module).write_text(each.text, encoding="utf-8")
            lives, _ = survives(copy, module, tests[module], limits[module])
            (copy / module).write_text(original, encoding="utf-8")
            print(f"{'SURVIVES' if lives else 'killed  '}  {each}", flush=True)
            if lives:
                living.append(each)
    return living, len(mutants)


def _usual_seconds(root: Path, module: Path, tests: list[Path]) -> float:
    """How long a mutant of the module may take; its tests must pass without a change."""
    passes, seconds = survives(root, module, tests)
    if not passes:
        raise ValueError(f"{module}: its tests fail without any change")
    return max(LEAST_SECONDS, PATIENCE * seconds)


def main(arguments: list[str] | None = None) -> None:
    """Try some mutants; print those that survive, and the share that was killed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--room", choices=ROOMS, default="committees")
    parser.add_argument("--number", type=int, default=40, help="how many mutants (default: 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--at-least",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="fail if a smaller share is killed",
    )
    parser.add_argument("--into", type=Path, metavar="FILE", help="write what came out, as JSON")
    given = parser.parse_args(arguments)
    living, tried = survivors(ROOT, given.room, given.number, given.seed)
    killed = tried - len(living)
    print(f"\n{killed} of {tried} mutants of {given.room} were killed.")
    for each in living:
        print(f"  {each}")
    if given.into:
        outcome = {
            "room": given.room,
            "seed": given.seed,
            "tried": tried,
            "killed": killed,
            "survivors": [str(each) for each in living],
        }
        given.into.write_text(json.dumps(outcome, indent=2) + "\n", encoding="utf-8")
    if killed < given.at_least * tried:
        sys.exit(1)


if __name__ == "__main__":
    main()

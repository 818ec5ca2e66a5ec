"""Run a chapter with parameters of your own, and make a page of it in a copy of the book.

There its links lead to the other chapters, as stored, and its citations to the bibliography.
`papermill --help-notebook NOTEBOOK` lists what can be changed. Files, and strategies of your own,
are looked for from where you are.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import papermill
import yaml

from companion.parameters import RULES, check
from companion.sweep import KERNEL_ENVIRONMENT, KERNEL_OPTIONS
from execute import IGNORED, ROOT

FOLDER = ROOT / "_build" / "page"
#: Parameters that are files.
FILES = {"targets", "volunteers", "door", "table"}


def read(notebook: Path, text: str) -> dict[str, Any]:
    """The parameters, from YAML or JSON; a ValueError says what the chapter cannot work with."""
    chapters = [*(ROOT / "chapters").rglob("*.ipynb")]
    if notebook.resolve() not in chapters:
        raise ValueError(f"NOTEBOOK: expected a notebook in {ROOT / 'chapters'}, got {notebook}")
    inspected = papermill.inspect_notebook(str(notebook))
    defaults = {name: ast.literal_eval(about["default"]) for name, about in inspected.items()}
    given = _values(text)
    for name in given:
        if name not in defaults:
            known = ", ".join(defaults) or "none"
            raise ValueError(f"WITH: unknown {name!r}; the chapter has {known}")
    for name in FILES & given.keys():
        given[name] = _path(name, given[name])
    _check({**defaults, **given}, defaults)
    return given


def _values(text: str) -> dict[str, Any]:
    """Names and values."""
    try:
        values = yaml.safe_load(text or "{}")
    except yaml.YAMLError:
        values = None
    if not isinstance(values, dict):
        raise ValueError(f'WITH: expected names and values, "{{runs: 50, seed: 1}}", got {text!r}')
    return values


def _path(name: str, file: Any) -> str | None:
    """The whole path of a file, or None."""
    if file is None or file == "":
        return file
    if not isinstance(file, str):
        raise ValueError(f"{name}: expected the name of a file, got {file!r}")
    return str(Path(file).resolve())


def _check(values: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Refuse what the chapter's first cell would refuse."""
    ruled = {name for names in RULES for name in names.split()}
    may_be_left_out = {name for name, default in defaults.items() if default is None}
    checked = {
        name: value
        for name, value in values.items()
        if name in ruled and not (value is None and name in may_be_left_out)
    }
    check(**checked)


def make_page(notebook: Path, parameters: dict[str, Any]) -> Path:
    """Run the chapter in a copy of the book, build the copy, and return the page."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(ROOT, FOLDER / "source", ignore=IGNORED)
    copy = FOLDER / "source" / notebook.resolve().relative_to(ROOT)
    os.environ.update(KERNEL_ENVIRONMENT)
    os.environ["PYTHONPATH"] = os.pathsep.join(_places_of_modules())
    papermill.execute_notebook(notebook, copy, parameters, cwd=copy.parent, **KERNEL_OPTIONS)
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(FOLDER / "source")]
    command += ["--path-output", str(FOLDER), "-W", "-n", "--keep-going", "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page = copy.relative_to(FOLDER / "source").with_suffix(".html")
    return FOLDER / "_build" / "html" / page


def _places_of_modules() -> list[str]:
    """Where the kernel finds strategies of one's own: in this folder, too."""
    known = os.environ.get("PYTHONPATH")
    return [str(Path.cwd()), *([known] if known else [])]


def main() -> None:
    """Make the page, or say in a sentence why not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebook", type=Path, help="the chapter, chapters/....ipynb")
    parser.add_argument("parameters", nargs="?", default="", help='YAML: "{runs: 50}"')
    arguments = parser.parse_args()
    sys.path.insert(0, str(Path.cwd()))  # a strategy of one's own is looked at before the kernel
    try:
        parameters = read(arguments.notebook, arguments.parameters)
        print(f"The page is at {make_page(arguments.notebook, parameters)}")
    except ValueError as error:
        sys.exit(f"{error}")
    except papermill.PapermillExecutionError as error:
        sys.exit(f"The chapter stopped at {error.ename}: {error.evalue}")
    except subprocess.CalledProcessError:
        sys.exit("The page was not built: the warnings above say why")


if __name__ == "__main__":
    main()

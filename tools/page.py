"""Run a chapter with parameters of your own, and make a page of it in a copy of the book.

There its links lead to the other chapters, as stored, and its citations to the bibliography.
`papermill --help-notebook NOTEBOOK` lists what can be changed. Files are looked for from where you
are.
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
    try:
        given = yaml.safe_load(text or "{}")
    except yaml.YAMLError:
        given = None
    if not isinstance(given, dict):
        raise ValueError(f'WITH: expected names and values, "{{runs: 50, seed: 1}}", got {text!r}')
    known = {n: found["default"] for n, found in papermill.inspect_notebook(str(notebook)).items()}
    for name in given:
        if name not in known:
            raise ValueError(
                f"WITH: unknown {name!r}; the chapter has {', '.join(known) or 'none'}"
            )
    given |= {n: str(Path(path).resolve()) for n, path in given.items() if n in FILES and path}
    values = {name: ast.literal_eval(default) for name, default in known.items()} | given
    ruled = {name for names in RULES for name in names.split()}
    check(**{n: value for n, value in values.items() if n in ruled and value is not None})
    return given


def make_page(notebook: Path, parameters: dict[str, Any]) -> Path:
    """Run the chapter in a copy of the book, build the copy, and return the page."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(ROOT, FOLDER / "source", ignore=IGNORED)
    copy = FOLDER / "source" / notebook.resolve().relative_to(ROOT)
    os.environ.update(KERNEL_ENVIRONMENT)
    papermill.execute_notebook(notebook, copy, parameters, cwd=copy.parent, **KERNEL_OPTIONS)
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(FOLDER / "source")]
    command += ["--path-output", str(FOLDER), "-W", "-n", "--keep-going", "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page = copy.relative_to(FOLDER / "source").with_suffix(".html")
    return FOLDER / "_build" / "html" / page


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebook", type=Path, help="the chapter, chapters/....ipynb")
    parser.add_argument("parameters", nargs="?", default="", help='YAML: "{runs: 50}"')
    arguments = parser.parse_args()
    try:
        parameters = read(arguments.notebook, arguments.parameters)
        print(f"The page is at {make_page(arguments.notebook, parameters)}")
    except ValueError as error:
        sys.exit(f"{error}")
    except papermill.PapermillExecutionError as error:
        sys.exit(f"The chapter stopped at {error.ename}: {error.evalue}")
    except subprocess.CalledProcessError:
        sys.exit("The page was not built: the warnings above say why")

"""Run a notebook over a grid of parameters, given in a YAML file, and gather the results.

A grid is such a file::

    notebook: one_recruitment.ipynb    # relative to this file
    parameters: {runs: 20}             # the same in every run; may be left out
    grid:                              # every combination of these lists; one grid or several
      - {strategy: [Greedy], size: [50, 100], options: [{tolerance: 0.02}, {tolerance: 0.05}]}
      - {strategy: [CMDP, "my_rules:MyStrategy"], size: [50, 100]}

`papermill --help-notebook NOTEBOOK` lists the parameters of a notebook. One must be called `table`:
the CSV file for its results, which the sweep sets. Files that others name are looked for from the
notebook's folder. FOLDER gets results.csv, results.json, which says what made it, and, in runs/,
the executed notebook and the table of each run. The same command again runs only what is missing,
has failed, or has other parameters or another notebook than now; use --force after other changes,
of data or of the library. Only one sweep at a time may use a folder. Dask workers need the same
environment and the same files.
Exit code: 0 if all runs are done, 1 if some failed, 2 if nothing could be run.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import re
import subprocess
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from committees.checks import check_integer

try:
    import nbformat
    import papermill
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from sklearn.model_selection import ParameterGrid

    from companion.text import save_results
except ModuleNotFoundError as error:
    raise ImportError(
        f"{error.name} is not installed; sweeps need the extra `book`: "
        "pip install 'committees[book]'"
    ) from None

#: Every kernel has the same hashes and one thread, wherever it runs; it may take 30 s to start.
KERNEL_ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
KERNEL_OPTIONS: dict[str, Any] = {"start_timeout": 30, "extra_arguments": ["--log-level=50"]}

#: How often a run is tried whose kernel does not start: a port may be taken.
STARTS = 3
#: The most characters of a file's name that tell of its run.
NAME_LENGTH = 60
#: The packages whose versions are recorded: those that compute.
PACKAGES = ["committees", "numpy", "scipy", "pandas", "cvxpy", "highspy", "papermill"]

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Sweep:
    """What a grid asks for."""

    notebook: Path
    source: list[str]  #: the notebook's cells
    parameters: Values  #: what is the same in every run
    varied: list[str]  #: the parameters that vary
    runs: Mapping[str, Values]  #: each run's parameters, by the path of its files without suffix

    def name(self, files: str) -> str:
        """A run in words: what varies, and its values."""
        return _say(self.varied, self.runs[files])


def sweep(
    grid: str | Path,
    output: str | Path,
    *,
    parameters: Values | None = None,
    workers: int | None = None,
    force: bool = False,
) -> pd.DataFrame:
    """Run what is not done yet, and gather all results.

    A grid that cannot be run raises a ValueError, and nothing is written. Failed runs raise a
    RuntimeError that names them, after the results of the others have been gathered.

    Parameters
    ----------
    grid : str or Path
        The YAML file.
    output : str or Path
        The folder for results.csv, results.json and runs/.
    parameters : mapping of str to value, optional
        Added to the parameters that the file gives to every run, or in their place.
    workers : int, optional
        How many notebooks run at a time; by default as many as there are cores. Inside
        `joblib.parallel_config(backend="dask")` the cluster decides.
    force : bool
        Whether to run again what is done.

    Returns
    -------
    DataFrame
        The rows of all tables in the order of the grid, after columns for what varies.
    """
    if workers not in (None, -1):
        check_integer("workers", workers, 1)
    folder = Path(output).resolve()
    plan = read(grid, folder, parameters)
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    errors = _run(plan, left_to_do(plan, force), workers, Path(grid).stem)
    save_results(f"{folder}/results.csv", _gather(plan, errors))
    record = json.dumps(_record(plan), indent=2, sort_keys=True)
    (folder / "results.json").write_text(f"{record}\n")
    failed = [files for files in plan.runs if errors.get(files)]
    if failed:
        lines = [f"\n  {plan.name(files)}: {errors[files]}" for files in failed]
        raise RuntimeError(f"{len(failed)} of {len(plan.runs)} runs failed:{''.join(lines)}")
    return pd.read_csv(f"{folder}/results.csv", keep_default_na=False, na_values=[""])


# --- What is to be run


def read(grid: str | Path, output: str | Path, parameters: Values | None = None) -> Sweep:
    """The plan of a grid, whose runs leave their files in the folder; see `sweep`."""
    path = Path(grid).resolve()
    try:
        return _plan(path, parameters or {}, Path(output).resolve())
    except DuplicateKeyError as error:
        (key,) = re.findall(r'found duplicate key "(.*?)" with', str(error.problem))
        line = error.problem_mark.line + 1
        raise ValueError(f"{path.name}: the key {key!r} is there twice, line {line}") from None
    except Exception as error:  # of many kinds: from a file, its YAML, its grid, its notebook
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ValueError(f"{path.name}: {problem}") from None


def _plan(path: Path, given: Values, folder: Path) -> Sweep:
    stored = YAML(typ="safe", pure=True).load(path)
    content = {"parameters": {}, **stored} if isinstance(stored, dict) else {}
    if content.keys() != {"notebook", "parameters", "grid"}:
        raise ValueError("expected the keys 'notebook', 'grid' and perhaps 'parameters'")
    notebook = (path.parent / content["notebook"]).resolve()
    book = nbformat.read(notebook, as_version=4)
    known = papermill.inspect_notebook(book)
    if not known.pop("table", None):
        raise ValueError(f"{notebook} has no parameter 'table'; add a line 'table: str = None'")
    fixed = {**(content["parameters"] or {}), **given}
    points = _points(content["grid"])
    varied = list(dict.fromkeys(name for point in points for name in point))
    _check_names(fixed, varied, known)
    if "workers" in known:
        fixed = {"workers": 1, **fixed}  # each run has one core
    runs = {}
    for point in points:
        left_out = [name for name in varied if name not in point]
        defaults = {name: ast.literal_eval(known[name]["default"]) for name in left_out}
        values = {**fixed, **defaults, **point}
        runs[str(folder / "runs" / _file_name(_say(varied, values)))] = values
    return Sweep(notebook, _cells(book), fixed, varied, runs)


def _points(grid: Any) -> list[dict[str, Any]]:
    """The combinations that a grid, or a list of grids, asks for."""
    grids = grid if isinstance(grid, list) else [grid]
    if not grids or not all(grids):
        raise ValueError("the grid is empty: expected lists of values, 'grid: {size: [50, 100]}'")
    return list(ParameterGrid(grids))


def _check_names(fixed: Values, varied: list[str], known: Values) -> None:
    for name in [*fixed, *varied]:
        if name not in known:
            raise ValueError(f"unknown parameter {name!r}; the notebook has {', '.join(known)}")
    twice = fixed.keys() & {*varied}
    if twice:
        raise ValueError(f"{min(twice)!r} is fixed, and in the grid as well")


def _say(names: Sequence[str], parameters: Values) -> str:
    return ", ".join(f"{name}={json.dumps(parameters[name])}" for name in names)


def _file_name(words: str) -> str:
    """A name that can be read, and that differs from all others even where case is ignored."""
    readable = re.sub(r"[^\w.,=+-]+", "", words)[:NAME_LENGTH]
    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
    return f"{readable}~{digest}"


def _cells(book: nbformat.NotebookNode) -> list[str]:
    """The source of all cells, except the one that papermill adds."""
    return [c.source for c in book.cells if "injected-parameters" not in c.metadata.get("tags", [])]


def left_to_do(plan: Sweep, force: bool = False) -> list[str]:
    """The files of the runs that are not done yet."""
    return [files for files in plan.runs if force or not _is_done(plan, files)]


def _is_done(plan: Sweep, files: str) -> bool:
    """Whether this notebook ended well with these parameters, by papermill's own record."""
    try:
        stored = nbformat.read(f"{files}.ipynb", as_version=4)
    except (OSError, ValueError):  # missing, or cut short when the machine stopped
        return False
    record = stored.metadata.papermill
    wanted = {**plan.runs[files], "table": record.parameters.table}
    if json.dumps(wanted, sort_keys=True) != json.dumps(record.parameters, sort_keys=True):
        return False
    is_complete = record.end_time and not record.exception and Path(f"{files}.csv").exists()
    return bool(is_complete and _cells(stored) == plan.source)


# --- Running


def _run(plan: Sweep, waiting: list[str], workers: int | None, title: str) -> dict[str, str]:
    """Run these; the last line of the error of each, empty if it went well."""
    for files in waiting:
        for suffix in (".ipynb", ".csv", ".part.csv"):
            Path(f"{files}{suffix}").unlink(missing_ok=True)
    # A kernel is a process already: threads look after the kernels.
    parallel = Parallel(workers or -1, return_as="generator_unordered", prefer="threads")
    outcomes = parallel(
        delayed(_execute)(plan.notebook, files, plan.runs[files]) for files in waiting
    )
    return dict(tqdm(outcomes, desc=title, total=len(waiting), disable=None))


def _execute(
    notebook: Path, files: str, parameters: Values, starts: int = STARTS
) -> tuple[str, str]:
    """Run the notebook once; return its files, and the last line of its error if it failed."""
    os.environ.update(KERNEL_ENVIRONMENT)
    part = f"{files}.part.ipynb"
    table = f"{files}.part.csv"
    error = ""
    here = {"metadata": {"path": str(notebook.parent)}}  # `cwd=` would move the whole process
    options = {**KERNEL_OPTIONS, "progress_bar": False, "resources": here}
    try:
        papermill.execute_notebook(notebook, part, {**parameters, "table": table}, **options)
        if not Path(table).exists():
            raise ValueError("no results; the notebook should call save_results(table, ...)")
        pd.read_csv(table)
        os.replace(table, f"{files}.csv")
    except Exception as problem:  # whatever it is, the other runs go on
        if type(problem) is RuntimeError and starts > 1:  # no kernel
            return _execute(notebook, files, parameters, starts - 1)
        error = (str(problem).strip() or repr(problem)).splitlines()[-1]
    if Path(part).exists():
        os.replace(part, f"{files}.ipynb")  # last, since it vouches for the table
    return files, error


# --- Gathering


def _gather(plan: Sweep, errors: Mapping[str, str]) -> pd.DataFrame:
    """The tables of all runs that are done, after columns for what varies."""
    done = [files for files in plan.runs if not errors.get(files)]
    tables = [pd.read_csv(f"{files}.csv", dtype=str, na_filter=False) for files in done]  # exact
    results = pd.concat(tables, keys=done) if done else pd.DataFrame()
    for place, name in enumerate(plan.varied):
        values = [plan.runs[files][name] for files in results.index.get_level_values(0)]
        column = f"parameter {name}" if name in results else name
        results.insert(place, column, pd.Series(values, results.index, object))
    return results


def _record(plan: Sweep) -> dict[str, Any]:
    """What the results depend on: the notebook, its parameters, and the versions."""
    versions = {"python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in PACKAGES}
    defaults = papermill.inspect_notebook(str(plan.notebook))
    seed = defaults.get("seed", {"default": "None"})["default"]
    return {
        "notebook": plan.notebook.name,
        "sha256 of its cells": hashlib.sha256("\n".join(plan.source).encode()).hexdigest(),
        "seed": plan.parameters.get("seed", ast.literal_eval(seed)),
        "parameters": plan.parameters,
        "runs": [{name: run[name] for name in plan.varied} for run in plan.runs.values()],
        "versions": versions,
        "commit": _commit(plan.notebook.parent),
    }


def _commit(folder: Path) -> str | None:
    """The commit of the notebook, "-dirty" if files differ from it; None where git has none."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:  # no git
        return None
    return done.stdout.strip() or None


# --- From the command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a sweep from the command line."""
    parser = _parser()
    given = parser.parse_args(arguments)
    output = Path(given.output or Path("sweeps", given.grid.stem))
    try:
        parameters = dict(_assignment(text) for text in given.parameters)
        if given.dry_run:
            _print_plan(read(given.grid, output, parameters), given.force)
            return
        with parallel_config(**_cluster(given)):
            sweep(
                given.grid, output, parameters=parameters, workers=given.workers, force=given.force
            )
    except (RuntimeError, ValueError, OSError) as error:
        parser.exit(1 if isinstance(error, RuntimeError) else 2, f"sweep: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "sweep: stopped; the same command goes on from here\n")
    print(f"All runs are done: {output / 'results.csv'}")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.prog = "python -m companion.sweep"
    add = parser.add_argument
    add("grid", metavar="GRID.yml", type=Path, help="what to run")
    add(
        "-p",
        dest="parameters",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of every run, added to the file's or in its place: -p runs=2",
    )
    add("--output", metavar="FOLDER", help="of the results (default: sweeps/GRID)")
    add("--workers", metavar="N", type=int, help="runs at a time (default: cores)")
    add("--dask", metavar="HOST:PORT", help="send runs to this Dask scheduler")
    add("--force", action="store_true", help="run again what is done")
    add("--dry-run", action="store_true", help="print what would run, and run nothing")
    return parser


def _cluster(given: Namespace) -> dict[str, str]:
    if not given.dask:
        return {}
    return {"backend": "dask", "scheduler_host": given.dask}


def _assignment(text: str) -> tuple[str, Any]:
    """A parameter's name and value, from NAME=VALUE with a value in YAML."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise ValueError(f"-p: expected NAME=VALUE, as in -p runs=2, got {text!r}")
    try:
        return name.strip(), YAML(typ="safe", pure=True).load(value)
    except Exception:  # of many kinds, all about what is no YAML
        raise ValueError(f"-p: {name}: {value!r} is no value in YAML") from None


def _print_plan(plan: Sweep, force: bool) -> None:
    """What would run, a line each."""
    waiting = left_to_do(plan, force)
    same = _say(list(plan.parameters), plan.parameters) or "nothing"
    print(f"{len(waiting)} of {len(plan.runs)} runs of {plan.notebook.name} are left to do.")
    print(f"In all of them: {same}.")
    for files in waiting:
        print(f"  {plan.name(files)}")


if __name__ == "__main__":
    main()

"""Run a notebook over a grid of parameters, given in a YAML file, and gather the results.

Such a file reads::

    notebook: one_recruitment.ipynb    # relative to this file
    parameters: {runs: 20}             # the same in every run; may be left out
    grid:                              # every combination of these lists; one grid or several
      - {strategy: [Greedy], size: [50, 100], options: [{tolerance: 0.02}, {tolerance: 0.05}]}
      - {strategy: [CMDP, "my_rules:MyStrategy"], size: [50, 100]}

`papermill --help-notebook NOTEBOOK` lists the parameters of a notebook. One must be called `table`:
the CSV file for its results, which the sweep sets. Files that others name are looked for from the
notebook's folder. FOLDER gets results.csv and, in runs/, the executed notebook and the table of
each run. The same command again runs only what is missing, has failed, or has other parameters or
another notebook than now; use --force after other changes, of data or of the library. Only one
sweep at a time may use a folder. Dask workers need the same environment and the same files.
Exit code: 0 if all runs are done, 1 if some failed, 2 if nothing could be run.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import papermill
from joblib import Parallel, delayed, parallel_config
from ruamel.yaml import YAML
from sklearn.model_selection import ParameterGrid
from tqdm import tqdm

from companion.text import save_results

#: Every kernel has the same hashes and one thread, wherever it runs; it may take 30 s to start.
KERNEL_ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
KERNEL_OPTIONS: dict[str, Any] = {"start_timeout": 30, "extra_arguments": ["--log-level=50"]}
Values = Mapping[str, Any]
Runs = Mapping[str, Values]  # the parameters of each run, by the path of its files without suffix


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
        The folder for results.csv and runs/.
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
    folder = Path(output).resolve()
    try:
        plan = _read(Path(grid).resolve(), parameters or {}, folder)
    except Exception as error:  # of many kinds: from a file, its YAML, its grid, its notebook
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ValueError(f"{Path(grid).name}: {problem}") from None
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    errors = _run_what_waits(plan, workers, force, title=Path(grid).stem)
    done = [files for files in plan.runs if not errors.get(files)]
    save_results(f"{folder}/results.csv", _gathered(plan, done))
    failed = [files for files in plan.runs if errors.get(files)]
    if failed:
        sentences = [
            f"\n  {_say(plan.varied, plan.runs[files])}: {errors[files]}" for files in failed
        ]
        raise RuntimeError(f"{len(failed)} of {len(plan.runs)} runs failed:{''.join(sentences)}")
    return pd.read_csv(f"{folder}/results.csv", keep_default_na=False, na_values=[""])


@dataclass(frozen=True)
class _Plan:
    """What a grid says."""

    notebook: Path
    source: list[str]  #: of its cells
    varied: list[str]  #: the parameters that differ between runs
    runs: Runs


def _run_what_waits(plan: _Plan, workers: int | None, force: bool, title: str) -> dict[str, str]:
    """Run what is not done; the last line of the error of each run, or nothing, by its files."""
    waiting = [
        (files, parameters)
        for files, parameters in plan.runs.items()
        if force or not _is_done(files, parameters, plan.source)
    ]
    for files, _ in waiting:
        for suffix in (".ipynb", ".csv", ".part.csv"):
            Path(files + suffix).unlink(missing_ok=True)
    # A kernel is a process already: threads look after the kernels.
    parallel = Parallel(workers or -1, return_as="generator_unordered", prefer="threads")
    outcomes = parallel(delayed(_execute)(plan.notebook, *run) for run in waiting)
    return dict(tqdm(outcomes, desc=title, total=len(waiting), disable=None))


def _gathered(plan: _Plan, done: list[str]) -> pd.DataFrame:
    """The rows of the tables of these runs, after columns for what varies."""
    if not done:
        return pd.DataFrame(columns=plan.varied)
    tables = [pd.read_csv(f"{files}.csv", dtype=str, na_filter=False) for files in done]  # exact
    results = pd.concat(tables, keys=done)
    run_of_row = results.index.get_level_values(0)
    for place, name in enumerate(plan.varied):
        values = [plan.runs[files][name] for files in run_of_row]
        column = f"parameter {name}" if name in results else name
        results.insert(place, column, pd.Series(values, results.index, object))
    return results


def _read(path: Path, extra: Values, folder: Path) -> _Plan:
    """Check a grid, and say what to run."""
    stored = YAML(typ="safe", pure=True).load(path)
    content = {"parameters": {}, **stored} if isinstance(stored, dict) else {}
    if content.keys() != {"notebook", "parameters", "grid"}:
        raise ValueError("expected the keys 'notebook', 'grid' and perhaps 'parameters'")
    notebook = (path.parent / content["notebook"]).resolve()
    book = nbformat.read(notebook, as_version=4)
    known = papermill.inspect_notebook(book)
    if known.pop("table", None) is None:
        raise ValueError(f"{notebook} has no parameter 'table'; add a line 'table: str = None'")
    points = list(ParameterGrid(content["grid"]))
    varied = list(dict.fromkeys(name for point in points for name in point))
    fixed = {**content["parameters"], **extra}
    for name in [*fixed, *varied]:
        if name not in known:
            raise ValueError(f"unknown parameter {name!r}; the notebook has {', '.join(known)}")
    twice = sorted(fixed.keys() & {*varied})
    if twice:
        raise ValueError(f"{twice[0]!r} is fixed, and in the grid as well")
    if "workers" in known:
        fixed = {"workers": 1, **fixed}  # a run has one core
    runs = {}
    for point in points:
        absent = [name for name in varied if name not in point]
        defaults = {name: ast.literal_eval(known[name]["default"]) for name in absent}
        parameters = {**fixed, **defaults, **point}
        runs[str(folder / "runs" / _file_name(varied, parameters))] = parameters
    return _Plan(notebook, _cells(book), varied, runs)


def _file_name(varied: Sequence[str], parameters: Values) -> str:
    """What varies, as far as it fits into a name, and a digest that tells all runs apart."""
    words = _say(varied, parameters)
    legible = re.sub(r"[^\w.,=+-]+", "", words)[:60]
    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
    return f"{legible}~{digest}"


def _say(names: Sequence[str], parameters: Values) -> str:
    return ", ".join(f"{name}={json.dumps(parameters[name])}" for name in names)


def _cells(book: nbformat.NotebookNode) -> list[str]:
    """The source of all cells, except the one that papermill adds."""
    return [c.source for c in book.cells if "injected-parameters" not in c.metadata.get("tags", [])]


def _is_done(files: str, parameters: Values, source: list[str]) -> bool:
    """Whether this notebook ended well with these parameters, by papermill's own record."""
    try:
        stored = nbformat.read(f"{files}.ipynb", as_version=4)
    except (OSError, ValueError):  # missing, or cut short when the machine stopped
        return False
    record = stored.metadata.papermill
    wanted = {**parameters, "table": record.parameters.table}
    same_values = _as_json(wanted) == _as_json(record.parameters)
    ended_well = bool(record.end_time) and not record.exception
    same_notebook = _cells(stored) == source
    return same_values and ended_well and same_notebook and Path(f"{files}.csv").exists()


def _as_json(values: Values) -> str:
    return json.dumps(values, sort_keys=True)


def _execute(notebook: Path, files: str, parameters: Values, starts: int = 3) -> tuple[str, str]:
    """Run the notebook once; return its files, and the last line of its error if it failed."""
    os.environ.update(KERNEL_ENVIRONMENT)
    part = f"{files}.part.ipynb"
    table = f"{files}.part.csv"
    here = {"metadata": {"path": str(notebook.parent)}}  # `cwd=` would move the whole process
    options = {**KERNEL_OPTIONS, "progress_bar": False, "resources": here}
    error = ""
    try:
        papermill.execute_notebook(notebook, part, {**parameters, "table": table}, **options)
        if not Path(table).exists():
            raise ValueError("no results; the notebook should call save_results(table, ...)")
        pd.read_csv(table)
        os.replace(table, f"{files}.csv")
    except Exception as problem:  # whatever it is, the other runs go on
        if type(problem) is RuntimeError and starts > 1:  # no kernel: a port was taken
            return _execute(notebook, files, parameters, starts - 1)
        error = (str(problem).strip() or repr(problem)).splitlines()[-1]
    if Path(part).exists():
        os.replace(part, f"{files}.ipynb")  # last, since it vouches for the table
    return files, error


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a sweep from the command line."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.prog = "python -m companion.sweep"
    parser.add_argument("grid", metavar="GRID.yml", type=Path, help="what to run")
    parser.add_argument("--output", metavar="FOLDER", help="of the results (default: sweeps/GRID)")
    parser.add_argument("--workers", metavar="N", type=int, help="runs at a time (default: cores)")
    parser.add_argument("--dask", metavar="HOST:PORT", help="send runs to this Dask scheduler")
    parser.add_argument("--force", action="store_true", help="run again what is done")
    given = parser.parse_args(arguments)
    output = Path(given.output or Path("sweeps", given.grid.stem))
    cluster = {}
    if given.dask:
        cluster = {"backend": "dask", "scheduler_host": given.dask}
    try:
        with parallel_config(**cluster):
            sweep(given.grid, output, workers=given.workers, force=given.force)
    except (RuntimeError, ValueError, OSError) as error:
        parser.exit(1 if isinstance(error, RuntimeError) else 2, f"sweep: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "sweep: stopped; the same command goes on from here\n")
    print(f"All runs are done: {output / 'results.csv'}")


if __name__ == "__main__":
    main()

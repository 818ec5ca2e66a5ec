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
        notebook, source, varied, runs = _read(Path(grid).resolve(), parameters or {}, folder)
    except Exception as error:  # of many kinds: from a file, its YAML, its grid, its notebook
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ValueError(f"{Path(grid).name}: {problem}") from None
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    waiting = [run for run in runs.items() if force or not _is_done(*run, source)]
    for file in [run[0] + suffix for run in waiting for suffix in (".ipynb", ".csv", ".part.csv")]:
        Path(file).unlink(missing_ok=True)
    # A kernel is a process already: threads look after the kernels.
    parallel = Parallel(workers or -1, return_as="generator_unordered", prefer="threads")
    outcomes = parallel(delayed(_execute)(notebook, *run) for run in waiting)
    errors = dict(tqdm(outcomes, desc=Path(grid).stem, total=len(waiting), disable=None))
    done = [files for files in runs if not errors.get(files)]
    tables = [pd.read_csv(f"{files}.csv", dtype=str, na_filter=False) for files in done]  # exact
    results = pd.concat(tables, keys=done) if done else pd.DataFrame()
    for place, name in enumerate(varied):
        values = [runs[files][name] for files in results.index.get_level_values(0)]
        column = f"parameter {name}" if name in results else name
        results.insert(place, column, pd.Series(values, results.index, object))
    save_results(f"{folder}/results.csv", results)
    if failed := [files for files in runs if errors.get(files)]:
        said = [f"\n  {_say(varied, runs[files])}: {errors[files]}" for files in failed]
        raise RuntimeError(f"{len(failed)} of {len(runs)} runs failed:{''.join(said)}")
    return pd.read_csv(f"{folder}/results.csv", keep_default_na=False, na_values=[""])


def _read(path: Path, extra: Values, folder: Path) -> tuple[Path, list[str], list[str], Runs]:
    """Check a grid; return its notebook, the source, what varies, and the runs by their files."""
    stored = YAML(typ="safe", pure=True).load(path)
    content = {"parameters": {}, **stored} if isinstance(stored, dict) else {}
    if content.keys() != {"notebook", "parameters", "grid"}:
        raise ValueError("expected the keys 'notebook', 'grid' and perhaps 'parameters'")
    notebook = (path.parent / content["notebook"]).resolve()
    known = papermill.inspect_notebook(book := nbformat.read(notebook, as_version=4))
    if not known.pop("table", None):
        raise ValueError(f"{notebook} has no parameter 'table'; add a line 'table: str = None'")
    points, fixed = list(ParameterGrid(content["grid"])), {**content["parameters"], **extra}
    varied = list(dict.fromkeys(name for point in points for name in point))
    for name in [*fixed, *varied]:
        if name not in known:
            raise ValueError(f"unknown parameter {name!r}; the notebook has {', '.join(known)}")
    if twice := fixed.keys() & {*varied}:
        raise ValueError(f"{min(twice)!r} is fixed, and in the grid as well")
    runs, one_core = {}, {"workers": 1} if "workers" in known else {}
    for point in points:
        others = {n: ast.literal_eval(known[n]["default"]) for n in varied if n not in point}
        parameters = {**one_core, **fixed, **others, **point}
        said = _say(varied, parameters)
        name = re.sub(r"[^\w.,=+-]+", "", said)[:60], hashlib.sha256(said.encode()).hexdigest()[:8]
        runs[str(folder / "runs" / "~".join(name))] = parameters
    return notebook, _cells(book), varied, runs


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
    wanted = json.dumps({**parameters, "table": record.parameters.table}, sort_keys=True)
    same = wanted == json.dumps(record.parameters, sort_keys=True) and _cells(stored) == source
    return bool(same and record.end_time and not record.exception and Path(f"{files}.csv").exists())


def _execute(notebook: Path, files: str, parameters: Values, starts: int = 3) -> tuple[str, str]:
    """Run the notebook once; return its files, and the last line of its error if it failed."""
    os.environ.update(KERNEL_ENVIRONMENT)
    part, table, error = f"{files}.part.ipynb", f"{files}.part.csv", ""
    here = {"metadata": {"path": str(notebook.parent)}}  # `cwd=` would move the whole process
    options = {**KERNEL_OPTIONS, "progress_bar": False, "resources": here}
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
    cluster = {"backend": "dask", "scheduler_host": given.dask} if given.dask else {}
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

"""Run a notebook over a grid of parameters: `python -m committees.sweep GRID.yml`.

Each run is one execution of the notebook by papermill, in a kernel of its own. The notebook is told
by its parameter `table` in which CSV file to leave its results (`committees.book.leave`); the sweep
gathers them. `committees.grid` says what a grid looks like, `committees.sweep_folder` what is left
of a sweep and when a run is done: started again, a sweep does only what is not.

The results of a run (`committees.sweep_run`) travel to this process, which alone writes to the
output folder. So neither a kernel that outlives a killed sweep nor the order in which runs end can
change what is there. A kernel is a process already: the default is threads that look after kernels,
and any other `concurrent.futures.Executor` will do, such as that of a Dask cluster whose workers
see the notebook's folder under the same path.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from loky import cpu_count
from tqdm import tqdm

from committees.checks import whole
from committees.grid import BadGrid, Grid, Run, parse, read
from committees.sweep_folder import Folder, Outcome
from committees.sweep_run import Task, execute


class RunsFailed(RuntimeError):
    """Some runs of a sweep failed; the message is a table of them."""


def sweep(
    grid: str | Path,
    output: str | Path | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    force: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Run what is not done yet, and gather the results.

    Parameters
    ----------
    grid
        The YAML file.
    output
        The folder for the results; `sweeps/NAME` by default, for a grid NAME.yml.
    parameters
        Added to those that the file gives to every run, or in their place.
    workers
        How many notebooks to run at a time; as many as there are cores by default.
    executor
        Runs the notebooks instead of our own threads: any `concurrent.futures.Executor`.
    force
        Whether to run again what is done.
    progress
        Whether to show a bar (in a terminal; never in a notebook).

    Returns
    -------
    The gathered table: the group and the parameters that vary, then the columns of the tables.

    Raises
    ------
    BadGrid
        Nothing was run, and nothing was written.
    RunsFailed
        Some runs failed. The results of the others are gathered in the output folder.
    """
    try:
        whole("workers", 1 if workers is None else workers, 1)
    except ValueError as error:
        raise BadGrid(*error.args) from None
    folder = _folder(read(grid, parameters), output)
    runs = folder.grid.runs
    with folder.locked():
        waiting = [run for run in runs if force or folder.why(run)]
        for run, outcome in _executed(folder.grid, waiting, workers, executor, progress):
            folder.keep(run, outcome)
        results = folder.gather()
        failed = {
            run.name: why.removeprefix("failed: ") for run in runs if (why := folder.why(run))
        }
    if failed:
        wide = max(map(len, failed))
        lines = [f"  {name:{wide}}  {why}" for name, why in failed.items()]
        raise RunsFailed("\n".join([f"{len(failed)} of {len(runs)} runs failed:", *lines]))
    return results


def _folder(grid: Grid, output: str | Path | None) -> Folder:
    path = Path("sweeps", grid.path.stem) if output is None else Path(output)
    return Folder(path.resolve(), grid)


def _executed(
    grid: Grid,
    runs: Sequence[Run],
    workers: int | None,
    executor: Executor | None,
    progress: bool,
) -> Iterator[tuple[Run, Outcome]]:
    """The outcomes of these runs, as they come."""
    alone = {"workers": 1} if "workers" in grid.known else {}  # no pools on top of ours
    with ExitStack() as stack:
        if executor is None:
            executor = ThreadPoolExecutor(workers or cpu_count())
            # Whoever interrupts a sweep does not want to wait for it.
            stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        futures: dict[Future[Outcome], Run] = {}
        stack.callback(lambda: [future.cancel() for future in futures])
        for run in runs:
            task = Task(grid.source, str(grid.notebook.parent), {**alone, **run.parameters})
            futures[executor.submit(execute, task)] = run
        bar = tqdm(total=len(runs), disable=None if progress else True, desc=grid.path.stem)
        stack.enter_context(bar)
        for future in as_completed(futures):
            try:
                outcome = future.result()
            except Exception as lost:  # a broken pool, a cluster that has gone
                outcome = Outcome(error=f"its worker was lost: {lost!r}")
            yield futures.pop(future), outcome
            bar.update()


@contextmanager
def _dask(address: str | None) -> Iterator[Executor | None]:
    """The executor of a Dask cluster; None without an address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise BadGrid("--dask: needs the package 'distributed': pip install distributed") from None
    try:
        client = Client(address, timeout="20s", set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise BadGrid(f"--dask: no scheduler answers at {address!r}: {error}") from None
    with client, client.get_executor() as executor:  # type: ignore[no-untyped-call]
        yield executor


EXAMPLE = """\
example, a file GRID.yml:

    notebook: one_recruitment.ipynb        # relative to this file
    parameters: {strategy: Greedy}         # the same in every run
    grid:                                  # every combination of these
      size: [50, 100]
      tolerance: [0.02, 0.05]

Instead of a grid, or on top of it, several named ones:

    groups:
      quotas:         {parameters: {strategy: Greedy}, grid: {tolerance: [0.02, 0.05]}}
      linear program: {parameters: {strategy: CMDP}}

`papermill --help-notebook NOTEBOOK` lists the parameters of a notebook; it must have one called
`table`, the CSV file to leave its results in, which the sweep sets. The output folder will hold
results.csv, index.html, and the executed notebook of each run. The same command once more runs only
what is missing, has failed or has changed: the parameters or the notebook. (A change in the library
or in data is not noticed: use --force.)
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m committees.sweep",
        description="Run a notebook over a grid of parameters, and gather the results.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("grid", metavar="GRID.yml", help="what to run")
    parser.add_argument("--output", metavar="FOLDER", help="for the results (default: sweeps/GRID)")
    parser.add_argument(
        "-p",
        dest="parameters",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="a parameter of every run, added to the file's or in its place; may be repeated",
    )
    parser.add_argument("--list", action="store_true", help="say what is to be done, and stop")
    parser.add_argument("--force", action="store_true", help="run again what is done")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--workers", metavar="N", type=int, help="at a time (default: all cores)")
    who.add_argument("--dask", metavar="ADDRESS", help="of a Dask scheduler to send the runs to")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: 0 if all is well, 1 if runs failed, 2 if nothing could be run."""
    given = _parser().parse_args(arguments)
    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # errors are in our own report
    try:
        parameters = {name: parse(f"-p {name}", text) for name, text in given.parameters}
        folder = _folder(read(given.grid, parameters), given.output)
        if given.list:
            for run in folder.grid.runs:
                print(f"{run.name}: {folder.why(run) or 'done'}")
            return 0
        with _dask(given.dask) as executor:
            sweep(
                given.grid,
                folder.path,
                parameters=parameters,
                workers=given.workers,
                executor=executor,
                force=given.force,
            )
    except BadGrid as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 2
    except (RunsFailed, OSError) as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("sweep: stopped; the same command goes on from here", file=sys.stderr, flush=True)
        os._exit(130)  # the kernels end with this process; its threads need not be waited for
    print(f"{len(folder.grid.runs)} runs are done. Open {folder.path / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

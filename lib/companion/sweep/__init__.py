"""Run a notebook over a grid of parameters; from the shell: `python -m companion.sweep GRID.yml`.

Each run is one execution of the notebook by papermill, in a kernel of its own. The notebook is told
by its parameter `table` in which CSV file to leave its results (`companion.text.leave`); the sweep
gathers them. `companion.sweep.grid` says what a grid looks like, `companion.sweep.folder` what is
left of a sweep and when a run is done: started again, a sweep does only what is not. `values` and
`page` are what the two are made of.

The results of a run (`companion.sweep.run`) travel to this process, which alone writes to the
output folder. So neither a kernel that outlives a killed sweep nor the order in which runs end can
change what is there. A kernel is a process already: the default is threads that look after kernels,
and any other `concurrent.futures.Executor` will do, such as that of a Dask cluster whose workers
see the notebook's folder under the same path.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import cpu_count
from tqdm import tqdm

from committees.checks import check_integer
from companion.sweep.folder import Folder, Outcome
from companion.sweep.grid import Grid, Run, read
from companion.sweep.run import Task, execute, scratch
from companion.sweep.values import BadGrid

__all__ = ["BadGrid", "RunsFailed", "folder_of", "sweep"]


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
        check_integer("workers", 1 if workers is None else workers, 1)
    except ValueError as error:
        raise BadGrid(*error.args) from None
    folder = folder_of(read(grid, parameters), output)
    runs = folder.grid.runs
    with folder.locked():
        waiting = [run for run in runs if force or folder.why(run)]
        outcomes = _executed(folder.grid, waiting, workers, executor, progress)
        with closing(outcomes):  # at once, also when interrupted
            for run, outcome in outcomes:
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


def folder_of(grid: Grid, output: str | Path | None) -> Folder:
    """Where the results of a grid go."""
    path = Path("sweeps", grid.path.stem) if output is None else Path(output)
    return Folder(path.resolve(), grid)


def _executed(
    grid: Grid,
    runs: Sequence[Run],
    workers: int | None,
    executor: Executor | None,
    progress: bool,
) -> Generator[tuple[Run, Outcome]]:
    """The outcomes of these runs, as they come."""
    alone = {"workers": 1} if "workers" in grid.known else {}  # no pools on top of ours
    with ExitStack() as stack:
        temporary = None
        if executor is None:
            temporary = stack.enter_context(scratch())
            executor = ThreadPoolExecutor(workers or cpu_count())
            # Whoever interrupts a sweep does not want to wait for it.
            stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        futures: dict[Future[Outcome], Run] = {}
        stack.callback(lambda: [future.cancel() for future in futures])
        for run in runs:
            parameters = {**alone, **run.parameters}
            task = Task(grid.source, str(grid.notebook.parent), parameters, temporary)
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

"""A sweep from the shell."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager

from companion.sweep import BadGrid, RunsFailed, folder_of, sweep
from companion.sweep.grid import read
from companion.sweep.values import parse


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
    if ":" not in address:
        raise BadGrid(f"--dask: expected the address HOST:PORT of a scheduler, got {address!r}")
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
`table`, the CSV file to leave its results in, which the sweep sets. Files that other parameters
name are looked for from the notebook's folder. The output folder will hold results.csv, index.html,
and the executed notebook of each run, all of one grid. The same command once more runs only what is
missing, has failed or has changed: the parameters, a file that one of them names, the notebook, or
the library. (Changes in other files are not noticed: use --force.)
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m companion.sweep",
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
        folder = folder_of(read(given.grid, parameters), given.output)
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

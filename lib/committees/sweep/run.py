"""One run of a sweep: a notebook executed once, with its parameters, by papermill.

A run leaves its results in a temporary folder, and hands them over as an `Outcome`: whoever
executes it, here or on a cluster, writes nothing else.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from committees.sweep.folder import Outcome, contents, rows_of
from committees.sweep.grid import TABLE

#: The environment of a kernel: the same hashes everywhere, one thread, no idle warnings.
KERNEL = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}

#: How long a kernel may take to start, in seconds.
PATIENCE = 120


@dataclass(frozen=True)
class Task:
    """What is sent to whoever runs a notebook."""

    source: str
    folder: str
    parameters: dict[str, Any]


def execute(task: Task) -> Outcome:
    """Run a notebook once, leaving nothing behind; what goes wrong is part of the outcome."""
    from jupyter_core.utils import ensure_event_loop

    start = time.monotonic()
    with TemporaryDirectory(prefix=_prefix(), ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        try:
            error, cell = _papermill(task, scratch)
        finally:
            ensure_event_loop().close()  # the one that Jupyter has made for this thread
        notebook, table = contents(scratch / "out.ipynb"), contents(scratch / "table.csv")
    if not error:
        try:
            rows_of(table)
        except ValueError as wrong:
            error = f"the notebook left {wrong}"
    return Outcome(notebook, table, error, cell, round(time.monotonic() - start, 1))


def tidy_up() -> None:
    """Remove what the runs of this process have left, if they were not allowed to end."""
    for left in Path(gettempdir()).glob(f"{_prefix()}*"):
        shutil.rmtree(left, ignore_errors=True)


def _prefix() -> str:
    return f"sweep-{os.getpid()}-"


def _papermill(task: Task, scratch: Path, attempts: int = 2) -> tuple[str, int | None]:
    """Execute a notebook by papermill; return the error, if any, and the number of its cell."""
    import papermill  # type: ignore[import-untyped]
    from nbclient.exceptions import DeadKernelError

    source, log = scratch / "in.ipynb", scratch / "kernel.log"
    source.write_text(task.source, encoding="utf-8")
    try:
        papermill.execute_notebook(
            source,
            scratch / "out.ipynb",
            {**task.parameters, TABLE: str(scratch / "table.csv")},
            progress_bar=False,
            start_timeout=PATIENCE,
            # papermill's own cwd= would change that of the whole process.
            resources={"metadata": {"path": task.folder}},
            kernel_manager_class=_kernel_manager(log),
        )
    except papermill.PapermillExecutionError as failed:
        return f"{failed.ename}: {failed.evalue}", failed.exec_count
    except DeadKernelError:
        return "the kernel died; was it killed, or out of memory?", None
    except RuntimeError as failed:  # the kernel did not start, which may be bad luck
        if attempts > 1:
            return _papermill(task, scratch, attempts - 1)
        said = contents(log).decode(errors="replace").strip()
        return f"the kernel did not start: {failed}\n{said}", None
    except Exception as failed:  # no such kernel, no such folder, and so on
        return f"{type(failed).__name__}: {failed}", None
    return "", None


def _kernel_manager(log: Path) -> type:
    """Starts kernels with our environment, and keeps what they say outside of cells."""
    from jupyter_client.manager import AsyncKernelManager

    class KernelManager(AsyncKernelManager):
        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            with log.open("wb") as stream:
                await self._async_start_kernel(
                    env={**os.environ, **KERNEL}, stdout=stream, stderr=stream, **options
                )

    return KernelManager

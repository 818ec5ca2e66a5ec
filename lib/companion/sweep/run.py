"""One run of a sweep: a notebook executed once, with its parameters, by papermill.

A run leaves its results in a temporary folder, and hands them over as an `Outcome`: whoever
executes it, here or on a cluster, writes nothing else. The runs of this process have their folders
in one (`scratch`), which goes when the sweep ends, however it ends.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from companion.sweep.folder import Outcome, contents, rows_of
from companion.sweep.grid import TABLE

#: The environment of a kernel: the same hashes everywhere, one thread, no idle warnings.
KERNEL = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}

#: The file in which a kernel's own words are kept.
KERNEL_LOG = "kernel.log"

#: How long a kernel may take to start, in seconds.
PATIENCE = 120


@dataclass(frozen=True)
class Task:
    """What is sent to whoever runs a notebook."""

    source: str
    folder: str
    parameters: dict[str, Any]
    scratch: str | None  #: Where to make temporary folders; None: wherever they are made.


@contextmanager
def scratch() -> Iterator[str]:
    """A folder that is gone afterwards, even if threads that nobody waits for still write to it."""
    here = Path(mkdtemp(prefix="sweep-"))
    try:
        yield str(here)
    finally:
        # Under another name they do not find it, but for the one file each may be opening.
        old = here.rename(here.with_name(f"old-{here.name}"))
        for _ in range(2):
            shutil.rmtree(old, ignore_errors=True)


def execute(task: Task) -> Outcome:
    """Run a notebook once, leaving nothing behind; what goes wrong is part of the outcome."""
    from jupyter_core.utils import ensure_event_loop

    start = time.monotonic()
    with TemporaryDirectory(dir=task.scratch, ignore_cleanup_errors=True) as name:
        here = Path(name)
        try:
            error, cell = _papermill(task, here)
        finally:
            ensure_event_loop().close()  # the one that Jupyter has made for this thread
        notebook, table = contents(here / "out.ipynb"), contents(here / "table.csv")
    if not error:
        try:
            rows_of(table)
        except ValueError as wrong:
            error = f"the notebook left {wrong}"
    return Outcome(notebook, table, error, cell, round(time.monotonic() - start, 1))


def _papermill(task: Task, here: Path, attempts: int = 2) -> tuple[str, int | None]:
    """Execute a notebook by papermill; return the error, if any, and the number of its cell."""
    import papermill  # type: ignore[import-untyped]
    from nbclient.exceptions import DeadKernelError

    source = here / "in.ipynb"
    source.write_text(task.source, encoding="utf-8")
    try:
        papermill.execute_notebook(
            source,
            here / "out.ipynb",
            {**task.parameters, TABLE: str(here / "table.csv")},
            progress_bar=False,
            start_timeout=PATIENCE,
            # papermill's own cwd= would change that of the whole process.
            resources={"metadata": {"path": task.folder}},
            kernel_manager_class=_kernel_manager(here),
        )
    except papermill.PapermillExecutionError as failed:
        return f"{failed.ename}: {failed.evalue}", failed.exec_count
    except DeadKernelError:
        return "the kernel died; was it killed, or out of memory?", None
    except RuntimeError as failed:  # the kernel did not start, which may be bad luck
        if attempts > 1:
            return _papermill(task, here, attempts - 1)
        said = contents(here / KERNEL_LOG).decode(errors="replace").strip()
        return f"the kernel did not start: {failed}\n{said}", None
    except Exception as failed:  # no such kernel, no such folder, and so on
        return f"{type(failed).__name__}: {failed}", None
    return "", None


def _kernel_manager(here: Path) -> type:
    """Starts kernels with our environment, and keeps what they say outside of cells."""
    from jupyter_client.manager import AsyncKernelManager

    class KernelManager(AsyncKernelManager):
        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            self.connection_file = str(here / "kernel.json")
            with (here / KERNEL_LOG).open("wb") as stream:
                await self._async_start_kernel(
                    env={**os.environ, **KERNEL}, stdout=stream, stderr=stream, **options
                )

    return KernelManager

"""Run notebooks, several at a time, reproducibly byte for byte.

`make notebooks` runs them in place, `make book` in a copy of the book.
Times, the Python version and other traces of the machine are not kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from joblib import cpu_count
from nbclient import NotebookClient
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

#: Longer than any cell takes on a slow machine.
CELL_SECONDS = 900

#: The notebooks that take longest, the longest first: they are started first.
LONG = ["sweeps", "foresight", "your_assembly", "claims", "d_adult", "limits"]

#: What a copy of the book does without.
IGNORED = shutil.ignore_patterns(".*", "_build", "__pycache__", "*.egg-info")


def chapters() -> list[Path]:
    """All notebooks of the book."""
    found = (ROOT / "chapters").rglob("*.ipynb")
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def longest_first(path: Path) -> int:
    """The place of a notebook in the queue."""
    return LONG.index(path.stem) if path.stem in LONG else len(LONG)


def execute(path: Path) -> str:
    """Run a notebook in its own folder; say whether that changed it."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    client.execute()
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    after = nbformat.writes(notebook) + "\n"
    path.write_text(after, encoding="utf-8")
    return "same as before" if after == before else "changed"


def run_all(paths: list[Path], jobs: int) -> None:
    """Run these notebooks, the long ones first; stop at the first error."""
    paths = sorted(paths, key=longest_first)
    # Notebooks share the cores: none takes all of them for its simulations.
    os.environ["LOKY_MAX_CPU_COUNT"] = str(max(1, cpu_count() // jobs))
    pool = ThreadPoolExecutor(jobs)
    try:
        outcomes = pool.map(execute, paths)
        for path in tqdm(paths, desc="executing", unit="page", disable=None):
            tqdm.write(f"{path.name}: {next(outcomes)}")
    finally:
        pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="the notebooks to run; all of the book by default"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="copy the whole book there first, and run the copies",
    )
    arguments = parser.parse_args()
    chosen = [path.resolve() for path in arguments.notebooks] or chapters()
    if arguments.into:
        copy = arguments.into.resolve()
        shutil.copytree(ROOT, copy, ignore=IGNORED)
        chosen = [copy / path.relative_to(ROOT) for path in chosen]
    run_all(chosen, arguments.jobs)

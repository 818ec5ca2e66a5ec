"""`make notebooks`: run notebooks in place, reproducibly byte for byte.

Times, the Python version and other traces of the machine are not recorded.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def execute(path: Path) -> str:
    """Run a notebook in its own folder; say whether that changed the file."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook, timeout=900, record_timing=False, resources=where
    )
    client.execute()
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    after = nbformat.writes(notebook) + "\n"
    path.write_text(after, encoding="utf-8")
    return "same as before" if after == before else "changed"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "notebooks", nargs="+", type=Path, help="the notebooks to run"
    )
    parser.add_argument(
        "--jobs", type=int, default=2, help="how many at a time"
    )
    arguments = parser.parse_args()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        paths = [path.resolve() for path in arguments.notebooks]
        for path, outcome in zip(
            paths, pool.map(execute, paths), strict=True
        ):
            print(f"{path.name}: {outcome}", flush=True)

"""Print the book as a PDF: all pages as one, by Chromium.

`make pdf` prints the outputs as stored, `make book` those that it has just computed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

#: Long enough for all formulas to be typeset.
BROWSER_MILLISECONDS = 60_000


def one_page(source: Path, build: Path) -> Path:
    """Render the book as one page; later builds in the same folder need not read it again."""
    program = str(Path(sys.executable).parent / "jupyter-book")
    options = ["--builder", "singlehtml", "-W", "-n", "--keep-going", "--path-output", str(build)]
    subprocess.run([program, "build", str(source), *options], check=True)
    return build / "_build" / "singlehtml" / "index.html"


def print_page(page: Path, target: Path, chromium: str) -> None:
    """Print a page."""
    with TemporaryDirectory() as profile:
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu"]
        command += [f"--user-data-dir={profile}", f"--virtual-time-budget={BROWSER_MILLISECONDS}"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline"]
        command += [f"--print-to-pdf={target.resolve()}", page.resolve().as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the folder of the book")
    parser.add_argument("build", type=Path, help="the folder that gets _build")
    parser.add_argument("target", type=Path, help="the PDF")
    parser.add_argument("chromium", help="the browser")
    given = parser.parse_args()
    if not shutil.which(given.chromium):
        sys.exit(
            "A PDF needs Chromium: install it, or name a browser like it, CHROMIUM=google-chrome"
        )
    try:
        print_page(one_page(given.source, given.build), given.target, given.chromium)
    except subprocess.CalledProcessError as error:
        sys.exit(f"No PDF could be printed: {Path(error.cmd[0]).name} failed")
    if not given.target.exists():
        sys.exit(f"{given.chromium} has printed no PDF")

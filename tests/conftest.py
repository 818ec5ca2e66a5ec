"""What tests share: random problems, and the rendered book."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from filelock import FileLock
from hypothesis import settings

import browser

ROOT = Path(__file__).resolve().parents[1]

# Property tests always try the same examples: a red run can be run again.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The book, rendered from the stored outputs, with warnings as errors; once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with FileLock(folder / "book.lock"):
        if not (folder / "book.done").exists():
            render(folder)
            (folder / "book.done").touch()
    return folder / "_build" / "html"


def render(folder):
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", str(ROOT), "-W", "-n", "--keep-going"]
    command += ["--path-output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.fixture(scope="session")
def chromium():
    """The browser's path. Where there is none its tests are skipped, or fail if it is required."""
    if not browser.CHROMIUM:
        absent = pytest.fail if os.environ.get("REQUIRE_BROWSER") else pytest.skip
        absent(browser.NO_CHROMIUM)
    return browser.CHROMIUM


@pytest.fixture(scope="session")
def pages(site):
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    entries = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    wanted = [site / f"{entry}.html" for entry in (toc["root"], *entries)]
    return {path: BeautifulSoup(path.read_text(), "html.parser") for path in wanted}

"""What all tests share: how hard they try, the order of files, the rendered book, the browser."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:  # where only the library is tested, these are not installed
    from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[1]
collect_ignore = ["helpers"]  # imported by tests; holds no doctests

# `make test` tries the same examples each time: a red run can be run again. `make check` tries new
# ones, and prints how to repeat what failed.
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=30)
settings.register_profile(
    "thorough", derandomize=False, deadline=None, max_examples=100, print_blob=True
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
settings.load_profile(PROFILE)

#: The files that take longest, the longest first. Started first, none is waited for at the end.
LONGEST = [
    "test_notebooks.py",
    "sweeps.ipynb",
    "foresight.ipynb",
    "test_book.py",
    "your_assembly.ipynb",
    "claims.ipynb",
    "d_adult.ipynb",
    "limits.ipynb",
]


def pytest_configure(config: pytest.Config) -> None:
    """Start the kernel of a notebook once more if it dies at once.

    Its ports are chosen before it opens them, and another kernel may be quicker.
    """
    if not config.pluginmanager.hasplugin("nbval"):
        return
    from nbval import kernel

    start = kernel.start_new_kernel

    def start_new_kernel(*arguments: Any, **options: Any) -> Any:
        try:
            return start(*arguments, **options)
        except RuntimeError:
            return start(*arguments, **options)

    kernel.start_new_kernel = start_new_kernel


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files: long ones first, then other notebooks, then the rest as it was."""

    def place(item: pytest.Item) -> int:
        name = item.path.name
        if name in LONGEST:
            return LONGEST.index(name)
        return len(LONGEST) + (not name.endswith(".ipynb"))

    items.sort(key=place)


@pytest.fixture
def fresh_seed() -> int:
    """A seed for a statistical test: always the same in `quick`, a new one in `thorough`.

    It is printed, and pytest shows it when the test fails; FRESH_SEED=... uses it again.
    """
    new = secrets.randbits(32) if PROFILE == "thorough" else 2021
    seed = int(os.environ.get("FRESH_SEED", new))
    print(f"FRESH_SEED={seed}")
    return seed


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book, rendered from the stored outputs, with warnings as errors; once for all workers."""
    from filelock import FileLock

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with FileLock(folder / "book.lock"):
        if not (folder / "book.done").exists():
            render(folder)
            (folder / "book.done").touch()
    return folder / "_build" / "html"


def render(folder: Path) -> None:
    """Render the book into a folder."""
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", str(ROOT), "-W", "-n", "--keep-going"]
    command += ["--path-output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, BeautifulSoup]:
    """Every page of the rendered book, parsed."""
    import yaml
    from bs4 import BeautifulSoup

    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    entries = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    wanted = [site / f"{entry}.html" for entry in (toc["root"], *entries)]
    return {path: BeautifulSoup(path.read_text(), "html.parser") for path in wanted}


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path. Where there is none its tests are skipped, or fail if it is required."""
    import browser

    if browser.CHROMIUM is None:
        absent = pytest.fail if os.environ.get("REQUIRE_BROWSER") else pytest.skip
        absent(browser.NO_CHROMIUM)
    return browser.CHROMIUM

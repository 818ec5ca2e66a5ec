"""What tests share: random problems, and the rendered book."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from bs4 import BeautifulSoup
from filelock import FileLock
from hypothesis import settings
from hypothesis import strategies as st

import browser
from committees import CMDP, Problem, datasets, recruit
from committees.recruitment import stream

ROOT = Path(__file__).resolve().parents[1]

# Property tests always try the same examples: a red run can be run again.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def random_problem(
    rng: np.random.Generator, sizes: list[int], *, independent: bool = False
) -> Problem:
    """Targets and a distribution drawn at random; every type can occur."""
    targets = {
        f"feature {i}": dict(zip("abcdefgh", rng.dirichlet(np.full(n, 3.0)), strict=False))
        for i, n in enumerate(sizes)
    }
    if independent:
        marginals = {
            feature: dict(zip(values, rng.dirichlet(np.full(len(values), 3.0)), strict=True))
            for feature, values in targets.items()
        }
        return Problem.from_marginals(targets, marginals)
    p = rng.dirichlet(np.full(int(np.prod(sizes)), 1.0)) + 1e-3
    return Problem(targets, p / p.sum())


@st.composite
def problems(draw: st.DrawFn, max_features: int = 3, max_values: int = 5) -> Problem:
    """Small problems with dependent features."""
    sizes = draw(st.lists(st.integers(1, max_values), min_size=1, max_size=max_features))
    seed = draw(st.integers(0, 2**32 - 1))
    return random_problem(np.random.default_rng(seed), sizes)


def one_queue(size):
    """A recruitment with CMDP: problem, the types of all who came, and who was accepted."""
    problem = datasets.brexit(["age", "gender"])
    found = recruit(CMDP(), problem, size, np.random.default_rng(5), step_by_step=True)
    came = found.screened[-1]
    kinds = stream(problem, came, np.random.default_rng(5))
    return problem, kinds, np.isin(np.arange(1, came + 1), found.screened)


def seated(problem, kinds):
    return problem.incidence @ np.bincount(kinds, minlength=len(problem.p))


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

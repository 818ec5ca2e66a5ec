"""What is promised to whoever contributes or cites."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import yaml

from committees import datasets, recruit, simulate
from committees.beyond import Prices
from committees.testing import check_strategy
from organiser.desk import Desk
from samples import random_problem

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
ENTRIES = {hook["id"]: shlex.split(hook["entry"]) for hook in HOOKS}
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """What the page's example leaves behind when it is run as one program."""
    folder = tmp_path_factory.mktemp("example")
    program = folder / "example.py"
    program.write_text("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)))
    with pytest.MonkeyPatch.context() as patch, mpl.rc_context():
        patch.chdir(folder)
        names = runpy.run_path(str(program), run_name="__main__")
    assert (folder / "prices.png").stat().st_size > 10_000
    return names


def test_contributing_example_appears_in_the_table_and_in_the_plot(example):
    strategies = [str(strategy) for strategy in example["strategies"]]
    assert "Prices 2" in strategies
    assert list(example["frame"]["strategy"].unique()) == strategies
    named = example["figure"].axes[0].texts
    assert [text.get_text() for text in named] == strategies


def test_contributing_example_keeps_to_the_contract(example):
    problem = random_problem(np.random.default_rng(5), [2, 3])
    check_strategy(example["Prices"](1), problem)


@pytest.mark.parametrize("step_by_step", [False, True])
def test_contributing_example_does_not_depend_on_larger_committees(example, step_by_step):
    problem = datasets.brexit(["gender", "age"])
    options = {"runs": 5, "step_by_step": step_by_step}
    alone = simulate(example["Prices"](2), problem, 20, **options)
    among = simulate(example["Prices"](2), problem, [20, 50], **options)
    assert among[among["size"] == 20].reset_index(drop=True).equals(alone)


@pytest.mark.parametrize("lead", [1, 2.5])
def test_contributing_example_does_what_the_page_says(example, lead):
    """The groups of whoever is accepted, added up, are fewer than so many seats ahead."""
    problem = datasets.brexit()
    found = recruit(example["Prices"](lead), problem, 80, np.random.default_rng(3))
    own = np.eye(len(problem.rho))[problem.codes[found.type_ids]].sum(axis=1)
    seats = np.cumsum(own, axis=0) - own  # before each acceptance
    ahead = seats - np.outer(np.arange(80), problem.rho)
    total = (ahead * (own - problem.rho)).sum(axis=1)
    assert lead - 1 < total.max() < lead


@pytest.mark.parametrize("lead", [1, 4])
def test_contributing_example_is_the_strategy_of_the_library(example, lead):
    rules = example["Prices"](lead), Prices(lead)
    one, other = (recruit(rule, datasets.brexit(), 80, np.random.default_rng(4)) for rule in rules)
    assert str(rules[0]) == str(rules[1])
    np.testing.assert_array_equal(one.type_ids, other.type_ids)


def test_contributing_example_decides_at_a_desk(example, tmp_path):
    problem = datasets.brexit(["gender", "age"])
    with Desk(example["Prices"](1), problem, 10, journal=tmp_path / "journal") as desk:
        woman = {"gender": "female", "age": "18-34"}
        assert [bool(desk.offer(woman)) for _ in range(2)] == [True, False]


def test_reproducing_snippet_runs(capsys):
    page = (ROOT / "chapters/reproducing.md").read_text()
    (snippet,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(snippet, {})
    said = capsys.readouterr().out
    assert "over 40" in said
    assert "Greedy 0.05" in said


def dry_run(target):
    """What `make` would do."""
    command = ["make", "--dry-run", "-o", ".venv/.ready", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("page", "some"),
    [
        ("README.md", {"book", "test", "check", "lab"}),
        ("CONTRIBUTING.md", {"lint", "hooks", "test", "check", "lock", "help", "notebooks"}),
        ("chapters/reproducing.md", {"book", "test", "notebooks"}),
    ],
)
def test_make_has_the_targets_that_pages_name(page, some):
    named = set(re.findall(r"(?:^|`|: )make ([a-z]+)", (ROOT / page).read_text(), re.MULTILINE))
    assert some <= named
    for target in named:
        dry_run(target)


def test_make_pdf_says_what_it_needs():
    command = ["make", "-o", ".venv/.ready", "pdf", "CHROMIUM=no-such-browser"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "make pdf needs Chromium: " in done.stdout


def test_hooks_can_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path))
    command = [BIN / "pre-commit", "validate-config", ROOT / ".pre-commit-config.yaml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    for entry in ENTRIES.values():
        program = next(word for word in entry if word != "env" and "=" not in word)
        assert program == f".venv/bin/{Path(program).name}"
        assert (BIN / Path(program).name).exists()


def test_citation_of_the_paper_is_the_same_everywhere():
    paper = CITATION["preferred-citation"]
    bib = (ROOT / "references.bib").read_text()
    entry = bib[bib.index("{do2021online,") : bib.index("\n}", bib.index("{do2021online,"))]
    for key in ("title", "doi"):
        assert f"{{{paper[key]}}}" in entry
    assert f"{{{paper['start']}--{paper['end']}}}" in entry
    assert f"{{{paper['year']}}}" in entry
    for author in paper["authors"]:
        assert author["family-names"] in entry
    assert f"https://doi.org/{paper['doi']}" in (ROOT / "README.md").read_text()

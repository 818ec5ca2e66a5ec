"""What is taken away: the package, and what describes it to archives and checkers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from committees import datasets
from companion import cache

ROOT = Path(__file__).resolve().parents[2]
CHECK = yaml.safe_load((ROOT / "codecheck.yml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


# --- the wheel


def test_data_are_read_where_they_are():
    assert datasets.DATA == ROOT / "data"
    assert cache.CACHE.is_relative_to(ROOT)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder in which the wheel is unpacked, and nothing of the sources is near."""
    folder = tmp_path_factory.mktemp("elsewhere")
    sources = folder / "sources"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("lib", "organiser", "data"):
        shutil.copytree(ROOT / name, sources / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    alone = ["--quiet", "--no-deps", "--no-index"]
    build = [*pip, "wheel", *alone, "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*build, str(sources)], check=True)
    shutil.rmtree(sources)
    (wheel,) = folder.glob("*.whl")
    place = ["--target", str(folder / "packages")]
    subprocess.run([*pip, "install", *alone, *place, str(wheel)], check=True)
    return folder


def run(folder, program):
    """Run a program there with the packages of the wheel, and return what it prints."""
    (folder / "empty").mkdir(exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(folder / "packages")}
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=folder / "empty", env=environment, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.slow
def test_wheel_has_every_module_and_all_data(elsewhere):
    for folder, target in (("lib", ""), ("data", "committees/data")):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not {"__pycache__"} & set(path.parts) and ".egg" not in str(path):
                copy = elsewhere / "packages" / target / path.relative_to(ROOT / folder)
                assert copy.read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_wheel_runs_the_readme_s_example_with_the_same_numbers(elsewhere, capsys):
    example = EXAMPLE.replace("sizes=[50, 100], runs=20", "sizes=[20], runs=2")  # quicker
    assert example != EXAMPLE
    said = run(elsewhere, f"{example}\nprint(datasets.DATA)")
    exec(example, {})
    packages = elsewhere / "packages"
    assert said == capsys.readouterr().out + f"{packages / 'committees' / 'data'}\n"


@pytest.mark.slow
def test_wheel_has_what_the_other_packages_read(elsewhere):
    """Claims and examples; and nothing is written beside the packages."""
    before = sorted(path for path in elsewhere.rglob("*") if "__pycache__" not in path.parts)
    said = run(
        elsewhere,
        "from organiser.files import read_assembly\n"
        "from committees import CMDP, datasets\n"
        "from companion import cache, claims\n"
        "folder = datasets.DATA / 'examples'\n"
        "files = [folder / f'brexit_{name}.csv' for name in ('targets', 'volunteers')]\n"
        "print(len(claims.load()), read_assembly(*files, 60).problem)\n"
        "cache.simulate_once([CMDP()], datasets.brexit(['age']), [5], 2, 1)\n",
    )
    assert said.startswith(
        f"{len(yaml.safe_load((ROOT / 'data/claims.yml').read_text()))} Problem("
    )
    after = sorted(path for path in elsewhere.rglob("*") if "__pycache__" not in path.parts)
    assert {*after} - {*before} <= {elsewhere / "empty"}


# --- make


def what_make_does(*touched):
    """The commands of `make env` if these files were newer than the environment."""
    newer = [argument for name in touched for argument in ("-W", name)]
    old = [a for name in ("pyproject.toml", "setup.py", "requirements.lock") for a in ("-o", name)]
    command = ["make", "--dry-run", *([] if touched else old), *newer, "env"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.skipif(not (ROOT / ".venv" / ".locked").exists(), reason="not made by make")
def test_make_installs_the_project_again_when_its_declaration_changes():
    """The project alone: the rest of the environment depends on the lock."""
    for name in ("pyproject.toml", "setup.py"):
        said = what_make_does(name)
        assert "--no-deps --no-build-isolation --no-index --editable ." in said
        assert "venv --clear" not in said
    assert "venv --clear" in what_make_does("requirements.lock")


# --- what describes it


@pytest.mark.parametrize("entry", CHECK["manifest"], ids=lambda entry: entry["comment"][:30])
def test_codecheck_s_manifest_names_what_exists(entry, pages, site):
    assert (ROOT / entry["file"]).suffix == ".ipynb"
    page = pages[(site / entry["file"]).with_suffix(".html")]
    assert page.find(id=entry["name"]), entry


def test_codecheck_s_manifest_has_every_figure_and_table_of_the_paper():
    told = " ".join(entry["comment"] for entry in CHECK["manifest"])
    for name in ("Figure 1", "Figure 2", "Figure 3", "Figure 4", "Table 1", "Table 2"):
        assert f"{name}," in told, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_name_versions_and_no_secret(path):
    text = path.read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"actions/[\w-]+@v\d+", name)] == []

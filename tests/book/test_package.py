"""What is taken away: the package, and what describes it to archives and checkers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import committees
from committees import beyond, datasets
from companion import cache

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
ZENODO = json.loads((ROOT / ".zenodo.json").read_text())
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


def run(folder, *command):
    """Run a command there with the packages of the wheel, and return what it prints."""
    (folder / "empty").mkdir(exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(folder / "packages")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder / "empty",
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


#: What is in a wheel, and where it comes from. The book's own numbers stay with the book.
PACKAGED = {"committees": "lib/committees", "organiser": "organiser", "committees/data": "data"}


@pytest.mark.slow
def test_wheel_has_every_module_and_all_data(elsewhere):
    packages = elsewhere / "packages"
    for target, folder in PACKAGED.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = packages / target / path.relative_to(ROOT / folder)
                assert copy.read_bytes() == path.read_bytes()
    top = {path.name for path in packages.iterdir() if not path.name.endswith(".dist-info")}
    assert top == {"committees", "organiser", "bin"}


@pytest.mark.slow
def test_wheel_runs_the_readme_s_example_with_the_same_numbers(elsewhere, capsys):
    example = EXAMPLE.replace("sizes=[50, 100], runs=20", "sizes=[20], runs=2")  # quicker
    assert example != EXAMPLE
    printed = run(elsewhere, "-c", f"{example}\nprint(datasets.DATA)")
    exec(example, {})
    packages = elsewhere / "packages"
    assert printed == capsys.readouterr().out + f"{packages / 'committees' / 'data'}\n"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_wheel_runs_the_examples(elsewhere, path):
    copy = shutil.copy(path, elsewhere)
    assert run(elsewhere, str(copy))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROJECT["scripts"])
def test_wheel_s_commands_say_how_to_use_them(elsewhere, name):
    printed = run(elsewhere, str(elsewhere / "packages" / "bin" / name), "--help")
    assert printed.startswith("usage: ")
    assert "--size" in printed


@pytest.mark.slow
def test_wheel_reads_its_own_examples_and_writes_nothing(elsewhere):
    def files():
        return {path for path in elsewhere.rglob("*") if "__pycache__" not in path.parts}

    before = files()
    printed = run(
        elsewhere,
        "-c",
        "from organiser.files import read_assembly\n"
        "from committees import datasets\n"
        "folder = datasets.DATA / 'examples'\n"
        "files = [folder / f'brexit_{name}.csv' for name in ('targets', 'volunteers')]\n"
        "print(read_assembly(*files, 60).problem)\n",
    )
    assert printed.startswith("Problem(")
    assert files() - before <= {elsewhere / "empty"}


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


def test_codecheck_and_zenodo_tell_of_the_same_paper_and_version():
    paper = CITATION["preferred-citation"]
    assert CHECK["paper"]["title"] == paper["title"]
    assert CHECK["paper"]["reference"] == f"https://doi.org/{paper['doi']}"
    names = [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]
    assert [author["name"] for author in CHECK["paper"]["authors"]] == names
    assert ZENODO["title"] == CITATION["title"]
    assert ZENODO["version"] == PROJECT["version"]
    assert ZENODO["license"] == PROJECT["license"]
    assert paper["doi"] in [other["identifier"] for other in ZENODO["related_identifiers"]]


def test_package_says_who_made_it_and_which_version_it_is():
    stored = metadata.metadata("committees")
    assert committees.__version__ == stored["Version"] == PROJECT["version"]
    assert PROJECT["authors"] == [{"name": author["name"]} for author in CITATION["authors"]]
    assert set(PROJECT["keywords"]) <= set(ZENODO["keywords"])
    assert PROJECT["urls"]["Paper"].endswith(CITATION["preferred-citation"]["doi"])
    assert "License ::" not in str(PROJECT["classifiers"])  # `license` says it


@pytest.mark.parametrize("package", [committees, beyond], ids=lambda package: package.__name__)
def test_package_offers_what_it_is_for_and_nothing_else(package):
    """To `import *` and to completion."""
    offered = {}
    exec(f"from {package.__name__} import *", offered)
    assert {*offered} - {"__builtins__"} == {*package.__all__}
    assert {name for name in dir(package) if not name.startswith("__")} == {*package.__all__}


def test_changelog_has_the_version_and_its_date():
    page = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", page, re.MULTILINE)
    assert versions[0] == ("Unreleased", "")
    assert versions[1] == (PROJECT["version"], str(CITATION["date-released"]))
    kinds = set(re.findall(r"^### (.*)$", page, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


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


def test_workflows_run_the_tests_every_week_with_the_lock_the_oldest_and_the_newest():
    weekly = yaml.safe_load((ROOT / ".github/workflows/weekly.yml").read_text())
    assert weekly[True]["schedule"]  # YAML reads the key `on` so
    said = {name: str(job["steps"]) for name, job in weekly["jobs"].items()}
    assert "make test" in said["lock"]
    assert re.search(r"tools/mutants.py .*--at-least 0\.\d+", said["mutants"])
    assert "--resolution lowest-direct --editable ." in said["oldest"]
    for folder in re.findall(r"tests/\w+", said["oldest"]):
        assert (ROOT / folder).is_dir()
    extras = re.search(r"--upgrade --editable \"\.\[(.*?)\]\"", said["newest"])[1].split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])
    for file, name in re.findall(r"(tests/\S+\.py)::(\w+)", said["newest"]):
        assert f"\ndef {name}(" in (ROOT / file).read_text()

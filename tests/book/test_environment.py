"""One environment, however it is installed."""

from __future__ import annotations

import hashlib
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = DECLARED["project"]
EXTRAS = PROJECT["optional-dependencies"]
ASKED = [
    Requirement(text) for texts in (PROJECT["dependencies"], *EXTRAS.values()) for text in texts
]
ASKED = [requirement for requirement in ASKED if requirement.name != PROJECT["name"]]
PINS = re.findall(r"^([\w.-]+)==(\S+)(?: ; (.+?))? \\$", LOCK, re.MULTILINE)


def test_jupyter_book_is_version_1():
    """Version 2 builds nothing from this layout, and says it went well."""
    assert metadata.version("jupyter-book").split(".")[0] == "1"
    assert {name: version for name, version, _ in PINS}["jupyter-book"].startswith("1.")


def test_conda_installs_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *packages, pip = environment["dependencies"]
    assert pip == {"pip": ["-r requirements.lock"]}
    (python,) = (name for name in packages if name.startswith("python="))
    assert Requirement(f"python{PROJECT['requires-python']}").specifier.contains(
        python.removeprefix("python=")
    )
    assert set(packages) == {python, "pip"}  # nothing that the lock does not pin


def test_lock_pins_all_that_the_project_asks_for():
    assert len(ASKED) > 15
    for requirement in ASKED:
        wanted = canonicalize_name(requirement.name)
        versions = [version for name, version, _ in PINS if name == wanted]
        assert versions, f"run make lock: {requirement} is not in the lock"
        assert all(requirement.specifier.contains(version) for version in versions)


def test_lock_is_hashed_and_names_no_place():
    assert LOCK.count("--hash=sha256:") >= len(PINS) > 100
    assert "://" not in LOCK


def test_lock_is_what_is_installed():
    for name, version, marker in PINS:
        if not marker or Marker(marker).evaluate():
            assert metadata.version(name) == version


@pytest.mark.parametrize("name", ["brexit.csv", "adult.csv.gz"])
def test_data_are_what_their_page_says(name):
    digest = hashlib.sha256((ROOT / "data" / name).read_bytes()).hexdigest()
    assert f"| {name} | {digest} |" in (ROOT / "data" / "README.md").read_text()


def test_lock_has_no_copyleft_sampler():
    """Under the GPL; only the script that makes data/offline.csv uses it."""
    assert "sortition-algorithms" not in {name for name, _, _ in PINS}

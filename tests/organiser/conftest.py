"""What tests of an organiser's tools share: files that are read, and the invented assembly."""

from __future__ import annotations

import pytest

from callers import EXAMPLES, SHARES, TARGETS
from organiser.files import read_assembly


@pytest.fixture
def read(tmp_path):
    """Read texts (or bytes) as if they were files."""

    def read(targets=TARGETS, volunteers=SHARES, size=None, year=None):
        for name, text in (("targets.csv", targets), ("volunteers.csv", volunteers)):
            raw = text if isinstance(text, bytes) else text.encode()
            (tmp_path / name).write_bytes(raw)
        files = [tmp_path / "targets.csv", tmp_path / "volunteers.csv"]
        return read_assembly(*files, size, year)

    return read


@pytest.fixture(scope="session")
def millbrook():
    """The invented assembly, with its 60 seats."""
    names = ("millbrook_targets.csv", "millbrook_volunteers.csv")
    return read_assembly(*(EXAMPLES / name for name in names), 60)

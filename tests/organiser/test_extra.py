"""What needs an extra says so where it is missing."""

from __future__ import annotations

import sys

import pytest

from organiser.extra import MissingExtra, need_desk


def test_need_desk_says_how_to_install_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "tornado", None)  # as if it were not installed
    with pytest.raises(MissingExtra, match=r"^The page needs the extra desk: pip install"):
        need_desk("The page")


def test_need_desk_is_content_where_all_is_installed():
    need_desk("The page")

"""What a chapter tells its text, and what it saves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from companion.text import glue_numbers, save_results, since, some, until


def test_glue_numbers_gives_plain_numbers(monkeypatch):
    """The text formats Python's numbers, not numpy's; last digits depend on the processor."""
    told = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: told.update({name: value}))
    glue_numbers(share=np.float64(0.25), seats=np.int64(3), word="few", third=1 / 3)
    assert told == {"share": 0.25, "seats": 3, "word": "few", "third": 0.333333333333}
    assert [type(value) for value in told.values()] == [float, int, str, float]


def test_save_results_writes_all_or_nothing(tmp_path):
    table = tmp_path / "table.csv"
    save_results(None, pd.DataFrame({"a": [1]}))
    save_results(str(table), pd.DataFrame({"a": [1], "b": ["ü"]}))
    assert table.read_bytes() == "a,b\n1,ü\n".encode()

    class Broken(pd.DataFrame):
        def to_csv(self, path, **options):
            Path(path).write_text("a,")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        save_results(str(table), Broken({"a": [2]}))
    assert table.read_bytes() == "a,b\n1,ü\n".encode()
    assert list(tmp_path.iterdir()) == [table]


def test_some_has_one_and_many():
    assert [some(n, "seat", "seats") for n in (0, 1, 2500)] == ["0 seats", "1 seat", "2,500 seats"]


@pytest.mark.parametrize(
    ("flags", "start", "end"),
    [
        ((True, True, True), "from 1 seat on", "up to 2,000 seats"),
        ((False, True, True), "from 10 seats on", "at no size here"),
        ((True, False, True), "from 2,000 seats on", "up to 1 seat"),
        ((True, True, False), "at no size here", "up to 10 seats"),
        ((False, False, False), "at no size here", "at no size here"),
    ],
)
def test_since_and_until_tell_sizes(flags, start, end):
    holds = pd.Series(flags, [1, 10, 2000])
    assert (since(holds), until(holds)) == (start, end)

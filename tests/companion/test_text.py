"""What a chapter tells its text, and what it saves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from companion.text import glue_numbers, of, save_results, since, some, table, until


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


@pytest.mark.parametrize(
    ("number", "total", "words"),
    [
        (0, 600, "none of the 600"),
        (600, 600, "all 600"),
        (1, 600, "one of the 600"),
        (12, 2500, "12 of the 2,500"),
        (2, 2, "both"),
        (1, 1, "one of the one"),
    ],
)
def test_of_says_how_many(number, total, words):
    assert of(number, total) == words


def test_table_formats_numbers_and_keeps_words(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    columns = pd.MultiIndex.from_product([["screened", "loss"], ["mean", "±"]])
    index = pd.Index(["CMDP", "a <b>"], name="strategy")
    table(pd.DataFrame([[1234.5, 2, 0.12345, 0.001], [9, 1, None, 0.2]], index, columns))
    html, plain = shown[0]["text/html"], shown[0]["text/plain"]
    assert '<th>strategy</th><th class="number">screened</th><th class="number">±</th>' in html
    assert '<td>CMDP</td><td class="number">1,234</td>' in html
    assert '<td class="number">0.1235</td>' in html
    assert "<td>a &lt;b&gt;</td>" in html
    assert "–" in plain
    table(pd.DataFrame({"holds": [True], "times": [0.98765], "people": [1e6]}), times=".1f")
    assert "<td>yes</td>" in shown[1]["text/html"]
    assert ">1.0<" in shown[1]["text/html"]
    assert ">1,000,000<" in shown[1]["text/html"]

"""Ages and years of birth, where values are ranges of numbers."""

from __future__ import annotations

import math

import pytest

from organiser import ages


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        ("16-29", (16, 29)),
        ("16–29", (16, 29)),
        ("16 to 29", (16, 29)),
        ("aged 16-29", (16, 29)),
        ("75+", (75, math.inf)),
        ("75 and over", (75, math.inf)),
        ("75 or older", (75, math.inf)),
        ("under 18", (0, 17)),
        ("<18", (0, 17)),
        ("over 60", (61, math.inf)),
        ("60", None),
        ("North", None),
    ],
)
def test_span_reads_ranges(value, limits):
    assert ages.span(value) == limits


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("16", "16-29"),
        ("29", "16-29"),
        ("30", "30-59"),
        ("60", "60+"),
        ("104", "60+"),
        ("1997", "16-29"),
        ("1996", "30-59"),
        ("1925", "60+"),
        ("15", None),
        ("2020", None),
        ("199", None),
        ("1899", None),
        ("2062", None),
        ("old", None),
        ("", None),
    ],
)
def test_find_knows_ages_and_years_of_birth(word, value):
    assert ages.find(word, ["16-29", "30-59", "60+"], 2026) == value


def test_find_guesses_nothing_where_values_are_words_or_overlap():
    assert ages.find("16", ["16-29", "old"], 2026) is None
    assert ages.find("29", ["16-29", "29-59"], 2026) is None

"""Ages and years of birth, where the values of a feature are ranges of numbers: 16-29, 75+."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

#: Larger numbers of years than this are no ages.
OLDEST = 130
#: From this number on, numbers may be years of birth.
FIRST_YEAR = 1900

_FROM_TO = re.compile(r"(\d+) ?(?:-|to) ?(\d+)")
_FROM = re.compile(r"(\d+) ?(?:\+|plus|(?:and|or) (?:over|above|older|more))")
_UNDER = re.compile(r"(?:under|below|less than|<) ?(\d+)")
_OVER = re.compile(r"(?:over|above|more than|>) ?(\d+)")


def span(value: str) -> tuple[float, float] | None:
    """The least and the largest number of a range in words; None if it is none.

    >>> span("16-29"), span("75+"), span("under 30"), span("North")
    ((16, 29), (75, inf), (0, 29), None)
    """
    word = value.casefold().removeprefix("aged ").removesuffix(" years").replace("–", "-")
    if found := _FROM_TO.fullmatch(word):
        return int(found[1]), int(found[2])
    if found := _FROM.fullmatch(word):
        return int(found[1]), math.inf
    if found := _UNDER.fullmatch(word):
        return 0, int(found[1]) - 1
    if found := _OVER.fullmatch(word):
        return int(found[1]) + 1, math.inf
    return None


def find(word: str, values: Sequence[str], year: int) -> str | None:
    """The value that an age, or a year of birth, belongs to; None if there is none.

    Somebody counts as being as old as they get in this year.

    >>> find("67", ["16-59", "60+"], 2026), find("1959", ["16-59", "60+"], 2026)
    ('60+', '60+')
    >>> find("1959", ["under 1000", "1000-2999", "3000+"], 2026)  # an income, say
    '1000-2999'
    """
    spans = {value: limits for value in values if (limits := span(value))}
    if not word.isdigit() or len(spans) < len(values):
        return None
    number = int(word)
    are_ages = max(low for low, _ in spans.values()) < OLDEST
    if are_ages and FIRST_YEAR <= number <= year:
        number = year - number
    if are_ages and number > OLDEST:
        return None
    fits = [value for value, (low, high) in spans.items() if low <= number <= high]
    return fits[0] if len(fits) == 1 else None

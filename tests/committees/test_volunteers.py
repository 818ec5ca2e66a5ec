"""Everybody meets the same people."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from committees import (
    RLCMDP,
    PlugIn,
    datasets,
    recruit,
)
from committees.volunteers import PEOPLE_PER_DRAW, Volunteers, stream

THREE = datasets.brexit(features=["ethnicity", "social class", "gender"])


def people(problem, seed, number):
    """The first so many people of a stream, with their coins."""
    stream = Volunteers(problem, np.random.default_rng(seed))
    type_ids, coins = [], []
    while len(type_ids) < number:
        type_id, coin = stream.next(1)
        type_ids.append(int(type_id[0]))
        coins.append(float(coin[0]))
        stream.skip(1)
    return type_ids, coins


def test_volunteers_are_the_same_for_every_learner():
    """Strategies that see everybody see the same stream, so that they can be compared on it."""
    first = recruit(RLCMDP(), THREE, 40, np.random.default_rng(9))
    second = recruit(PlugIn(), THREE, 40, np.random.default_rng(9))
    type_ids, _ = people(THREE, 9, int(second.screened[-1]))
    for found in (first, second):
        assert [type_ids[t - 1] for t in found.screened] == list(found.type_ids)


def test_volunteers_come_one_by_one_as_they_are_drawn():
    """Also where the next thousand are drawn."""
    one_by_one = [*islice(Volunteers(THREE, 9), PEOPLE_PER_DRAW + 3)]
    assert one_by_one == [*zip(*people(THREE, 9, PEOPLE_PER_DRAW + 3), strict=True)]
    assert stream(THREE, 5, 9).tolist() == [type_id for type_id, _ in one_by_one[:5]]
    assert len(stream(THREE, 1, 9)) == 1
    with pytest.raises(ValueError, match="people: expected a whole number of at least 1, got 0"):
        stream(THREE, 0, 9)

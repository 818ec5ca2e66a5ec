"""The strategies that an organiser can choose."""

from __future__ import annotations

import pytest

from callers import RANGES
from committees.beyond import Prices, registry
from organiser.strategies import STRATEGIES, USUAL_TOLERANCE, choose


def test_strategies_are_made_by_name(read):
    assert {name: choose(name, read(), 0.05).name for name in STRATEGIES} == {
        "foresight": "Foresight 0.05",
        "foresight-learning": "Foresight learning 0.05",
        "prices": "Prices 4",
        "greedy": "Greedy 0.05",
        "cmdp": "CMDP",
        "cmdp-fair": "CMDP fair",
        "rl-cmdp": "RL-CMDP ×0.075",
    }
    assert choose("foresight", read()).tolerance == USUAL_TOLERANCE == 0.02


def test_strategies_are_those_of_the_registry_and_ones_own(read):
    assert set(STRATEGIES) <= set(registry.STRATEGIES)
    assert choose("committees.beyond:Prices", read()) == Prices()
    with pytest.raises(ValueError, match="strategy: there is no 'lazy'; expected greedy, cmdp"):
        choose("lazy", read())


def test_strategies_keep_to_the_file_s_own_ranges(read):
    ranges = read(RANGES, size=20)
    for name in ("foresight", "foresight-learning"):
        low, high = choose(name, ranges).band(ranges.problem, 20)
        assert (tuple(low.tolist()), tuple(high.tolist())) == ranges.seats
    with pytest.raises(ValueError, match="tolerance: the file has min and max"):
        choose("foresight", ranges, 0.02)

"""The strategies that can be chosen by name, and the usual tolerance."""

from __future__ import annotations

import dataclasses

from assembly.strategies import STRATEGIES, USUAL_TOLERANCE, choose_tolerance


def test_strategies_have_the_names_that_are_told():
    assert {name: make(0.05).name for name, make in STRATEGIES.items()} == {
        "greedy": "Greedy 0.05",
        "cmdp": "CMDP",
        "cmdp-fair": "CMDP fair",
        "rl-cmdp": "RL-CMDP ×0.075",
        "prices": "Prices 4",
        "foresight": "Foresight 0.05",
        "foresight-learning": "Foresight learning 0.05",
    }


def test_choose_tolerance_keeps_to_the_ranges_unless_told_otherwise(read):
    shares = read()
    assert choose_tolerance(shares, None) == USUAL_TOLERANCE == 0.02
    assert choose_tolerance(shares, 0.5) == 0.5
    assert choose_tolerance(shares, 0) == 0
    for widest, chosen in ((0.3, 0.02), (0.01, 0.01), (0.0, 0.0)):
        ranges = dataclasses.replace(shares, max_tolerance=widest)
        assert choose_tolerance(ranges, None) == chosen
        assert choose_tolerance(ranges, 0.1) == 0.1

"""A chapter's parameters: nonsense ends in one sentence."""

from __future__ import annotations

import re

import pytest

from companion.parameters import BadParameter, check


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"features": "gender"}, "features: expected a list of names, got 'gender'"),
        ({"features": []}, "features: expected some different features, got []"),
        ({"features": ["age", "age"]}, "features: expected some different features, got ['age',"),
        ({"few_features": ["Age"]}, "few_features: unknown 'Age', expected ethnicity"),
        ({"more_features": 5}, "more_features: expected a list of names, got 5"),
        ({"size": True}, "size: expected a whole number of at least 1, got True"),
        ({"size": 2.0}, "size: expected a whole number of at least 1, got 2.0"),
        ({"size": None}, "size: expected a whole number of at least 1, got None"),
        ({"sizes": [10**7]}, "sizes: expected a whole number of at most 1,000,000"),
        ({"sizes": 50}, "sizes: expected a list of at least 1, got 50"),
        ({"sizes_1": []}, "sizes_1: expected a list of at least 1, got []"),
        ({"tolerances": [0.02, 1.1]}, "tolerances: expected a number from 0 to 1, got 1.1"),
        ({"tolerances": ["0.02"]}, "tolerances: expected a number from 0 to 1, got '0.02'"),
        ({"tolerance": float("nan")}, "tolerance: expected a number from 0 to 1, got nan"),
        ({"scale": -0.1}, "scale: expected a number of at least 0, got -0.1"),
        ({"scales": [1, "2"]}, "scales: expected a number of at least 0, got '2'"),
        ({"delta": 0}, "delta: expected a number between 0 and 1, got 0"),
        ({"runs": 1}, "runs: expected a whole number of at least 2, got 1"),
        ({"runs": 10**7}, "runs: expected a whole number of at most 1,000,000"),
        ({"structure_runs": 0}, "structure_runs: expected a whole number of at least 1"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ({"workers": 0}, "workers: expected a whole number of at least 1, got 0"),
        ({"table": ""}, "table: there is no file '', or no folder for it"),
        ({"table": "nowhere/x.csv"}, "table: there is no file 'nowhere/x.csv', or no folder"),
        ({"door": "."}, "door: there is no file '.', or no folder for it"),
        ({"table": 5}, "table: cannot be 5"),
        ({"n_features": 13}, "n_features: expected a whole number of at most 12, got 13"),
        ({"support": 1}, "support: expected a whole number of at least 2, got 1"),
        ({"n_features": 1, "support": 3}, "support: expected at most 2, the number of types"),
        ({"strategy": "Lazy"}, "strategy: there is no 'Lazy'; expected greedy, cmdp, cmdp-fair"),
        ({"strategy": None}, "strategy: there is no None; expected greedy, cmdp, cmdp-fair"),
        ({"strategy": "nowhere:Lazy"}, "strategy: cannot import 'nowhere': No module named"),
        ({"strategy": "json:loads"}, "strategy: json:loads is no Strategy; json has none"),
        ({"strategy": "cmdp", "options": {"lead": 2}}, "options: cmdp has no 'lead', it has no"),
        ({"strategy": "cmdp", "options": 5}, "options: cannot be 5"),
        ({"strategy": "cmdp", "options": ["tolerance"]}, "options: cannot be ['tolerance']"),
        ({"strategy": "cmdp", "options": "ab"}, "options: cannot be 'ab'"),
        (
            {"strategy": "Greedy", "options": {"tolerance": 2}},
            "strategy Greedy: tolerance: expected a number from 0 to 1, got 2",
        ),
        ({"belief": {"18-34": 0}}, "belief: expected a number above 0, got 0"),
        ({"belief": None}, "belief: cannot be None"),
        ({"belief": {"young": 2}}, "belief: expected 'white' or 'non-white' or"),
        (
            {"features": ["gender"], "belief": {"18-34": 2}},
            "belief: expected 'female' or 'male', got '18-34'",
        ),
        ({"network_1": "weak"}, "network_1: expected pairs (from, to) of 'ethnicity'"),
        ({"network_1": [["age"]]}, "network_1: expected pairs (from, to)"),
        ({"network_1": [["age", "vote"]]}, "network_1: expected pairs (from, to)"),
        ({"network_1": [["age", "gender", "age"]]}, "network_1: expected pairs (from, to)"),
        ({"network_1": 5}, "network_1: cannot be 5"),
        ({"network_1": [5]}, "network_1: expected pairs (from, to) of 'ethnicity'"),
        ({"network_2": [["age", "age"]]}, "network_2: has a cycle"),
        ({"targets": "nowhere.csv"}, "targets: there is no file 'nowhere.csv'"),
        ({"targets": None, "volunteers": __file__}, "targets, volunteers: give both files, or"),
        ({"size": 5, "sise": 5}, "sise: unknown parameter, expected one of features"),
    ],
)
def test_check_refuses(parameters, sentence):
    with pytest.raises(BadParameter, match=f"^{re.escape(sentence)}") as caught:
        check(**parameters)
    (line,) = caught.value._render_traceback_()
    assert line == f"BadParameter: {caught.value}"
    assert "\n" not in line


def test_check_lets_the_smallest_and_largest_pass(tmp_path):
    check(features=None, size=1, sizes=[1, 10**6], tolerance=0, tolerances=[0, 1], scale=0)
    check(scales=[100], delta=0.999, runs=2, seed=0, workers=None, table=None)
    check(seed=2**32 - 1, workers=1, table=str(tmp_path / "new.csv"), structure_runs=1)
    check(n_features=2, support=4, problems=1, network_1=[], network_2=[["age", "gender"]])
    check(targets=__file__, volunteers=__file__, door="door.csv", strategy="Foresight")
    check(strategy="CMDP", options={}, belief={})
    check(strategy="committees.beyond:Prices", options={"lead": 2}, belief={"18-34": 0.5})

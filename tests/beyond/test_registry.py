"""Strategies by name, by module and class, and strategies that are told a wrong p."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor

from committees import (
    CMDP,
    Greedy,
    PlugIn,
    Problem,
    Strategy,
    datasets,
    recruit,
    simulate,
    simulation,
)
from committees.beyond import Believing, Foresight, Prices, make_strategy
from committees.beyond.registry import STRATEGIES
from companion.cache import simulate_once

BREXIT = datasets.brexit()

MY_RULES = """\
from dataclasses import dataclass

import numpy as np

from committees import Session, Strategy

@dataclass(frozen=True)
class Lottery(Strategy):
    chance: float
    family = "Lottery"
    sized = False

    def __post_init__(self):
        if not 0 < self.chance <= 1:
            raise ValueError("chance: expected a number from 0 to 1")

    def start(self, problem, size):
        return LotterySession(np.full(len(problem.p), self.chance))

class LotterySession(Session):
    def __init__(self, acceptance):
        self.acceptance = acceptance

    def see(self, type_ids, accepted):
        return len(type_ids)

class Unfinished(Strategy):
    family = "Unfinished"

number = 5
"""


@pytest.fixture
def my_rules(tmp_path, monkeypatch):
    (tmp_path / "my_rules.py").write_text(MY_RULES)
    (tmp_path / "broken_rules.py").write_text("import nothing_of_the_kind")
    monkeypatch.syspath_prepend(tmp_path)


def test_names_are_the_families_in_small_letters():
    families = {name: make().family for name, make in STRATEGIES.items()}
    assert {family.lower().replace(" ", "-"): family for family in families.values()} == families
    for name, family in families.items():
        assert make_strategy(family) == make_strategy(name) == STRATEGIES[name]()


def test_make_strategy_gives_options():
    assert make_strategy("greedy", {"tolerance": 0.05}) == Greedy(0.05)
    assert make_strategy("Prices", {"lead": 2}) == Prices(2)
    assert make_strategy("foresight-learning", {"tolerance": 0}) == Foresight(0, learn=True)
    assert make_strategy("rl-cmdp-b", {"scale": 0.1}).name == "RL-CMDP-B ×0.1"
    assert make_strategy("committees.beyond:Prices") == Prices()


def test_make_strategy_finds_ones_own(my_rules, monkeypatch):
    mine = make_strategy("my_rules:Lottery", {"chance": 0.25})
    assert isinstance(mine, Strategy)
    assert mine.name == "Lottery"
    alone = simulate(mine, BREXIT, [10, 30], 12, workers=1)
    assert alone["screened"].sum() / alone["size"].sum() == pytest.approx(4, rel=0.2)
    monkeypatch.setattr(simulation, "POOL_START_SECONDS", 0.0)  # start processes at once,
    get_reusable_executor().shutdown(wait=True)  # and new ones, which know the module's folder
    pd.testing.assert_frame_equal(simulate(mine, BREXIT, [10, 30], 12, workers=2), alone)


NAMES = (
    "greedy, cmdp, cmdp-fair, rl-cmdp, rl-cmdp-b, plug-in, prices, foresight, "
    "foresight-learning, or module:Class"
)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("Lazy", {}, f"strategy: there is no 'Lazy'; expected {NAMES}"),
        (5, {}, f"strategy: there is no 5; expected {NAMES}"),
        ("nowhere:Lottery", {}, "strategy: cannot import 'nowhere': No module named 'nowhere'"),
        (
            "broken_rules:Lottery",
            {},
            "strategy: cannot import 'broken_rules': No module named 'nothing_of_the_kind'",
        ),
        (":Lottery", {}, "strategy: cannot import '': Empty module name"),
        (
            "my_rules:Lotery",
            {},
            "strategy: my_rules:Lotery does not exist; my_rules has Strategy, Lottery, Unfinished",
        ),
        (
            "my_rules:number",
            {},
            "strategy: my_rules:number is no Strategy; my_rules has Strategy, Lottery, Unfinished",
        ),
        ("json:JSONEncoder", {}, "strategy: json:JSONEncoder is no Strategy; json has none"),
        ("greedy", {"lead": 2}, "options: greedy has no 'lead', it has tolerance"),
        ("CMDP", {"lead": 2}, "options: CMDP has no 'lead', it has no options"),
        ("Greedy", {"tolerance": 2}, "strategy Greedy: tolerance: expected a number from 0 to 1"),
        ("my_rules:Lottery", {"luck": 1}, "options: my_rules:Lottery has no 'luck', it has chance"),
        ("my_rules:Lottery", {"chance": 2}, "strategy my_rules:Lottery: chance: expected a number"),
        ("my_rules:Lottery", {}, "strategy my_rules:Lottery: Lottery.__init__() missing 1"),
        (
            "my_rules:Unfinished",
            {},
            "strategy my_rules:Unfinished: Can't instantiate abstract class Unfinished",
        ),
    ],
)
def test_make_strategy_refuses_in_a_sentence(my_rules, name, options, sentence):
    with pytest.raises(ValueError, match=r"^(strategy|options)") as caught:
        make_strategy(name, options)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


# Told a wrong p


def believed(factor, value="18-34"):
    """The Brexit assembly, whose people with this value are so much more common."""
    factors = np.array([factor if name == value else 1.0 for _, name in BREXIT.labels])
    weights = BREXIT.p * BREXIT.product_over_values(factors)
    return Problem(BREXIT.targets, weights / weights.sum())


def test_believing_the_truth_changes_nothing():
    for rule in (CMDP(), Greedy(0.05), Prices(2)):
        told = Believing(rule, BREXIT)
        for step_by_step in (False, True):
            one, other = (
                recruit(strategy, BREXIT, 30, 3, step_by_step=step_by_step)
                for strategy in (rule, told)
            )
            if step_by_step or rule.sized:
                np.testing.assert_array_equal(one.type_ids, other.type_ids)
                np.testing.assert_array_equal(one.screened, other.screened)


@pytest.mark.parametrize("rule", [Greedy(0.05), Prices(2), PlugIn()], ids=str)
def test_believing_does_not_matter_to_who_is_told_nothing(rule):
    one, other = (recruit(Believing(rule, believed(factor)), BREXIT, 30, 3) for factor in (0.1, 10))
    np.testing.assert_array_equal(one.type_ids, other.type_ids)


def test_believing_misleads_cmdp_as_the_chapter_says():
    """Exactly: the shares that its policy gives to under-35s, among the people who come."""
    young = BREXIT.types["age"] == "18-34"
    shares = []
    for factor in (0.5, 1, 2):
        session = Believing(CMDP(), believed(factor)).start(BREXIT, 10)
        accepted = BREXIT.p * session.acceptance
        shares.append(accepted[young].sum() / accepted.sum())
    assert shares[1] == pytest.approx(BREXIT.targets["age", "18-34"])
    assert shares[0] > 1.2 * shares[1]
    assert shares[2] < 0.8 * shares[1]


def test_believing_is_named_and_compared_by_the_belief():
    one, other = (Believing(CMDP(), believed(factor)) for factor in (0.5, 2))
    assert one.name == "CMDP misled"
    assert one.family == "CMDP"
    assert Believing(CMDP(), BREXIT, "twice").name == "CMDP twice"
    assert one == Believing(CMDP(), believed(0.5)) != other
    assert repr(one) == repr(Believing(CMDP(), believed(0.5))) != repr(other)
    assert Believing(Foresight(learn=True), BREXIT).learns
    assert not one.learns


def test_believing_is_kept_apart_where_results_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("companion.cache.CACHE", tmp_path)
    one, other = (
        simulate_once([Believing(CMDP(), believed(factor))], BREXIT, [20], 5, 1, workers=1)
        for factor in (0.5, 2)
    )
    assert (one["screened"] != other["screened"]).any()


def test_believing_wants_the_same_types():
    told = Believing(CMDP(), datasets.brexit(["gender"]))
    with pytest.raises(ValueError, match=r"CMDP misled: believes in Problem\(gender 2\), and"):
        told.start(BREXIT, 10)

"""What every strategy promises: a name that begins with its family; seats can be given back."""

from __future__ import annotations

import numpy as np
import pytest

from committees import CMDP, RLCMDP, Greedy, PlugIn, Session, datasets
from committees.beyond import FairCMDP, Foresight, Prices
from committees.strategy import check_is_strategy

PROBLEM = datasets.brexit(["gender", "ethnicity"])
STRATEGIES = [
    Greedy(0.1),
    CMDP(),
    FairCMDP(),
    RLCMDP(delta=0.1),
    RLCMDP(confidence="bernstein", scale=0.5),
    PlugIn(),
    Prices(3),
    Foresight(0.1),
    Foresight(0.1, learn=True),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_name_is_what_str_says_and_begins_with_the_family(strategy):
    assert str(strategy) == strategy.name
    assert f"{strategy.name} ".startswith(f"{strategy.family} ")
    assert eval(repr(strategy)) == strategy


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_session_assigns_a_new_array_when_acceptance_changes(strategy):
    session = strategy.start(PROBLEM, 6)
    before = session.acceptance
    copy = before.copy()
    for type_id in np.flatnonzero(before)[:1].tolist() * 3:
        session.see(np.array([type_id]), np.array([True]))
    np.testing.assert_array_equal(before, copy)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_leave_undoes_an_acceptance(strategy):
    """For strategies that look at who is seated; others do not change, or keep what they learnt."""
    session = strategy.start(PROBLEM, 6)
    before = session.acceptance
    type_id = int(np.argmax(before))
    session.see(np.array([type_id]), np.array([True]))
    after = session.acceptance
    session.leave(type_id)
    expected = after if strategy.learns and not isinstance(strategy, Foresight) else before
    np.testing.assert_array_equal(session.acceptance, expected)
    assert PROBLEM.p @ session.acceptance > 0


@pytest.mark.parametrize(
    "strategy", [s for s in STRATEGIES if s.family[:9] != "Foresight"], ids=str
)
@pytest.mark.parametrize(
    ("type_ids", "accepted", "message"),
    [
        ([0], [True], "type_ids, accepted: expected two arrays of the same length, at least 1; "),
        (np.array([0, 1]), np.array([True]), "expected two arrays of the same length"),
        (np.array([], dtype=int), np.array([], dtype=bool), "the same length, at least 1"),
    ],
)
def test_see_refuses_what_is_no_people(strategy, type_ids, accepted, message):
    session = strategy.start(PROBLEM, 6)
    before = session.acceptance.copy()
    with pytest.raises(ValueError, match=message):
        session.see(type_ids, accepted)
    np.testing.assert_array_equal(session.acceptance, before)


@pytest.mark.parametrize("type_id", [-1, 4, 999, "woman", 1.0])
def test_see_one_refuses_what_is_no_type(type_id):
    session = Greedy(0.1).start(PROBLEM, 6)
    with pytest.raises(ValueError, match="type_id: expected a whole number of at "):
        session.see_one(type_id, accepted=True)


def test_see_one_takes_every_type():
    for type_id in range(4):
        session = Greedy(0).start(PROBLEM, 1)
        session.see_one(type_id, accepted=True)
        assert session.acceptance[type_id] == 0  # the only seat of its values is filled


def test_leave_is_refused_by_default():
    class Everybody(Session):
        acceptance = np.ones(4)

        def see(self, type_ids, accepted):
            return len(type_ids)

    with pytest.raises(NotImplementedError, match="Everybody cannot take a seat back"):
        Everybody().leave(0)


def test_check_is_strategy_wants_an_instance():
    with pytest.raises(
        ValueError,
        match=r"strategy: expected one such as CMDP\(\), got the class: write CMDP\(\.\.\.\)",
    ):
        check_is_strategy(CMDP)
    with pytest.raises(ValueError, match=r"strategy: expected one such as CMDP\(\), got 'CMDP'"):
        check_is_strategy("CMDP")

"""What rests on what: refused where it makes no sense, and put in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.steps import check, complaints, groups, in_order


@st.composite
def needs_without_circles(draw):
    """Claims that rest on earlier ones only, then shuffled."""
    names = [f"claim {number}" for number in range(draw(st.integers(1, 12)))]
    rests = {}
    for number, name in enumerate(names):
        earlier = st.lists(st.sampled_from(names[:number] or [name]), unique=True, max_size=3)
        rests[name] = draw(earlier) if number else []
    order = draw(st.permutations(names))
    return {name: rests[name] for name in order}


@given(needs_without_circles())
def test_in_order_has_every_claim_once_below_what_it_rests_on(needs):
    check(needs)
    order = in_order(needs)
    assert sorted(order) == sorted(needs)
    for name, steps in needs.items():
        assert all(order.index(step) < order.index(name) for step in steps)


@given(needs_without_circles())
def test_groups_are_the_claims_that_are_connected(needs):
    found = groups(needs)
    assert sorted(name for group in found for name in group) == sorted(needs)
    group_of = {name: number for number, group in enumerate(found) for name in group}
    for name, steps in needs.items():
        assert {group_of[step] for step in steps} <= {group_of[name]}
    for group in found:
        assert group == [name for name in in_order(needs) if name in group]
        reached, waiting = {group[0]}, [group[0]]
        while waiting:  # along the arrows, in both directions
            here = waiting.pop()
            near = {*needs[here], *(name for name in needs if here in needs[name])}
            waiting += near - reached
            reached |= near
        assert reached == set(group)


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ({"a": ["b"]}, "claim 'a': needs 'b', which is no claim"),
        ({"a": ["b", "b"], "b": []}, "claim 'a': needs a claim twice"),
        ({"a": ["a"]}, "claims rest on themselves: a needs a"),
        (
            {"top": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]},
            "claims rest on themselves: a needs b needs c needs a",
        ),
    ],
)
def test_check_names_what_makes_no_sense(needs, message):
    with pytest.raises(ValueError, match=message):
        check(needs)


NEEDS = {"sum": [], "theorem": ["sum"], "remark": ["theorem"]}


@pytest.mark.parametrize(
    ("false", "stands", "found"),
    [
        ([], {}, []),
        (["sum"], {"theorem": "counted otherwise"}, []),
        (["sum", "theorem"], {"remark": "measured"}, []),
        (["remark"], {}, []),
        (["sum"], {}, ["claim 'theorem' rests on 'sum', which is false as printed: say in"]),
        (["sum"], {"theorem": "so", "remark": "so"}, ["claim 'remark' rests on nothing that is"]),
        ([], {"theorem": "so"}, ["claim 'theorem' rests on nothing that is false: it has no"]),
        (
            ["sum", "theorem"],
            {"theorem": "so", "remark": "so"},
            ["claim 'theorem' is false as printed: it has no `stands`"],
        ),
    ],
)
def test_complaints_where_stands_says_too_much_or_too_little(false, stands, found):
    is_false = {name: name in false for name in NEEDS}
    sentences = complaints(NEEDS, is_false, dict.fromkeys(NEEDS, "") | stands)
    assert len(sentences) == len(found)
    assert all(one.startswith(begin) for one, begin in zip(sentences, found, strict=True))


def test_complaints_name_all_false_steps():
    needs = {"a": [], "b": [], "c": ["a", "b"]}
    (sentence,) = complaints(needs, {"a": True, "b": True, "c": False}, {})
    assert "rests on 'a' and 'b', which are false" in sentence

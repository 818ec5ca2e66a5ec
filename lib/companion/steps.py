"""What rests on what: the statements that each claim's argument in the paper uses.

A claim **needs** others. One of these may be false as printed, and the claim true all the same, by
another argument: then it **stands**, and `data/claims.yml` says why. Nothing else is written down;
which steps are false follows from the verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: By claim: the claims that it rests on.
Needs = Mapping[str, Sequence[str]]


def check(needs: Needs) -> None:
    """Refuse what is no claim, and claims that rest on themselves by way of others.

    >>> check({"theorem": ["lemma"], "lemma": []})
    """
    for name, steps in needs.items():
        for step in steps:
            if step not in needs:
                raise ValueError(f"claim {name!r}: needs {step!r}, which is no claim")
        if len(set(steps)) < len(steps):
            raise ValueError(f"claim {name!r}: needs a claim twice")
    in_order(needs)


def in_order(needs: Needs) -> list[str]:
    """All claims, each below those that it rests on, and otherwise as they were.

    >>> in_order({"theorem": ["lemma", "sum"], "remark": ["theorem"], "sum": [], "lemma": []})
    ['lemma', 'sum', 'theorem', 'remark']
    """
    placed: dict[str, None] = {}
    for name in needs:
        _place(name, needs, (), placed)
    return list(placed)


def _place(name: str, needs: Needs, above: tuple[str, ...], placed: dict[str, None]) -> None:
    """Place a claim after what it rests on; `above` are the claims that are to rest on it."""
    if name in above:
        circle = " needs ".join([*above[above.index(name) :], name])
        raise ValueError(f"claims rest on themselves: {circle}")
    if name not in placed:
        for step in needs[name]:
            _place(step, needs, (*above, name), placed)
        placed[name] = None


def groups(needs: Needs) -> list[list[str]]:
    """The claims in groups that do not rest on each other, in order; each group is in order.

    >>> groups({"theorem": ["lemma"], "alone": [], "lemma": []})
    [['lemma', 'theorem'], ['alone']]
    """
    order = in_order(needs)
    found: list[list[str]] = []
    for name in order:
        linked = [group for group in found if not set(needs[name]).isdisjoint(group)]
        joined = [name, *(one for group in linked for one in group)]
        found = [group for group in found if group not in linked]
        found.append(sorted(joined, key=order.index))
    return sorted(found, key=lambda group: order.index(group[0]))


def complaints(needs: Needs, is_false: Mapping[str, bool], stands: Mapping[str, str]) -> list[str]:
    """What `stands` says too much or too little, in sentences.

    It is said of claims that are not false as printed themselves, and rest on one that is.

    >>> complaints({"theorem": ["sum"], "sum": []}, {"theorem": False, "sum": True}, {})
    ["claim 'theorem' rests on 'sum', which is false as printed: say in `stands` why it holds"]
    """
    sentences = []
    for name, steps in needs.items():
        false_steps = [step for step in steps if is_false[step]]
        has_to_stand = bool(false_steps) and not is_false[name]
        if has_to_stand and not stands.get(name):
            which = " and ".join(map(repr, false_steps))
            verb = "is" if len(false_steps) == 1 else "are"
            sentences.append(
                f"claim {name!r} rests on {which}, which {verb} false as printed: "
                "say in `stands` why it holds"
            )
        if stands.get(name) and not has_to_stand:
            reason = "is false as printed" if is_false[name] else "rests on nothing that is false"
            sentences.append(f"claim {name!r} {reason}: it has no `stands`")
    return sentences

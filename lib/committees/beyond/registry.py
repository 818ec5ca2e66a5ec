"""Strategies by name, or as `module:Class`, with options; and strategies told a wrong p."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isclass, signature
from typing import Any

from committees.beyond.fairness import FairCMDP
from committees.beyond.foresight import Foresight
from committees.beyond.prices import Prices
from committees.cmdp import CMDP
from committees.greedy import Greedy
from committees.problem import Problem
from committees.rl_cmdp import RLCMDP, PlugIn
from committees.strategy import Session, Strategy

#: The strategies by name: their family, in small letters.
STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "greedy": partial(Greedy, tolerance=0.02),
    "cmdp": CMDP,
    "cmdp-fair": FairCMDP,
    "rl-cmdp": RLCMDP,
    "rl-cmdp-b": partial(RLCMDP, confidence="bernstein"),
    "plug-in": PlugIn,
    "prices": Prices,
    "foresight": Foresight,
    "foresight-learning": partial(Foresight, learn=True),
}


def make_strategy(name: str, options: Mapping[str, Any] | None = None) -> Strategy:
    """The strategy of this name: one of `STRATEGIES`, or `module:Class` for one of your own.

    >>> make_strategy("Greedy", {"tolerance": 0.05}).name, make_strategy("RL-CMDP-B").name
    ('Greedy 0.05', 'RL-CMDP-B')
    """
    small = str(name).lower().replace(" ", "-")
    make = find_class(name) if ":" in small else STRATEGIES.get(small)
    if make is None:
        known = ", ".join(STRATEGIES)
        raise ValueError(f"strategy: there is no {name!r}; expected {known}, or module:Class")
    known = ", ".join(signature(make).parameters) or "no options"
    for option in options or {}:
        if option not in known.split(", "):
            raise ValueError(f"options: {name} has no {option!r}, it has {known}")
    try:
        return make(**(options or {}))
    except (TypeError, ValueError) as error:  # an option makes no sense, or is missing
        raise ValueError(f"strategy {name}: {error}") from None


def find_class(name: str) -> type[Strategy]:
    """The class that `module:Class` names."""
    module, _, wanted = name.partition(":")
    try:
        members = vars(importlib.import_module(module))
    except Exception as error:  # whatever is wrong with the module
        raise ValueError(f"strategy: cannot import {module!r}: {error}") from None
    classes = {
        key: member
        for key, member in members.items()
        if isclass(member) and issubclass(member, Strategy)
    }
    if wanted not in classes:
        wrong = "is no Strategy" if wanted in members else "does not exist"
        raise ValueError(f"strategy: {name} {wrong}; {module} has {', '.join(classes) or 'none'}")
    return classes[wanted]


@dataclass(frozen=True)
class Believing(Strategy):
    """A strategy that is told of other volunteers than it meets: of those of `believed`."""

    rule: Strategy
    believed: Problem
    label: str = "misled"  #: what its name ends with

    @property
    def family(self) -> str:
        return self.rule.family

    @property
    def name(self) -> str:
        return f"{self.rule.name} {self.label}"

    @property
    def learns(self) -> bool:
        return self.rule.learns

    def __repr__(self) -> str:  # equal for equal beliefs only
        return f"Believing({self.rule!r}, {self.believed.digest}, {self.label!r})"

    def start(self, problem: Problem, size: int) -> Session:
        if not problem.labels.equals(self.believed.labels):
            raise ValueError(f"{self}: believes in {self.believed}, and meets {problem}")
        return self.rule.start(self.believed, size)

"""What a desk follows: a strategy, targets and volunteers, and a number of seats.

A journal keeps the plan as data, so that it can be read, and its decisions checked, without the
organiser's files.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from committees.beyond import Foresight
from committees.beyond.registry import make_strategy
from committees.checks import IntArray, check_size
from committees.problem import Problem
from committees.strategy import Strategy, check_is_strategy
from organiser.desk.journal import JournalError, Record

#: Strategies of a journal are looked up here only: a journal from elsewhere runs nothing else.
TRUSTED = "committees."


@dataclass(frozen=True)
class Plan:
    """A strategy for one committee."""

    strategy: Strategy
    problem: Problem
    size: int

    def __post_init__(self) -> None:
        check_is_strategy(self.strategy)
        check_size(self.size)
        object.__setattr__(self, "size", int(self.size))

    @property
    def band(self) -> tuple[IntArray, IntArray] | None:
        """The fewest and the most seats of each value, if the strategy keeps to such."""
        if not isinstance(self.strategy, Foresight):
            return None
        return self.strategy.band(self.problem, self.size)

    def record(self) -> Record:
        """The plan as plain data."""
        rule = self.strategy
        options: Record = dataclasses.asdict(rule) if dataclasses.is_dataclass(rule) else {}
        return {
            "size": self.size,
            "strategy": _name(type(rule)),
            "options": _plain(options),
            "features": {name: list(values) for name, values in self.problem.features.items()},
            "targets": self.problem.rho.tolist(),
            "p": self.problem.p.tolist(),
        }

    @classmethod
    def read(cls, record: Record, own: type[Strategy] | None = None) -> Plan:
        """The plan of a record, whose strategy is one of ours or of the class `own`."""
        name, options = str(record["strategy"]), record["options"]
        if not (is_own := own is not None and name == _name(own)) and not name.startswith(TRUSTED):
            told = f"has the strategy {name}, which is none of ours"
            raise JournalError(f"the journal {told}; open it with its files and strategy")
        labels = [(f, value) for f, values in record["features"].items() for value in values]
        index = pd.MultiIndex.from_tuples(labels, names=["feature", "value"])
        problem = Problem(pd.Series(record["targets"], index), record["p"])
        strategy = own(**options) if own and is_own else make_strategy(name, options)
        return cls(strategy, problem, record["size"])

    def cannot_end(self, counts: IntArray, left: int) -> str:
        """Why a committee with these people cannot end in the band; empty if it can."""
        if left < 0:
            return f"{-left + self.size} people are seated, more than {self.size}"
        if self.band is None:
            return ""
        low, high = self.band
        for code in np.flatnonzero(counts > high).tolist():
            name = " ".join(map(str, self.problem.labels[code]))
            return f"{name} has {counts[code]} seats, more than {high[code]}"
        features = self.problem.labels.get_level_values(0)
        lacking = (
            pd.Series(np.maximum(low - counts, 0), features).groupby(level=0, sort=False).sum()
        )
        for feature, number in lacking[lacking > left].items():
            return f"{feature} needs {number} more people, and {left} seats are left"
        return ""

    def widened(self, counts: IntArray, left: int) -> Plan:
        """The plan with the band that is nearest to its own and can still be reached."""
        if not isinstance(self.strategy, Foresight) or not self.cannot_end(counts, left):
            return self
        low, high = self.strategy.band(self.problem, self.size)
        low, high = low.copy(), np.maximum(high, counts)
        for feature in self.problem.features:
            own = np.flatnonzero(self.problem.labels.get_level_values(0) == feature)
            while np.maximum(low[own] - counts[own], 0).sum() > left:
                low[own[np.argmax(low[own] - counts[own])]] -= 1
        seats = tuple(low.tolist()), tuple(high.tolist())
        return dataclasses.replace(self, strategy=dataclasses.replace(self.strategy, seats=seats))


def _name(strategy: type[Strategy]) -> str:
    return f"{strategy.__module__}:{strategy.__qualname__}"


def _plain(value: Any) -> Any:
    """Lists for tuples, as JSON has them."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value

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

from committees.beyond.registry import make_strategy
from committees.checks import BoolArray, IntArray, check_size
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
        return self.strategy.band(self.problem, self.size)

    def record(self) -> Record:
        """The plan as plain data."""
        return {
            "size": self.size,
            "strategy": _name(type(self.strategy)),
            "options": _plain(_options(self.strategy)),
            "features": {name: list(values) for name, values in self.problem.features.items()},
            "targets": self.problem.rho.tolist(),
            "p": self.problem.p.tolist(),
        }

    @classmethod
    def read(cls, record: Record, own: type[Strategy] | None = None) -> Plan:
        """The plan of a record, whose strategy is one of ours or of the class `own`."""
        name = str(record["strategy"])
        options = record["options"]
        strategy: Strategy
        if own is not None and name == _name(own):
            strategy = own(**options)
        elif name.startswith(TRUSTED):
            strategy = make_strategy(name, options)
        else:
            told = f"has the strategy {name}, which is none of ours"
            raise JournalError(f"the journal {told}; open it with its files and strategy")
        features = record["features"]
        labels = [(feature, value) for feature, values in features.items() for value in values]
        index = pd.MultiIndex.from_tuples(labels, names=["feature", "value"])
        problem = Problem(pd.Series(record["targets"], index), record["p"])
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
        for feature in self.problem.features:
            missing = _missing(low, counts)[self._is_of(feature)].sum()
            if missing > left:
                return f"{feature} needs {missing} more people, and {left} seats are left"
        return ""

    def _is_of(self, feature: str) -> BoolArray:
        """Which values are this feature's: ndarray of bool, per value."""
        return np.asarray(self.problem.labels.get_level_values(0) == feature)

    def widened(self, counts: IntArray, left: int) -> Plan:
        """The plan with the band that is nearest to its own and can still be reached.

        That of a strategy with an option `seats`, the band itself; others go on as they are.
        """
        strategy: Any = self.strategy
        if self.band is None or "seats" not in _options(strategy):
            return self
        if not self.cannot_end(counts, left):
            return self
        low = self.band[0].copy()
        high = np.maximum(self.band[1], counts)
        for feature in self.problem.features:
            codes = np.flatnonzero(self._is_of(feature))
            while _missing(low, counts)[codes].sum() > left:
                furthest = codes[np.argmax(low[codes] - counts[codes])]
                low[furthest] -= 1
        seats = tuple(low.tolist()), tuple(high.tolist())
        return dataclasses.replace(self, strategy=dataclasses.replace(strategy, seats=seats))


def _missing(low: IntArray, counts: IntArray) -> IntArray:
    """How many more people each value must have."""
    return np.asarray(np.maximum(low - counts, 0))


def _options(strategy: Strategy) -> dict[str, Any]:
    """What a strategy was made with, where it says so."""
    return dataclasses.asdict(strategy) if dataclasses.is_dataclass(strategy) else {}


def _name(strategy: type[Strategy]) -> str:
    return f"{strategy.__module__}:{strategy.__qualname__}"


def _plain(value: Any) -> Any:
    """Lists for tuples, as JSON has them."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value

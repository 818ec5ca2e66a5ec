"""The ledger: every statement of the paper, what we measured, and a verdict.

`data/claims.yml` says what the paper claims and what would count as true, `companion.measurements`
measures, and `verdict` compares. No verdict is written anywhere: all are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import pandas as pd
import yaml

from committees.datasets import DATA
from companion.measurements import REGISTRY, Lab, Measurement

REPRODUCED = "reproduced"
CORRECTED = "reproduced after a correction"
NOT_REPRODUCED = "not reproduced"
NOT_CHECKABLE = "not checkable"
VERDICTS = (REPRODUCED, CORRECTED, NOT_REPRODUCED, NOT_CHECKABLE)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper; see `data/claims.yml` for the fields."""

    id: str
    where: str
    says: str
    paper: str
    unit: str = ""
    least: float = float("-inf")
    most: float = float("inf")
    corrected: Mapping[str, float] | None = None
    correction: str = ""
    checkable: str = ""

    def __post_init__(self) -> None:
        if bool(self.corrected) != bool(self.correction):
            raise ValueError(f"claim {self.id!r}: 'corrected' and 'correction' go together")
        bounded = self.least > float("-inf") or self.most < float("inf")
        if bounded == bool(self.checkable):
            raise ValueError(f"claim {self.id!r}: needs 'least', 'most', or why it is uncheckable")


def load() -> list[Claim]:
    """The claims, in the paper's order."""
    entries: list[dict[str, Any]] = yaml.safe_load((DATA / "claims.yml").read_text("utf-8"))
    claims = [Claim(**entry) for entry in entries]
    ids = [claim.id for claim in claims]
    for name in ids:
        if ids.count(name) > 1:
            raise ValueError(f"claim {name!r}: is there {ids.count(name)} times")
    return claims


def verdict(claim: Claim, measured: Measurement | None) -> str:
    """Compare a claim with what was measured."""
    if claim.checkable or measured is None:
        return NOT_CHECKABLE
    if claim.least <= measured.value <= claim.most:
        return REPRODUCED
    if claim.corrected is not None and measured.corrected is not None:
        least = claim.corrected.get("least", float("-inf"))
        most = claim.corrected.get("most", float("inf"))
        if least <= measured.corrected <= most:
            return CORRECTED
    return NOT_REPRODUCED


def near_the_edge(claim: Claim, measured: Measurement | None) -> bool:
    """Whether chance could turn the verdict: a limit lies within the 95 % interval."""
    if measured is None:
        return False
    limits = [(measured.value, measured.error, limit) for limit in (claim.least, claim.most)]
    if claim.corrected and measured.corrected is not None:
        twin = (measured.corrected, measured.corrected_error)
        limits += [(*twin, limit) for limit in claim.corrected.values()]
    return any(error and abs(value - limit) <= error for value, error, limit in limits)


def ledger(lab: Lab) -> pd.DataFrame:
    """A row per claim, with its verdict."""
    rows = []
    for claim in load():
        measured = None if claim.checkable else REGISTRY[claim.id](lab)
        rows.append(
            {
                "id": claim.id,
                "where": claim.where,
                "says": claim.says,
                "paper": claim.paper,
                "measured": measured.value if measured else float("nan"),
                "±": measured.error if measured else float("nan"),
                "unit": claim.unit,
                "after correction": measured.corrected if measured else None,
                "correction": claim.correction or claim.checkable,
                "verdict": verdict(claim, measured),
                "near the edge": near_the_edge(claim, measured),
            }
        )
    return pd.DataFrame(rows).set_index("id")


def limits(least: float = float("-inf"), most: float = float("inf")) -> str:
    """What would count as true, in words."""
    if least == most:
        return f"{least:g}"
    if most == float("inf"):
        return f"at least {least:g}"
    if least == float("-inf"):
        return f"at most {most:g}"
    return f"{least:g} to {most:g}"


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """The ledger as a reader sees it: numbers rounded, with their intervals and units."""
    shown = pd.DataFrame(index=rows.index)
    shown["where"] = rows["where"]
    shown["the paper says"] = rows["says"]
    shown["paper"] = rows["paper"]
    shown["measured"] = [
        _number(value, error, unit)
        for value, error, unit in zip(rows["measured"], rows["±"], rows["unit"], strict=True)
    ]
    shown["verdict"] = rows["verdict"]
    return shown.reset_index(drop=True)


def _number(value: float, error: float, unit: str) -> str:
    if value != value:  # not a number: not checkable
        return "–"
    if error > 0:  # two digits of the error, and as many of the value
        digits = max(0, 1 - floor(log10(error)))
        text = f"{value:,.{digits}f} ± {error:,.{digits}f}"
    else:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{text} ({unit})" if unit else text

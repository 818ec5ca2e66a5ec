"""The ledger: every statement of the paper, what we measured, and a verdict.

`data/claims.yml` says what the paper claims and what would count as true, `companion.measurements`
measures, and `verdict` compares. No verdict is written anywhere: all are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, inf, log10
from typing import Any

import pandas as pd
import yaml

from committees.datasets import DATA
from companion.measurements import REGISTRY
from companion.runs import Measurement, Runs

REPRODUCED = "reproduced"
CORRECTED = "reproduced after a correction"
NOT_REPRODUCED = "not reproduced"
NOT_CHECKABLE = "not checkable"
VERDICTS = (REPRODUCED, CORRECTED, NOT_REPRODUCED, NOT_CHECKABLE)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper; the head of `data/claims.yml` explains the fields."""

    id: str
    where: str
    says: str
    paper: str
    unit: str = ""
    least: float = -inf
    most: float = inf
    corrected: Mapping[str, float] | None = None
    correction: str = ""
    not_checkable: str = ""

    def __post_init__(self) -> None:
        if bool(self.corrected) != bool(self.correction):
            raise ValueError(f"claim {self.id!r}: 'corrected' and 'correction' go together")
        if (self.least > -inf or self.most < inf) == bool(self.not_checkable):
            raise ValueError(f"claim {self.id!r}: needs 'least', 'most', or 'not_checkable'")


def load() -> list[Claim]:
    """The claims, in the paper's order."""
    entries: list[dict[str, Any]] = yaml.safe_load((DATA / "claims.yml").read_text("utf-8"))
    claims = [Claim(**entry) for entry in entries]
    ids = [claim.id for claim in claims]
    for name in ids:
        if ids.count(name) > 1:
            raise ValueError(f"claim {name!r}: {ids.count(name)} entries have this id")
    return claims


def verdict(claim: Claim, measured: Measurement | None) -> str:
    """Compare a claim with what was measured.

    >>> claim = Claim("seats", "Section 0", "There are two seats.", "2", least=2, most=2)
    >>> verdict(claim, Measurement(3.0))
    'not reproduced'
    """
    if claim.not_checkable or measured is None:
        return NOT_CHECKABLE
    if claim.least <= measured.value <= claim.most:
        return REPRODUCED
    if claim.corrected is not None and measured.corrected is not None:
        least, most = claim.corrected.get("least", -inf), claim.corrected.get("most", inf)
        if least <= measured.corrected <= most:
            return CORRECTED
    return NOT_REPRODUCED


def near_the_edge(claim: Claim, measured: Measurement | None) -> bool:
    """Whether chance could turn the verdict: a limit lies within the 95 % interval."""
    if measured is None:
        return False
    limits = [(measured.value, measured.error, limit) for limit in (claim.least, claim.most)]
    if claim.corrected and measured.corrected is not None:
        after = (measured.corrected, measured.corrected_error)
        limits += [(*after, limit) for limit in claim.corrected.values()]
    return any(error and abs(value - limit) <= error for value, error, limit in limits)


def ledger(runs: Runs) -> pd.DataFrame:
    """Measure every claim: a row each, indexed by the id, with its verdict."""
    rows = []
    for claim in load():
        measured = None if claim.not_checkable else REGISTRY[claim.id](runs)
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
                "correction": claim.correction or claim.not_checkable,
                "verdict": verdict(claim, measured),
                "near the edge": near_the_edge(claim, measured),
            }
        )
    return pd.DataFrame(rows).set_index("id")


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the ledger as a reader sees them: numbers rounded, with intervals and units."""
    shown = rows[["where", "says", "paper", "measured", "verdict"]].copy()
    shown["measured"] = [
        _number(*cells) for cells in rows[["measured", "±", "unit"]].itertuples(index=False)
    ]
    return shown.rename(columns={"says": "the paper says"}).reset_index(drop=True)


def _number(value: float, error: float, unit: str) -> str:
    if value != value:  # not a number: not checkable
        return "–"
    if error > 0:  # two digits of the error, and as many of the value
        digits = max(0, 1 - floor(log10(error)))
        text = f"{value:,.{digits}f} ± {error:,.{digits}f}"
    else:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{text} ({unit})" if unit else text

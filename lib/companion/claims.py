"""The ledger: every statement of the paper, what we measured, and a verdict.

`data/claims.yml` says what the paper claims and what would count as true, `companion.measurements`
measures, and `verdict` compares. No verdict is written anywhere: all are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, inf, isfinite, log10, nan
from typing import Any

import pandas as pd
import yaml

from committees.datasets import DATA
from companion import steps
from companion.measurements import REGISTRY
from companion.runs import Measurement, Runs

REPRODUCED = "reproduced"
CORRECTED = "false as printed, true as corrected"
FITTED = "with a parameter that the paper does not state"
NOT_REPRODUCED = "not reproduced"
CANNOT_FAIL = "cannot fail here"
NOT_CHECKABLE = "not checkable"
VERDICTS = (REPRODUCED, CORRECTED, FITTED, NOT_REPRODUCED, CANNOT_FAIL, NOT_CHECKABLE)

#: A verdict in a table or on a badge: a sign, and a word or two. What failed comes first.
MARKS = {
    NOT_REPRODUCED: "✗ not reproduced",
    FITTED: "≈ fitted",
    CORRECTED: "✎ corrected",
    REPRODUCED: "✓ reproduced",
    CANNOT_FAIL: "○ cannot fail",
    NOT_CHECKABLE: "? not checkable",
}

#: What is false as printed: a claim that rests on one of these has to stand by another argument.
FALSE = (CORRECTED, NOT_REPRODUCED)

#: What a verdict rests on, the strongest of what the book has.
EVIDENCE = ("proof", "computation", "simulation")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper; the head of `data/claims.yml` explains the fields."""

    id: str
    where: str
    says: str
    paper: str
    check: str = ""
    evidence: str = ""
    needs: Sequence[str] = ()
    stands: str = ""
    unit: str = ""
    least: float = -inf
    most: float = inf
    corrected: Mapping[str, float] | None = None
    correction: str = ""
    fitted: Mapping[str, float] | None = None
    not_checkable: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if bool(self.corrected) != bool(self.correction) or (self.corrected and self.fitted):
            raise ValueError(f"claim {self.id!r}: 'corrected' and 'correction', or 'fitted' alone")
        if (self.least > -inf or self.most < inf) == bool(self.not_checkable):
            raise ValueError(f"claim {self.id!r}: needs 'least', 'most', or 'not_checkable'")
        if self.evidence not in ("", *EVIDENCE) or (self.evidence and self.not_checkable):
            raise ValueError(
                f"claim {self.id!r}: 'evidence' is one of {', '.join(EVIDENCE)}, "
                "and of what is not checkable none"
            )

    @property
    def limits(self) -> tuple[float, float]:
        """What the value must lie between for the statement as printed."""
        return self.least, self.most

    @property
    def other_limits(self) -> tuple[float, float] | None:
        """What the second value must lie between, if there is a second reading."""
        other = self.corrected or self.fitted
        return (other.get("least", -inf), other.get("most", inf)) if other else None


def load() -> list[Claim]:
    """The claims, in the paper's order."""
    entries: list[dict[str, Any]] = yaml.safe_load((DATA / "claims.yml").read_text("utf-8"))
    claims = [Claim(**entry) for entry in entries]
    entries_of = Counter(claim.id for claim in claims)
    for name, count in entries_of.items():
        if count > 1:
            raise ValueError(f"claim {name!r}: {count} entries have this id")
    steps.check({claim.id: claim.needs for claim in claims})
    return claims


def verdict(claim: Claim, measured: Measurement | None) -> str:
    """Compare a claim with what was measured.

    >>> claim = Claim("seats", "Section 0", "There are two seats.", "2", least=2, most=2)
    >>> verdict(claim, Measurement(3.0))
    'not reproduced'
    """
    if claim.not_checkable or measured is None:
        return NOT_CHECKABLE
    if not measured.can_fail:
        return CANNOT_FAIL
    if _within(measured.value, claim.limits):
        return CANNOT_FAIL if _control_passes(claim, measured) else REPRODUCED
    if measured.other is not None and _within(measured.other, claim.other_limits):
        if not claim.fitted:
            return CORRECTED
        return CANNOT_FAIL if _control_passes(claim, measured) else FITTED
    return NOT_REPRODUCED


def _within(value: float, limits: tuple[float, float] | None) -> bool:
    return limits is not None and limits[0] <= value <= limits[1]


def _control_passes(claim: Claim, measured: Measurement) -> bool:
    """Whether accepting everybody shows the same: its interval reaches the limits."""
    if measured.control is None:
        return False
    low = measured.control - measured.control_error
    high = measured.control + measured.control_error
    return claim.least <= high and low <= claim.most


def is_undecided(claim: Claim, measured: Measurement | None) -> bool:
    """Whether chance could turn the verdict: a limit that it rests on is in the 95 % interval."""
    if measured is None or verdict(claim, measured) == CANNOT_FAIL:
        return False
    is_near = partial(_is_near, measured.value, measured.error)
    if is_near(claim.least) or is_near(claim.most):
        return True
    is_printed_true = _within(measured.value, claim.limits)
    if is_printed_true or measured.other is None or claim.other_limits is None:
        return False
    return any(
        _is_near(measured.other, measured.other_error, limit) for limit in claim.other_limits
    )


def _is_near(value: float, error: float, limit: float) -> bool:
    """Whether a limit is in an interval; there is none without chance."""
    return bool(error) and abs(value - limit) <= error


def ledger(runs: Runs) -> pd.DataFrame:
    """Measure every claim: a row each, indexed by the id, with its verdict."""
    rows = []
    for claim in load():
        measured = None
        if not claim.not_checkable:
            measured = REGISTRY[claim.id](runs)
        values = measured or Measurement(nan, nan)
        other = nan
        is_shown = claim.other_limits is not None or values.control is not None
        if is_shown and values.other is not None:
            other = values.other
        row = {
            "id": claim.id,
            "where": claim.where,
            "says": claim.says,
            "paper": claim.paper,
            "check": claim.check,
            "evidence": claim.evidence,
            "needs": list(claim.needs),
            "stands": claim.stands,
            "measured": values.value,
            "±": values.error,
            "unit": claim.unit,
            "other": other,
            "other ±": values.other_error,
            "control": nan if values.control is None else values.control,
            "control ±": values.control_error,
            "correction": claim.correction or claim.not_checkable,
            "note": claim.note,
            "verdict": verdict(claim, measured),
            "undecided": is_undecided(claim, measured),
        }
        rows.append(row)
    return with_false_steps(pd.DataFrame(rows).set_index("id"))


def with_false_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """The ledger with a column more: of the claims that each needs, those that are false."""
    is_false = rows["verdict"].isin(FALSE)
    whole = rows.copy()
    whole["false steps"] = [[step for step in needs if is_false[step]] for needs in rows["needs"]]
    return whole


def check_stands(rows: pd.DataFrame) -> None:
    """Refuse a ledger in which `stands` is missing, or said of what need not or does not stand."""
    needs = {str(name): of_one for name, of_one in rows["needs"].items()}
    stands = {str(name): reason for name, reason in rows["stands"].items()}
    is_false = {str(name): verdict in FALSE for name, verdict in rows["verdict"].items()}
    found = steps.complaints(needs, is_false, stands)
    if found:
        raise ValueError("\n".join(found))


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the ledger as a reader sees them: what failed first, all of it in words."""
    ordered = rows.sort_values("verdict", key=lambda v: v.map(list(MARKS).index), kind="stable")
    return pd.DataFrame([_in_words(row) for _, row in ordered.iterrows()], index=ordered.index)


def _in_words(row: pd.Series) -> dict[str, str]:
    """A claim in words: what is printed and what is corrected in a line, and so the values."""
    found = row["verdict"]
    mark = MARKS[found]
    if row["undecided"]:
        mark = f"{mark}, undecided"
    printed = row["paper"]
    if found == CORRECTED:
        printed = f"{printed} → {row['correction']}"
    remark = row["note"]
    if found == NOT_CHECKABLE:
        remark = f"Not checkable: {row['correction']}. {remark}"
    return {
        "verdict": mark,
        "the paper says": row["says"],
        "remark": remark.strip(),
        "false steps": row["false steps"],
        "stands": row["stands"],
        "printed": printed,
        "measured": _measured_in_words(row),
        "control": _control_in_words(row),
        "unit": row["unit"],
        "in the paper": row["where"],
        "where we check it": row["check"],
        "evidence": row["evidence"],
    }


def records(rows: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Rows of the ledger for machines, by id: numbers with six digits, None for what is not known.

    With the limits of the file, and the verdict in the words of `VERDICTS`; `other` is the value as
    corrected or fitted, `control` that of accepting everybody.
    """
    found = {}
    for claim in load():
        row = rows.loc[claim.id]
        found[claim.id] = {
            "where": claim.where,
            "says": claim.says,
            "printed": claim.paper,
            "verdict": row["verdict"],
            "undecided": bool(row["undecided"]),
            "value": _six_digits(row["measured"]),
            "error": _six_digits(row["±"]),
            "unit": claim.unit,
            "least": _six_digits(claim.least),
            "most": _six_digits(claim.most),
            "other": _six_digits(row["other"]),
            "other_error": _six_digits(row["other ±"]),
            "control": _six_digits(row["control"]),
            "control_error": _six_digits(row["control ±"]),
            "correction": claim.correction,
            "not_checkable": claim.not_checkable,
            "evidence": claim.evidence,
            "needs": row["needs"],
            "false_steps": row["false steps"],
            "stands": claim.stands,
            "note": claim.note,
        }
    return found


def _six_digits(value: Any) -> float | None:
    """A number as it is the same on every machine; None if it is none, or infinite.

    >>> _six_digits(2 / 3), _six_digits(-3e-17), _six_digits(inf)
    (0.666667, 0.0, None)
    """
    if not isfinite(value):
        return None
    return float(f"{value:.6g}") if abs(value) > 1e-12 else 0.0


def _measured_in_words(row: pd.Series) -> str:
    """The value; and the one under the other reading, if it was asked for and differs."""
    measured = number(row["measured"], row["±"], row["unit"])
    other = number(row["other"], row["other ±"], row["unit"])
    was_asked_for = row["verdict"] in (NOT_REPRODUCED, FITTED, CORRECTED)
    has_control = row["control"] == row["control"]
    if not (was_asked_for or has_control) or other in ("–", measured):
        return measured
    reading = "as corrected" if row["correction"] else "fitted"
    return f"{measured} as printed → {other} {reading}"


def _control_in_words(row: pd.Series) -> str:
    """What accepting everybody shows, of a claim on a strategy that learns."""
    control = number(row["control"], row["control ±"], row["unit"])
    return "" if control == "–" else f"accepting everybody: {control}"


def number(value: float, error: float, unit: str = "") -> str:
    """A number with its interval, in as many digits as mean something.

    >>> number(4.3512, 0.0731), number(0.5, 0), number(float("nan"), 0)
    ('4.351 ± 0.073', '0.5', '–')
    >>> number(-0.5, 0), number(2e-16, 0), number(0, 0, "p-value")
    ('−0.5', '0, but for rounding', '< 10⁻⁴')
    """
    if value != value:  # not a number: not checkable
        return "–"
    if unit == "p-value" and value < 1e-4:
        return "< 10⁻⁴"
    if error > 1e-9 * abs(value):  # two digits of the error, and as many of the value
        digits = max(0, 1 - floor(log10(error)))
        text = f"{value:,.{digits}f} ± {error:,.{digits}f}"
    elif 0 < abs(value) < 1e-12:
        text = "0, but for rounding"
    else:
        text = f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"
    return text.replace("-", "−")

"""What a desk knows and foresees: reasons, how far groups are, who is late, who is to come."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import betainc, betaln, xlog1py, xlogy

from committees.simulation import MIN_ACCEPTANCE_RATE
from organiser.desk.state import State

#: In at most this share of recruitments a group is ever said to be late that is not.
FALSE_ALARMS = 0.01


class Outlook(State):
    """How a recruitment stands, in words and tables."""

    def reason(self, type_id: int, chance: float, coin: float) -> str:
        """Why somebody is accepted or not, in words."""
        if 0 < chance < 1:
            outcome = "this one is" if coin < chance else "this one is not"
            share = "fewer than 1%" if chance < 0.01 else f"{chance:.0%}"
            share = "more than 99%" if chance > 0.99 else share
            return f"{share} of the people like this are taken, by lot, and {outcome}"
        told = self._more_people(type_id)
        if chance >= 1:
            return told or "everybody like this is wanted now"
        if not self.problem.p @ self._session.acceptance > MIN_ACCEPTANCE_RATE:
            return "as things stand nobody can be taken: the strategy has reached a dead end"
        is_open = self.open_values().to_numpy()
        closed = [code for code in self.problem.codes[type_id] if not is_open[code]]
        if closed:
            names = " or ".join(" ".join(self.problem.labels[code]) for code in closed)
            return f"there is no room now for {names}"
        return told or "more people like this come than are needed, so others go first"

    def _more_people(self, type_id: int) -> str:
        """What a strategy that looks ahead says; empty if it does not."""
        session = self._session
        if session.ahead is None or session.ahead_with is None:
            return ""
        ahead, after = session.ahead, session.ahead_with[type_id]
        if not (np.isfinite(ahead) and np.isfinite(after)):
            return ""
        digits = 0 if abs(after - ahead) >= 1 else 1
        told = f"with this person we expect to see {after:,.{digits}f} more"
        return f"{told}, without {ahead:,.{digits}f}"

    def progress(self) -> pd.DataFrame:
        """How far each value is: DataFrame indexed by (feature, value).

        Returns
        -------
        DataFrame
            Seats `wanted`, `seated` and `missing`; `fewest` and `most` where the strategy keeps to
            such; people `called`, and `expected` to have called if the volunteers are those of the
            plan.
        """
        counts, wanted = self.counts, self.problem.targets * self.size
        frame = pd.DataFrame({"wanted": wanted, "seated": counts, "missing": wanted - counts})
        if self.plan.band is not None:
            frame["fewest"], frame["most"] = self.plan.band
        called = self._count({n: caller.type_id for n, caller in self.callers.items()})
        return frame.assign(called=called, expected=self.seen * self.problem.presence)

    def ahead(self) -> tuple[float, float]:
        """People still to be seen until the next seat, and the last, is filled; NaN: unknown."""
        if self.seated == self.size:
            return 0.0, 0.0
        rate = float(self.problem.p @ self._session.acceptance)
        until_next = 1 / rate if rate > MIN_ACCEPTANCE_RATE else np.inf
        until_last = np.nan if self._session.ahead is None else self._session.ahead
        return until_next, until_last

    def open_values(self) -> pd.Series:
        """For each value, whether somebody who has it may be accepted now: Series of bool."""
        weight = self.problem.p * self._session.acceptance
        is_open = self.problem.incidence @ weight > 0
        return pd.Series(is_open & (self.seated < self.size), self.problem.labels)

    def members(self) -> pd.DataFrame:
        """Who is seated: a column per feature, indexed by the callers' numbers in order."""
        numbers = sorted(self.seats)
        rows = [self.callers[n].person for n in numbers]
        frame = pd.DataFrame(rows, pd.Index(numbers, name="caller"), list(self.problem.features))
        ids = [self.callers[n].id for n in numbers]
        name = "id" if "id" not in frame else "id of the caller"
        return frame.assign(**{name: ids}) if any(ids) else frame

    def reserve(self) -> list[int]:
        """Callers of the reserve list who could have a seat now, in an order drawn by lot."""
        listed = [number for number, caller in self.callers.items() if caller.reserve]
        fits = [n for n in listed if not self.refusal({"seated again": n})]
        return sorted(fits, key=lambda number: self.coin(number, 0, 1))

    def late(self) -> list[str]:
        r"""The groups of whom so few have called that it is hardly chance, a sentence each.

        Of $n$ callers $k$ belong to a group whose share is $p$. The likelihood of that, averaged
        over all smaller shares and divided by that with $p$, is a martingale if the volunteers are
        those of the plan: so the probability that it ever exceeds $c$ is at most $1/c$ (Ville).
        However often one looks, no more than `FALSE_ALARMS` of all recruitments have a false alarm.
        Those count who have called since the plan was changed last.
        """
        share, n = self.problem.presence, self.seen - self._since
        since = {i: caller.type_id for i, caller in self.callers.items() if i > self._since}
        k = self._count(since)
        can_be_late = (share > 0) & (share < 1)
        p = np.where(can_be_late, share, 0.5)
        below = np.log(betainc(k + 1, n - k + 1, p)) + betaln(k + 1, n - k + 1) - np.log(p)
        ratio = below - xlogy(k, p) - xlog1py(n - k, -p)
        is_late = can_be_late & (ratio > np.log(can_be_late.sum() / FALSE_ALARMS))
        names = [" ".join(map(str, label)) for label in self.problem.labels]
        return [
            f"{names[code]}: {k[code]} have called, {n * share[code]:.0f} were expected"
            for code in np.flatnonzero(is_late).tolist()
        ]

"""What is known and foreseen of a recruitment: reasons, how far groups are, who is to come."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import betainc, betaln, xlog1py, xlogy

from committees.beyond.bands import open_values
from committees.checks import FloatArray, IntArray
from committees.recruitment import MIN_ACCEPTANCE_RATE
from organiser.desk.state import State

#: In at most this share of recruitments a group is ever said to be late that is not.
FALSE_ALARMS = 0.01


def reason(state: State, type_id: int, chance: float, coin: float) -> str:
    """Why somebody is accepted or not, in words."""
    if 0 < chance < 1:
        return _by_lot(chance, coin < chance)
    more_people = _more_people(state, type_id)
    if chance >= 1:
        return more_people or "everybody like this is wanted now"
    if not _rate(state) > MIN_ACCEPTANCE_RATE:
        return "as things stand nobody can be taken: the strategy has reached a dead end"
    has_room = room(state).to_numpy()
    codes = state.problem.codes[type_id]
    full = [" ".join(state.problem.labels[code]) for code in codes if not has_room[code]]
    if full:
        return f"there is no room now for {' or '.join(full)}"
    if state.plan.band is None:
        return more_people or "more people like this come than are needed, so others go first"
    others_first = "there is room, but others are needed more at the moment"
    return f"{others_first} ({more_people})" if more_people else others_first


def _by_lot(chance: float, accepted: bool) -> str:
    share = f"{chance:.0%}"
    if chance < 0.01:
        share = "fewer than 1%"
    elif chance > 0.99:
        share = "more than 99%"
    outcome = "this one is" if accepted else "this one is not"
    return f"{share} of the people like this are taken, by lot, and {outcome}"


def _more_people(state: State, type_id: int) -> str:
    """What a strategy that looks ahead says; empty if it does not."""
    session = state.session
    if session.ahead is None or session.ahead_with is None:
        return ""
    without = session.ahead
    with_them = session.ahead_with[type_id]
    if not (np.isfinite(without) and np.isfinite(with_them)):
        return ""
    digits = 0 if abs(with_them - without) >= 1 else 1
    told = f"with this person we expect to see {with_them:,.{digits}f} more"
    return f"{told}, without {without:,.{digits}f}"


def _rate(state: State) -> float:
    """The share of the volunteers who would be accepted now."""
    return float(state.problem.p @ state.session.acceptance)


def progress(state: State) -> pd.DataFrame:
    """How far each value is: DataFrame indexed by (feature, value).

    Returns
    -------
    DataFrame
        Seats `wanted`, `seated` and `missing`; `fewest` and `most` where the strategy keeps to
        such; people `called`, and `expected` to have called if the volunteers are those of the
        plan.
    """
    frame = pd.DataFrame({"wanted": state.problem.targets * state.size, "seated": state.counts})
    frame["missing"] = frame["wanted"] - frame["seated"]
    if state.plan.band is not None:
        frame["fewest"], frame["most"] = state.plan.band
    frame["called"] = state.count(caller.type_id for caller in state.callers.values())
    frame["expected"] = state.seen * state.problem.presence
    return frame


def ahead(state: State) -> tuple[float, float]:
    """People still to be seen until the next seat, and the last, is filled; NaN: unknown."""
    if state.is_full:
        return 0.0, 0.0
    until_next = np.inf
    if _rate(state) > MIN_ACCEPTANCE_RATE:
        until_next = 1 / _rate(state)
    until_last = state.session.ahead
    return until_next, np.nan if until_last is None else until_last


def room(state: State) -> pd.Series:
    """For each value, whether there is room for somebody who has it: Series of bool.

    There is none where its range is full, or where all seats that are left are needed by others. A
    strategy without ranges has room for whomever it might accept now.
    """
    problem = state.problem
    if state.plan.band is None:
        accepted_mass = problem.p * state.session.acceptance
        has_room = problem.incidence @ accepted_mass > 0
    else:
        low, high = state.plan.band
        has_room = open_values(problem, low, high, state.counts, state.size - state.seated)
    return pd.Series(has_room & (not state.is_full), problem.labels)


def members(state: State) -> pd.DataFrame:
    """Who is seated: a column per feature, indexed by the callers' numbers in order."""
    numbers = sorted(state.seats)
    callers = [state.callers[number] for number in numbers]
    people = [caller.person for caller in callers]
    index = pd.Index(numbers, name="caller")
    frame = pd.DataFrame(people, index, list(state.problem.features))
    ids = [caller.id for caller in callers]
    if any(ids):
        name = "id" if "id" not in frame else "id of the caller"
        frame[name] = ids
    return frame


def reserve(state: State) -> list[int]:
    """Callers of the reserve list who could have a seat now, in an order drawn by lot."""
    listed = [number for number, caller in state.callers.items() if caller.reserve]
    fits = [number for number in listed if not state.refusal({"seated again": number})]
    return sorted(fits, key=lambda number: state.coin(number, 0, 1))


def late(state: State) -> list[str]:
    r"""The groups of whom so few have called that it is hardly chance, a sentence each.

    Of $n$ callers $k$ belong to a group whose share is $p$. The likelihood of that, averaged
    over all smaller shares and divided by that with $p$, is a martingale if the volunteers are
    those of the plan: so the probability that it ever exceeds $c$ is at most $1/c$ (Ville).
    However often one looks, no more than `FALSE_ALARMS` of all recruitments have a false alarm.
    Those count who have called since the plan was changed last; the first plan has half of the
    probability of a false alarm to spend, the second a quarter, and so on.
    """
    numbers = range(state.called_before + 1, state.seen + 1)
    people = len(numbers)
    called = state.count(state.callers[number].type_id for number in numbers)
    share = state.problem.presence
    can_be_late = (share > 0) & (share < 1)
    log_ratio = _log_ratio(called, people, np.where(can_be_late, share, 0.5))
    false_alarms = FALSE_ALARMS / 2**state.plans
    is_late = can_be_late & (log_ratio > np.log(can_be_late.sum() / false_alarms))
    sentences = []
    for code in np.flatnonzero(is_late).tolist():
        name = " ".join(map(str, state.problem.labels[code]))
        expected = people * share[code]
        sentences.append(f"{name}: {called[code]} have called, {expected:.0f} were expected")
    return sentences


def _log_ratio(called: IntArray, people: int, share: FloatArray) -> FloatArray:
    """The likelihood averaged over smaller shares, by that with the share: logarithms, per value.

    The average is an incomplete beta function.
    """
    others = people - called
    integral = np.log(betainc(called + 1, others + 1, share)) + betaln(called + 1, others + 1)
    average = integral - np.log(share)
    return np.asarray(average - xlogy(called, share) - xlog1py(others, -share))

"""A desk follows a plan for one committee, and keeps a journal of what it decides.

What it decides depends on the plan, on what happened before, and on one seed: the coin of the n-th
caller is always the same. So its journal, read again, brings back exactly the desk that wrote it,
and anybody can check it (`organiser.desk.audit`). All that happens is a record, which is in the
journal before the strategy takes it in and before anybody is told.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from committees.checks import check_integer
from committees.problem import Problem
from committees.strategy import Strategy
from organiser.csvfile import same_word
from organiser.desk import outlook
from organiser.desk.journal import Journal, JournalError, Record, number_of
from organiser.desk.plan import Plan
from organiser.desk.state import State


class Refused(RuntimeError):
    """What was asked of the desk cannot be done; the sentence says why."""


@dataclass(frozen=True)
class Decision:
    """What a volunteer is told. True if they are accepted."""

    #: The number of the caller, counted from one.
    number: int
    accepted: bool
    #: The probability with which people of this type were accepted at this moment.
    chance: float
    #: Why, in words.
    reason: str

    def __bool__(self) -> bool:
        return self.accepted


class Desk:
    """One committee, recruited from real people.

    Parameters
    ----------
    strategy, problem, size : Strategy, Problem, int, optional
        The plan. Left out, the journal's last plan is followed; if its strategy is one of your own,
        name that.
    journal : str or Path
        A file that keeps everything. If it exists, the desk goes on where it ended.
    seed : int, optional
        Where the coins come from; by default a new one, which the journal keeps.

    Attributes
    ----------
    state : State
        How the recruitment stands. To be read; only the desk changes it.
    """

    state: State

    def __init__(
        self,
        strategy: Strategy | None = None,
        problem: Problem | None = None,
        size: int | None = None,
        *,
        journal: str | Path,
        seed: int | None = None,
    ) -> None:
        plan = None
        if strategy is not None and problem is not None and size is not None:
            plan = Plan(strategy, problem, size)
            _check_all_words(problem)
        if seed is not None:
            check_integer("seed", seed, 0)
            seed = int(seed)
        if plan is None and not Path(journal).exists():
            raise JournalError(f"{journal}: there is no such journal")
        self._journal = Journal(journal)
        try:
            if self._journal.records:
                own = None if strategy is None else type(strategy)
                self.state = _resumed(self._journal, plan, own, seed)
            else:
                self.state = _begun(self._journal, plan, seed)
        except (LookupError, TypeError, AttributeError) as error:
            self.close()
            told = f"makes no sense ({error!r}); --verify says where"
            raise JournalError(f"{journal}: {told}") from None
        except BaseException:
            self.close()
            raise

    def offer(self, person: Mapping[str, str], id: str = "", household: str = "") -> Decision:
        """Decide about a volunteer, given as `{feature: value}`, at once and for good.

        Whoever does not want to answer a question (`-`) is accepted with the mean chance of what
        they may be, and counts as the likeliest of these who is accepted. An `id` can call once,
        whatever its case. Of a `household` (any word) one person can have a seat.
        """
        record: Record = {"caller": self.state.seen + 1}
        if id:
            record["id"] = id
        if household:
            record["household"] = household
        return self._decide(record, person)

    def correct(self, number: int, person: Mapping[str, str]) -> Decision:
        """Change what was noted of a caller. A seat is kept; without one, it is decided again."""
        check_integer("number", number, 1)
        return self._decide({"corrected": int(number)}, person)

    def withdraw(self, number: int) -> None:
        """Free the seat of a caller who does not want it any more."""
        self._note("withdrawn", number)

    def seat_again(self, number: int) -> None:
        """Give a free seat to somebody who gave one back, or is on the reserve list."""
        self._note("seated again", number)

    def keep_in_reserve(self, number: int) -> None:
        """Note that a caller who was not accepted may be called back."""
        self._note("reserve", number)

    def decline(self, number: int) -> None:
        """Note that somebody on the reserve list does not want a seat any more."""
        self._note("declined", number)

    def revise(self, plan: Plan, reason: str) -> None:
        """Go on with another plan: other targets, tolerance, volunteers or size."""
        record = {"plan": plan, "reason": reason.strip()}
        self._check(record)
        self._happen(record)

    @property
    def head(self) -> str:
        """A fingerprint of the whole journal: once published, nothing before it can be changed."""
        return self._journal.head

    def close(self) -> None:
        """Let go of the journal."""
        self._journal.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return str(self.state)

    def _check(self, record: Record) -> None:
        if why := self.state.refusal(record):
            raise Refused(why)

    def _note(self, kind: str, number: int) -> None:
        """Something happens to a caller about which nothing is to be decided."""
        check_integer("number", number, 1)
        record = {kind: int(number)}
        self._check(record)
        self._happen(record)

    def _decide(self, record: Record, person: Mapping[str, str]) -> Decision:
        """Decide about somebody, write it, and say why."""
        self._check(record)
        record["person"], _ = self.state.read(person, this_year())
        record |= self.state.decide(record, len(self._journal.records))
        reason = self._reason(record)  # before it is taken in, which changes all
        self._happen(record)
        return Decision(number_of(record), record["accepted"], record.get("chance", 1.0), reason)

    def _reason(self, record: Record) -> str:
        if "chance" not in record:
            return "the seat was promised, and is kept"
        if self.state.is_of_seated_household(record):
            return "somebody of this household has a seat"
        return outlook.reason(self.state, record["type"], record["chance"], record["coin"])

    def _happen(self, record: Record) -> None:
        """Write a record, then take it in."""
        written = {**record, **_about()}
        if "plan" in record:  # what cannot be begun is not written
            plan = self.state.read_plan(record["plan"])
            plan.strategy.start(plan.problem, plan.size)
            written["plan"] = plan.record()
            record = {**record, "plan": plan}
        try:
            self._journal.append(written)
            self.state.take_in(record)
        except BaseException:
            self.close()  # taken in by half; opened again, the journal brings all of it back
            raise


def _begun(journal: Journal, plan: Plan | None, seed: int | None) -> State:
    """A recruitment that begins, with the first record of its journal."""
    if plan is None:
        raise JournalError(f"{journal.path}: is empty, and there is no plan to begin with")
    state = State(plan, secrets.randbits(64) if seed is None else seed)
    journal.append({"plan": plan.record(), "seed": state.seed, **_about()})
    return state


def _resumed(
    journal: Journal, plan: Plan | None, own: type[Strategy] | None, seed: int | None
) -> State:
    """The recruitment of a journal, if it is that of this plan and seed."""
    first, *others = journal.records
    if "forgotten" in first:
        raise JournalError(f"{journal.path}: its people were forgotten, so it cannot go on")
    if not {"plan", "seed"} <= {*first}:
        raise JournalError(f"{journal.path}: has no beginning, so it cannot go on")
    # A correction may have widened the band: that is no other desk.
    revised = [record["plan"] for record in others if {"plan", "reason"} <= {*record}]
    last = [first["plan"], *revised][-1]
    if seed not in (None, first["seed"]):
        told = f"whose seed is {first['seed']!r}, not {seed!r}"
        raise JournalError(f"{journal.path}: belongs to another desk, {told}")
    if plan is not None and plan.record() != last:
        told = _difference(last, plan)
        raise JournalError(f"{journal.path}: belongs to another desk, {told}")
    # A plan that is given need not be read: its strategy may be one that no journal can tell.
    if plan is None or last != first["plan"]:
        plan = Plan.read(first["plan"], own)
    state = State(plan, first["seed"])
    for record in others:
        state.take_in(record)
    return state


def _difference(last: Record, given: Plan) -> str:
    """In what two plans differ."""
    record = given.record()
    if last["size"] != record["size"]:
        return f"whose size is {last['size']}, not {record['size']}"
    ours = _strategy_in_words(record)
    theirs = _strategy_in_words(last)
    if ours != theirs:
        return f"whose strategy is {theirs}, not {ours}"
    return "with other targets or other volunteers"


def _strategy_in_words(plan: Record) -> str:
    return f"{plan['strategy'].split(':')[-1]} {plan['options']}"


def _check_all_words(problem: Problem) -> None:
    """Refuse features, and values of one feature, that cannot be told apart."""
    _check_words("features", problem.features)
    for feature, values in problem.features.items():
        _check_words(f"feature {feature!r}: the values", values)


def _check_words(what: str, words: Iterable[str]) -> None:
    """Refuse words that cannot be told apart."""
    known: dict[str, str] = {}
    for word in words:
        other = known.setdefault(same_word(word), word)
        if other != word:
            raise ValueError(f"{what} {other!r} and {word!r} are the same word at a desk")


def _about() -> Record:
    """When something is written, and by which version."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"time": now, "version": version("committees")}


def this_year() -> int:
    """The year from which years of birth are counted at a desk."""
    return datetime.now(UTC).year

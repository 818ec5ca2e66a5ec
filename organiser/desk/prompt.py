"""A desk at a prompt, for a person on the phone."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from organiser.csvfile import same_word
from organiser.desk.desk import Desk, Refused, this_year
from organiser.desk.outlook import FALSE_ALARMS

HELP = """\
Answer with the number before a value, the value, or its beginning; where values are ages, an age
or a year of birth will do; - if somebody does not want to say. At any question:
  progress     seats filled, and who has called so far
  wanted       who would be accepted now
  list         who is seated; list N for one caller
  withdraw N   caller N gives the seat back
  again N      caller N takes a free seat again, or is called back from the reserve list
  decline N    caller N does not want to be called back any more
  correct N    what was noted of caller N was wrong: ask again
  reserve      whom to call back for a free seat, in an order drawn by lot
  reserve N    caller N may be called back
  back         to the question before
  over         forget the answers about this caller, and ask again
  help         this text
  quit         close the desk (started again, it goes on from here)
"""
SELDOM_FALSE = (
    f"Such a warning is false in at most {FALSE_ALARMS:.0%} of recruitments. Advertise to that "
    "group, or relax its range with --revise."
)
COMMANDS = tuple(line.split()[0] for line in HELP.splitlines() if line.startswith("  "))


class _Over(Exception):
    """The answers about this caller are to be forgotten."""


class _Back(Exception):
    """To the question before."""


def run(desk: Desk, also: Sequence[str] = ()) -> None:
    """Ask, decide and tell, until the desk is closed; `also` for id or household."""
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            with contextlib.suppress(_Over):
                _call(desk, also)


def _call(desk: Desk, also: Sequence[str]) -> None:
    """Ask about one caller, and tell what was decided; if there is no seat, wait for one."""
    if desk.seated == desk.size:
        print(_progress(desk))
        _ask(desk, "\nThe committee is full: withdraw N, correct N, progress or quit > ", {})
    print(f"\nCaller {desk.seen + 1}")
    extra = {
        name: _ask(desk, f"  {name} (Enter if none) > ", {"": ""}, any_word=True) for name in also
    }
    person = _person(desk)
    _ask(desk, f"  {', '.join(person.values())}. Enter to decide, over to ask again > ", {"": ""})
    try:
        decision = desk.offer(person, **extra)
    except Refused as error:
        print(f"  {error}.")
        return
    word = "ACCEPTED" if decision else "not accepted"
    print(f"  Caller {decision.number} is {word}: {decision.reason}.", flush=True)
    for sentence in desk.late():
        print(f"  Beware, {sentence} (progress tells more).")
    if not decision:
        answers = {"": "no", "n": "no", "no": "no", "y": "yes", "yes": "yes"}
        if _ask(desk, "  May we call back if a seat falls free? y or n > ", answers) == "yes":
            print(_obey(desk, "reserve", str(decision.number)))


def _person(desk: Desk) -> dict[str, str]:
    """The answers to all questions."""
    features, person = list(desk.problem.features), dict[str, str]()
    while len(person) < len(features):
        feature = features[len(person)]
        offered, answers = _choices(desk.problem.features[feature])
        try:
            person[feature] = _ask(desk, f"  {feature}: {offered} > ", answers, feature)
        except _Back:
            person.popitem() if person else None
    return person


def _choices(values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """How values are offered, and what each answer means: a number, a value or its beginning."""
    words = {same_word(value): value for value in values}
    numbers = {str(number): value for number, value in enumerate(values, 1)}
    answers = {
        word[:end]: value
        for word, value in words.items()
        for end in range(1, len(word))
        if sum(other.startswith(word[:end]) for other in words) == 1
    }
    for taken in (*COMMANDS, *numbers):  # what could be meant otherwise is no beginning
        answers.pop(taken, None)
    answers["-"] = "-"
    mark = "\n    " if len(values) > 6 else ", "
    if any(word[0].isdigit() for word in words):
        return mark.join(values), answers | words
    return mark.join(f"{n} {value}" for n, value in numbers.items()), answers | numbers | words


def _ask(
    desk: Desk,
    question: str,
    answers: Mapping[str, str],
    feature: str = "",
    any_word: bool = False,
) -> str:
    """What one of these answers stands for; commands are carried out in between.

    Without answers, this returns as soon as a seat is free.
    """
    while answers or desk.seated == desk.size:
        given = input(question).strip()
        answer = same_word(given)
        command, _, rest = answer.partition(" ")
        if answer in answers:
            return answers[answer]
        if command in COMMANDS:
            if command == "quit":
                raise EOFError
            if command in ("over", "back"):
                raise _Back if command == "back" and feature else _Over
            print(_obey(desk, command, rest))
        elif any_word:
            return given
        elif (
            feature and answer.isdigit() and (found := desk.value_of(feature, answer, this_year()))
        ):
            return found
        else:
            print(f"  unknown answer {answer!r}; type help for help.")
    return ""


def _obey(desk: Desk, command: str, rest: str) -> str:
    """Carry out a command; what there is to say."""
    try:
        return _carry_out(desk, command, rest)
    except (Refused, ValueError) as error:
        return f"  {error}."


def _carry_out(desk: Desk, command: str, rest: str) -> str:
    if command == "help":
        return HELP
    if command == "progress":
        return _progress(desk)
    if command == "wanted":
        is_open = desk.open_values()
        return "\n".join(f"  {f}: {', '.join(own.index.get_level_values(1)[own])}"
                         for f, own in is_open.groupby(level=0, sort=False))  # fmt: skip
    if command == "reserve" and not rest:
        order = [
            f"  caller {n}: {', '.join(desk.callers[n].person.values())}" for n in desk.reserve()
        ]
        return "\n".join(order) or "  Nobody on the reserve list fits now."
    if command == "list" and not rest:
        return f"\n{desk.members().to_string() if desk.seats else desk}\n"
    if not rest.isdigit() or int(rest) not in desk.callers:
        return f"  Whose? Type {command} and the number of a caller."
    number, words = int(rest), ", ".join(desk.callers[int(rest)].person.values())
    if command == "list":
        return f"  Caller {number}: {words}, {'seated' if number in desk.seats else 'not seated'}."
    if command == "correct":
        print(f"  Caller {number} was noted as {words}. Now:")
        try:
            decision = desk.correct(number, _person(desk))
        except _Over:
            return "  Nothing was changed."
        return (
            f"  Caller {number} {'has a seat' if decision else 'has no seat'}: {decision.reason}."
        )
    if command == "again":
        desk.seat_again(number)
    elif command == "decline":
        desk.decline(number)
    elif command == "reserve":
        desk.keep_in_reserve(number)
    elif _is_sure(desk, f"  Caller {number} ({words}) gives the seat back? y or n > "):
        desk.withdraw(number)
    else:
        return "  Nothing was changed."
    return f"  {desk.last}. {desk}."


def _is_sure(desk: Desk, question: str) -> bool:
    try:
        return bool(_ask(desk, question, {"y": "y", "n": ""}))
    except _Over:
        return False


def _progress(desk: Desk) -> str:
    """The table, and how many people are still to come."""
    until_next, until_last = desk.ahead()
    told = f"About {until_next:,.0f} more callers until the next seat is filled"
    told += f", {until_last:,.0f} until the last." if until_last == until_last else "."
    late = [f"Beware, {sentence}." for sentence in desk.late()]
    late += [SELDOM_FALSE] if late else []
    table = desk.progress().round(1).to_string()
    return "\n".join(
        ["", table, "", f"{desk}.", *([told] if desk.seated < desk.size else []), *late]
    )

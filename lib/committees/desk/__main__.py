"""A desk at a prompt, for a person on the phone."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

from committees.assembly import read_assembly, same_word
from committees.cmdp import CMDP
from committees.desk import Desk, JournalError, Refused
from committees.greedy import Greedy
from committees.resolving import Resolving
from committees.rl_cmdp import RLCMDP
from committees.strategy import Strategy

STRATEGIES: dict[str, Callable[[float], Strategy]] = {
    "resolving": Resolving,
    "resolving-learning": lambda tolerance: Resolving(tolerance, learn=True),
    "greedy": Greedy,
    "cmdp": lambda tolerance: CMDP(),
    "rl-cmdp": lambda tolerance: RLCMDP(),
}

HELP = """\
Answer with the number of a value, the value, or its beginning. At any question:
  progress     the seats that are filled, and those that should be
  withdraw N   caller N gives the seat back
  over         forget the answers about this caller, and start with the next
  help         this text
  quit         close the desk (started again, it goes on from here)
"""


class _Over(Exception):
    """The answers about this caller are to be forgotten."""


def main(argv: list[str] | None = None) -> int:
    """Run the desk until it is full or closed."""
    arguments = _parser().parse_args(argv)
    try:
        assembly = read_assembly(arguments.targets, arguments.volunteers, arguments.size)
        strategy = STRATEGIES[arguments.strategy](arguments.tolerance)
        journal = arguments.journal or f"{Path(arguments.targets).stem}.journal"
        desk = Desk(
            strategy,
            assembly.problem,
            arguments.size,
            journal=journal,
            seed=arguments.seed,
            repair=arguments.repair,
        )
    except (ValueError, JournalError) as error:
        print(error, file=sys.stderr)
        return 2
    with desk, contextlib.suppress(EOFError, KeyboardInterrupt):
        print(f"{strategy}. {desk}. The journal is {journal}. Type help for help.")
        while desk.seated < desk.size:
            with contextlib.suppress(_Over):
                _call(desk)
        print(_progress(desk))
    print(f"\n{desk}.")
    return 0


def _call(desk: Desk) -> None:
    """Ask about one caller, and tell what was decided."""
    print(f"\nCaller {desk.seen + 1}")
    person = {}
    for feature, values in desk.problem.features.items():
        offered = "  ".join(f"{number} {value}" for number, value in enumerate(values, 1))
        person[feature] = _choose(desk, f"  {feature}: {offered} > ", values)
    _ask(desk, f"  {', '.join(person.values())}. Enter to decide, over to start again > ", {""})
    decision = desk.offer(person)
    word = "ACCEPTED" if decision else "not accepted"
    print(f"  Caller {decision.number} is {word}: {decision.reason}.")


def _choose(desk: Desk, question: str, values: tuple[str, ...]) -> str:
    numbers = {str(number): value for number, value in enumerate(values, 1)}
    words = {same_word(value): value for value in values}
    unique = {
        word[:end]: value
        for word, value in words.items()
        for end in range(1, len(word))
        if sum(other.startswith(word[:end]) for other in words) == 1
    }
    # A value may itself be a number ("1" children): then the value counts, not its place.
    known = {**unique, **numbers, **words}
    return known[_ask(desk, question, set(known))]


def _ask(desk: Desk, question: str, answers: set[str]) -> str:
    """One of these answers; commands are carried out in between."""
    while True:
        answer = same_word(input(question))
        if answer in answers:
            return answer
        command, _, rest = answer.partition(" ")
        if command == "quit":
            raise EOFError
        if command == "over":
            raise _Over
        if command == "progress":
            print(_progress(desk))
        elif command == "withdraw":
            print(_withdraw(desk, rest))
        elif command == "undo":
            print("  Decisions are announced at once and stay; a caller can withdraw.")
        elif command == "help":
            print(HELP)
        else:
            print(f"  {answer or 'That'!r} is no answer here; type help for help.")


def _withdraw(desk: Desk, number: str) -> str:
    try:
        desk.withdraw(int(number))
    except ValueError:
        return "  Whose seat? Type withdraw and the caller's number."
    except Refused as error:
        return f"  {error}."
    return f"  Caller {number} has given the seat back. {desk}."


def _progress(desk: Desk) -> str:
    table = desk.progress().round(1)
    return f"\n{table.to_string()}\n\n{desk}."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m committees.desk",
        description="Decide about volunteers one by one, as they call. Every decision is kept in "
        "a journal before it is shown; started again, the desk goes on where it ended.",
        epilog="example: python -m committees.desk data/examples/millbrook_targets.csv "
        "data/examples/millbrook_volunteers.csv --size 60",
    )
    parser.add_argument("targets", help="CSV: feature, value, target (or min, max in seats)")
    parser.add_argument("volunteers", help="CSV: feature, value, share; or a row per person")
    parser.add_argument("--size", type=int, required=True, help="the number of seats")
    parser.add_argument(
        "--strategy", choices=STRATEGIES, default="resolving", help="who decides (%(default)s)"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.02,
        help="how far from its target a share may end, for resolving and greedy (%(default)s)",
    )
    parser.add_argument("--journal", help="the journal's file (the targets' name, .journal)")
    parser.add_argument("--seed", type=int, help="where chance comes from (a new one)")
    parser.add_argument(
        "--repair", action="store_true", help="remove a last line that was cut short"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""A desk at a prompt, for a person on the phone."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable, Mapping
from itertools import count, islice, product
from pathlib import Path
from string import ascii_lowercase

from assembly.csvfile import same_word
from assembly.desk import Desk, JournalError, Refused
from assembly.files import TOLERANCE, read_assembly
from committees.beyond import FairCMDP
from committees.beyond.resolving import Resolving
from committees.greedy import Greedy, band
from committees.rl_cmdp import RLCMDP
from committees.strategy import Strategy

STRATEGIES: dict[str, Callable[[float], Strategy]] = {
    "resolving": Resolving,
    "resolving-learning": lambda tolerance: Resolving(tolerance, learn=True),
    "greedy": Greedy,
    "cmdp": lambda tolerance: FairCMDP(),  # the table for the door
    "rl-cmdp": lambda tolerance: RLCMDP(scale=0.1),
}

COMMANDS = ("progress", "list", "withdraw", "over", "undo", "help", "quit")

HELP = """\
Answer with the mark before a value, the value, or its beginning. At any question:
  progress     the seats that are filled, and those that should be
  list         who is seated
  withdraw N   caller N gives the seat back
  over         forget the answers about this caller, and ask again
  help         this text
  quit         close the desk (started again, it goes on from here)
"""


class _Over(Exception):
    """The answers about this caller are to be forgotten."""


def main(argv: list[str] | None = None) -> int:
    """Run the desk until it is full or closed."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a name that cannot be shown is no reason to stop
    try:
        assembly = read_assembly(arguments.targets, arguments.volunteers, arguments.size)
        tolerance = arguments.tolerance
        if tolerance is None:
            tolerance = assembly.usual_tolerance
        strategy = STRATEGIES[arguments.strategy](tolerance)
        journal = Path(arguments.journal or Path(arguments.targets).with_suffix(".journal"))
        members = arguments.members and Path(arguments.members)
        if members and members.exists():
            raise ValueError(f"{members}: is there already; choose another name")
        begun = journal.exists()
        if members and not begun:
            raise ValueError(f"{journal}: there is no such journal, so nobody is seated")
        if begun:
            print(f"Reading the journal {journal.resolve()}.", flush=True)
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
    except KeyboardInterrupt:
        return 130
    if members:
        with desk:
            return _export(desk, members)
    print(f"{strategy}. {desk}. Type help for help.")
    print(f"The journal {journal.resolve()} is {'continued' if begun else 'new'}.")
    if desk.last:
        print(f"{desk.last}.")
    widest = assembly.tolerance
    if widest is not None and not isinstance(strategy, Resolving):
        print(f"Beware: {strategy} may miss the min and max of the file; Resolving keeps to them.")
    elif widest is not None and tolerance > widest:
        print(f"Beware: above a tolerance of {widest:g} the min and max of the file may be missed.")
    if isinstance(strategy, RLCMDP):
        print(
            f"Beware: {strategy} takes most people while it learns, and may end far from targets."
        )
    try:
        with desk, contextlib.suppress(EOFError, KeyboardInterrupt):
            while True:
                with contextlib.suppress(_Over):
                    _call(desk)
    except JournalError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"\n{desk}.")
    return 0


def _call(desk: Desk) -> None:
    """Ask about one caller, and tell what was decided; if there is no seat, wait for one."""
    if desk.seated == desk.size:
        print(_progress(desk))
        while desk.seated == desk.size:
            _ask(desk, "\nThe committee is full: withdraw N, progress or quit > ", {})
    print(f"\nCaller {desk.seen + 1}")
    person = {}
    for feature, values in desk.problem.features.items():
        marks = _marks(values)
        offered = "  ".join(f"{mark} {value}" for mark, value in zip(marks, values, strict=True))
        answers = _answers(marks, values)
        person[feature] = _ask(desk, f"  {feature}: {offered} > ", answers)
    ready = f"  {', '.join(person.values())}. Enter to decide, over to start again > "
    _ask(desk, ready, {"": ""})
    decision = desk.offer(person)
    word = "ACCEPTED" if decision else "not accepted"
    print(f"  Caller {decision.number} is {word}: {decision.reason}.", flush=True)
    desk.prepare()


def _marks(values: tuple[str, ...]) -> list[str]:
    """Numbers to answer with, or letters where the values might themselves be taken for numbers."""
    numbers = [str(number) for number in range(1, len(values) + 1)]
    long = next(n for n in count(1) if len(ascii_lowercase) ** n >= len(values))
    letters = islice(map("".join, product(ascii_lowercase, repeat=long)), len(values))
    words = [same_word(value) for value in values]
    for marks in (numbers, list(letters)):
        if not any(word.startswith(mark) for word in words for mark in marks):
            return marks
    return [f".{number}" for number in numbers]


def _answers(marks: list[str], values: tuple[str, ...]) -> dict[str, str]:
    """What may be answered: the mark of a value, the value, or the beginning of one alone.

    A number that could be meant to count the values is no beginning.
    """
    words = {same_word(value): value for value in values}
    taken = {*COMMANDS, *map(str, range(1, len(values) + 1))}
    beginnings = {
        word[:end]: value
        for word, value in words.items()
        for end in range(1, len(word))
        if sum(other.startswith(word[:end]) for other in words) == 1 and word[:end] not in taken
    }
    return {**beginnings, **dict(zip(marks, values, strict=True)), **words}


def _ask(desk: Desk, question: str, answers: Mapping[str, str]) -> str:
    """What one of these answers stands for; commands are carried out in between."""
    while True:
        answer = same_word(input(question))
        if answer in answers:
            return answers[answer]
        command, _, rest = answer.partition(" ")
        if command == "quit":
            raise EOFError
        if command == "over":
            raise _Over
        if command == "progress":
            print(_progress(desk))
        elif command == "list":
            print(f"\n{desk.members().to_string() if desk.seats else desk}\n")
        elif command == "withdraw":
            print(_withdraw(desk, rest))
            if not answers and desk.seated < desk.size:
                return ""
        elif command == "undo":
            try:
                desk.undo()
            except Refused as error:
                print(f"  {error}.")
        elif command == "help":
            print(HELP)
        else:
            print(f"  {answer!r} is no answer here; type help for help.")


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
    if isinstance(desk.strategy, Resolving):
        table["fewest"], table["most"] = band(desk.problem, desk.size, desk.strategy.tolerance)
    return f"\n{table.to_string()}\n\n{desk}."


def _export(desk: Desk, path: Path) -> int:
    """Leave a table of who is seated, and do no more."""
    try:
        desk.members().to_csv(path, lineterminator="\n")
    except OSError as error:
        print(f"{path}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    print(f"{desk}. Who is seated stands in {path.resolve()}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m assembly.desk",
        description="Decide about volunteers one by one, as they call. Every decision is kept in "
        "a journal before it is shown; started again, the desk goes on where it ended.",
        epilog="example: python -m assembly.desk data/examples/millbrook_targets.csv "
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
        help="how far from its target a share may end, for resolving and greedy "
        f"({TOLERANCE}, or less if the min and max of the targets ask for it)",
    )
    parser.add_argument("--journal", help="the journal's file (beside the targets, .journal)")
    parser.add_argument(
        "--members", metavar="FILE", help="write who is seated to a new CSV file, and stop"
    )
    parser.add_argument("--seed", type=int, help="where chance comes from (a new one)")
    parser.add_argument(
        "--repair", action="store_true", help="remove a last line that was cut short"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

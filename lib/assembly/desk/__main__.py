"""A desk at a prompt, for a person on the phone."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from assembly.csvfile import same_word
from assembly.desk import Desk, JournalError, Refused
from assembly.files import Assembly, read_assembly
from assembly.strategies import STRATEGIES, USUAL_TOLERANCE, choose_tolerance
from committees.beyond import Foresight
from committees.rl_cmdp import RLCMDP

HELP = """\
Answer with the number before a value, the value, or its beginning. At any question:
  progress     the seats that are filled, and those that should be
  list         who is seated
  withdraw N   caller N gives the seat back
  over         forget the answers about this caller, and ask again
  help         this text
  quit         close the desk (started again, it goes on from here)
"""
COMMANDS = ("progress", "list", "withdraw", "over", "help", "quit")


class _Over(Exception):
    """The answers about this caller are to be forgotten."""


def main(argv: list[str] | None = None) -> int:
    """Run the desk until it is closed; the exit code is 0 if all went well."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a word that cannot be shown is no reason to stop
    try:
        assembly = read_assembly(arguments.targets, arguments.volunteers, arguments.size)
        with _open(arguments, assembly) as desk:
            if arguments.members:
                _save_members(desk, Path(arguments.members).resolve())
                return 0
            _greet(desk, assembly.max_tolerance)
            with contextlib.suppress(EOFError, KeyboardInterrupt):
                while True:
                    with contextlib.suppress(_Over):
                        _call(desk)
    except (ValueError, JournalError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(f"\n{desk.last}.\n{desk}." if desk.last else f"\n{desk}.")  # Ctrl-C may have hidden it
    return 0


def _open(arguments: argparse.Namespace, assembly: Assembly) -> Desk:
    tolerance = choose_tolerance(assembly, arguments.tolerance)
    strategy = STRATEGIES[arguments.strategy](tolerance)
    journal = Path(arguments.journal or Path(arguments.targets).with_suffix(".journal")).resolve()
    if arguments.members and not journal.exists():
        raise ValueError(f"{journal}: there is no such journal, so nobody is seated")
    print(f"The journal {journal} is {'continued' if journal.exists() else 'new'}.", flush=True)
    return Desk(strategy, assembly.problem, arguments.size, journal=journal, seed=arguments.seed)


def _greet(desk: Desk, max_tolerance: float) -> None:
    """Say who decides, what was decided last, and what to beware of."""
    strategy = desk.strategy
    print(f"{strategy}. {desk}. Type help for help.")
    if desk.last:
        print(f"{desk.last}.")
    if max_tolerance < 1 and not isinstance(strategy, Foresight):
        print(f"Beware: {strategy} may miss the file's min and max; Foresight keeps to them.")
    elif isinstance(strategy, Foresight) and strategy.tolerance > max_tolerance:
        print(f"Beware: with a tolerance above {max_tolerance:g} min and max may be missed.")
    if isinstance(strategy, RLCMDP):
        print(f"Beware: {strategy} takes most people while it learns, and may miss the targets.")


def _call(desk: Desk) -> None:
    """Ask about one caller, and tell what was decided; if there is no seat, wait for one."""
    if desk.seated == desk.size:
        print(_progress(desk))
        _ask(desk, "\nThe committee is full: withdraw N, progress or quit > ", {})
    print(f"\nCaller {desk.seen + 1}")
    person = {}
    for feature, values in desk.problem.features.items():
        offered, answers = _choices(values)
        person[feature] = _ask(desk, f"  {feature}: {offered} > ", answers)
    _ask(desk, f"  {', '.join(person.values())}. Enter to decide, over to ask again > ", {"": ""})
    decision = desk.offer(person)
    word = "ACCEPTED" if decision else "not accepted"
    print(f"  Caller {decision.number} is {word}: {decision.reason}.", flush=True)


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
    if any(word[0].isdigit() for word in words):
        return ", ".join(values), answers | words
    return ", ".join(f"{n} {value}" for n, value in numbers.items()), answers | numbers | words


def _ask(desk: Desk, question: str, answers: Mapping[str, str]) -> str:
    """What one of these answers stands for; commands are carried out in between.

    Without answers, this returns as soon as a seat is free.
    """
    while answers or desk.seated == desk.size:
        answer = same_word(input(question))
        command, _, rest = answer.partition(" ")
        if answer in answers:
            return answers[answer]
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
        elif command == "help":
            print(HELP)
        else:
            print(f"  unknown answer {answer!r}; type help for help.")
    return ""


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
    if isinstance(desk.strategy, Foresight):
        table["fewest"], table["most"] = desk.strategy.band(desk.problem, desk.size)
    return f"\n{table.to_string()}\n\n{desk}."


def _save_members(desk: Desk, path: Path) -> None:
    try:
        desk.members().to_csv(path, lineterminator="\n", mode="x")
    except OSError as error:
        raise ValueError(f"{path}: cannot be written ({error.strerror})") from None
    print(f"{desk}. Who is seated stands in {path}.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m assembly.desk",
        description="Decide about volunteers one by one, as they call. Every decision is kept in "
        "a journal before it is shown; started again, the desk goes on where it ended.",
        epilog="example: python -m assembly.desk data/examples/millbrook_targets.csv "
        "data/examples/millbrook_volunteers.csv --size 60",
    )
    add = parser.add_argument
    add("targets", help="CSV: feature, value, target (or min, max in seats)")
    add("volunteers", help="CSV: feature, value, share; or a row per person")
    add("--size", type=int, required=True, help="the number of seats")
    add("--strategy", choices=STRATEGIES, default="foresight", help="who decides (%(default)s)")
    add(
        "--tolerance",
        type=float,
        help="how far from its target a share may end, for foresight and greedy "
        f"({USUAL_TOLERANCE}, or less if the min and max of the targets ask for it)",
    )
    add("--journal", help="the journal's file (beside the targets, .journal)")
    add("--members", metavar="FILE", help="write who is seated to a new CSV file, and stop")
    add("--seed", type=int, help="where chance comes from (a new one)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

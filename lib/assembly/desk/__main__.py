"""The desk from the shell: at a prompt, in a browser, or for a file of answers."""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from assembly.csvfile import CsvFile, same_word
from assembly.desk import audit, prompt
from assembly.desk.desk import Desk, Refused
from assembly.desk.journal import JournalError
from assembly.desk.plan import Plan
from assembly.files import Assembly, read_assembly
from assembly.strategies import STRATEGIES, USUAL_TOLERANCE, choose
from committees.beyond import Foresight


def main(argv: list[str] | None = None) -> int:
    """Run the desk until it is closed; the exit code is 0 if all went well."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a word that cannot be shown is no reason to stop
    try:
        return _run(arguments)
    except (ValueError, JournalError, Refused) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.journal or Path(arguments.targets).with_suffix(".journal")).resolve()
    if arguments.verify:
        wrong, head = audit.verify(path)
        print(wrong or "Everything in the journal was decided again, and came out the same.")
        print(f"Its fingerprint is {head}.")
        return 1 if wrong else 0
    if arguments.forget:
        audit.forget(path)
        print(f"{path}: nothing is left but the plan, counts and members.")
        return 0
    assembly = read_assembly(arguments.targets, arguments.volunteers, arguments.size)
    plan = Plan(
        choose(arguments.strategy, assembly, arguments.tolerance), assembly.problem, arguments.size
    )
    if arguments.rehearse:
        with tempfile.TemporaryDirectory() as folder:
            return _serve(arguments, plan, assembly, Path(folder, "rehearsal.journal"))
    if arguments.members and not path.exists():
        raise ValueError(f"{path}: there is no such journal, so nobody is seated")
    print(f"The journal {path} is {'continued' if path.exists() else 'new'}.", flush=True)
    return _serve(arguments, plan, assembly, path)


def _serve(arguments: argparse.Namespace, plan: Plan, assembly: Assembly, path: Path) -> int:
    given = (None,) * 3 if arguments.revise else (plan.strategy, plan.problem, plan.size)
    with Desk(*given, journal=path, seed=arguments.seed) as desk:
        if arguments.revise:
            desk.revise(plan, arguments.revise)
        if arguments.members:
            _save(desk.members(), Path(arguments.members))
            print(f"{desk}. Who is seated stands in {arguments.members}.")
            return 0
        if arguments.answers:
            return _batch(desk, arguments.answers, arguments.decisions)
        if arguments.rehearse:
            _invent(desk, arguments.rehearse)
        print(f"{desk.strategy}. {desk}. Type help for help.")
        print(f"{desk.last}." if desk.last else assembly.summary)
        if assembly.seats and not isinstance(desk.strategy, Foresight):
            print(
                f"Beware: {desk.strategy} may miss the file's min and max; Foresight keeps to them."
            )
        if arguments.browser:
            from assembly.desk.browser import serve

            serve(desk)
        else:
            prompt.run(desk)
        print(f"\nThe journal's fingerprint is {desk.head}.")
        if desk.last:
            print(f"{desk.last}.")  # Ctrl-C may have hidden it
        print(f"{desk}.")
    return 0


def _invent(desk: Desk, people: int) -> None:
    """A rehearsal: callers who are drawn by lot from the volunteers of the plan."""
    rng = np.random.default_rng(desk.seed)
    for type_id in rng.choice(len(desk.problem.p), people, p=desk.problem.p):
        if desk.seated == desk.size:
            break
        person = dict(zip(desk.problem.features, desk.problem.index[type_id], strict=True))
        decision = desk.offer(person)
        word = "ACCEPTED" if decision else "not accepted"
        print(
            f"Caller {decision.number} ({', '.join(person.values())}) is {word}: {decision.reason}."
        )


def _batch(desk: Desk, answers: str, decisions: str) -> int:
    """Decide about the rows of a file that were not decided before, in their order, by their id."""
    file, known = CsvFile(answers), {caller.id for caller in desk.callers.values()}
    file.require(["id", *map(same_word, desk.problem.features)], "an id, and a column per feature")
    people = []
    for line, row in file.rows:
        person = {feature: row[same_word(feature)] or "-" for feature in desk.problem.features}
        if not row["id"]:
            file.complain(f"line {line}: the id is missing")
        elif row["id"] not in known:
            people.append((row["id"], person))
            try:
                desk.read(person, 0)
            except ValueError as error:
                file.complain(f"line {line}: {error}")
    file.stop_if_bad()
    rows: list[tuple[str, object, str, str]] = []
    for name, person in people:
        if desk.seated == desk.size:
            rows.append((name, "", "not decided", f"all {desk.size} seats are filled"))
            continue
        decision = desk.offer(person, id=name)
        word = "accepted" if decision else "not accepted"
        rows.append((name, decision.number, word, decision.reason))
    frame = pd.DataFrame(rows, columns=["id", "caller", "decision", "reason"])
    _save(frame.set_index("id"), Path(decisions))
    print(f"{len(rows)} new rows. {desk}. What was decided stands in {decisions}.")
    return 0


def _save(frame: pd.DataFrame, path: Path) -> None:
    try:
        frame.to_csv(path, lineterminator="\n", mode="x")
    except OSError as error:
        raise ValueError(f"{path.resolve()}: cannot be written ({error.strerror})") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m assembly.desk",
        description="Decide about volunteers one by one, as they call. Every decision is kept in "
        "a journal before it is shown; started again, the desk goes on where it ended.",
        epilog="example: python -m assembly.desk data/examples/millbrook_targets.csv "
        "data/examples/millbrook_volunteers.csv --size 60 --browser",
    )
    add = parser.add_argument
    add("targets", help="CSV: feature, value, min, max in seats; or feature, value, target")
    add("volunteers", help="CSV: feature, value, share; or a row per person")
    add("--size", type=int, required=True, help="the number of seats")
    add("--browser", action="store_true", help="work in a browser on this machine")
    names = f"{', '.join(STRATEGIES)}, or module:Class"
    add("--strategy", default="foresight", help=f"who decides: {names} (%(default)s)")
    add("--tolerance", type=float, help="how far from its target a share may end, where the file "
        f"has no min and max ({USUAL_TOLERANCE})")  # fmt: skip
    add("--journal", help="the journal's file (beside the targets, .journal)")
    add("--revise", metavar="REASON", help="go on with other files, size or tolerance than before")
    add("--members", metavar="FILE", help="write who is seated to a new CSV file, and stop")
    add("--from", dest="answers", metavar="FILE", help="decide about the new rows of a CSV file")
    add(
        "--to",
        dest="decisions",
        metavar="FILE",
        default="decisions.csv",
        help="and write them here",
    )
    add(
        "--rehearse", type=int, metavar="N", help="try it out with N invented callers; kept nowhere"
    )
    add("--verify", action="store_true", help="decide everything in the journal again, and stop")
    add("--forget", action="store_true", help="leave only counts and members in the journal")
    add("--seed", type=int, help="where chance comes from (a new one)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

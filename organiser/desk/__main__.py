"""The desk from the shell: in a browser, or for a file of answers."""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path

import numpy as np

from committees.beyond.registry import find_class
from committees.checks import check_integer
from organiser.csvfile import harmless
from organiser.desk import audit
from organiser.desk.batch import decide_file
from organiser.desk.desk import Desk, Refused
from organiser.desk.journal import JournalError
from organiser.desk.plan import Plan
from organiser.extra import MissingExtra, need_desk
from organiser.files import Assembly, read_assembly
from organiser.strategies import STRATEGIES, USUAL_TOLERANCE, choose


def main(argv: list[str] | None = None) -> int:
    """Run the desk until it is closed; the exit code is 0 if all went well."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a word that cannot be shown is no reason to stop
    try:
        return _run(arguments)
    except (ValueError, JournalError, Refused, MissingExtra) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _run(arguments: argparse.Namespace) -> int:
    """Look at a journal and stop, or open a desk."""
    if arguments.journal is None and arguments.targets is None:
        raise ValueError("expected TARGETS, VOLUNTEERS and --size, or the --journal to look at")
    path = Path(arguments.journal or Path(arguments.targets).with_suffix(".journal")).resolve()
    own = find_class(arguments.strategy) if ":" in arguments.strategy else None
    if arguments.verify is not None:
        return _verify(path, arguments.verify, own)
    if arguments.forget:
        audit.forget(path, own)
        print(f"{path}: nothing is left but the plan, counts and members.")
        return 0
    if arguments.members:
        return _write_members(path, Path(arguments.members), own)
    return _recruit(arguments, path)


def _verify(path: Path, fingerprint: str, own: audit.Own) -> int:
    """Say whether all was decided as it is written, and when a fingerprint was the journal's."""
    wrong, heads = audit.verify(path, own)
    print(wrong or "Everything in the journal was decided again, and came out the same.")
    if fingerprint in heads:
        print(
            f"{fingerprint} was its fingerprint after record {heads.index(fingerprint) + 1}: "
            "nothing until there was changed since."
        )
    elif fingerprint:
        wrong = f"{fingerprint} was never its fingerprint: something was changed since."
        print(wrong)
    print(f"Its fingerprint is {heads[-1]}.")
    return 1 if wrong else 0


def _write_members(path: Path, table: Path, own: audit.Own) -> int:
    """Write who is seated to a file that does not exist yet."""
    members = audit.members(path, own)
    try:
        members.map(harmless).to_csv(table, lineterminator="\n", mode="x", encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{table.resolve()}: cannot be written ({error.strerror})") from None
    print(f"{len(members)} people are seated. Who they are stands in {table}.")
    return 0


def _recruit(arguments: argparse.Namespace, path: Path) -> int:
    """Open a desk on its journal; a rehearsal on one that is thrown away."""
    given = arguments.targets, arguments.volunteers, arguments.size
    if None in given:
        raise ValueError("expected TARGETS, VOLUNTEERS and --size")
    is_rehearsal = arguments.rehearse is not None
    if is_rehearsal:
        check_integer("--rehearse", arguments.rehearse, 0)
        if arguments.answers or arguments.revise:
            raise ValueError("--rehearse keeps nothing: it goes with neither --from nor --revise")
    if not arguments.answers:
        need_desk("the desk in the browser")
    assembly = read_assembly(*given)
    strategy = choose(arguments.strategy, assembly, arguments.tolerance)
    plan = Plan(strategy, assembly.problem, arguments.size)
    if is_rehearsal:
        with tempfile.TemporaryDirectory() as folder:
            return _work(arguments, plan, assembly, Path(folder, "rehearsal.journal"))
    print(f"The journal {path} is {'continued' if path.exists() else 'new'}.", flush=True)
    return _work(arguments, plan, assembly, path)


def _work(arguments: argparse.Namespace, plan: Plan, assembly: Assembly, path: Path) -> int:
    """Decide about a file of answers, or about whoever is entered in the browser."""
    given = (None, None) if arguments.revise else (plan.problem, plan.size)
    with Desk(plan.strategy, *given, journal=path, seed=arguments.seed) as desk:
        if arguments.revise:
            desk.revise(plan, arguments.revise)
        if arguments.answers:
            decide_file(desk, Path(arguments.answers), Path(arguments.decisions))
            return 0
        _serve(arguments, desk, plan, assembly)
    return 0


def _serve(arguments: argparse.Namespace, desk: Desk, plan: Plan, assembly: Assembly) -> None:
    """Serve the desk until it is closed."""
    from organiser.desk.browser import serve  # needs what may not be installed

    title = "Desk"
    if arguments.rehearse is not None:
        title = "Rehearsal"
        print("A rehearsal: nothing of it is kept.")
        _invent(desk, arguments.rehearse)
    print(f"{desk.state.strategy}. {desk}.")
    print(f"{desk.state.last}." if desk.state.last else assembly.summary)
    if _may_miss(plan, assembly):
        print(f"Beware: {plan.strategy} may miss the file's min and max; Foresight keeps to them.")
    serve(desk, is_shown=not arguments.no_open, title=title)
    print(f"The journal's fingerprint is {desk.head}.")
    if desk.state.last:
        print(f"{desk.state.last}.")  # Ctrl-C may have hidden it
    print(f"{desk}.")


def _may_miss(plan: Plan, assembly: Assembly) -> bool:
    """Whether a committee may end outside the file's min and max."""
    if assembly.seats is None:
        return False
    if plan.band is None:
        return True
    low, high = plan.band
    fewest, most = assembly.seats
    return bool((low < fewest).any() or (high > most).any())


def _invent(desk: Desk, people: int) -> None:
    """A rehearsal: callers who are drawn by lot from the volunteers of the plan."""
    problem = desk.state.problem
    rng = np.random.default_rng(desk.state.seed)
    for type_id in rng.choice(len(problem.p), people, p=problem.p):
        if desk.state.is_full:
            break
        person = dict(zip(problem.features, problem.index[type_id], strict=True))
        decision = desk.offer(person)
        word = "ACCEPTED" if decision else "not accepted"
        words = ", ".join(person.values())
        print(f"Caller {decision.number} ({words}) is {word}: {decision.reason}.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="assembly-desk",
        description="Decide about volunteers one by one, as they call. Every decision is kept in "
        "a journal before it is shown; started again, the desk goes on where it ended.",
        epilog="example: assembly-desk data/examples/millbrook_targets.csv "
        "data/examples/millbrook_volunteers.csv --size 60",
    )
    add = parser.add_argument
    add(
        "targets",
        nargs="?",
        help="CSV: feature, value, min, max in seats; or feature, value, target",
    )
    add("volunteers", nargs="?", help="CSV: feature, value, share; or a row per person")
    add("--size", type=int, help="the number of seats")
    add("--no-open", action="store_true", help="serve the desk, and open no window of a browser")
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
    add("--verify", nargs="?", const="", metavar="FINGERPRINT", help="decide everything in the "
        "journal again, look for a fingerprint that was published, and stop")  # fmt: skip
    add("--forget", action="store_true", help="leave only counts and members in the journal")
    add("--seed", type=int, help="where chance comes from (a new one)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

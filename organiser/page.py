"""A page that answers an organiser: how many people to plan for, and what would make it fewer.

`assembly-page TARGETS VOLUNTEERS --size K` writes one file to open or to print.
"""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom
from tqdm import tqdm

from committees.checks import FloatArray, check_integer
from committees.problem import Problem
from committees.strategy import Strategy
from organiser.advice import relaxations
from organiser.extra import MissingExtra, need_desk
from organiser.files import Assembly, read_assembly
from organiser.ranges import Seats
from organiser.strategies import USUAL_TOLERANCE, choose

#: Recruitments that the numbers of the page rest on.
RUNS = 400
#: Recruitments for each other band in its table.
OTHER_RUNS = 100
#: Where their randomness comes from.
SEED = 2021
#: Bands beside the file's own: so many seats further on both sides.
FURTHER = (1, 2)
#: Bands beside that of a tolerance: the next of these.
TOLERANCES = (0.02, 0.03, 0.05, 0.1, 0.2)
#: People with a smaller chance than this of being accepted are counted.
SMALL_CHANCE = 0.02
#: In so many of all recruitments the people planned for suffice.
ENOUGH = 0.9


@dataclass(frozen=True)
class Rehearsal:
    """Recruitments that were tried out.

    Attributes
    ----------
    people : ndarray of int, per run
        How many were seen until all seats were filled.
    chance : ndarray of float, per type
        The chance of being accepted, for somebody who calls at a random moment.
    """

    people: FloatArray
    chance: FloatArray


def rehearse(rule: Strategy, problem: Problem, size: int, runs: int, bar: Any = None) -> Rehearsal:
    """Try out a strategy that knows p: between two seats nothing changes, so people are skipped.

    As `recruit` does, which does not tell whom the strategy wanted at each seat: recruiting again
    to ask would take twice as long.
    """
    people = np.zeros(runs)
    chance = np.zeros(len(problem.p))
    expected = 0.0
    for run in range(runs):
        rng = np.random.default_rng([SEED, run])
        session = rule.start(problem, size)
        for _ in range(size):
            accepted_mass = problem.p * session.acceptance
            rate = accepted_mass.sum()
            chance += session.acceptance / rate
            expected += 1 / rate
            people[run] += rng.geometric(min(rate, 1.0))
            type_id = int(rng.choice(len(problem.p), p=accepted_mass / rate))
            session.see_one(type_id, True)
        if bar is not None:
            bar.update()
    return Rehearsal(people, chance / expected)


def answers(
    assembly: Assembly, size: int, tolerance: float | None, calls: int | None
) -> dict[str, Any]:
    """All that the page says, in words and numbers."""
    problem = assembly.problem
    rule = choose("foresight", assembly, tolerance)
    others = list(_other_bands(assembly, USUAL_TOLERANCE if tolerance is None else tolerance, size))
    with tqdm(total=RUNS + OTHER_RUNS * len(others), disable=None, desc="recruiting") as bar:
        own = rehearse(rule, problem, size, RUNS, bar)
        table = [("as it is", own)]
        for words, other in others:
            table.append((words, rehearse(other, problem, size, OTHER_RUNS, bar)))
    plan = _enough(own.people)
    most_people = np.quantile(own.people, 0.99)
    steps = {*np.linspace(size, most_people, 8).astype(int), calls or plan}
    savings = relaxations(problem, size, 1 / size)
    return {
        "size": size,
        "summary": assembly.summary,
        "plan": plan,
        "plan_between": _plan_between(own.people),
        "people": _mean(own.people),
        "has_ranges": assembly.seats is not None,
        "bands": [(words, _mean(one.people), _enough(one.people)) for words, one in table],
        "enough": [(step, (own.people <= step).mean()) for step in sorted(steps)],
        "calls": calls,
        "calls_chance": None if calls is None else (own.people <= calls).mean(),
        "savings": savings[savings["saved"] > 0.5].head(3).to_dict("records"),
        "small": SMALL_CHANCE,
        "runs": RUNS,
        **_groups(rule, problem, size, own.chance),
    }


def _groups(rule: Strategy, problem: Problem, size: int, chance: FloatArray) -> dict[str, Any]:
    """What the page says of groups and types: their seats, and who has which chance."""
    band = rule.band(problem, size)
    assert band is not None  # whatever Foresight is given, it keeps to a band
    low, high = band
    wanted = size * problem.rho
    share = np.where(problem.presence > 0, problem.presence, np.nan)  # whom nobody has, has none
    by_group = problem.incidence @ (problem.p * chance) / share
    names = [f"{feature} {value}" for feature, value in problem.labels]
    least = int(np.nanargmin(by_group))
    most = int(np.nanargmax(by_group))
    rarest = int(np.where(problem.p > 0, chance, np.inf).argmin())
    return {
        "off": float(np.maximum(high - wanted, wanted - low).max()),
        "groups": list(zip(names, low, high, problem.presence, by_group, strict=True)),
        "least": (names[least], by_group[least]),
        "most": (names[most], by_group[most]),
        "rarest": (", ".join(map(str, problem.index[rarest])), chance[rarest]),
        "few": float(problem.p[chance < SMALL_CHANCE].sum()),
    }


def _other_bands(assembly: Assembly, tolerance: float, size: int) -> Iterator[tuple[str, Strategy]]:
    """Strategies with wider bands, and what to call them."""
    if assembly.seats is None:
        for wider in [other for other in TOLERANCES if other > tolerance][:2]:
            words = f"tolerance {wider:g}: {wider * size:.1f} seats"
            yield words, choose("foresight", assembly, wider)
        return
    if assembly.flex is not None and assembly.flex != assembly.seats:
        flexible = replace(assembly, seats=assembly.flex)
        yield "as far as the file's flex allows", choose("foresight", flexible)
    low = np.array(assembly.seats[0])
    high = np.array(assembly.seats[1])
    for more in FURTHER:
        seats: Seats = tuple(np.maximum(low - more, 0).tolist()), tuple((high + more).tolist())
        words = f"every min and max {more} seat{'s' * (more > 1)} further"
        yield words, choose("foresight", replace(assembly, seats=seats))


def _enough(people: FloatArray) -> int:
    return int(np.quantile(people, ENOUGH))


def _plan_between(people: FloatArray) -> tuple[int, int]:
    """Between which numbers of people what suffices lies, with a confidence of 95 %."""
    places = binom.ppf([0.025, 0.975], len(people), ENOUGH).astype(int) - [1, 0]
    ranked = np.sort(people).astype(int)
    low, high = ranked[np.minimum(places, len(people) - 1)].tolist()
    return low, high


def _mean(people: FloatArray) -> str:
    """A mean with half of its 95 % interval."""
    half_width = 1.96 * people.std(ddof=1) / len(people) ** 0.5
    return f"{people.mean():,.0f} ± {half_width:,.0f}"


def write(facts: dict[str, Any], path: Path) -> None:
    """Write the page, completely or not at all."""
    from tornado.template import Loader  # may not be installed

    html = Loader(str(Path(__file__).parent)).load("page.html").generate(**facts)
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_bytes(html)
    os.replace(temporary, path)


def main(argv: list[str] | None = None) -> int:
    """Make the page; the exit code is 0 if all went well."""
    arguments = _parser().parse_args(argv)
    out = arguments.out or Path(arguments.targets).with_suffix(".html")
    try:
        need_desk("the page")
        if arguments.calls is not None:
            check_integer("calls", arguments.calls, 1)
        assembly = read_assembly(arguments.targets, arguments.volunteers, arguments.size)
        facts = answers(assembly, arguments.size, arguments.tolerance, arguments.calls)
        write(facts, out)
    except (ValueError, OSError, MissingExtra) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Plan for {facts['plan']:,} people; in 1 of 10 cases more. The page is {out.resolve()}.")
    if arguments.show:
        webbrowser.open(out.resolve().as_uri())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="assembly-page",
        description="How many people to plan for, and what would make it fewer: one page.",
        epilog="example: assembly-page data/examples/millbrook_targets.csv "
        "data/examples/millbrook_volunteers.csv --size 60",
    )
    add = parser.add_argument
    add("targets", help="CSV: feature, value, min, max in seats; or feature, value, target")
    add("volunteers", help="CSV: feature, value, share; or a row per person")
    add("--size", type=int, required=True, help="the number of seats")
    add("--calls", type=int, help="how likely is it that so many calls suffice?")
    add("--tolerance", type=float, help="how far from its target a share may end, where the file "
        f"has no min and max ({USUAL_TOLERANCE})")  # fmt: skip
    add("--out", type=Path, help="the file to write (beside the targets, .html)")
    add("--show", action="store_true", help="open the page in a browser")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""A page that answers an organiser: how many people to plan for, and what would make it fewer.

`python -m organiser.page TARGETS VOLUNTEERS --size K` writes one file to open or to print.
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

from committees.beyond import Foresight
from committees.checks import FloatArray, check_integer
from committees.problem import Problem
from organiser.advice import relaxations
from organiser.extra import MissingExtra, need_desk
from organiser.files import Assembly, read_assembly
from organiser.ranges import Seats
from organiser.strategies import USUAL_TOLERANCE, choose

#: Recruitments that the numbers of the page rest on, and those of each other band in its table.
RUNS, OTHER_RUNS, SEED = 400, 100, 2021
#: Bands beside the own one: so many seats further on both sides, or the next of these tolerances.
FURTHER, TOLERANCES = (1, 2), (0.02, 0.03, 0.05, 0.1, 0.2)
#: People with a smaller chance than this of being accepted are counted.
SMALL_CHANCE = 0.02


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


def rehearse(rule: Foresight, problem: Problem, size: int, runs: int, bar: Any = None) -> Rehearsal:
    """Try out a strategy that knows p: between two seats nothing changes, so people are skipped."""
    people, chance = np.zeros(runs), np.zeros(len(problem.p))
    expected = 0.0
    for run in range(runs):
        rng, session = np.random.default_rng([SEED, run]), rule.start(problem, size)
        for _ in range(size):
            mass = problem.p * session.acceptance
            rate = mass.sum()
            chance += session.acceptance / rate
            expected += 1 / rate
            people[run] += rng.geometric(min(rate, 1.0))
            type_id = int(rng.choice(len(mass), p=mass / rate))
            session.see(np.array([type_id]), np.array([True]))
        if bar is not None:
            bar.update()
    return Rehearsal(people, chance / expected)


def answers(
    assembly: Assembly, size: int, tolerance: float | None, calls: int | None
) -> dict[str, Any]:
    """All that the page says, in words and numbers."""
    problem = assembly.problem
    rule = choose("foresight", assembly, tolerance)
    assert isinstance(rule, Foresight)
    others = list(_other_bands(rule, assembly, size))
    with tqdm(total=RUNS + OTHER_RUNS * len(others), disable=None, desc="recruiting") as bar:
        own = rehearse(rule, problem, size, RUNS, bar)
        table = [("as it is", own)]
        for words, other in others:
            table.append((words, rehearse(other, problem, size, OTHER_RUNS, bar)))
    savings = relaxations(problem, size, 1 / size)
    share = np.where(problem.presence > 0, problem.presence, np.nan)  # whom nobody has, has none
    by_group = problem.incidence @ (problem.p * own.chance) / share
    names = [f"{feature} {value}" for feature, value in problem.labels]
    (low, high), wanted = rule.band(problem, size), size * problem.rho
    plan, least = int(np.quantile(own.people, 0.9)), int(np.nanargmin(by_group))
    rarest = int(np.where(problem.p > 0, own.chance, np.inf).argmin())
    most = int(np.nanargmax(by_group))
    steps = sorted(
        {*np.linspace(size, np.quantile(own.people, 0.99), 8).astype(int), calls or plan}
    )
    ranked, within = np.sort(own.people), binom.ppf([0.025, 0.975], RUNS, 0.9).astype(int)
    return {
        "size": size,
        "summary": assembly.summary,
        "plan": plan,
        "plan_between": ranked[np.minimum(within - [1, 0], RUNS - 1)].astype(int).tolist(),
        "people": _mean(own.people),
        "off": float(np.maximum(high - wanted, wanted - low).max()),
        "has_ranges": assembly.seats is not None,
        "tolerance": rule.tolerance,
        "bands": [(words, _mean(r.people), int(np.quantile(r.people, 0.9))) for words, r in table],
        "enough": [(n, (own.people <= n).mean()) for n in steps],
        "calls": calls,
        "calls_chance": None if calls is None else (own.people <= calls).mean(),
        "savings": savings[savings["saved"] > 0.5].head(3).to_dict("records"),
        "groups": [
            (names[k], low[k], high[k], problem.presence[k], by_group[k]) for k in range(len(names))
        ],
        "least": (names[least], by_group[least]),
        "most": (names[most], by_group[most]),
        "rarest": (", ".join(map(str, problem.index[rarest])), own.chance[rarest]),
        "few": float(problem.p[own.chance < SMALL_CHANCE].sum()),
        "small": SMALL_CHANCE,
        "runs": RUNS,
    }


def _other_bands(rule: Foresight, assembly: Assembly, size: int) -> Iterator[tuple[str, Foresight]]:
    """Wider bands, with what to call them."""
    if assembly.seats is None:
        for tolerance in [t for t in TOLERANCES if t > rule.tolerance][:2]:
            words = f"tolerance {tolerance:g}: {tolerance * size:.1f} seats"
            yield words, replace(rule, tolerance=tolerance)
        return
    if assembly.flex is not None and assembly.flex != assembly.seats:
        yield "as far as the file's flex allows", replace(rule, seats=assembly.flex)
    low, high = (np.array(part) for part in assembly.seats)
    for more in FURTHER:
        seats: Seats = tuple(np.maximum(low - more, 0).tolist()), tuple((high + more).tolist())
        yield f"every min and max {more} seat{'s' * (more > 1)} further", replace(rule, seats=seats)


def _mean(people: FloatArray) -> str:
    """A mean with half of its 95 % interval."""
    return f"{people.mean():,.0f} ± {1.96 * people.std(ddof=1) / len(people) ** 0.5:,.0f}"


def write(facts: dict[str, Any], path: Path) -> None:
    """Write the page, completely or not at all."""
    from tornado.template import Loader  # may not be installed

    html = Loader(str(Path(__file__).parent)).load("page.html").generate(**facts)
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_bytes(html)
    os.replace(temporary, path)


def main(argv: list[str] | None = None) -> int:
    """Make the page; the exit code is 0 if all went well."""
    parser = argparse.ArgumentParser(
        prog="python -m organiser.page",
        description="How many people to plan for, and what would make it fewer: one page.",
        epilog="example: python -m organiser.page data/examples/millbrook_targets.csv "
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
    arguments = parser.parse_args(argv)
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


if __name__ == "__main__":
    sys.exit(main())

"""Measure what quotas cost: Greedy's people beside those of CMDP, Prices and Foresight.

Makes `data/quotas.csv`: for many problems, three sizes and each strategy the means of people and
loss with their 95 % half-widths. What stands there already is not measured again, so that a run
that was killed goes on where it ended; all anew takes half an hour.

The problems are all sets of two or more features of the Brexit assembly (57), of the Adult data
(11, with weak and with strong dependence) and of the invented assembly of Millbrook (26), and
random problems with independent and with dependent features, on which only Greedy and CMDP are
tried. A row says what the problem is like:

- features, types: how many there are;
- share over target: of each group, the features apart;
- scarcest: the smallest of these;
- scarce groups, scarce features: groups below nine tenths, and features that have one;
- others: target over share of each feature's scarcest group, multiplied, without the largest;
- estimate, enough: Greedy's people as a multiple of CMDP's, and whether quotas are enough, both by
  the rule of `committees.beyond.quotas`.

This rule was found on every second set of the Brexit assembly's
features and on the first hundred random problems, which have "found on" in the column part. (A
first rule, without the number of types, was found on the former alone, and failed on the latter.)
All others are held out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from committees import CMDP, Greedy, Problem, Strategy, datasets, simulate
from committees.beyond import Foresight, Prices
from committees.beyond.bands import feature_slices
from committees.beyond.quotas import SCARCE, are_enough, others_product, times_cmdp
from committees.datasets import DATA
from companion.intervals import summary
from organiser.files import read_assembly

FILE = DATA / "quotas.csv"
SIZES = (50, 100, 250)
TOLERANCES = (0.02, 0.05)
#: Used for nothing else.
SEED = 3030
#: Recruitments by Greedy, whose tails are heavy and who is quick to simulate; and by the others.
RUNS = {"Greedy": 1000, "CMDP": 200, "Prices": 100, "Foresight": 100}
#: Random problems: on which the rule was found, and with these those that are held out.
RANDOM_FOUND_ON = 100
RANDOM_PROBLEMS = 200
#: Random problems with dependent features.
DEPENDENT_PROBLEMS = 100
#: Recruitments of each random problem.
RANDOM_RUNS = 400
#: The standard deviation of the logarithms by which dependent types differ from independent ones.
DEPENDENCE = 0.7
#: The seats for which the files of Millbrook are made.
MILLBROOK_SEATS = 60
FOUND_ON = "found on"
HELD_OUT = "held out"
KEY = ["data", "set", "size", "strategy"]


@dataclass(frozen=True)
class Case:
    """A problem with its name."""

    data: str
    set: str  #: the features' names, or the number of a random problem
    part: str
    problem: Problem


def cases() -> Iterator[Case]:
    """All problems, the Brexit assembly's first."""
    brexit = datasets.brexit()
    for number, chosen in enumerate(sets_of_features(brexit)):
        part = HELD_OUT if number % 2 else FOUND_ON
        yield Case("Brexit", ", ".join(chosen), part, restricted(brexit, chosen))
    for data, problem in dependent_problems():
        for chosen in sets_of_features(problem):
            yield Case(data, ", ".join(chosen), HELD_OUT, restricted(problem, chosen))
    for number in range(RANDOM_PROBLEMS):
        part = FOUND_ON if number < RANDOM_FOUND_ON else HELD_OUT
        yield Case("random", str(number), part, random_problem(number))
    for number in range(DEPENDENT_PROBLEMS):
        problem = with_dependence(random_problem(RANDOM_PROBLEMS + number), number)
        yield Case("random, dependent", str(number), HELD_OUT, problem)


def dependent_problems() -> Iterator[tuple[str, Problem]]:
    """Those from data, with their names; features go together in all of them."""
    for network in ("weak", "strong"):
        yield f"Adult, {network}", datasets.adult(network)
    files = (DATA / "examples" / f"millbrook_{part}.csv" for part in ("targets", "volunteers"))
    yield "Millbrook", read_assembly(*files, MILLBROOK_SEATS).problem


def sets_of_features(problem: Problem) -> list[tuple[str, ...]]:
    """All sets of at least two features, the small ones first."""
    names = list(problem.features)
    return [chosen for n in range(2, len(names) + 1) for chosen in combinations(names, n)]


def restricted(problem: Problem, features: Sequence[str]) -> Problem:
    """The problem with some of its features only, as the volunteers have them jointly."""
    targets = pd.concat([problem.targets.loc[[feature]] for feature in features])
    p = pd.Series(problem.p, problem.index).groupby(level=list(features), sort=False).sum()
    return Problem(targets, p)


def random_problem(number: int) -> Problem:
    """Two to six independent features of two to five values, shares scattered around targets."""
    rng = np.random.default_rng([SEED, number])
    spread = rng.uniform(0, 0.5)
    targets, shares = {}, {}
    for feature in range(rng.integers(2, 7)):
        values = [str(value) for value in range(rng.integers(2, 6))]
        target = rng.dirichlet(np.full(len(values), 3.0)) + 0.02
        share = target * np.exp(spread * rng.standard_normal(len(values)))
        targets[str(feature)] = dict(zip(values, target / target.sum(), strict=True))
        shares[str(feature)] = dict(zip(values, share / share.sum(), strict=True))
    return Problem.from_marginals(targets, shares)


def with_dependence(problem: Problem, number: int) -> Problem:
    """The same targets, and types that are more or less frequent than if independent."""
    noise = np.random.default_rng([SEED, number, 1]).standard_normal(len(problem.p))
    p = problem.p * np.exp(DEPENDENCE * noise)
    return Problem(problem.targets, p / p.sum())


def strategies(case: Case) -> list[tuple[Strategy, int]]:
    """What is measured, each with its number of runs."""
    greedy = [Greedy(tolerance) for tolerance in TOLERANCES]
    if case.data.startswith("random"):
        return [(rule, RANDOM_RUNS) for rule in (CMDP(), *greedy)]
    rules = [CMDP(), *greedy, Prices(), Foresight(TOLERANCES[0])]
    return [(rule, RUNS[rule.family]) for rule in rules]


def describe(problem: Problem) -> dict[str, object]:
    """The numbers that say what a problem is like."""
    ratios = problem.presence / problem.rho
    by_feature = [ratios[values] for values in feature_slices(problem)]
    written = [" ".join(f"{ratio:.3g}" for ratio in feature) for feature in by_feature]
    return {
        "features": len(by_feature),
        "types": len(problem.p),
        "share over target": "; ".join(written),
        "scarcest": ratios.min(),
        "scarce groups": int((ratios < SCARCE).sum()),
        "scarce features": sum(bool((feature < SCARCE).any()) for feature in by_feature),
        "others": others_product(problem),
    }


def measure(case: Case, size: int, rule: Strategy, runs: int) -> pd.DataFrame:
    """One row, as a table."""
    frame = simulate(rule, case.problem, size, runs, SEED)
    labels = {"data": case.data, "set": case.set, "part": case.part}
    how = {"tolerance": getattr(rule, "tolerance", np.nan), "runs": runs}
    by_rule = {
        "estimate": times_cmdp(case.problem, size),
        "enough": are_enough(case.problem, size),
    }
    return summary(frame, **labels).assign(**how, **describe(case.problem), **by_rule)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=FILE, help="default: data/quotas.csv")
    out: Path = parser.parse_args(arguments).out
    rows = pd.read_csv(out, dtype={"set": str}) if out.exists() else pd.DataFrame(columns=KEY)
    done = set(rows[KEY].itertuples(index=False, name=None))
    for case in tqdm(list(cases()), disable=None):
        new = [
            measure(case, size, rule, runs)
            for size in SIZES
            for rule, runs in strategies(case)
            if (case.data, case.set, size, rule.name) not in done
        ]
        if new:
            rows = pd.concat([rows, *new], ignore_index=True) if len(rows) else pd.concat(new)
            rows.to_csv(out, index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    main()

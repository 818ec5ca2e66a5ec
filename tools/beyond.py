"""Measure the strategies beyond the paper, and their rivals, side by side.

Makes `data/beyond.csv`: for each problem, strategy, tolerance and size the means of people and loss
with their 95 % half-widths. What stands there already is not measured again, so that a run that was
killed goes on where it ended; to measure all anew takes hours of one core. Rows of Resolving, which
solved a linear program after every acceptance and is no longer part of the library, stay.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from committees import CMDP, Greedy, Problem, Strategy, datasets, simulate
from committees.beyond import Foresight, Prices
from committees.beyond.foresight import ForesightSession
from committees.beyond.tables import LAST_SEATS
from committees.datasets import DATA
from companion.experiments import FIVE_FEATURES, RUNS_1, THREE_FEATURES
from companion.intervals import summary
from organiser.files import read_assembly
from rivals import InBand, OneProgram, PosteriorSampling, Tailoring

FILE = DATA / "beyond.csv"
SIZES, TOLERANCES = (20, 50, 100, 250, 1000), (0.02, 0.0, 0.05)
#: Used for nothing else; and recruitments of each strategy, of Foresight twice as many.
SEED, RUNS = 1717, 200
#: For Foresight that learns: its rule was changed after measurements with `SEED` and with 1918.
LEARNING_SEED = 2020
#: The seats for which Foresight learns: that takes seconds for each recruitment.
LEARNING_SIZES = (50, 100, 250)
LARGEST = "Brexit, six features"


class Relay(Foresight):
    """Prices within the band, then Foresight for the last seats."""

    family = "Relay"

    def start(self, problem: Problem, size: int) -> ForesightSession:
        return RelaySession(self, problem, size)


class RelaySession(ForesightSession):
    """Prices decides while more than `LAST_SEATS` are left."""

    def _decide(self) -> None:
        super()._decide() if self.left <= LAST_SEATS else self._decide_by_prices()


def problems() -> dict[str, Problem]:
    """The six problems, the paper's largest first."""
    files = (DATA / "examples" / f"millbrook_{part}.csv" for part in ("targets", "volunteers"))
    return {
        LARGEST: datasets.brexit(),
        "Brexit, three features": datasets.brexit(THREE_FEATURES),
        "Brexit, five features": datasets.brexit(FIVE_FEATURES),
        "Adult, weak": datasets.adult("weak"),
        "Adult, strong": datasets.adult("strong"),
        "Millbrook": read_assembly(*files, 60).problem,
    }


def strategies(problem: str, size: int) -> Iterator[tuple[Strategy, float]]:
    """What is measured, each with its tolerance (NaN if it has none)."""
    yield from ((strategy, np.nan) for strategy in (CMDP(), Prices()))
    if size <= 50:  # hundreds of types mean thousands of programs
        yield PosteriorSampling(), np.nan
    for tolerance in TOLERANCES if size < 1000 else TOLERANCES[:1]:
        rules = [InBand(rule, tolerance) for rule in (Prices(), CMDP(), OneProgram())]
        rules += [Relay(tolerance), Tailoring(tolerance)]
        rivals = rules if size <= 50 or tolerance == 0.02 else []
        for rule in (Greedy(tolerance), Foresight(tolerance), *(rivals if size < 1000 else [])):
            yield rule, tolerance
    if problem == LARGEST and size in LEARNING_SIZES:
        yield Foresight(learn=True), 0.02


def measure(name: str, problem: Problem, rule: Strategy, tolerance: float, size: int) -> pd.Series:
    """One row. The paper's strategies on its own problem are those of chapter 6, run for run."""
    runs = 2 * RUNS if isinstance(rule, Foresight) else RUNS
    seed = LEARNING_SEED if isinstance(rule, Foresight) and rule.learn else SEED
    if name == LARGEST and type(rule) in (Greedy, CMDP):
        runs, seed = RUNS_1, 2021
    frame = simulate(rule, problem, size, runs, seed)
    more = {"tolerance": tolerance, "runs": runs, "largest loss": frame["loss"].max()}
    return summary(frame, problem=name, family=rule.family).assign(**more).iloc[0]


def main() -> None:
    rows = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame()
    key = ["problem", "strategy", "size"]
    done = set(rows[key].itertuples(False, None)) if len(rows) else set()
    for size in SIZES:
        for name, problem in problems().items():
            for rule, tolerance in strategies(name, size):
                if (name, rule.name, size) not in done:
                    row = measure(name, problem, rule, tolerance, size)
                    new = row.to_frame().T.infer_objects()  # numbers, to be rounded as such
                    rows = pd.concat([rows, new], ignore_index=True)
                    rows.to_csv(FILE, index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    main()

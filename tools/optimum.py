r"""The fewest people that any strategy sees on average, exactly, for problems of hundreds of types.

With $V(N)$ the people still to be seen by a committee $N$ under the best rule, the best rule solves

$$\sum_x p(x)\,\big(V(N) - V(N + x)\big)^+ = 1$$

(`committees.beyond.bands`). `committees.beyond.limits` solves it for a few million committees. This
tool reaches some thousand million: it makes `data/optimum.csv`, the optimum of several problems,
and `data/regrets.csv`, how far above it the strategies of the book are.

**Which committees.** Features must be independent. A feature's own state is how many people of each
of its values are seated; only states from which the band can still be reached are kept. A committee
is a state of each feature. Those with as many people seated are a layer; the layer after determines
the one before.

**How a layer is stored.** A number per committee, with four bytes, as a matrix. Its rows are the
combinations of the states of all features with three values or more. Its columns are those of the
features with two values, whose states are numbered by the people of the first value. The last two
of these, the longest, are solved at once: their states are the vector of the inner loop.

**The equation** is solved by Newton's method. Its left side is convex in $V(N)$, so that every step
but the first comes from above; the first starts from the committee before. Rounding to four bytes
changes a layer by 6e-8 of itself at most; the steps end when nothing changes by 1e-5 of itself,
after which the error is a small part of that.

Takes half an hour of one core, 6 GB of memory, and 20 GB of disk for the layers, to throw away.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from math import prod
from pathlib import Path

import numba
import numpy as np
import pandas as pd
from tqdm import tqdm

from committees import CMDP, Problem, Strategy, datasets
from committees.beyond import Foresight, Prices
from committees.beyond.bands import feature_slices
from committees.checks import FloatArray, IntArray
from committees.datasets import DATA
from committees.greedy import band
from companion.experiments import FIVE_FEATURES, THREE_FEATURES
from companion.intervals import half_width
from rivals import InBand, OneProgram, Tailoring

OPTIMA = DATA / "optimum.csv"
REGRETS = DATA / "regrets.csv"
TOLERANCE = 0.02
#: The features of the Brexit assembly, by their number: each set holds the one before.
FEATURES = {
    2: ["ethnicity", "gender"],
    3: THREE_FEATURES,
    4: [*THREE_FEATURES, "age"],
    5: FIVE_FEATURES,
    6: list(datasets.brexit().features),
}
#: For each number of seats, up to how many features: the largest take a thousand million numbers.
MOST_FEATURES = {20: 6, 50: 5, 100: 3}
#: Recruitments of each strategy, with a seed that is used for nothing else.
RUNS, SEED = 400, 4321
#: Foresight that learns takes seconds for each: fewer, and of small committees alone.
LEARNING_RUNS, LEARNING_SIZE = 40, 20

#: Newton's method ends when no number changes by a larger share.
PRECISION = 1e-5
#: Or after so many steps, of which it needs a handful.
MOST_STEPS = 50
#: Stands for the people still to be seen by a committee that cannot end in the band.
CLOSED = np.float32(1e30)


def states_of_feature(low: IntArray, high: IntArray, size: int, seated: int) -> IntArray:
    """All counts of a feature's values that sum to `seated` and from which the band can be reached.

    >>> states_of_feature(np.array([1, 1]), np.array([2, 2]), size=3, seated=2)
    array([[0, 2],
           [1, 1],
           [2, 0]])
    """
    left = size - seated
    counts = np.zeros((1, 0), dtype=np.intp)
    for value in range(len(low) - 1):
        options = np.arange(min(high[value], seated) + 1)
        repeated = np.repeat(counts, len(options), axis=0)
        counts = np.column_stack([repeated, np.tile(options, len(counts))])
        counts = counts[counts.sum(axis=1) <= seated]
        lacking = np.maximum(low[: value + 1] - counts, 0).sum(axis=1)
        counts = counts[lacking <= left]
    counts = np.column_stack([counts, seated - counts.sum(axis=1)])
    is_within = counts[:, -1] <= high[-1]
    lacking = np.maximum(low - counts, 0).sum(axis=1)
    return counts[is_within & (lacking <= left)]


@dataclass(frozen=True, eq=False)
class Feature:
    """A feature by itself: its shares among the volunteers and its part of the band, per value."""

    p: FloatArray
    low: IntArray
    high: IntArray
    size: int  #: seats of the committee

    @cache  # noqa: B019 - features live as long as the program
    def states(self, seated: int) -> IntArray:
        """The states with so many people seated: a row each, with the people of each value."""
        return states_of_feature(self.low, self.high, self.size, seated)

    @cache  # noqa: B019
    def positions(self, seated: int) -> dict[tuple[int, ...], int]:
        """Where each state stands among those with so many people seated."""
        rows = map(tuple, self.states(seated).tolist())
        return {counts: position for position, counts in enumerate(rows)}

    def after(self, counts: tuple[int, ...]) -> list[int]:
        """Per value: the position of the state with one more person of it; -1 if it is closed."""
        positions = self.positions(sum(counts) + 1)
        following = []
        for value in range(len(counts)):
            one_more = list(counts)
            one_more[value] += 1
            following.append(positions.get(tuple(one_more), -1))
        return following

    def steps(self, seated: int) -> IntArray:
        """For each state (row) and value (column): the position of what follows, or -1."""
        return np.array([self.after(counts) for counts in self.positions(seated)], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best rule for a problem, a size and a tolerance; its layers are files in a folder.

    >>> from tempfile import mkdtemp
    >>> from committees import datasets
    >>> best = Optimum(datasets.brexit(["gender", "age"]), 10, 0.0, Path(mkdtemp()))
    >>> round(best.solve(), 3)
    18.889
    """

    problem: Problem
    size: int
    tolerance: float
    folder: Path

    @cached_property
    def _order(self) -> list[int]:
        """The features' positions: long ones first, then those of two values, the longest last."""
        _, high = band(self.problem, self.size, self.tolerance)

        def sort_key(position: int) -> tuple[bool, int]:
            values = feature_slices(self.problem)[position]
            return values.stop - values.start == 2, int(high[values].min())

        return sorted(range(len(self.problem.shape)), key=sort_key)

    @cached_property
    def features(self) -> list[Feature]:
        """The features, in this order."""
        low, high = band(self.problem, self.size, self.tolerance)
        presence = self.problem.presence
        if not np.allclose(self.problem.product_over_values(presence), self.problem.p):
            raise ValueError("the features depend on each other: the optimum is out of reach")
        slices = feature_slices(self.problem)
        chosen = [slices[position] for position in self._order]
        return [Feature(presence[v], low[v], high[v], self.size) for v in chosen]

    @cached_property
    def _n_long(self) -> int:
        """How many features have three values or more."""
        return sum(len(feature.p) > 2 for feature in self.features)

    def shape(self, seated: int) -> tuple[int, ...]:
        """How many states each feature has."""
        return tuple(len(feature.states(seated)) for feature in self.features)

    @property
    def cells(self) -> int:
        """How many committees there are, of all sizes."""
        return sum(prod(self.shape(seated)) for seated in range(self.size + 1))

    def solve(self) -> float:
        """The people that the best rule sees; makes the layers that the folder lacks."""
        self.folder.mkdir(parents=True, exist_ok=True)
        few = self.cells < 10**7
        with tqdm(total=self.cells, unit="cell", unit_scale=True, disable=few) as bar:
            for seated in range(self.size, -1, -1):
                if not self._path(seated).exists():
                    unfinished = self._path(seated).with_suffix(".part.npy")
                    self._make(seated, unfinished)
                    unfinished.rename(self._path(seated))
                bar.update(prod(self.shape(seated)))
        return float(self.layer(0).flat[0])

    def layer(self, seated: int) -> FloatArray:
        """The people still to be seen, with an axis per feature, in the order of `features`."""
        stored = np.load(self._path(seated), mmap_mode="r")
        return np.asarray(stored.reshape(self.shape(seated)))

    def _path(self, seated: int) -> Path:
        return self.folder / f"seated_{seated:03d}.npy"

    def _make(self, seated: int, path: Path) -> None:
        """Make a layer from the one after."""
        shape = self.shape(seated)
        n_rows = prod(shape[: self._n_long])
        n_columns = prod(shape[self._n_long :])
        now = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns))
        if seated == self.size:
            now[...] = 0  # all states that are kept are inside the band
        else:
            after = np.load(self._path(seated + 1), mmap_mode="r")
            steps = [feature.steps(seated) for feature in self.features]
            lengths = self.shape(seated + 1)
            n = self._n_long
            if n == len(steps):  # columns of their own: one state, which never changes
                steps.append(np.zeros((1, 1), dtype=np.int32))
                shape = (*shape, 1)
                lengths = (*lengths, 1)
            rows = combine(steps[:n], lengths[:n])
            heads = combine(steps[n:-1], lengths[n:-1])
            n_last = (shape[-1], lengths[-1])
            heads_at_once = shape[-2] if len(shape) - n > 1 else 1
            mass = self._masses()
            last_runs = runs(steps[-1])
            solve_layer(
                np.asarray(now),
                np.asarray(after),
                rows,
                heads,
                last_runs,
                n_last,
                mass,
                heads_at_once,
            )
        now.flush()

    def _masses(self) -> FloatArray:
        """The share of the volunteers, per combination of values in the order of `features`."""
        combinations = product(*[feature.p for feature in self.features])
        return np.array([prod(shares) for shares in combinations], dtype=np.float32)

    def ahead(self, counts: IntArray) -> tuple[float, FloatArray]:
        """People still to be seen by a committee, and the same once somebody of a type is seated.

        `counts` are per value, what is returned per type; infinite for types that are not open.
        """
        slices = feature_slices(self.problem)
        own_counts = [tuple(counts[slices[i]].tolist()) for i in self._order]
        seated = sum(own_counts[0])
        position = []
        following = []
        for feature, own in zip(self.features, own_counts, strict=True):
            position.append(feature.positions(seated)[own])
            following.append(np.array(feature.after(own)))
        after = self.layer(seated + 1)[np.ix_(*following)].astype(float)
        for axis, states in enumerate(following):
            after[(slice(None),) * axis + (states < 0,)] = np.inf
        by_type = np.moveaxis(after, range(len(self._order)), self._order).ravel()
        return float(self.layer(seated)[tuple(position)]), by_type

    def regret(self, strategy: Strategy, rng: np.random.Generator) -> float:
        """How many more people a strategy sees than the best rule: along one of its recruitments.

        Somebody who comes and is accepted with the probabilities a costs one person, and is worth
        what they bring nearer to the end, the sum of p a (V(N) - V(N + x)). The mean of these
        differences, added up, is the people of the strategy minus those of the best rule; they vary
        far less than the people themselves.
        """
        p = self.problem.p
        session = strategy.start(self.problem, self.size)
        counts = np.zeros(len(self.problem.rho), dtype=np.intp)
        total = 0.0
        acceptance = None
        while counts[: self.problem.shape[0]].sum() < self.size:
            if acceptance is not session.acceptance:
                acceptance = session.acceptance
                ahead, by_type = self.ahead(counts)
                mass = p * acceptance
                if np.isinf(by_type[mass > 0]).any():
                    raise ValueError(f"{strategy}: leaves the band")
                chosen = mass > 0
                lost = 1 - float(mass[chosen] @ (ahead - by_type[chosen]))
            if strategy.learns:
                type_id = int(rng.choice(len(p), p=p))
                is_accepted = bool(rng.random() < acceptance[type_id])
                total += lost
            else:  # nobody who is turned away changes anything: count them on average
                type_id = int(rng.choice(len(p), p=mass / mass.sum()))
                is_accepted = True
                total += lost / float(mass.sum())
            session.see(np.array([type_id]), np.array([is_accepted]))
            if is_accepted:
                counts[self.problem.codes[type_id]] += 1
                acceptance = None
        return total


def combine(steps: Sequence[IntArray], lengths: Sequence[int]) -> IntArray:
    """Steps of several features at once: a row per states of all, a column per values of all.

    The last feature changes fastest; `lengths` are the numbers of states that may follow; -1 where
    the step of any feature is closed.

    >>> combine([np.array([[0, 1]]), np.array([[1, -1]])], lengths=[2, 2])
    array([[ 1, -1,  3, -1]], dtype=int32)
    """
    combined = np.zeros((1, 1), dtype=np.int32)
    for own, length in zip(steps, lengths, strict=True):
        so_far = combined[:, None, :, None]
        step = own[None, :, None, :]
        both = np.where((so_far < 0) | (step < 0), -1, so_far * length + step)
        combined = both.reshape(len(combined) * len(own), -1).astype(np.int32)
    return combined


def runs(steps: IntArray) -> IntArray:
    """Steps of a feature of two values, per value (row): first open state, end, and move.

    States are numbered by the people of the first value, so that all open ones stand together, and
    their positions all move alike.

    >>> runs(np.array([[1, -1], [2, 0], [-1, 1]]))
    array([[ 0,  2,  1],
           [ 1,  3, -1]])
    """
    is_open = steps >= 0
    first = is_open.argmax(axis=0)
    end = first + is_open.sum(axis=0)
    move = steps[first, np.arange(steps.shape[1])] - first
    return np.column_stack([first, end, move])


@numba.njit(parallel=True, fastmath=True, cache=True)
def solve_layer(
    now: FloatArray,
    after: FloatArray,
    rows: IntArray,
    heads: IntArray,
    last_runs: IntArray,
    n_last: tuple[int, int],
    mass: FloatArray,
    heads_at_once: int,
) -> None:
    """Solve the equation of the optimum for all committees of a layer, given the layer after.

    Parameters
    ----------
    now, after : ndarray of float32, shape (rows, columns)
        The layers; a column is a state of the short features but the last, then one of the last.
    rows, heads : ndarray of int, shape (states, combinations of values)
        The steps of the long features, and of the short ones but the last.
    last_runs : ndarray of int, shape (values, 3)
        The steps of the last feature: `runs`.
    n_last : two int
        How many states the last feature has in the two layers.
    mass : ndarray of float32, per type
        The distribution of the volunteers.
    heads_at_once : int
        States of the short features but the last, whose committees are solved together.
    """
    n_block = heads_at_once * n_last[0]
    for row in numba.prange(len(rows)):
        V = np.empty((len(mass), n_block), np.float32)
        v = np.zeros(n_block, np.float32)
        for head in range(0, len(heads), heads_at_once):
            x = 0
            for i in range(rows.shape[1]):
                for j in range(heads.shape[1]):
                    for k in range(len(last_runs)):
                        V[x] = CLOSED
                        first, end, move = last_runs[k]
                        for h in range(heads_at_once):
                            if rows[row, i] >= 0 and heads[head + h, j] >= 0:
                                column = heads[head + h, j] * n_last[1] + move
                                for b in range(first, end):
                                    V[x, h * n_last[0] + b] = after[rows[row, i], column + b]
                        x += 1
            newton(V, mass, v)
            column = head * n_last[0]
            now[row, column : column + n_block] = v


@numba.njit(fastmath=True, cache=True)
def newton(V: FloatArray, mass: FloatArray, v: FloatArray) -> None:
    """Solve sum over x of mass[x] (v[b] - V[x, b])^+ = 1 for each b, from where v is; in place."""
    for _ in range(MOST_STEPS):
        excess = np.full(len(v), -1.0, np.float32)
        slope = np.zeros(len(v), np.float32)
        for x in range(len(mass)):
            for b in range(len(v)):
                below = max(v[b] - V[x, b], np.float32(0))
                excess[b] += mass[x] * below
                slope[b] += mass[x] if below > 0 else np.float32(0)
        largest_change = 0.0
        for b in range(len(v)):
            if slope[b] > 0:
                step = excess[b] / slope[b]
                largest_change = max(largest_change, abs(step) / v[b])
                v[b] -= step
            else:  # nobody would be accepted: begin with the best single type
                v[b] = (V[:, b] + 1 / mass).min()
                largest_change = 1.0
        if largest_change < PRECISION:
            return


def strategies(size: int) -> dict[Strategy, int]:
    """The strategies that end in the band, ours and the rivals, each with its recruitments."""
    rivals = [InBand(rule, TOLERANCE) for rule in (Prices(), CMDP(), OneProgram())]
    everybody = [Foresight(TOLERANCE), Tailoring(TOLERANCE), *rivals]
    recruitments = dict.fromkeys(everybody, RUNS)
    if size == LEARNING_SIZE:
        recruitments[Foresight(TOLERANCE, learn=True)] = LEARNING_RUNS
    return recruitments


def measure(n_features: int, size: int, folder: Path) -> tuple[dict, list[dict]]:
    """A row of `data/optimum.csv`, and the rows of `data/regrets.csv` that go with it."""
    problem = datasets.brexit(FEATURES[n_features])
    best = Optimum(problem, size, TOLERANCE, folder / f"features_{n_features}_seats_{size}")
    case = {"features": n_features, "size": size, "tolerance": TOLERANCE}
    people = best.solve()
    optimum = {**case, "types": len(problem.p), "committees": best.cells, "people": people}
    regrets = []
    for strategy, runs in strategies(size).items():
        sums = [best.regret(strategy, rng) for rng in generators(size, n_features, runs)]
        row = {**case, "strategy": strategy.name, "runs": runs}
        regrets.append({**row, "regret": np.mean(sums), "±": half_width(sums)})
    return optimum, regrets


def generators(size: int, n_features: int, runs: int) -> list[np.random.Generator]:
    """One for each recruitment."""
    seeds = np.random.SeedSequence(SEED, spawn_key=(size, n_features)).spawn(runs)
    return list(map(np.random.default_rng, seeds))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all cases, or some, and put their rows into the two tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="where the layers go: 20 GB, to throw away")
    parser.add_argument(
        "--seats", type=int, action="append", choices=MOST_FEATURES, help="these alone"
    )
    options = parser.parse_args(arguments)
    for size in options.seats or MOST_FEATURES:
        for n_features in range(2, MOST_FEATURES[size] + 1):
            optimum, regrets = measure(n_features, size, options.folder)
            put(OPTIMA, [optimum], ["size", "features"])
            put(REGRETS, regrets, ["size", "features", "strategy"])
            print(f"{n_features} features, {size} seats: {optimum['people']:.4f} people")


def put(file: Path, rows: list[dict], key: list[str]) -> None:
    """Put rows into a table, in the place of those with the same key."""
    table = pd.DataFrame(rows)
    if file.exists():
        table = pd.concat([pd.read_csv(file), table])
    table = table.drop_duplicates(key, keep="last").sort_values(key)
    table.to_csv(file, index=False, float_format="%.7g", lineterminator="\n")


if __name__ == "__main__":
    main()

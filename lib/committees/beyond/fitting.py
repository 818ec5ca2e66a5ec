r"""Tables of the people still to be seen (`beyond.tables`), fitted backwards.

**Backwards**, $k = 1, 2, \dots$, on some hundred committees: $V_k$ by one exact step from the
tables of $k - 1$, then least squares for $s_k$. Where data are few, the tables of $k - 1$ stand in,
moved by a seat: $(1 - \rho_v)\, s_{k-1}[v, n] + \rho_v\, s_{k-1}[v, n + 1]$. Corrections to that
are held small and smooth.

**On which committees?** Errors would be sought out by the rule, which goes where few people seem to
be needed. So tables are fitted several times over, on committees that the rule met with the tables
before, the same with some seats moved, and a few from random recruitments. The rule's own
recruitments also tell how many people it really needs: the tables that need the fewest are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from committees.beyond.bands import feature_slices, fewest_ahead, open_values
from committees.beyond.tables import LAST_SEATS, Tables
from committees.checks import FloatArray, IntArray
from committees.problem import Problem

#: Committees recruited in each pass: few at first, when the tables are still far off.
COMMITTEES = (200, 200, 400, 400, 600, 600)
#: Fewer if there are very many types: at most so many committees times types.
MAX_CELLS = 1_000_000
#: Random committees for every ten of the rule's own.
RANDOM_PER_TEN = 2
#: In least squares, the weight of a correction.
RIDGE = 1.0
#: In least squares, the weight of the difference of two neighbouring corrections.
SMOOTHNESS = 3.0
#: In trials a dead end counts as so many people.
DEAD_END = 1e9
#: In a fit a dead end counts as so many times the people of the worst other committee.
DEAD_END_FACTOR = 3.0
#: A bar shows the progress of a fit that takes longer than this.
BAR_AFTER_SECONDS = 2.0

#: Given committees (a row of counts each) and the seats left: the probability that a type comes and
#: is accepted, a row per committee, and how many people the rule says are still to be seen.
Rule = Callable[[IntArray, int], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Trial:
    """Committees recruited side by side by one rule."""

    #: Per number of seats left, up to `Tables.last`: the counts, a row for each committee.
    met: list[IntArray]
    #: Per number of seats left: people still seen, on average.
    people: FloatArray
    #: Per number of seats left: people that the rule said would still be seen, on average.
    predicted: FloatArray


def fit_tables(
    problem: Problem,
    p: FloatArray,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    counts: npt.ArrayLike,
    left: int,
    before: Tables | None = None,
    committees: Sequence[int] = COMMITTEES,
) -> Tables:
    """Fit tables, pass after pass on committees met before, and keep the best.

    Parameters
    ----------
    problem : Problem
        Features and targets.
    p : ndarray of float, per type
        The distribution of the volunteers, as it is known or believed.
    low, high : ndarray of int, per value
        The band.
    counts : ndarray of int, per value
        Who is seated at first.
    left : int
        The seats left then.
    before : Tables, optional
        Tables fitted earlier in the same recruitment, to begin with.
    committees : sequence of int
        How many committees are recruited in each pass.
    """
    rng = np.random.default_rng(0)
    tables = _blank(problem, p, np.asarray(low), np.asarray(high), np.asarray(counts), left)
    most = MAX_CELLS // len(p) + 1
    passes = [min(number, most) for number in committees]
    rule = before.decide if before else at_random(tables, passes[0], rng)
    met = try_out(tables, rule, passes[0], rng).met
    best = tables
    fewest_people = np.inf
    with tqdm(
        total=len(passes), disable=None, delay=BAR_AFTER_SECONDS, desc="looking ahead"
    ) as bar:
        for number in passes:
            few = number * RANDOM_PER_TEN // 10 + 1
            random = try_out(tables, at_random(tables, few, rng), few, rng)
            half = (number + 1) // 2
            tables = _fit_levels(tables, met, random.met, half, rng)
            trial = try_out(tables, tables.decide, number, rng)
            if trial.people[left] < fewest_people:
                fewest_people = trial.people[left]
                best = replace(tables, offset=trial.people - trial.predicted)
            if len(trial.met[tables.last]):
                tables = replace(tables, centre=trial.met[tables.last].mean(axis=0))
            met = [
                np.concatenate([earlier[-half:], own[:half]])
                for earlier, own in zip(met, trial.met, strict=True)
            ]
            bar.update()
    return best


def _blank(
    problem: Problem, p: FloatArray, low: IntArray, high: IntArray, counts: IntArray, left: int
) -> Tables:
    """Tables of nothing, to begin with."""
    last = min(LAST_SEATS, left)
    return Tables(
        problem=problem,
        p=p,
        low=low,
        high=high,
        start=counts,
        left=left,
        s=np.zeros((last + 1, len(low), int(high.max()) + 2)),
        a=np.zeros(last + 1),
        centre=counts + problem.rho * (left - last),
        offset=np.zeros(left + 1),
    )


def at_random(tables: Tables, number: int, rng: np.random.Generator) -> Rule:
    """Some recruitments follow p, some what is still needed, most are between the two."""
    problem = tables.problem
    urge = rng.random((number, 1))
    presence = problem.marginals(tables.p) + 1e-9
    size = tables.start[: problem.shape[0]].sum() + tables.left
    wanted = np.clip(problem.rho * size, tables.low, tables.high)

    def rule(counts: IntArray, left: int) -> tuple[FloatArray, FloatArray]:
        is_open = open_values(problem, tables.low, tables.high, counts, left)
        needed = np.maximum(wanted - counts, 1e-2)
        weight = is_open * (needed / presence) ** urge
        mass = tables.products(weight, np.ones(number)) * tables.p
        return mass, np.zeros(number)

    return rule


def try_out(tables: Tables, rule: Rule, number: int, rng: np.random.Generator) -> Trial:
    """Recruit so many committees by a rule."""
    counts = np.tile(tables.start, (number, 1))
    is_alive = np.ones(number, dtype=bool)
    met = [counts[:0]] * (tables.last + 1)
    people_per_seat = np.zeros(tables.left + 1)
    predicted = np.zeros(tables.left + 1)
    for left in range(tables.left, 0, -1):
        if left <= tables.last:
            met[left] = counts[is_alive]
        mass, said = rule(counts, left)
        rate = mass.sum(axis=1)
        wait = np.minimum(1 / np.maximum(rate, 1 / DEAD_END), DEAD_END)
        people_per_seat[left] = wait.mean()
        predicted[left] = np.minimum(said, DEAD_END).mean()
        is_alive = is_alive & (rate > 0)
        drawn = _draw(mass, rng)
        rows = np.flatnonzero(is_alive)
        counts[rows[:, None], tables.problem.codes[drawn[rows]]] += 1
    return Trial(met, people_per_seat.cumsum(), predicted)


def _draw(mass: FloatArray, rng: np.random.Generator) -> IntArray:
    """A position in each row, drawn in proportion to the row."""
    sums = np.cumsum(mass, axis=1)
    threshold = rng.random(len(mass)) * sums[:, -1]
    return np.asarray((sums <= threshold[:, None]).sum(axis=1))


def _fit_levels(
    tables: Tables,
    met: list[IntArray],
    random: list[IntArray],
    moved: int,
    rng: np.random.Generator,
) -> Tables:
    """Fit backwards: on committees met, on some of these with seats moved, and on random ones."""
    s = tables.s.copy()
    a = tables.a.copy()
    fitted_so_far = replace(tables, s=s, a=a)  # the arrays fill up below
    for k in range(1, tables.last + 1):
        with_seats_moved = move_seats(tables, met[k][-moved:], k, rng)
        sample = np.concatenate([met[k], with_seats_moved, random[k]])
        v = fewest_ahead(fitted_so_far.after(sample, k), tables.p)
        if np.isfinite(v).any():
            a[k], s[k] = _least_squares(sample, v, s[k - 1], tables.problem.rho)
    return fitted_so_far


def _least_squares(
    counts: IntArray, v: FloatArray, before: FloatArray, rho: FloatArray
) -> tuple[float, FloatArray]:
    """The level a and the table s that say log v best, on committees (a row of counts each).

    Where data are few, the table of one seat less stands in, moved by a seat.
    """
    log_v = np.log(np.minimum(v, DEAD_END_FACTOR * v[np.isfinite(v)].max()))
    share = rho[:, None]
    with_one_more = np.column_stack([before[:, 1:], before[:, -1:]])
    prior = (1 - share) * before + share * with_one_more
    values = np.arange(len(rho))
    unexplained = log_v - prior[values, counts].sum(axis=1)
    level = float(unexplained.mean())
    # A column for each value and count that some committee has, and all counts between them.
    least = counts.min(axis=0)
    most = counts.max(axis=0)
    value_of_column = np.repeat(values, most - least + 1)
    first_column = np.cumsum(most - least + 1) - (most + 1)  # plus the count
    has_count = np.zeros((len(counts), len(value_of_column)))
    np.put_along_axis(has_count, counts + first_column, 1.0, axis=1)
    identity = np.eye(len(value_of_column))
    is_same_value = value_of_column[1:] == value_of_column[:-1]
    differences = np.diff(identity, axis=0)[is_same_value]
    penalty = RIDGE * identity + SMOOTHNESS * differences.T @ differences
    square = has_count.T @ has_count + penalty
    correction = np.linalg.solve(square, has_count.T @ (unexplained - level))
    nearest_count = np.clip(np.arange(before.shape[1]), least[:, None], most[:, None])
    return level, prior + correction[nearest_count + first_column[:, None]]


def move_seats(tables: Tables, counts: IntArray, left: int, rng: np.random.Generator) -> IntArray:
    """Move a seat between two values, in about half of the features, where the band allows it."""
    rows = np.arange(len(counts))
    counts = counts.copy()
    for values in feature_slices(tables.problem):
        moved = counts.copy()
        moved[rows, rng.integers(values.start, values.stop, len(rows))] -= 1
        moved[rows, rng.integers(values.start, values.stop, len(rows))] += 1
        part = moved[:, values]
        is_chosen = rng.random(len(rows)) < 0.5
        is_possible = ((part >= 0) & (part <= tables.high[values])).all(axis=1)
        lacking = np.maximum(tables.low[values] - part, 0).sum(axis=1)
        fits = is_chosen & is_possible & (lacking <= left)
        counts[fits] = moved[fits]
    return counts

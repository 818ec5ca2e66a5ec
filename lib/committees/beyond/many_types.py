r"""The linear program of `committees.lp` when there are many types: the points first.

With a million types the program has a million columns, but its dual has only as many unknowns as
there are values, some dozens: the points $\lambda$. They minimise $\sum_x p(x)\, s(x)^+$, where
$s(x) = \sum_i \lambda^i_{x^i}$ is the score of a type, subject to $\lambda \cdot \rho = 1$. The
kink of $s^+$ is rounded, and ever less so as $\mu$ falls (an interior-point method with a
logarithmic barrier): a type is accepted with probability

$$\varphi(z) = \tfrac12 + \frac{z}{2\,(2 + \sqrt{z^2 + 4})}, \qquad z = s(x) / \mu,$$

and Newton's method finds the points for which the accepted have the target shares. A step costs a
few passes over $p$: types are laid out as a table, the first features down and the others across,
so that scores are sums of a column and a row, and shares and second derivatives products of small
matrices.

**The end is exact.** Near the optimum only the types with scores around zero are in doubt. The
others are set to yes or no, and a small linear program decides on the few that are left. Its points
prove the result: `Policy.bound` equals `Policy.rate` up to rounding. Where so many policies are
optimal that thousands of types have score zero, those keep the probability of the middle.
"""

from __future__ import annotations

from collections.abc import Iterator

import highspy
import numpy as np

from committees import highs
from committees.checks import FloatArray, IntArray
from committees.problem import Problem

#: The rounding of the kink, as a share of the rate: from here, by this factor, to there.
FIRST, FACTOR, LAST = 1e-2, 10.0, 1e-7

#: Newton's method stops when a step would gain less than this; before the end, than that.
CLOSE, EXACT = 0.01, 1e-9

#: Newton's method gives up after so many steps, or when the points run away because (almost) no
#: policy meets the targets.
MOST_STEPS, FAR = 200, 1e8

#: A step is halved until it gains a tenth of what it promises, up to rounding, but not below this.
ROUNDING, SHORTEST = 1e-14, 1e-6

#: The small program has so many types for each value.
TYPES_PER_VALUE = 30

#: With a score this far from zero a type is not in doubt; whether it is, is looked at so often.
CLEAR, LOOKS = 1e-8, 4

#: A rate that is smaller than this share of the bottleneck's is left to others.
NOTHING = 1e-7

#: The rate may be this share below its bound.
GAP = 1e-10

Solution = tuple[FloatArray, FloatArray]


def solve(problem: Problem) -> Solution | None:
    """The accepted mass of each type and the points, or nothing if there is no proof of them."""
    table = Table(problem)
    for rounding, points in _path(table):
        scores = table.scores(points)
        found = _finish(table, *_by_score(table, scores))
        if found is None and rounding <= LAST * table.bound(scores):
            found = _from_the_middle(table, points, rounding)
        if found is not None:
            return table.unit * found[0], found[1]
    return None


class Table:
    """The types in two dimensions: the first features down, the others across."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        types = np.cumprod(problem.shape)
        half = int(np.argmin(np.maximum(types, types[-1] // types))) + 1
        self._down, self._across = map(_incidence, (problem.shape[:half], problem.shape[half:]))
        self.wanted = problem.rho > 0
        # In units of the bottleneck the rate is at most one. Nobody with a value that is not wanted
        # is ever accepted.
        self.unit = problem.bottleneck
        self.p = problem.p * problem.product_over_values(self.wanted.astype(float)) / self.unit
        # A constant more for one feature and less for another changes no score.
        later = np.isin(np.arange(len(self.wanted)), np.cumsum(problem.shape))
        self.free = np.flatnonzero(self.wanted & ~later)

    def scores(self, points: FloatArray) -> FloatArray:
        """The sum of the points of each type."""
        return self.problem.sum_over_values(points)

    def shares(self, mass: FloatArray) -> FloatArray:
        """The sum over the types that have each value."""
        table = mass.reshape(len(self._down), len(self._across))
        return np.concatenate([table.sum(1) @ self._down, table.sum(0) @ self._across])

    def pairs(self, mass: FloatArray) -> FloatArray:
        """The sum over the types that have both of two values."""
        table = mass.reshape(len(self._down), len(self._across))
        own = [(table.sum(1), self._down), (table.sum(0), self._across)]
        (first, second) = (incidence.T @ (sums[:, None] * incidence) for sums, incidence in own)
        both = self._down.T @ (table @ self._across)
        return np.block([[first, both], [both.T, second]])

    def bound(self, scores: FloatArray) -> float:
        """An upper bound on the rate of every policy."""
        return float(self.p @ np.maximum(scores, 0))


def _incidence(counts: tuple[int, ...]) -> FloatArray:
    """Which combination (row) has which value (column)."""
    total = int(np.prod(counts, dtype=int))
    codes = np.indices(counts).reshape(len(counts), total)
    eyes = [np.eye(count)[code] for count, code in zip(counts, codes, strict=True)]
    return np.concatenate([np.zeros((total, 0)), *eyes], axis=1)


def middle(z: FloatArray) -> FloatArray:
    """How far from a half the probability is with which a type is accepted."""
    return np.asarray(z / (4 + 2 * np.sqrt(z * z + 4)))


def rounded(z: FloatArray) -> FloatArray:
    """The integral of that probability: the larger of z and zero, with its kink rounded."""
    root = np.sqrt(z * z + 4)
    return np.asarray((z + root) / 2 - np.log(2 + root))


def _path(table: Table) -> Iterator[tuple[float, FloatArray]]:
    """Ever smaller roundings of the kink, each with its best points."""
    points = np.zeros_like(table.problem.rho)
    points[: table.problem.n_values[0]] = 1.0  # every score is one
    points[~table.wanted] = 0.0
    rounding, before = 1.0, points
    while True:
        # Along the path the points are nearly linear in the rounding.
        start = points + (points - before) / FACTOR
        before, there = points, _newton(table, start, rounding)
        if there is None:
            return
        points = there
        bound = table.bound(table.scores(points))
        if rounding <= FIRST * bound:
            yield rounding, points
        if rounding <= LAST * bound or bound < NOTHING:
            return
        rounding /= FACTOR


def _newton(
    table: Table, points: FloatArray, rounding: float, close: float = CLOSE
) -> FloatArray | None:
    """The points for which the accepted have the target shares; nothing if that takes too long."""
    z = table.scores(points) / rounding
    value = table.p @ rounded(z)
    for _ in range(MOST_STEPS):
        step, gain, accepted = _step(table, z)
        if not gain > close * accepted:
            return points
        if np.abs(points + rounding * step).max() > FAR:
            return None
        along, length = table.scores(step), 1.0
        while True:
            ahead = z + length * along
            next_value = table.p @ rounded(ahead)
            if next_value <= value * (1 + ROUNDING) - 0.1 * length * gain:
                break
            length /= 2
            if length < SHORTEST:  # what is left to gain is rounding
                return points
        points = points + length * rounding * step
        z, value = ahead, next_value
    return None


def _step(table: Table, z: FloatArray) -> tuple[FloatArray, float, float]:
    """Newton's step, in units of the rounding, what it promises to gain, and the accepted mass."""
    free, off = table.free, middle(z)
    square = 0.25 - off * off
    shares = table.shares(table.p * (0.5 + off))
    hessian = table.pairs(table.p * square * square / (0.5 + 2 * off * off))[np.ix_(free, free)]
    unit = 1 / np.sqrt(np.maximum(np.diag(hessian), np.finfo(float).tiny))
    edge = (table.problem.rho[free] * unit)[:, None]
    edge /= np.linalg.norm(edge)
    system = np.block([[hessian * np.outer(unit, unit), edge], [edge.T, np.zeros((1, 1))]])
    # What is wrong with the shares; a multiple of the targets changes the multiplier alone.
    accepted = float(shares[: table.problem.n_values[0]].sum())
    wrong = shares - accepted * table.problem.rho
    step = np.zeros_like(shares)
    step[free] = np.linalg.lstsq(system, np.append(-wrong[free] * unit, 0.0), 1e-14)[0][:-1] * unit
    return step, -float(wrong @ step), accepted


def _by_score(table: Table, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    """The types with scores around zero, and the mass of the others: all of it or nothing."""
    distance = np.where(table.p > 0, np.abs(scores), np.inf)
    count = min(TYPES_PER_VALUE * len(table.wanted), len(distance))
    near = np.argpartition(distance, count - 1)[:count]
    return np.sort(near), np.where(scores > 0, table.p, 0.0)


def _from_the_middle(table: Table, points: FloatArray, rounding: float) -> Solution | None:
    """Leave all types where they are, but for a few of each value; look again who is in doubt."""
    exact = _newton(table, points, rounding, close=EXACT)
    scores = table.scores(points if exact is None else exact)
    chance = 0.5 + middle(scores / rounding)
    for _ in range(LOOKS):
        mass = table.p * chance
        found = _decide(table, _with_room(table, mass), mass)
        if found is None or _proven(table, *found):
            return found
        scores = table.scores(found[1])
        chance = np.where(np.abs(scores) > CLEAR, scores > 0, chance)
    return None


def _with_room(table: Table, mass: FloatArray) -> IntArray:
    """For each value, some types that may be accepted both more often and less."""
    room = np.minimum(mass, table.p - mass)
    types: list[IntArray] = []
    for axis in range(len(table.problem.shape)):
        cells = np.moveaxis(np.arange(len(room)).reshape(table.problem.shape), axis, 0)
        for own in cells.reshape(len(cells), -1):
            count = min(TYPES_PER_VALUE, len(own))
            types.append(own[np.argpartition(-room[own], count - 1)[:count]])
    return np.unique(np.concatenate(types))


def _finish(table: Table, near: IntArray, mass: FloatArray) -> Solution | None:
    """Decide on the types near zero; nothing if that is not the optimum."""
    found = _decide(table, near, mass)
    return found if found is not None and _proven(table, *found) else None


def _proven(table: Table, mass: FloatArray, points: FloatArray) -> bool:
    """Whether the targets are met, and no policy is faster."""
    rate = float(mass.sum())
    met = np.abs(table.shares(mass) - table.problem.rho * rate).max() <= GAP * rate
    return bool(met) and 0 < table.bound(table.scores(points)) <= (1 + GAP) * rate


def _decide(table: Table, near: IntArray, mass: FloatArray) -> Solution | None:
    """Solve the linear program for these types, while the mass of the others is given."""
    from scipy import sparse

    problem, target = table.problem, table.problem.rho
    mass = mass.copy()
    mass[near] = 0.0
    columns = np.zeros((len(target), len(near) + 1))
    first = np.cumsum((0, *problem.shape[:-1]))[:, None]
    columns[first + np.unravel_index(near, problem.shape), np.arange(len(near))] = 1.0
    columns[:, -1] = -target
    most = np.append(table.p[near], highspy.kHighsInf)
    cost = np.append(np.zeros(len(near)), -1.0)
    rest = -table.shares(mass)
    model = highs.model(sparse.csc_array(columns), cost)
    model.changeColsBounds(
        len(most), np.arange(len(most), dtype=np.int32), np.zeros_like(most), most
    )
    model.changeRowsBounds(len(rest), np.arange(len(rest), dtype=np.int32), rest, rest)
    model.run()
    found = model.getSolution()
    dual = np.array(found.row_dual)
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal or not dual @ target > 0:
        return None
    mass[near] = np.array(found.col_value)[:-1]
    points = dual / (dual @ target)
    # A value that is not wanted costs so many points that nobody with it has a positive score.
    points[~table.wanted] = -np.abs(points[table.wanted]).sum()
    return mass, points

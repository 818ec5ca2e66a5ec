r"""The linear program of `committees.lp` when there are many types: the dual first.

With a million types the program has a million columns, but its dual has only as many unknowns as
there are values, some dozens: $w$ minimises $\sum_x p(x)\, s(x)^+$, where $s(x) = \sum_i w^i_{x^i}$
is the score of a type, subject to $w \cdot \rho = 1$. The kink of $s^+$ is smoothed, and ever less
so as $\mu$ falls (an interior-point method with a logarithmic barrier): a type is accepted with
probability

$$\varphi(z) = \tfrac12 + \frac{z}{2\,(2 + \sqrt{z^2 + 4})}, \qquad z = s(x) / \mu,$$

and Newton's method finds the $w$ for which the accepted have the target shares.

**The end is exact.** Near the optimum only the types with scores around zero are in doubt. The
others are set to yes or no, and a small linear program decides on those that are left. Where so
many policies are optimal that thousands of types have score zero, most of them keep $\varphi$. The
dual of the small program proves the result: `Policy.bound` equals `Policy.rate` up to rounding.
"""

from __future__ import annotations

import highspy
import numpy as np
from scipy import sparse

from committees import highs, lp
from committees.checks import FloatArray, IntArray
from committees.problem import Problem

#: The values of mu. The small program is tried between these two shares of the rate.
MUS, FIRST_SHARE, LAST_SHARE = 10.0 ** -np.arange(15), 1e-2, 1e-7
#: Newton's method stops when a step would gain less than this share of the rate. It gives up after
#: so many steps, or when w is so large that (almost) no policy meets the targets.
LEAST_GAIN, MAX_STEPS, MAX_W = 0.01, 200, 1e8
#: A step is halved until it gains a tenth of what it promises, up to rounding, but not below this.
ROUNDING, SHORTEST_STEP = 1e-14, 1e-6
#: The small program has at most twice so many types for each value; none is clear up to this |z|.
TYPES_PER_VALUE, CLEAR_Z = 30, 1000.0
#: The rate may be this share below its bound.
GAP = 1e-10

Solution = tuple[FloatArray, FloatArray]  # the accepted mass per type, the dual w per value


def best_policy(problem: Problem) -> lp.Policy:
    """The same as `lp.best_policy`, for up to millions of types.

    Where no policy is proven optimal the program is solved as `lp` states it; a `ValueError` says
    if there are too many types for that.

    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.75, 0.25])
    >>> round(best_policy(problem).rate, 9)
    0.5
    """
    found = solve(problem)
    if found is not None:
        chance = np.divide(found[0], problem.p, out=np.zeros_like(problem.p), where=problem.p > 0)
        return lp.make_policy(problem, chance, found[1])
    if len(problem.p) <= lp.MAX_TYPES_CVXPY:
        return lp.best_policy(problem)
    raise ValueError(
        f"no policy for these {len(problem.p):,} types could be proven optimal; perhaps none meets "
        "the targets. Take fewer features, or merge values"
    )


def solve(problem: Problem) -> Solution | None:
    """The accepted mass per type and the dual w per value; None if they are not proven optimal."""
    wanted = (problem.rho > 0).astype(float)
    # In units of the bottleneck; of types with a value that is not wanted nobody is accepted.
    p = problem.p * problem.product_over_values(wanted) / problem.bottleneck
    w = before = wanted * (np.arange(len(wanted)) < problem.shape[0])  # every score is one
    for mu in MUS:
        start, before = w + 0.1 * (w - before), w  # w is nearly linear in mu
        found = _newton(problem, p, start, mu)
        if found is None:
            break
        w, scores = found, problem.sum_over_values(found)
        rate = float(p @ np.maximum(scores, 0))
        solution = _finish(problem, p, scores / mu) if mu <= FIRST_SHARE * rate else None
        if solution is not None:
            return problem.bottleneck * solution[0], solution[1]
        if mu <= LAST_SHARE * rate:
            break
    return None


def acceptance(z: FloatArray) -> FloatArray:
    """The probability phi with which a type is accepted."""
    return np.asarray(0.5 + z / (4 + 2 * np.sqrt(z * z + 4)))


def smoothed(z: FloatArray) -> FloatArray:
    """The integral of that probability: the larger of z and zero, with a smooth kink."""
    root = np.sqrt(z * z + 4)
    return np.asarray((z + root) / 2 - np.log(2 + root))


def _newton(problem: Problem, p: FloatArray, w: FloatArray, mu: float) -> FloatArray | None:
    """The w for which the accepted have the target shares; None if that takes too long."""
    z = problem.sum_over_values(w) / mu
    value = p @ smoothed(z)
    for _ in range(MAX_STEPS):
        step, gain, rate = _newton_step(problem, p, z)
        if not gain > LEAST_GAIN * rate:
            return w
        if np.abs(w + mu * step).max() > MAX_W:
            return None
        along, length, before = problem.sum_over_values(step), 1.0, value * (1 + ROUNDING)
        while (value := p @ smoothed(z + length * along)) > before - 0.1 * length * gain:
            length /= 2
            if length < SHORTEST_STEP:  # what is left to gain is rounding
                return w
        w, z = w + length * mu * step, z + length * along
    return None


def _newton_step(problem: Problem, p: FloatArray, z: FloatArray) -> tuple[FloatArray, float, float]:
    """Newton's step in units of mu, what it promises to gain, and the rate."""
    chance = acceptance(z)
    spread = chance * (1 - chance)
    hessian = pair_sums(problem, p * spread * spread / (1 - 2 * spread))
    root = np.sqrt(np.diag(hessian))
    unit = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    edge = (problem.rho * unit)[:, None]
    edge /= np.linalg.norm(edge)
    system = np.block([[hessian * np.outer(unit, unit), edge], [edge.T, np.zeros((1, 1))]])
    # What is wrong with the shares; a multiple of the targets changes the multiplier alone.
    shares = problem.marginals(p * chance)
    rate = float(shares[: problem.shape[0]].sum())
    wrong = shares - rate * problem.rho
    # Of the many solutions (more for one feature, less for another) the shortest.
    step = np.linalg.lstsq(system, np.append(-wrong * unit, 0.0), 1e-14)[0][:-1] * unit
    return step, -float(wrong @ step), rate


def pair_sums(problem: Problem, per_type: FloatArray) -> FloatArray:
    """For each pair of values, the sum over the types that have both; shape (values, values).

    Types are laid out as a table, the first features down and the others across, so that the sums
    are products of small matrices.
    """
    types = np.cumprod(problem.shape)
    half = int(np.argmin(np.maximum(types, types[-1] // types))) + 1
    down, across = map(_incidence, (problem.shape[:half], problem.shape[half:]))
    cells = per_type.reshape(len(down), len(across))
    both = down.T @ (cells @ across)
    own = [side.T @ (cells.sum(1 - i)[:, None] * side) for i, side in enumerate((down, across))]
    return np.block([[own[0], both], [both.T, own[1]]])


def _incidence(shape: tuple[int, ...]) -> FloatArray:
    """Which combination of values (row) has which value (column)."""
    codes = np.indices(shape).reshape(len(shape), -1 if shape else 1)
    ones = [np.eye(count)[code] for count, code in zip(shape, codes, strict=True)]
    return np.concatenate([np.zeros((codes.shape[1], 0)), *ones], axis=1)


def _finish(problem: Problem, p: FloatArray, z: FloatArray) -> Solution | None:
    """Decide on the types in doubt; all others are at yes or no, or else only those clearly so."""
    count = min(TYPES_PER_VALUE * len(problem.rho), len(p))
    doubtful = [np.argpartition(np.where(p > 0, np.abs(z), np.inf), count - 1)[:count]]
    # For each value, also those with most room to be accepted or not.
    room, type_ids = p * acceptance(-np.abs(z)), np.arange(len(p)).reshape(problem.shape)
    for axis in range(type_ids.ndim):
        for own in map(np.ravel, np.moveaxis(type_ids, axis, 0)):
            count = min(TYPES_PER_VALUE, len(own))
            doubtful.append(own[np.argpartition(-room[own], count - 1)[:count]])
    for clear in (0.0, CLEAR_Z):
        mass = p * np.where(np.abs(z) > clear, z > 0, acceptance(z))
        found = _small_lp(problem, p, mass, np.unique(np.concatenate(doubtful)))
        if found is not None and is_optimal(problem, p, *found):
            return found
    return None


def is_optimal(problem: Problem, p: FloatArray, mass: FloatArray, w: FloatArray) -> bool:
    """Whether the targets are met, and w proves that no policy is faster."""
    rate, bound = mass.sum(), p @ np.maximum(problem.sum_over_values(w), 0)
    wrong = np.abs(problem.marginals(mass) - problem.rho * rate).max()
    return bool(wrong <= GAP * rate and 0 < bound <= (1 + GAP) * rate)


def _small_lp(problem: Problem, p: FloatArray, mass: FloatArray, of: IntArray) -> Solution | None:
    """Solve the linear program for some types, while the mass of the others is given."""
    rho, n = problem.rho, len(of)
    mass[of] = 0.0
    columns = np.append(np.zeros((len(rho), n)), -rho[:, None], axis=1)
    first = np.cumsum((0, *problem.shape[:-1]))[:, None]
    columns[first + np.unravel_index(of, problem.shape), np.arange(n)] = 1.0
    model = highs.model(sparse.csc_array(columns), np.append(np.zeros(n), -1.0))
    most, rest = np.append(p[of], highspy.kHighsInf), -problem.marginals(mass)
    model.changeColsBounds(n + 1, np.arange(n + 1, dtype=np.int32), np.zeros(n + 1), most)
    model.changeRowsBounds(len(rho), np.arange(len(rho), dtype=np.int32), rest, rest)
    model.run()
    found = model.getSolution()
    dual = np.array(found.row_dual)
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal or not dual @ rho > 0:
        return None
    mass[of] = found.col_value[:-1]
    w = dual / (dual @ rho)
    w[rho == 0] = -np.abs(w[rho > 0]).sum()  # with a value that is not wanted no score is positive
    return mass, w

r"""Re-solving: plan for the seats that are left, again after every acceptance.

A full committee holds between low and high people of each value: the **band** (`greedy.band`).

**What is open.** With counts $n$ and $k$ seats left, a committee inside the band can be reached if
and only if, in every feature, $n \le \text{high}$ and $\sum_j (\text{low}_j - n_j)^+ \le k$: first
the values below their lows are given their seats, then the others, for which there is room because
$\sum_j \text{high}_j \ge K$. So accepting value $v$ keeps the band within reach if and only if
$n_v < \text{high}_v$, and either $n_v < \text{low}_v$ or $\sum_j (\text{low}_j - n_j)^+ < k$. Call
such a value **open**. Some value of each feature always is: if the lows need all $k$ seats, those
below them, and otherwise all that have room. Only types whose values are all open are accepted.
Hence, **if every type can occur, the strategy never gets stuck and always ends inside the band**,
whatever else it does, and whatever it knows of $p$. If some types cannot occur, all the types that
are open may be among them: a dead end, which is rare, since a plan uses only types that occur. If
there is no plan even at the start, `start` says so (unless it learns, and cannot know).

**Whom to accept.** The linear program of `committees.beyond.plan`, with margins of
$c \sqrt{k \rho (1 - \rho)}$ people, some share of a standard deviation of what is to come, accepts
$y(x)$ of the $p(x)\,T$ people of type $x$ to come. A type is accepted if that is more than half of
them, which is Vera and Banerjee's Bayes selector, or more than a share of their standard deviation
(then the type is so rare that even luck would not bring too many). The last three seats (the last
two, if the types are very many) are filled by the best rule there is: for the last, any open type;
before it, the set $S$ with the smallest $(1 + \sum_{x \in S} p(x)\, V(x)) / p(S)$, where $V(x)$ is
the number of people still to be seen, on average, once $x$ is accepted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from committees.beyond.plan import PlanLP
from committees.checks import BoolArray, FloatArray, IntArray, check_choice, check_number
from committees.greedy import ROUNDING, band, feature_sums
from committees.problem import Problem, shrink
from committees.strategy import Session, Strategy

#: The price of a person inside a margin, times the seats left; and the most that all of them cost.
PRICE, MAX_TOTAL_PRICE = 0.7, 0.9
#: A type is accepted if y(x) is more than so many standard deviations (the square root of p(x) T).
ACCEPT_ABOVE_DEVIATIONS = 0.7
#: The plan's own probabilities are used if a yes or no accepts less than this share of its rate.
LEAST_SHARE_OF_RATE = 0.7
#: With three seats left all pairs of an open type and any type are compared, if they are so few.
MAX_PAIRS = 2_000_000
#: When learning, the targets and equal shares, half and half, count like so many people seen.
PRIOR_PEOPLE = 10
#: When learning, people seen between two plans: at least this many, and a tenth of all so far.
LEAST_BETWEEN_PLANS = 10


def open_values(
    problem: Problem, low: IntArray, high: IntArray, counts: IntArray, left: int
) -> BoolArray:
    """Which values are open; low, high and counts are per value (along the last axis).

    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.5, 0.5])
    >>> open_values(problem, *band(problem, 4, 0), counts=np.array([2, 1]), left=1)
    array([False,  True])
    """
    lacking = np.maximum(low - counts, 0)
    spare = feature_sums(problem, lacking) < left
    return np.asarray((counts < high) & (spare | (lacking > 0)))


def fewest_ahead(V: FloatArray, p: FloatArray) -> FloatArray:
    """The smallest (1 + sum of p(x) V(x) over S) / p(S) of all sets S of types.

    V is per type along its last axis. The best set is a beginning of the types in the order of V.
    """
    order = np.argsort(V, axis=-1, kind="stable")
    V = np.take_along_axis(V, order, -1)
    cost = np.multiply(p[order], V, out=np.full_like(V, np.inf), where=np.isfinite(V))
    share = np.cumsum(p[order], axis=-1)
    ahead = np.full_like(V, np.inf)
    np.divide(1 + np.cumsum(cost, axis=-1), share, out=ahead, where=share > 0)
    return np.asarray(ahead.min(axis=-1))


def estimate(problem: Problem, seen: IntArray) -> FloatArray:
    """The distribution of types, from how often each was seen, without a look at `problem.p`.

    The shares of the values are learnt quickly, and if features are independent, their product is
    all there is to learn. `problem.shrink` says how far to go from it towards the frequencies of
    the types. At first the targets, and a bit of everything, stand for shares.
    """
    people = int(seen.sum())
    prior = PRIOR_PEOPLE * (problem.rho + 1 / problem.n_values) / 2
    shares = (problem.incidence @ seen + prior) / (people + PRIOR_PEOPLE)
    n = max(people, 1)
    return shrink(problem, seen / n, shares, people, least=1 / n)[0]


@dataclass(frozen=True)
class Resolving(Strategy):
    """Plan for the seats that are left, again after every acceptance.

    Parameters
    ----------
    tolerance : float, from 0 to 1
        How far (as a share of the committee) the share of a value may end from its target. What
        rounding to whole people demands is always allowed.
    learn : bool
        Whether to estimate p from everybody seen instead of knowing it.
    rule : "threshold" or "coin"
        The first accepts a type or does not; the second accepts it as often as the plan does.
    margin : float, at least 0
        How many standard deviations of what is to come the plan stays away from the band's edges;
        with 0 it uses the whole band.
    """

    tolerance: float
    learn: bool = False
    rule: Literal["threshold", "coin"] = "threshold"
    margin: float = 0.5

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, 0, 1)
        check_choice("rule", self.rule, ("threshold", "coin"))
        check_number("margin", self.margin, 0)

    @property
    def learns(self) -> bool:
        return self.learn

    @property
    def family(self) -> str:
        return "Resolving learning" if self.learn else "Resolving"

    @property
    def name(self) -> str:
        name = f"{self.family} {self.tolerance:.12g}"
        name += " by coin" if self.rule == "coin" else ""
        return name + (f" margin {self.margin:.12g}" if self.margin != 0.5 else "")

    def start(self, problem: Problem, size: int) -> ResolvingSession:
        return ResolvingSession(self, problem, size)


class ResolvingSession(Session):
    """Keeps the counts of people seated, per value, and the seats left, k; plans as they change."""

    def __init__(self, strategy: Resolving, problem: Problem, size: int) -> None:
        self._strategy, self._problem = strategy, problem
        self._band = band(problem, size, strategy.tolerance)
        self.counts, self.left = 0 * self._band[0], size
        self._seen = np.zeros(len(problem.p), dtype=np.intp)
        self._next_plan = 0  # when learning: the number of people seen at which to plan again
        self._lp = PlanLP(problem)
        if not strategy.learn and not np.isfinite(self._plan(problem.p)[0]):
            raise ValueError(
                f"{strategy}: among the types that occur in p, none can be combined to a "
                f"committee of {size} inside the band"
            )
        self.acceptance = self._decide()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        chosen = np.flatnonzero(accepted)
        noted = int(chosen[0]) + 1 if len(chosen) else len(type_ids)
        if self._strategy.learn:
            noted = min(noted, self._next_plan - int(self._seen.sum()))
            self._seen += np.bincount(type_ids[:noted], minlength=len(self._seen))
        if accepted[noted - 1]:
            self._seat(int(type_ids[noted - 1]), +1)
        elif self._strategy.learn and self._seen.sum() == self._next_plan:
            self.acceptance = self._decide()
        return noted

    def leave(self, type_id: int) -> None:
        self._seat(type_id, -1)

    def _seat(self, type_id: int, people: int) -> None:
        self.counts = self.counts.copy()
        self.counts[self._problem.codes[type_id]] += people
        self.left -= people
        self.acceptance = self._decide()

    def _decide(self) -> FloatArray:
        """The probability of accepting each type now."""
        p = self._believed_p()
        values = open_values(self._problem, *self._band, self.counts, self.left)
        is_open = self._problem.product_over_values(values.astype(float))
        if self.left < 2:
            return is_open
        pairs = np.count_nonzero(is_open * p) * len(p)
        last_seats = self.left == 2 or (self.left == 3 and pairs <= MAX_PAIRS)
        accept = is_open * (self._best_set if last_seats else self._by_plan)(p, is_open)
        return accept if p @ accept > 0 else is_open

    def _believed_p(self) -> FloatArray:
        """The distribution to plan with; when learning, also sets when to plan again."""
        if not self._strategy.learn:
            return self._problem.p
        seen = int(self._seen.sum())
        self._next_plan = seen + max(LEAST_BETWEEN_PLANS, seen // 10)
        return estimate(self._problem, self._seen)

    def _plan(self, p: FloatArray) -> tuple[float, FloatArray]:
        """T, the people to see, and y, those of each type to accept among them."""
        rho, (low, high) = self._problem.rho, self._band
        room = (high - low) / 2
        margin = np.minimum(self._strategy.margin * np.sqrt(self.left * rho * (1 - rho)), room)
        price = min(PRICE / self.left, MAX_TOTAL_PRICE / max(margin.sum(), ROUNDING))
        return self._lp.solve(p, self.left, low - self.counts, high - self.counts, margin, price)

    def _by_plan(self, p: FloatArray, is_open: FloatArray) -> FloatArray:
        """The plan as probabilities, or rounded to a yes or no for each type."""
        T, y = self._plan(p)
        if not np.isfinite(T):
            return is_open
        coming = p * T
        share = np.divide(y, coming, out=np.zeros_like(p), where=coming > 0)
        share = np.round(np.clip(share, 0, 1), 9)  # one up to the solver's tolerance is one
        if self._strategy.rule == "coin":
            return share
        yes = y > np.minimum(coming / 2, ACCEPT_ABOVE_DEVIATIONS * np.sqrt(coming))
        rates = p @ (yes * is_open), p @ (share * is_open)
        return yes.astype(float) if rates[0] > LEAST_SHARE_OF_RATE * rates[1] else share

    def _best_set(self, p: FloatArray, is_open: FloatArray) -> FloatArray:
        """The set S for the first of the last two or three seats: 1 for the types in it."""
        if self.left == 2:
            V = self._last_wait(self.counts[None], p)[0]
        else:
            type_ids = np.flatnonzero(is_open * p)
            after = self.counts + self._problem.incidence[:, type_ids].T.toarray().astype(np.intp)
            V = np.full(len(p), np.inf)
            V[type_ids] = fewest_ahead(self._last_wait(after, p), p)
        return np.asarray(np.less_equal(V, fewest_ahead(V, p)), dtype=float)

    def _last_wait(self, counts: IntArray, p: FloatArray) -> FloatArray:
        """V for two seats left, the wait for the last: a row for each state, a column per type."""
        one_more = counts[:, None, :] + np.eye(counts.shape[1], dtype=np.intp)
        open_then = open_values(self._problem, *self._band, one_more, 1)
        fits = p[None]
        # The share of people who fit, summed feature by feature over the values of the last person.
        for axis, first in enumerate(self._problem.codes[0]):
            size, after = self._problem.shape[axis], math.prod(self._problem.shape[axis + 1 :])
            own = slice(first, first + size)
            cells = fits.reshape(len(fits), -1, size, after)
            fits = (open_then[:, None, own, own].astype(float) @ cells).reshape(len(counts), -1)
        open_now = open_values(self._problem, *self._band, counts, 2)
        can_fit = open_now[:, self._problem.codes].all(axis=2) & (fits > 0)
        return np.divide(1, fits, out=np.full_like(fits, np.inf), where=can_fit)

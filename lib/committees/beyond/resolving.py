r"""Re-solving: plan for the seats that are left, again after every acceptance.

With $K$ seats and tolerance $\epsilon$, a full committee holds between
$\text{low} = \min(\lceil \rho K - \epsilon K \rceil, \lfloor \rho K \rfloor)$ and
$\text{high} = \max(\lfloor \rho K + \epsilon K \rfloor, \lceil \rho K \rceil)$ people of each
value: the **band**.

**What is open.** With counts $n$ and $k$ seats left, a committee inside the band can be reached if
and only if, in every feature, $n \le \text{high}$ and $\sum_j (\text{low}_j - n_j)^+ \le k$: first
the values below their lows are given their seats, then the others, for which there is room because
$\sum_j \text{high}_j \ge K$. So accepting value $v$ keeps the band within reach if and only if
$n_v < \text{high}_v$, and either $n_v < \text{low}_v$ or $\sum_j (\text{low}_j - n_j)^+ < k$. Call
such a value **open**. Some value of each feature always is: if the lows need all $k$ seats, those
below them, and otherwise all that have room. Only types whose values are all open are accepted.
Hence, **if every type can occur, the strategy never gets stuck and always ends inside the band**,
whatever else it does, and whatever it knows of $p$. If some types cannot occur, all the types that
are open may be among them; then recruitment ends in a dead end. That is rare, since a plan uses
only types that occur, but it can happen. If there is no plan even at the start, `start` says so
(unless it learns, and cannot know).

**Whom to accept.** The linear program of `committees.beyond.plan`, with margins of
$c \sqrt{k \rho (1 - \rho)}$ people, some share of a standard deviation of what is to come, wants
$y(x)$ of the $p(x)\,T$ people of type $x$ to come. A type is accepted if that is more than half of
them, which is Vera and Banerjee's Bayes selector, or else so many that a lucky streak would not
bring too many. The last three seats (the last two, if the types are very many) are filled by the
best rule there is: for the last, any open type; before it, the set $S$ with the smallest
$(1 + \sum_{x \in S} p(x)\, V(x)) / p(S)$, where $V(x)$ is the number of people still to be seen, on
average, once $x$ is accepted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from committees.beyond.plan import PlanLP
from committees.beyond.shrinkage import shrink
from committees.checks import BoolArray, FloatArray, IntArray, check_choice, check_number
from committees.greedy import ROUNDING, band, feature_sums
from committees.problem import Problem
from committees.strategy import Session, Strategy

#: A person inside a margin costs this share of the plan for one seat; all together at most `MOST`.
PRICE, MOST = 0.7, 0.9

#: A lucky streak brings this many standard deviations more people than expected.
STREAK = 0.7

#: Accepting less often than this share of what the plan does is bad rounding.
SLOW = 0.7

#: With three seats left, so many pairs of types, one that may be accepted now and any one after it,
#: are few enough to look at them all.
FEW_PAIRS = 2_000_000

#: When learning, the targets and equal shares, half and half, count like so many people seen.
PRIOR = 10


def estimate(problem: Problem, seen: IntArray) -> FloatArray:
    """The distribution of types, from how often each was seen, without a look at `problem.p`.

    The shares of the values are learnt quickly, and if features are independent, their product is
    all there is to learn. `committees.beyond.shrinkage` says how far to go from it towards the
    frequencies of the types. At first the targets, and a bit of everything, stand for shares.
    """
    people = int(seen.sum())
    prior = PRIOR * (problem.rho + 1 / problem.n_values) / 2
    product = problem.product_over_values((problem.incidence @ seen + prior) / (people + PRIOR))
    some = max(people, 1)
    return shrink(seen / some, product, people, least=1 / some)[0]


@dataclass(frozen=True)
class Resolving(Strategy):
    """Plan for the seats that are left, again after every acceptance.

    Parameters
    ----------
    tolerance
        How far (as a share of the committee) the share of a value may end from its target; from 0
        to 1. What rounding to whole people demands is always allowed.
    learn
        Whether to estimate p from everybody seen instead of knowing it.
    rule
        `"threshold"` accepts a type or does not; `"coin"` accepts it as often as the plan does.
    margin
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

    def start(self, problem: Problem, size: int) -> ResolvingSession:
        return ResolvingSession(self, problem, size)

    @property
    def family(self) -> str:
        return "Resolving learning" if self.learn else "Resolving"

    @property
    def name(self) -> str:
        name = f"Resolving {self.tolerance:.12g}" + (" learning" if self.learn else "")
        name += " by coin" if self.rule == "coin" else ""
        return name + (f" margin {self.margin:.12g}" if self.margin != 0.5 else "")


class ResolvingSession(Session):
    """Keeps the counts of each value, and plans anew when they change.

    `seated` may hold the counts of each value in a committee that was begun elsewhere.
    """

    def __init__(
        self, strategy: Resolving, problem: Problem, size: int, seated: IntArray | None = None
    ) -> None:
        self._strategy, self._problem = strategy, problem
        self._low, self._high = band(problem, size, strategy.tolerance)
        self.counts = np.array(0 * self._low if seated is None else seated, dtype=np.intp)
        self.left = size - int(self.counts.sum()) // len(problem.features)
        self._seen = np.zeros(len(problem.p), dtype=np.intp)
        self._due = 0  # when learning, plan again at this number of people seen
        self._lp = PlanLP(problem)
        self._check(size)
        self.acceptance = self._decide()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        chosen = np.flatnonzero(accepted)
        noted = int(chosen[0]) + 1 if len(chosen) else len(type_ids)
        if self._strategy.learn:
            noted = min(noted, self._due - int(self._seen.sum()))
            self._seen += np.bincount(type_ids[:noted], minlength=len(self._seen))
        if accepted[noted - 1]:
            self._move(int(type_ids[noted - 1]), 1)
        elif self._strategy.learn and self._seen.sum() == self._due:
            self.acceptance = self._decide()
        return noted

    def leave(self, type_id: int) -> None:
        self._move(type_id, -1)

    def _move(self, type_id: int, step: int) -> None:
        self.counts = self.counts.copy()
        self.counts[self._problem.codes[type_id]] += step
        self.left -= step
        self.acceptance = self._decide()

    def _decide(self) -> FloatArray:
        """The probability of accepting each type now."""
        p = self._belief()
        can = self._problem.product_over_values(self._open(self.counts, self.left).astype(float))
        if self.left < 2:
            return can
        few = self.left == 2 or (self.left == 3 and np.count_nonzero(can * p) * len(p) <= FEW_PAIRS)
        wish = can * (self._outright(p, can)[1] if few else self._planned(p, can))
        return wish if p @ wish > 0 else can

    def _open(self, counts: IntArray, left: int) -> BoolArray:
        """Which values keep the band within reach; none of a full committee inside it does."""
        lacking = np.maximum(self._low - counts, 0)
        spare = feature_sums(self._problem, lacking) < left
        return np.asarray((counts < self._high) & (spare | (lacking > 0)))

    def _plan(self, p: FloatArray) -> tuple[float, FloatArray]:
        """The people to see, and those of each type to accept among them."""
        rho, room = self._problem.rho, (self._high - self._low) / 2
        margin = np.minimum(self._strategy.margin * np.sqrt(self.left * rho * (1 - rho)), room)
        price = min(PRICE / self.left, MOST / max(margin.sum(), ROUNDING))
        low, high = self._low - self.counts, self._high - self.counts
        return self._lp.solve(p, self.left, low, high, margin, price)

    def _planned(self, p: FloatArray, can: FloatArray) -> FloatArray:
        """A plan, rounded to whom to accept now."""
        people, wanted = self._plan(p)
        if not np.isfinite(people):
            return can
        coming = p * people
        share = np.divide(wanted, coming, out=np.zeros_like(p), where=coming > 0)
        share = np.round(np.clip(share, 0, 1), 9)  # one up to the solver's tolerance is one
        if self._strategy.rule == "coin":
            return share
        sure = (wanted > np.minimum(coming / 2, STREAK * np.sqrt(coming))).astype(float)
        return sure if p @ (sure * can) > SLOW * (p @ (share * can)) else share

    def _outright(self, p: FloatArray, can: FloatArray) -> tuple[float, FloatArray]:
        """The fewest people for the last two or three seats, and whom to accept first."""
        if self.left == 2:
            ahead = self._for_the_last(self.counts[None], p)[0]
        else:
            type_ids = np.flatnonzero(can * p)
            after = self.counts + self._problem.incidence[:, type_ids].T.toarray().astype(np.intp)
            ahead = np.full(len(p), np.inf)
            ahead[type_ids] = fewest(self._for_the_last(after, p), p)
        people = fewest(ahead, p)
        return float(people), (ahead <= people).astype(float)

    def _for_the_last(self, counts: IntArray, p: FloatArray) -> FloatArray:
        """With two seats left, and each of these counts: people to be seen for the last one.

        A row for each of the counts, a column for each type that may take the other seat.
        """
        open_then = self._open(counts[:, None, :] + np.eye(counts.shape[1], dtype=np.intp), 1)
        fits = p[None]
        # The share of people who fit, summed feature by feature over the values of the last person.
        for axis, first in enumerate(self._problem.codes[0]):
            size, after = self._problem.shape[axis], math.prod(self._problem.shape[axis + 1 :])
            own = slice(first, first + size)
            cells = fits.reshape(len(fits), -1, size, after)
            fits = (open_then[:, None, own, own].astype(float) @ cells).reshape(len(counts), -1)
        can = self._open(counts, 2)[:, self._problem.codes].all(axis=2) & (fits > 0)
        return np.divide(1, fits, out=np.full_like(fits, np.inf), where=can)

    def _belief(self) -> FloatArray:
        """The distribution to plan with."""
        if not self._strategy.learn:
            return self._problem.p
        seen = int(self._seen.sum())
        self._due = seen + max(10, seen // 10)
        return estimate(self._problem, self._seen)

    def _check(self, size: int) -> None:
        """Refuse what cannot end inside the band."""
        lacking = feature_sums(self._problem, np.maximum(self._low - self.counts, 0))
        uneven = feature_sums(self._problem, self.counts) != size - self.left
        wrong = (self.counts < 0) | (self.counts > self._high) | (lacking > self.left) | uneven
        if wrong.any():
            feature, value = self._problem.labels[int(np.argmax(wrong))]
            raise ValueError(
                f"seated: feature {feature!r}, value {value!r}: no committee of {size} inside the "
                f"band of {self._strategy} begins with these counts"
            )
        if (
            self.left
            and not self._strategy.learn
            and not np.isfinite(self._plan(self._problem.p)[0])
        ):
            raise ValueError(
                f"{self._strategy}: among the types that occur in p, none can be combined to a "
                f"committee of {size} inside the band"
            )


def fewest(ahead: FloatArray, p: FloatArray) -> FloatArray:
    """The fewest people to be seen if accepting a type leaves so many ahead (the last axis).

    Whoever leaves fewest is accepted first, so one of the beginnings of that order is the best set.
    """
    order = np.argsort(ahead, axis=-1, kind="stable")
    ahead = np.take_along_axis(ahead, order, -1)
    cost = np.multiply(p[order], ahead, out=np.full_like(ahead, np.inf), where=ahead < np.inf)
    share = np.cumsum(p[order], axis=-1)
    people = np.full_like(ahead, np.inf)
    np.divide(1 + np.cumsum(cost, axis=-1), share, out=people, where=share > 0)
    return np.asarray(people.min(axis=-1))

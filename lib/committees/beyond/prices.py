r"""Prices: accept a volunteer whose groups are not too many seats ahead of their targets.

With $n_v$ people of value $v$ among the $N$ seated, $c = n - \rho N$ tells how many seats each
value is ahead. A type $x$ is accepted if and only if

$$\langle c, e_x - \rho \rangle = \sum_i \big(c^i_{x^i} - \rho^i \cdot c^i\big) < \text{lead},$$

where $e_x$ is 1 for the values of $x$ and 0 for others. The rule knows neither $p$ nor $K$. It is
dual subgradient descent on the paper's program (`committees.lp`) with step $\eta = 1/$lead: a
scorecard $w = 1 - \eta\, (c - \rho \cdot c)$ that follows the counts.

**People.** With $B = \max_x |e_x - \rho|^2$ and $\tau$ the people seen until $K$ are seated,
$E[\tau] \le (K/g^*)\,(1 + B / 2\,\text{lead})$, for every $p$. The proof follows $L = |c|^2/2$: an
acceptance adds at most $\langle c, e_x - \rho \rangle + B/2$ to it, and the rule makes
$a\,(\langle c, e_x - \rho \rangle - \text{lead})$, $a = 1$ for an acceptance, at most what the
paper's optimal policy makes of it: on average $-\text{lead} \cdot g^*$.

**Loss.** If every type occurs and targets are positive, $E|c|$ is bounded whatever $K$, and the
loss falls like $1/K$ (CMDP's like $1/\sqrt K$, as coins do). Both proofs stand in the chapter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from committees.checks import BoolArray, FloatArray, IntArray, check_number
from committees.lp import best_policy
from committees.problem import Problem
from committees.strategy import Session, Strategy, check_people

#: Sums that should be equal differ by less.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Prices(Strategy):
    """Accept a volunteer whose groups, added up, are fewer than `lead` seats ahead.

    Some type is always accepted, since the average of the sum over the targets is 0. If some types
    cannot occur, nobody who can come may be among the accepted.

    Parameters
    ----------
    lead : float, above 0
        With a larger one fewer people are seen, and the committee ends further from its targets.

    >>> Prices(4).name
    'Prices 4'
    """

    lead: float = 4.0

    sized: ClassVar[bool] = False
    family: ClassVar[str] = "Prices"

    def __post_init__(self) -> None:
        check_number("lead", self.lead, 0, ends=False)

    @property
    def name(self) -> str:
        return f"Prices {self.lead:.12g}"

    def start(self, problem: Problem, size: int) -> Session:
        return PricesSession(problem, self.lead)


class PricesSession(Session):
    """Keeps how many seats each value is ahead of its target."""

    def __init__(self, problem: Problem, lead: float | FloatArray) -> None:
        self._problem = problem
        self._lead = lead
        self._ahead = np.zeros_like(problem.rho)
        self._move(0, 0)

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        check_people(type_ids, accepted)
        first = int(accepted.argmax())
        if not accepted[first]:  # nobody is
            return len(type_ids)
        self._move(int(type_ids[first]), +1)
        return first + 1

    def leave(self, type_id: int) -> None:
        self._move(type_id, -1)

    def _move(self, type_id: int, people: int) -> None:
        """Seat so many people of a type, and decide anew."""
        self._ahead[self._problem.codes[type_id]] += people
        self._ahead -= people * self._problem.rho
        self.acceptance = (seats_ahead(self._problem, self._ahead) < self._lead).astype(float)


def seats_ahead(problem: Problem, ahead: FloatArray) -> FloatArray:
    """Per type: how many seats its values, added up, are ahead, given that of each value.

    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.5, 0.5])
    >>> seats_ahead(problem, np.array([1.5, -1.5]))
    array([ 1.5, -1.5])
    """
    return problem.sum_over_values(ahead) - ahead @ problem.rho + ROUNDING


def people_bound(problem: Problem, size: int, lead: float) -> float:
    """The bound on the people seen on average: K (1 + B / (2 lead)) / g*."""
    squares = 1 - 2 * problem.rho  # |e_x - rho|^2 = |rho|^2 + the sum over the values of x
    B = float(problem.sum_over_values(squares).max() + problem.rho @ problem.rho)
    return size / best_policy(problem).rate * (1 + B / (2 * lead))

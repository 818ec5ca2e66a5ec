r"""Section 4: CMDP accepts each type with a fixed probability, which needs p to be known.

Among the stationary policies under which accepted volunteers have the target shares in
expectation, the linear program of `committees.lp` finds one that accepts most often, at the rate
$g^*$ (Algorithm 3). Until $K$ are accepted, $K/g^*$ people are seen on average: $K$, and a negative
binomial number of rejections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from committees.checks import BoolArray, IntArray
from committees.lp import Policy, best_policy
from committees.problem import Problem
from committees.strategy import Session, Strategy, check_people


@dataclass(frozen=True)
class CMDP(Strategy):
    """Accept each type with the probability that the linear program gives it.

    >>> problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, p=[0.75, 0.25])
    >>> round(CMDP().policy(problem).rate, 3)
    0.5
    """

    sized: ClassVar[bool] = False
    family: ClassVar[str] = "CMDP"

    def policy(self, problem: Problem) -> Policy:
        """The optimal stationary policy: `rate` is g*, `acceptance` a Series over types."""
        return best_policy(problem)

    def start(self, problem: Problem, size: int) -> Session:
        return _FixedSession(self.policy(problem))


class _FixedSession(Session):
    def __init__(self, policy: Policy) -> None:
        self.acceptance = policy.acceptance.to_numpy()

    def see(self, type_ids: IntArray, accepted: BoolArray) -> int:
        check_people(type_ids, accepted)
        return len(type_ids)

    def leave(self, type_id: int) -> None:
        """Nothing changes: this rule does not look at who is seated."""

r"""CMDP: accept each type with a fixed probability, the best there is when p is known.

Among the stationary policies under which accepted volunteers have the target shares in
expectation, the linear program of `committees.lp` finds one that accepts most often, $g^*$
(paper, Section 4 and Algorithm 3). The number of people seen until $K$ are accepted is then $K$
plus a negative binomial number of rejections, $K/g^*$ on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from committees.fairness import fair_policy
from committees.lp import Policy, best_policy
from committees.problem import IntArray, Problem
from committees.strategy import BoolArray, Session, Strategy


@dataclass(frozen=True)
class CMDP(Strategy):
    """Accept each type with the probability that the linear program gives it.

    Parameters
    ----------
    fair
        Whether to take, among the policies with the largest rate, the one that is fairest to the
        types (`committees.fairness`, unless these are very many); otherwise any.
    """

    fair: bool = False

    sized: ClassVar[bool] = False

    def policy(self, problem: Problem) -> Policy:
        """The optimal stationary policy: `rate` is g*, `acceptance` a Series over types."""
        return fair_policy(problem) if self.fair else best_policy(problem)

    def start(self, problem: Problem, size: int) -> Session:
        return _FixedSession(self.policy(problem))

    def __str__(self) -> str:
        return "CMDP fair" if self.fair else "CMDP"


class _FixedSession(Session):
    def __init__(self, policy: Policy) -> None:
        self.acceptance = policy.acceptance.to_numpy()

    def see(self, kinds: IntArray, accepted: BoolArray) -> int:
        return len(kinds)

    def leave(self, kind: int) -> None:
        """Nothing changes: this rule does not look at who is seated."""

"""Online selection of diverse committees: the library behind the book.

Data flows one way: a `Problem` (features, targets, distribution of the volunteers) goes to a
strategy (`Greedy`, `CMDP`, `RLCMDP`, `Resolving`), and both go to `simulate`, which returns a
table, or to a `Desk`, which decides about real people.

>>> from committees import CMDP, Greedy, datasets, simulate
>>> problem = datasets.brexit(features=["gender", "age"])
>>> frame = simulate([Greedy(0.02), CMDP()], problem, sizes=[50, 100], runs=10, seed=2021)
"""

from committees import datasets
from committees.cmdp import CMDP
from committees.desk import Desk
from committees.greedy import Greedy
from committees.problem import Problem
from committees.recruitment import DeadEnd, Recruitment, recruit
from committees.resolving import Resolving
from committees.rl_cmdp import RLCMDP, PlugIn
from committees.simulation import simulate
from committees.strategy import Session, Strategy

__all__ = [
    "CMDP",
    "RLCMDP",
    "DeadEnd",
    "Desk",
    "Greedy",
    "PlugIn",
    "Problem",
    "Recruitment",
    "Resolving",
    "Session",
    "Strategy",
    "datasets",
    "recruit",
    "simulate",
]

"""Online selection of diverse committees: the paper's strategies, to be read and run.

Data flows one way: a `Problem` (features, targets, distribution of the volunteers) goes to a
strategy (`Greedy`, `CMDP`, `RLCMDP`), and both go to `simulate`, which returns a table.

>>> from committees import CMDP, Greedy, datasets, simulate
>>> problem = datasets.brexit(features=["gender", "age"])
>>> frame = simulate([Greedy(0.02), CMDP()], problem, sizes=[50, 100], runs=10, seed=2021)
>>> len(frame)
40
"""

from committees import datasets as datasets
from committees.cmdp import CMDP as CMDP
from committees.greedy import Greedy as Greedy
from committees.problem import Problem as Problem
from committees.rl_cmdp import RLCMDP as RLCMDP
from committees.rl_cmdp import PlugIn as PlugIn
from committees.simulation import DeadEnd as DeadEnd
from committees.simulation import Recruitment as Recruitment
from committees.simulation import recruit as recruit
from committees.simulation import simulate as simulate
from committees.strategy import Session as Session
from committees.strategy import Strategy as Strategy

"""Online selection of diverse committees: the paper's strategies, to be read and run.

Data flows one way: a `Problem` (features, targets, distribution of the volunteers) goes to a
strategy (`Greedy`, `CMDP`, `RLCMDP`), and both go to `simulate`, which returns a table.

To read the paper's ideas in code, take the modules in its own order: `problem` and `strategy` say
what is given and what is decided; `greedy`, `lp` with `cmdp`, `optimism` with `rl_cmdp` are the
three algorithms; `recruitment` runs them; `theory` has what is proved. The others wait until they
are needed: `checks` refuses bad arguments, `volunteers` draws people, `simulation` repeats
recruitments in many processes, `exact` and `testing` are oracles, `highs` is the solver, and
`datasets` with `bayesnet` the data.

>>> from committees import CMDP, Greedy, datasets, simulate
>>> problem = datasets.brexit(features=["gender", "age"])
>>> frame = simulate([Greedy(0.02), CMDP()], problem, sizes=[50, 100], runs=10, seed=2021)
>>> len(frame)
40
"""

from importlib import metadata

from committees import datasets
from committees.cmdp import CMDP
from committees.greedy import Greedy
from committees.problem import Problem
from committees.recruitment import DeadEnd, Recruitment, recruit
from committees.rl_cmdp import RLCMDP, PlugIn
from committees.simulation import simulate
from committees.strategy import Session, Strategy

__all__ = [
    "CMDP",
    "RLCMDP",
    "DeadEnd",
    "Greedy",
    "PlugIn",
    "Problem",
    "Recruitment",
    "Session",
    "Strategy",
    "datasets",
    "recruit",
    "simulate",
]

__version__ = metadata.version("committees")


def __dir__() -> list[str]:
    """What completion offers: not the modules that others of this package use."""
    return [*__all__, "__version__"]

"""Online selection of diverse committees: the library behind the book.

Data flows one way: a `Problem` (features, targets, distribution of the volunteers) goes to a
strategy (`Greedy`, `CMDP`, `RLCMDP`, `Resolving`), and both go to `simulate`, which returns a
table, or to a `Desk`, which decides about real people.

>>> from committees import CMDP, Greedy, datasets, simulate
>>> problem = datasets.brexit(features=["gender", "age"])
>>> frame = simulate([Greedy(0.02), CMDP()], problem, sizes=[50, 100], runs=10, seed=2021)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from committees import datasets as datasets
    from committees.cmdp import CMDP as CMDP
    from committees.desk import Desk as Desk
    from committees.greedy import Greedy as Greedy
    from committees.problem import Problem as Problem
    from committees.recruitment import DeadEnd as DeadEnd
    from committees.recruitment import Recruitment as Recruitment
    from committees.recruitment import recruit as recruit
    from committees.resolving import Resolving as Resolving
    from committees.rl_cmdp import RLCMDP as RLCMDP
    from committees.rl_cmdp import PlugIn as PlugIn
    from committees.simulation import simulate as simulate
    from committees.strategy import Session as Session
    from committees.strategy import Strategy as Strategy

#: The module of each name. It is imported when the name is first asked for, since pandas and the
#: solver take most of a second, and not every program of the library needs both.
_MODULES = {
    "CMDP": "cmdp",
    "RLCMDP": "rl_cmdp",
    "DeadEnd": "recruitment",
    "Desk": "desk",
    "Greedy": "greedy",
    "PlugIn": "rl_cmdp",
    "Problem": "problem",
    "Recruitment": "recruitment",
    "Resolving": "resolving",
    "Session": "strategy",
    "Strategy": "strategy",
    "datasets": "datasets",
    "recruit": "recruitment",
    "simulate": "simulation",
}
__all__ = [*_MODULES]

if not TYPE_CHECKING:  # a type checker would take it that every name exists

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"{__name__}.{_MODULES[name]}")
        return module if name == _MODULES[name] else getattr(module, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

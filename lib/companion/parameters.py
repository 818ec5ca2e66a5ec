"""A chapter's parameters make sense, or one sentence says what does not."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

from committees import RLCMDP, Greedy, bayesnet, datasets
from committees.beyond import Prices, make_strategy
from committees.checks import check_choice, check_integer, check_number, check_size
from companion.assembly import assembly, make_strategies

Rule = Callable[[Any], object]


class BadParameter(ValueError):
    """A parameter makes no sense; notebooks show this as one sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def check(**parameters: Any) -> None:
    """Refuse values that a chapter cannot work with; each chapter calls this in its first cell."""
    has_files = parameters.get("targets") is not None
    for name, value in parameters.items():
        if name == "features" and has_files:
            continue  # those of the files
        _check_alone(name, value)
    try:
        _check_together(parameters)
    except ValueError as error:
        raise BadParameter(str(error)) from None


def _check_alone(name: str, value: Any) -> None:
    """Refuse a value whatever the others are, as the library refuses it."""
    if name not in RULES:
        raise BadParameter(f"{name}: unknown parameter, expected one of {' '.join(RULES)}")
    items = [value]
    if name in LISTS:
        if not isinstance(value, list | tuple) or len(value) == 0:
            raise BadParameter(f"{name}: expected a list of at least 1, got {value!r}")
        items = list(value)
    try:
        for item in items:
            RULES[name](item)
    except TypeError:
        raise BadParameter(f"{name}: cannot be {value!r}") from None
    except ValueError as error:  # "size: expected ...": the parameter may be sizes_1
        _, _, sentence = str(error).partition(": ")
        raise BadParameter(f"{name}: {sentence}") from None


def _check_together(parameters: dict[str, Any]) -> None:
    """Refuse values that do not go with each other."""
    if "strategy" in parameters:
        make_strategy(parameters["strategy"], parameters.get("options"))
    if (parameters.get("targets") is None) != (parameters.get("volunteers") is None):
        raise ValueError("targets, volunteers: give both files, or none")
    if "features" in parameters or "belief" in parameters:
        files = (parameters.get("targets"), parameters.get("volunteers"))
        problem = assembly(parameters.get("features"), *files)
        for value in parameters.get("belief", {}):
            check_choice("belief", value, problem.labels.get_level_values("value"))
    if "support" in parameters:
        types = 2 ** parameters.get("n_features", 12)
        if parameters["support"] > types:
            raise ValueError(f"support: expected at most {types}, the number of types")


def _whole_number(least: int, most: float = inf) -> Rule:
    return lambda number: check_integer("", number, least, most)


def _check_workers(workers: Any) -> None:
    if workers is not None:
        check_integer("", workers, 1)


def _check_factors(factors: Any) -> None:
    for factor in {**factors}.values():
        check_number("", factor, 0, ends=False)


def _check_network(edges: Any) -> None:
    if edges is not None:
        bayesnet.check_edges(edges, datasets.ADULT_FEATURES)


def _check_input(path: Any) -> None:
    if path is not None and not Path(path).is_file():
        raise ValueError(f"path: there is no file {path!r}, or no folder for it")


def _check_output(path: Any) -> None:
    if path is not None and (Path(path).is_dir() or not Path(path).parent.is_dir()):
        raise ValueError(f"path: there is no file {path!r}, or no folder for it")


def _anything(value: Any) -> None:
    """What is checked together with others."""


#: More seats, or more runs, would take days.
MOST = 10**6

#: What refuses bad values of each parameter, of a list each of its items.
RULES: dict[str, Rule] = {
    "features": datasets.brexit,
    "few_features": datasets.brexit,
    "more_features": datasets.brexit,
    "tolerance": Greedy,
    "tolerances": Greedy,
    "leads": Prices,
    "scale": lambda scale: RLCMDP(scale=scale),
    "scales": lambda scale: RLCMDP(scale=scale),
    "delta": lambda delta: RLCMDP(delta=delta),
    "size": check_size,
    "sizes": check_size,
    "sizes_1": check_size,
    "sizes_2": check_size,
    "problems": _whole_number(1, MOST),
    "streams": _whole_number(1, MOST),
    "structure_runs": _whole_number(1, MOST),
    "runs": _whole_number(2, MOST),  # an interval takes two
    "learning_runs": _whole_number(2, MOST),
    "support": _whole_number(2, MOST),
    "n_features": _whole_number(1, 12),
    "seed": _whole_number(0),
    "workers": _check_workers,
    "network_1": _check_network,
    "network_2": _check_network,
    "strategy": _anything,
    "strategies": make_strategies,
    "options": lambda options: {**options},
    "belief": _check_factors,
    "targets": _check_input,
    "volunteers": _check_input,
    "door": _check_output,
    "table": _check_output,
}
#: Parameters that are lists.
LISTS = {"leads", "scales", "sizes", "sizes_1", "sizes_2", "tolerances"}

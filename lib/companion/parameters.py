"""A chapter's parameters make sense, or one sentence says what does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from committees import RLCMDP, Greedy, bayesnet, datasets
from committees.beyond import Prices, make_strategy
from committees.checks import check_choice, check_integer, check_number
from companion.assembly import assembly, make_strategies


class BadParameter(ValueError):
    """A parameter makes no sense; notebooks show this as one sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def check(**parameters: Any) -> None:
    """Refuse values that a chapter cannot work with; each chapter calls this in its first cell."""
    for name, value in parameters.items():
        rule = next((rule for names, rule in RULES.items() if name in names.split()), None)
        if rule is None:
            raise BadParameter(f"{name}: unknown parameter, expected one of {' '.join(RULES)}")
        if name == "features" and parameters.get("targets") is not None:
            continue  # those of the file
        is_list = name.startswith(("sizes", "scales", "tolerances", "leads"))
        if is_list and not (isinstance(value, list | tuple) and value):
            raise BadParameter(f"{name}: expected a list of at least 1, got {value!r}")
        try:
            for item in value if is_list else [value]:
                if rule(item) is False:
                    raise ValueError(f"path: there is no file {item!r}, or no folder for it")
        except TypeError:
            raise BadParameter(f"{name}: cannot be {value!r}") from None
        except ValueError as error:  # "size: expected ...": the parameter may be sizes_1
            raise BadParameter(f"{name}: {str(error).partition(': ')[2]}") from None
    try:
        if "strategy" in parameters:
            make_strategy(parameters["strategy"], parameters.get("options"))
        if "features" in parameters or "belief" in parameters:
            _check_assembly(parameters)
    except ValueError as error:
        raise BadParameter(str(error)) from None
    if parameters.get("support", 0) > (most := 2 ** parameters.get("n_features", 12)):
        raise BadParameter(f"support: expected at most {most}, the number of types")
    if (parameters.get("targets") is None) != (parameters.get("volunteers") is None):
        raise BadParameter("targets, volunteers: give both files, or none")


def _check_assembly(parameters: Mapping[str, Any]) -> None:
    """The files make an assembly that has these features, and the values of the belief."""
    names = ("features", "targets", "volunteers")
    problem = assembly(*(parameters.get(name) for name in names))
    for value in parameters.get("belief", {}):
        check_choice("belief", value, problem.labels.get_level_values("value"))


def _check_factors(factors: Any) -> None:
    for factor in {**factors}.values():
        check_number("", factor, 0, ends=False)


#: What refuses bad values of these parameters. A million seats or runs would take days.
RULES: dict[str, Callable[[Any], object]] = {
    "features few_features more_features": datasets.brexit,
    "tolerance tolerances": Greedy,
    "leads": Prices,
    "scale scales": lambda scale: RLCMDP(scale=scale),
    "delta": lambda delta: RLCMDP(delta=delta),
    "size sizes sizes_1 sizes_2": lambda size: check_integer("", size, 1, 10**6),
    "problems streams structure_runs": lambda number: check_integer("", number, 1, 10**6),
    "runs learning_runs support": lambda number: check_integer("", number, 2, 10**6),
    "n_features": lambda number: check_integer("", number, 1, 12),
    "seed": lambda seed: check_integer("", seed, 0),
    "workers": lambda workers: None if workers is None else check_integer("", workers, 1),
    "network_1 network_2": lambda edges: bayesnet.check_edges(edges or [], datasets.ADULT_FEATURES),
    "strategy": lambda name: None,  # with its options, once these are known to be some
    "options": lambda options: {**options},
    "strategies": make_strategies,
    "belief": _check_factors,
    "targets volunteers": lambda path: path is None or Path(path).is_file(),
    "door table": lambda p: p is None or (Path(p).parent.is_dir() and not Path(p).is_dir()),
}

"""A grid: which notebook to run, and with which parameters. Read from YAML, checked before use.

    notebook: ../one_recruitment.ipynb     # relative to this file
    parameters: {runs: 20}                 # the same in every run
    grid:                                  # every combination of these
      size: [50, 100]
      tolerance: [0.02, 0.05]

makes four runs. Several grids of one notebook are **groups**, each with `parameters` and a `grid`
of its own, on top of those above, which hold for all of them:

    notebook: ../one_recruitment.ipynb
    grid: {size: [50, 100]}
    groups:
      quotas:
        parameters: {strategy: Greedy}
        grid: {tolerance: [0.02, 0.05]}
      linear program:
        parameters: {strategy: CMDP}

makes four runs with quotas and two with the linear program. The value of a parameter that is itself
a list stands in the list of its values: `features: [[gender, age], [region]]`.

A run is named by what tells it from the others: its group and its parameters in the grids.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from committees.datasets import DATA
from companion.sweep.values import BadGrid, alike, digest, fingerprint, load, mapping, only

#: The parameter that every notebook in a sweep has: the CSV file to leave its results in.
TABLE = "table"

#: What a notebook's annotations promise, as far as YAML can keep it.
TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "list": (list,),
    "dict": (dict,),
}

#: What chapters rely on besides: the library, and the data that come with it.
LIBRARY = ((Path(__file__).resolve().parents[1], "**/*.py"), (DATA, "**/*.csv*"))

#: The longest name of a run, and the most runs of a grid.
LONGEST, MOST = 80, 100_000


@dataclass(frozen=True)
class Run:
    """One execution of the notebook.

    Attributes
    ----------
    name
        What its files are called.
    labels
        What tells it from the others: group and parameters in the grids.
    parameters
        All that the notebook is given.
    files
        The files that its parameters name, given or not, as seen from its folder: fingerprints.
    """

    name: str
    labels: Mapping[str, Any]
    parameters: Mapping[str, Any]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Grid:
    """A checked grid.

    Attributes
    ----------
    path, notebook
        Where it stands, and what it runs.
    source
        The notebook without its outputs, as read when the grid was checked.
    digest, library
        Fingerprints: of the source of all cells, and of what chapters rely on besides.
    known
        The names of the notebook's parameters.
    runs
        In the order of the file.
    """

    path: Path
    notebook: Path
    source: str
    digest: str
    library: str
    known: Collection[str]
    runs: tuple[Run, ...]


def read(path: str | Path, parameters: Mapping[str, Any] | None = None) -> Grid:
    """Read a grid and the notebook it speaks of; whatever is wrong with them is a `BadGrid`.

    `parameters` are added to those that the file gives to every run, or replace them.
    """
    path = Path(path).resolve()
    content = mapping(path.name, load(path))
    only(path.name, content, ["notebook", "parameters", "grid", "groups"])
    if not isinstance(content.get("notebook"), str):
        raise BadGrid(f"{path.name}: 'notebook' should name one, got {content.get('notebook')!r}")
    notebook = path.parent / content["notebook"]
    source, cells, known = _notebook(notebook)
    given = mapping(f"{path.name}: parameters", content.get("parameters", {}))
    content["parameters"] = {**given, **(parameters or {})}
    runs = _runs(path.name, content, known, notebook.parent)
    return Grid(path, notebook.resolve(), source, cells, _library(), list(known), runs)


Parameters = Mapping[str, Mapping[str, str]]


def _notebook(path: Path) -> tuple[str, str, Parameters]:
    """A notebook's source, its digest, and what papermill knows of its parameters."""
    import nbformat
    import papermill  # type: ignore[import-untyped]

    try:
        book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise BadGrid(f"notebook {path}: cannot be read: {error.strerror}") from None
    except Exception as error:  # nbformat raises many kinds
        reason = str(error).partition("\n")[0][:200]
        raise BadGrid(f"notebook {path}: is not a notebook: {reason}") from None
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    if not any("parameters" in cell.metadata.get("tags", []) for cell in book.cells):
        raise BadGrid(f"notebook {path}: has no cell tagged 'parameters'")
    try:
        known = papermill.inspect_notebook(book)
    except Exception as error:  # of which papermill has no common kind
        raise BadGrid(f"notebook {path}: its parameters cannot be read: {error}") from None
    if TABLE not in known:
        raise BadGrid(
            f"notebook {path}: has no parameter {TABLE!r} to say where its results should be left; "
            f"write it as papermill reads it, {TABLE}: str = None"
        )
    cells = [[cell.cell_type, cell.source, cell.metadata.get("tags", [])] for cell in book.cells]
    source: str = nbformat.writes(book)  # type: ignore[no-untyped-call]
    return source, digest(cells), known


def _library() -> str:
    files = [path for folder, pattern in LIBRARY for path in sorted(folder.glob(pattern))]
    return digest([[path.name, fingerprint(path)] for path in files])


def _runs(
    where: str, content: Mapping[str, Any], known: Parameters, folder: Path
) -> tuple[Run, ...]:
    """Every combination, group by group."""
    fixed, varied = _part(where, content, known)
    groups = mapping(f"{where}: groups", content.get("groups", {}))
    if not varied and not groups:
        raise BadGrid(f"{where}: needs a 'grid' or 'groups', or there is nothing to vary")
    if groups and "group" in known:
        raise BadGrid(f"{where}: the notebook has a parameter 'group', as groups would be called")
    parts = []
    for name, group in groups.items():
        here = f"{where}: group {name!r}"
        only(here, mapping(here, group), ["parameters", "grid"])
        own, grid = _part(here, group, known)
        for twice in (fixed | varied).keys() & (own | grid).keys():
            raise BadGrid(f"{here}: {twice!r} is given twice, here and for all groups")
        parts.append(({"group": name}, own, varied | grid))
    parts = parts or [({}, {}, varied)]
    total = sum(prod(map(len, grid.values())) for *_, grid in parts)
    if total > MOST:
        raise BadGrid(f"{where}: makes {total:,} runs, more than {MOST:,}")

    columns = dict.fromkeys(name for _, own, grid in parts for name in (*varied, *own, *grid))
    defaults = {name: _default(parameter) for name, parameter in known.items()}
    fingerprint_of = cache(lambda word: fingerprint(folder / word))
    told, runs = [], []
    seen: dict[str, str] = {}
    for group, own, grid in parts:
        for values in itertools.product(*grid.values()):
            chosen = dict(zip(grid, values, strict=True))
            parameters = fixed | own | chosen
            effective = defaults | parameters
            told.append(group | chosen)
            labels = group | {name: effective[name] for name in columns}
            words = [value for value in effective.values() if isinstance(value, str)]
            files = {word: found for word in words if (found := fingerprint_of(word))}
            runs.append((labels, parameters, files))
            if (same := digest(alike(effective))) in seen:
                twin = f"{seen[same]} and {_say(told[-1])}"
                raise BadGrid(f"{where}: two runs would be the same: {twin}")
            seen[same] = _say(told[-1])
    return tuple(Run(name, *run) for name, run in zip(_names(told), runs, strict=True))


def _part(
    where: str, content: Mapping[str, Any], known: Parameters
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The fixed parameters, and the lists of values of the others, of a file or a group."""
    fixed = mapping(f"{where}: parameters", content.get("parameters", {}))
    varied = mapping(f"{where}: grid", content.get("grid", {}))
    for what, names in (("parameters", fixed), ("grid", varied)):
        if TABLE in names:
            raise BadGrid(f"{where}: {what}: {TABLE!r} is set by the sweep itself")
        only(f"{where}: {what}", names, known, "parameter")
    for name in fixed.keys() & varied.keys():
        raise BadGrid(f"{where}: {name!r} is given twice, as a parameter and in the grid")
    for name, values in varied.items():
        if not isinstance(values, list) or not values:
            raise BadGrid(f"{where}: grid: {name}: expected a list of values, got {values!r}")
    for name, value in [*fixed.items(), *((n, v) for n, values in varied.items() for v in values)]:
        _fits(f"{where}: {name}", value, known[name])
    return fixed, varied


def _fits(where: str, value: Any, parameter: Mapping[str, str]) -> None:
    """Refuse what papermill cannot hand on, and what the notebook's annotation rules out."""
    try:
        digest(value)
    except (TypeError, ValueError):
        raise BadGrid(f"{where}: {value!r} is no plain value; did you forget quotes?") from None
    promised = TYPES.get(parameter["inferred_type_name"].partition("[")[0])
    if value is not None and promised is not None and type(value) not in promised:
        hint = "; a grid lists values, each of them a list here" if list in promised else ""
        kind = parameter["inferred_type_name"]
        raise BadGrid(f"{where}: expected {kind}, as in the notebook, got {value!r}{hint}")


def _default(parameter: Mapping[str, str]) -> Any:
    try:
        return ast.literal_eval(parameter["default"])
    except (SyntaxError, ValueError):
        return parameter["default"]


def _names(runs: list[dict[str, Any]]) -> list[str]:
    """Short names for files, different for each run even where case does not matter."""
    plain = [re.sub(r"[^A-Za-z0-9_.,=+-]+", "-", _say(run)).strip(".-") or "run" for run in runs]
    often = Counter(name.casefold() for name in plain)
    return [
        name
        if often[name.casefold()] == 1 and len(name) <= LONGEST
        else f"{name[: LONGEST - 9]}~{digest(run)[:8]}"
        for name, run in zip(plain, runs, strict=True)
    ]


def _say(run: Mapping[str, Any]) -> str:
    """A run in a few words: group,size=50,tolerance=0.02."""
    return ",".join(
        str(value) if name == "group" else f"{name}={_word(value)}" for name, value in run.items()
    )


def _word(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(_word, value)) or "empty"
    return str(value)

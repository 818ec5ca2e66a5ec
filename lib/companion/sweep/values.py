"""Plain values, as grids, notebooks and records hold them: read, checked, shown and compared."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Hashable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

#: The longest whole number of a grid; seeds have up to 128 bits.
MOST_BITS = 128


class BadGrid(ValueError):
    """A sweep that cannot be run as it is asked for."""


class _Loader(yaml.SafeLoader):
    """YAML in which nothing is given twice, 1e-3 is a number, and no number is endless."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        problem=f"{key.value!r} is given twice", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        number: int = super().construct_yaml_int(node)
        if number.bit_length() > MOST_BITS:
            problem = f"a whole number of more than {MOST_BITS} bits"
            raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)
        return number


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("+-.0123456789"),
)


def parse(where: str, text: str) -> Any:
    """Plain values from YAML."""
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadGrid(f"{where}{line}: is not YAML that we can use: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadGrid(f"{where}: is not YAML that we can use: {error}") from None


def load(path: Path) -> Any:
    """Plain values from a YAML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadGrid(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadGrid(f"{path.name}: is not text in UTF-8") from None
    return parse(path.name, text)


def mapping(where: str, value: Any) -> dict[str, Any]:
    """Refuse what is not a mapping of names."""
    if not isinstance(value, dict):
        raise BadGrid(f"{where}: expected names with values, got {value!r}")
    for name in value:
        if not isinstance(name, str):
            raise BadGrid(f"{where}: expected a name, got {name!r}; put it in quotes")
    return value


def only(where: str, names: Mapping[str, Any], known: Collection[str], what: str = "key") -> None:
    """Refuse a name that is not known, and guess what was meant."""
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise BadGrid(f"{where}: unknown {what} {name!r}; {hint}")


def as_text(value: Any) -> str:
    """A parameter's value in a table: None is empty, lists are JSON."""
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


def digest(value: Any) -> str:
    """A fingerprint of plain values, the same when they were written as JSON and read again."""
    plain = json.loads(json.dumps(value))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def fingerprint(path: Path) -> str:
    """Of a file's content; empty if there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    except OSError:  # it may not be read, or its name is too long for one
        return ""


def alike(value: Any) -> Any:
    """The same for 1 and 1.0."""
    if isinstance(value, dict):
        return {name: alike(item) for name, item in value.items()}
    if isinstance(value, list):
        return [alike(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value

"""Simulations that several chapters need, computed once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd

from committees import Problem, Strategy, simulate
from committees.datasets import DATA


def cache_folder(root: Path) -> Path:
    """The folder for results of this library, these data and these versions of what they use."""
    digest = hashlib.sha256()
    found = [path for part in ("lib", "data") for path in (root / part).rglob("*")]
    for path in sorted([*found, root / "requirements.lock"]):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root)} {path.stat().st_size} ".encode())
            digest.update(path.read_bytes())
    return root / "_build" / "cache" / digest.hexdigest()[:16]


#: Where results are kept. Fixed when this is loaded: files that change later do not compute here.
#: Only a checkout keeps them: nothing is written beside an installed library.
CACHE = cache_folder(DATA.parent) if (DATA.parent / "lib").exists() else Path(os.devnull)


def simulate_once(
    strategies: Sequence[Strategy],
    problem: Problem,
    sizes: Iterable[int],
    runs: int,
    seed: int,
    workers: int | None = None,
) -> pd.DataFrame:
    """`simulate`, with the results kept on disk: what one chapter has simulated, others read.

    A strategy's runs do not depend on the other strategies, so that each has a file of its own.
    Where nothing can be read or written, everything is computed.
    """
    sizes = sorted(set(sizes))
    files: dict[str, Path] = {}
    tables: dict[object, pd.DataFrame] = {}
    for strategy in strategies:
        key = repr((strategy, problem.digest, sizes, runs, seed)).encode()
        files[strategy.name] = CACHE / hashlib.sha256(key).hexdigest()
        with suppress(Exception):  # whatever is wrong with a file: the strategy is simulated
            tables[strategy.name] = pd.read_pickle(files[strategy.name])
    one_name_twice = len(files) < len(strategies)  # which `simulate` refuses
    absent = [s for s in strategies if one_name_twice or s.name not in tables]
    if absent:
        found = simulate(absent, problem, sizes, runs, seed, workers=workers)
        tables |= dict(iter(found.groupby("strategy")))
    with suppress(OSError):
        CACHE.mkdir(parents=True, exist_ok=True)
        for strategy in absent:
            file = files[strategy.name]
            part = file.with_suffix(f".{os.getpid()}")
            tables[strategy.name].to_pickle(part)
            part.replace(file)  # whole or not at all
    return pd.concat([tables[s.name] for s in strategies], ignore_index=True)

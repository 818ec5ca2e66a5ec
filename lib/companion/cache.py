"""Simulations that several chapters need, computed once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd
from joblib import Memory

from committees import Problem, Strategy, simulate
from committees.datasets import DATA


def cache_folder(root: Path) -> Path:
    """The folder for results of this library, these data and these versions of what they use."""
    digest = hashlib.sha256()
    files = [*(root / "lib").rglob("*"), *(root / "data").rglob("*"), root / "requirements.lock"]
    for path in sorted(files):
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

    A strategy's runs do not depend on the other strategies, so that each is kept for itself.
    Where nothing can be read or written, everything is computed.
    """
    names = {strategy.name for strategy in strategies}
    if len(names) < len(strategies):
        return simulate(strategies, problem, sizes, runs, seed)  # which refuses them
    distinct_sizes = sorted(set(sizes))
    kept = _memory().cache(_simulated, ignore=["strategy", "problem", "workers"])
    frames: list[pd.DataFrame] = []
    for strategy in strategies:
        key = (repr(strategy), problem.digest)
        frames.append(kept(key, strategy, problem, distinct_sizes, runs, seed, workers))
    return pd.concat(frames, ignore_index=True)


def compute_once(
    function: Callable[..., pd.DataFrame], problem: Problem, strategy: Strategy, *arguments: int
) -> pd.DataFrame:
    """`function` of these, with the result kept on disk as that of `simulate_once` is."""
    kept = _memory().cache(_computed, ignore=["function", "problem", "strategy"])
    key = (function.__qualname__, repr(strategy), problem.digest)
    frame: pd.DataFrame = kept(key, function, problem, strategy, arguments)
    return frame


def _computed(
    key: tuple[str, str, str],
    function: Callable[..., pd.DataFrame],
    problem: Problem,
    strategy: Strategy,
    arguments: tuple[int, ...],
) -> pd.DataFrame:
    """What is known again by its key and the arguments."""
    return function(problem, strategy, *arguments)


def _memory() -> Memory:
    """What keeps results, or keeps none where nothing can be written."""
    try:
        return Memory(CACHE, verbose=0)
    except OSError:
        return Memory(None)


def _simulated(
    key: tuple[str, str],
    strategy: Strategy,
    problem: Problem,
    sizes: list[int],
    runs: int,
    seed: int,
    workers: int | None,
) -> pd.DataFrame:
    """The runs of one strategy, known again by its key, the sizes, the runs and the seed."""
    return simulate([strategy], problem, sizes, runs, seed, workers=workers)

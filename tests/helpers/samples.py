"""What tests share: random problems, and a queue of people."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import strategies as st

import paper
from committees import CMDP, Problem, datasets, recruit
from committees.beyond.fitting import fit_tables
from committees.greedy import band
from committees.volunteers import Volunteers, stream

#: For tests of `datasets.adult`.
needs_pgmpy = pytest.mark.skipif(find_spec("pgmpy") is None, reason="needs the extra `adult`")


def random_problem(
    rng: np.random.Generator, sizes: list[int], *, independent: bool = False
) -> Problem:
    """Targets and a distribution drawn at random; every type can occur."""
    targets = {
        f"feature {i}": dict(zip("abcdefgh", rng.dirichlet(np.full(n, 3.0)), strict=False))
        for i, n in enumerate(sizes)
    }
    if independent:
        marginals = {
            feature: dict(zip(values, rng.dirichlet(np.full(len(values), 3.0)), strict=True))
            for feature, values in targets.items()
        }
        return Problem.from_marginals(targets, marginals)
    p = rng.dirichlet(np.full(int(np.prod(sizes)), 1.0)) + 1e-3
    return Problem(targets, p / p.sum())


@st.composite
def problems(draw: st.DrawFn, max_features: int = 3, max_values: int = 5) -> Problem:
    """Small problems with dependent features."""
    sizes = draw(st.lists(st.integers(1, max_values), min_size=1, max_size=max_features))
    seed = draw(st.integers(0, 2**32 - 1))
    return random_problem(np.random.default_rng(seed), sizes)


def one_queue(size):
    """A recruitment with CMDP: problem, the types of all who came, and who was accepted."""
    problem = datasets.brexit(["age", "gender"])
    found = recruit(CMDP(), problem, size, np.random.default_rng(5), step_by_step=True)
    came = found.screened[-1]
    type_ids = stream(problem, came, np.random.default_rng(5))
    return problem, type_ids, np.isin(np.arange(1, came + 1), found.screened)


def seated(problem, type_ids):
    return problem.incidence @ np.bincount(type_ids, minlength=len(problem.p))


def same_people(problem, seed):
    """The types and coins of the people whom `recruit` would meet, step by step, one at a time."""
    return iter(Volunteers(problem, seed))


def one_file(problem):
    """The same problem for `examples/paper.py`."""
    ends = np.cumsum(problem.shape).tolist()
    features = [range(end - n, end) for end, n in zip(ends, problem.shape, strict=True)]
    types = [tuple(values) for values in problem.codes.tolist()]
    return paper.Problem(features, problem.rho, types, problem.p)


def fit_roughly(problem, size, tolerance, committees=(30, 30)):
    """Tables from few committees, for an empty committee."""
    low, high = band(problem, size, tolerance)
    return fit_tables(problem, problem.p, low, high, 0 * low, size, committees=committees)

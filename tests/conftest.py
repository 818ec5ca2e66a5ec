"""Random problems, shared by the tests."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from committees import Problem

# Property tests always try the same examples: a red run can be run again.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


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

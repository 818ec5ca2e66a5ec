"""Guards against slowness that cannot flake: what the time is made of is counted, not timed.

Limits that are not exact leave room for another version of the solver, not for another algorithm.
"""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from unittest import mock

import highspy
import numpy as np
import pytest

import committees
from committees import (
    CMDP,
    RLCMDP,
    Greedy,
    datasets,
    highs,
    lp,
    recruit,
    simulate,
)
from committees.beyond import Resolving
from committees.greedy import _GreedySession
from committees.simulation import AT_ONCE, _Stream

BREXIT = datasets.brexit()


@pytest.fixture
def iterations():
    """The simplex iterations of each program that a persistent model solves."""
    counts: list[int] = []
    run = highs.run

    def counted(model: highspy.Highs) -> np.ndarray:
        values = run(model)
        counts.append(model.getInfo().simplex_iteration_count)
        return values

    with mock.patch.object(highs, "run", counted):
        yield counts


def cold(model: highspy.Highs) -> None:
    model.clearSolver()


def test_greedy_changes_its_mind_once_for_each_quota():
    """Thousands of people are screened; the simulator draws the accepted, quota by quota."""
    with mock.patch.object(
        _GreedySession, "see", autospec=True, side_effect=_GreedySession.see
    ) as see:
        found = recruit(Greedy(0.02), BREXIT, 250, np.random.default_rng(0))
    assert see.call_count <= len(BREXIT.rho) + 1
    assert found.screened[-1] > 2000
    drawn = sum(len(call.args[1]) for call in see.call_args_list)
    assert drawn < found.screened[-1] / 2


def test_a_learner_draws_nobody_twice():
    rng, blocks, skip = mock.Mock(wraps=np.random.default_rng(0)), [], _Stream.skip
    with mock.patch.object(_Stream, "skip", lambda self, n: blocks.append(n) or skip(self, n)):
        found = recruit(RLCMDP(scale=0.1), BREXIT, 250, rng)
    seen = found.screened[-1]
    assert seen <= sum(call.args[0][1] for call in rng.random.call_args_list) < seen + AT_ONCE
    assert len(blocks) <= len(found.session.episodes) + seen / 64


def test_the_policy_of_a_problem_is_computed_once():
    lp.best_policy.cache_clear()
    with mock.patch.object(lp, "solve", side_effect=lp.solve) as solve:
        simulate(CMDP(), BREXIT, [50, 100], runs=30, workers=1)
    assert solve.call_count == 1


def test_programs_of_a_learner_are_started_from_the_last_solution(iterations):
    found = recruit(RLCMDP(scale=0.1), BREXIT, 1000, np.random.default_rng(0))
    informed = [e for e in found.session.episodes if e.radius < 2]
    assert len(iterations) == len(informed)
    hot = sum(iterations)
    run = highs.run
    with mock.patch.object(highs, "run", lambda model: cold(model) or run(model)):
        recruit(RLCMDP(scale=0.1), BREXIT, 1000, np.random.default_rng(0))
    assert hot < (sum(iterations) - hot) / 2
    assert hot < 3 * len(informed)


def test_plans_are_started_from_the_last_one(iterations):
    recruit(Resolving(0.02), BREXIT, 250, np.random.default_rng(0))
    # One plan to see that there is one, and one for each seat but the last three.
    assert 250 - 3 <= len(iterations) <= 250 + 5
    hot = sum(iterations)
    assert hot < 12 * len(iterations)
    run = highs.run
    with mock.patch.object(highs, "run", lambda model: cold(model) or run(model)):
        recruit(Resolving(0.02), BREXIT, 250, np.random.default_rng(0))
    assert hot < (sum(iterations) - hot) / 2


def loads(code: str, packages: str) -> set[str]:
    """Which of these packages a fresh process has loaded after running this code."""
    code += f"\nimport sys; print(*(set({packages.split()!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_nothing_is_imported_before_it_is_needed():
    heavy = "cvxpy scipy matplotlib seaborn pgmpy papermill distributed dask loky networkx IPython"
    assert loads("import committees", f"numpy pandas highspy {heavy}") == set()
    assert loads("from committees import *", f"pandas {heavy}") == {"pandas"}


def test_every_module_can_be_the_first_to_be_imported():
    """None relies on another having been imported before it."""
    modules = [found.name for found in pkgutil.walk_packages(committees.__path__, "committees.")]
    code = f"""
import importlib, sys
for module in {modules!r}:
    for known in [known for known in sys.modules if known.partition(".")[0] == "committees"]:
        del sys.modules[known]
    importlib.import_module(module)
"""
    assert len(modules) > 40
    assert loads(code, "committees") == {"committees"}


def test_every_name_of_the_package_is_there():
    for name in committees.__all__:
        assert getattr(committees, name).__name__.rpartition(".")[2] == name
        assert name in dir(committees)
    with pytest.raises(AttributeError, match="'Nobody'"):
        _ = committees.Nobody

"""Guards against slowness that cannot flake: what the time is made of is counted, not timed.

Limits that are not exact leave room for another version of the solver, not for another algorithm.
"""

from __future__ import annotations

from unittest import mock

import highspy
import numpy as np
import pytest

from committees import CMDP, RLCMDP, Greedy, Problem, datasets, highs, lp, recruit, simulate
from committees.beyond import Foresight, Prices, foresight
from committees.beyond.fitting import COMMITTEES, fit_tables
from committees.beyond.foresight import fitted
from committees.beyond.tables import Tables
from committees.volunteers import PEOPLE_PER_DRAW, Volunteers

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


def test_recruit_asks_greedy_once_for_each_quota():
    """Thousands of people are screened; the simulator draws the accepted, quota by quota."""
    changes, product = [], Problem.product_over_values
    with mock.patch.object(
        Problem, "product_over_values", lambda *a: changes.append(1) or product(*a)
    ):
        found = recruit(Greedy(0.02), BREXIT, 250, np.random.default_rng(0))
    assert len(changes) <= len(BREXIT.rho) + 1
    assert found.screened[-1] > 2000


class CountingGenerator(np.random.Generator):
    """Counts the people drawn, each with a coin."""

    drawn = 0

    def random(self, shape):
        self.drawn += shape[1]
        return super().random(shape)


def test_recruit_draws_nobody_twice_for_a_learner():
    rng, blocks, skip = CountingGenerator(np.random.PCG64(0)), [], Volunteers.skip
    with mock.patch.object(Volunteers, "skip", lambda self, n: blocks.append(n) or skip(self, n)):
        found = recruit(RLCMDP(scale=0.1), BREXIT, 250, rng)
    seen = found.screened[-1]
    assert seen <= rng.drawn < seen + PEOPLE_PER_DRAW
    assert len(blocks) <= len(found.session.episodes) + seen / 64


def test_best_policy_of_a_problem_is_computed_once():
    lp.best_policy.cache_clear()
    with mock.patch.object(lp, "solve", side_effect=lp.solve) as solve:
        simulate(CMDP(), BREXIT, [50, 100], runs=30, workers=1)
    assert solve.call_count == 1


def test_run_starts_programs_of_a_learner_from_the_last_solution(iterations):
    found = recruit(RLCMDP(scale=0.1), BREXIT, 300, np.random.default_rng(0))
    informed = [e for e in found.session.episodes if e.radius < 2]
    assert len(iterations) == len(informed)
    hot = sum(iterations)
    run = highs.run
    with mock.patch.object(highs, "run", lambda model: cold(model) or run(model)):
        recruit(RLCMDP(scale=0.1), BREXIT, 300, np.random.default_rng(0))
    assert hot < (sum(iterations) - hot) / 2
    assert hot < 3 * len(informed)


def test_fitted_tables_serve_all_runs():
    """One fit for ten recruitments; and with known p nothing is fitted along the way."""
    problem = datasets.brexit(["gender", "age"])
    fitted.cache_clear()
    with mock.patch.object(foresight, "fit_tables", side_effect=fit_tables) as fit:
        simulate(Foresight(0.02), problem, 50, runs=10, workers=1)
    assert fit.call_count == 1


def test_fit_looks_at_each_number_of_seats_once_per_pass():
    problem, size = datasets.brexit(["gender", "age"]), 50
    band = Foresight(0.02).band(problem, size)
    start = np.zeros_like(band[0])
    with mock.patch.object(Tables, "after", autospec=True, side_effect=Tables.after) as after:
        tables = fit_tables(problem, problem.p, *band, start, size)
    trials, levels = size * len(COMMITTEES), tables.last * len(COMMITTEES)
    assert after.call_count == trials + levels


def test_foresight_learning_fits_by_people_seen_and_for_each_of_the_last_seats():
    """At 20, 25, 32, 40, ... people, and once sixteen seats are left after every acceptance."""
    problem = datasets.brexit(["gender", "age"])
    with mock.patch.object(foresight, "fit_tables", side_effect=fit_tables) as fit:
        found = recruit(Foresight(0.02, learn=True), problem, 60, np.random.default_rng(0))
    fits, due = 0, 20
    for seen in range(1, found.screened[-1]):
        left = 60 - np.sum(found.screened <= seen)
        if seen >= due or (fits and left <= 16 and seen in found.screened):
            fits, due = fits + 1, np.ceil(1.25 * seen)
    assert 60 < found.screened[-1] < 400
    assert 16 < fit.call_count == fits < 30


def test_prices_solve_no_program():
    with mock.patch.object(lp, "solve", side_effect=lp.solve) as solve:
        simulate(Prices(), BREXIT, [50, 100], runs=3, workers=1)
    assert solve.call_count == 0

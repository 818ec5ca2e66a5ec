"""Estimates of p from some people: as good as they can be, and of a use to a strategy."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import CMDP, Problem, datasets
from committees.beyond.estimate import estimate, shrink
from committees.lp import best_policy
from committees.volunteers import stream
from samples import needs_pgmpy, problems, random_problem


def test_shrink_estimates_the_best_weight():
    """Its numerator is the variance of the shares minus their covariance with the product.

    Over 5,000 samples, of few types and of many, the mean of the estimate is within 6 % of what
    the samples show (a fixed target's formula is 40 % too large for the few), and no fixed weight
    does clearly better.
    """
    rng = np.random.default_rng(7)
    for shape in ([2, 2, 2], [6, 8]):
        problem = random_problem(np.random.default_rng(3), shape)
        truth, people = problem.p, 100
        samples = rng.multinomial(people, truth, 5_000) / people
        values = samples @ problem.incidence.T.toarray()
        towards = np.array([problem.product_over_values(shares) for shares in values])
        variance = samples.var(axis=0).sum()
        overlap = ((samples - truth) * (towards - towards.mean(axis=0))).mean(axis=0).sum()
        best = (variance - overlap) / ((towards - samples) ** 2).sum(axis=1).mean()
        apart = ((towards - samples) ** 2).sum(axis=1)
        found = [shrink(problem, p, m, people) for p, m in zip(samples, values, strict=True)]
        weights = np.array([weight for _, weight in found])
        below_one = weights < 1
        numerators = (weights * apart)[below_one]
        assert below_one.mean() > 0.5
        assert np.average(numerators) == pytest.approx(variance - overlap, rel=0.06)
        error = {
            weight: ((samples + weight * (towards - samples) - truth) ** 2).sum(axis=1).mean()
            for weight in np.linspace(0, 1, 51)
        }
        ours = np.mean([((p - truth) ** 2).sum() for p, _ in found])
        assert ours < 1.1 * min(error.values())
        assert abs(best - min(error, key=error.get)) <= 0.03


def test_shrink_at_the_extremes():
    problem = Problem({"a": {"x": 0.5, "y": 0.5}, "b": {"u": 0.5, "v": 0.5}}, np.full(4, 0.25))
    even, together = np.full(4, 0.25), np.array([0.5, 0, 0, 0.5])
    halves = np.full(4, 0.5)
    assert shrink(problem, even, halves, 10)[1] == 1  # nothing to choose between
    assert shrink(problem, together, halves, 10**6)[1] < 1e-5  # certain dependence
    one = np.array([1.0, 0, 0, 0])
    assert shrink(problem, one, np.array([1.0, 0, 1, 0]), 1)[1] == 1
    mixture, weight = shrink(problem, one, halves, 3, least=1 / 3)
    assert 0 < weight <= 1
    assert mixture.sum() == pytest.approx(1)
    assert mixture.min() > 0


def test_shrink_makes_a_better_policy_of_a_hundred_people():
    """From a hundred people CMDP's true rate is a third of what it could be; shrunk, most of it."""
    problem = datasets.brexit()
    rates = {"as seen": [], "shrunk": []}
    losses = {"as seen": [], "shrunk": []}
    for seed in range(4):
        type_ids = stream(problem, 100, seed)
        observed = np.bincount(type_ids, minlength=len(problem.p)) / 100
        shrunk, _ = shrink(problem, observed, problem.marginals(observed), 100)
        assert (shrunk > 0).all()
        for name, p in (("as seen", observed), ("shrunk", shrunk)):
            policy = CMDP().policy(Problem(problem.targets, p))
            accepted = problem.p * policy.acceptance.to_numpy()
            rates[name].append(accepted.sum() / best_policy(problem).rate)
            losses[name].append(problem.loss(accepted))
    assert np.mean(rates["as seen"]) < 0.4
    assert np.mean(rates["shrunk"]) > 0.9
    assert np.mean(losses["shrunk"]) < 0.7 * np.mean(losses["as seen"])


@needs_pgmpy
def test_estimate_is_near_the_truth():
    """Near the product where features are independent, and near the truth in the end anyway."""
    alone = datasets.brexit()
    rng = np.random.default_rng(4)
    seen = rng.multinomial(400, alone.p)

    def error(problem, guess):
        return np.abs(guess - problem.p).sum()

    assert error(alone, estimate(alone, seen)) < 0.4 * error(alone, seen / 400)
    joint = datasets.adult("strong")
    errors = []
    for people in (100, 1000, 100_000):
        seen = rng.multinomial(people, joint.p)
        errors.append(error(joint, estimate(joint, seen)))
        assert errors[-1] <= 1.1 * error(joint, seen / people)
    assert errors[0] > 2 * errors[1] > 10 * errors[2]


@pytest.mark.parametrize("people", [40, 100])
@pytest.mark.parametrize(
    ("make", "most"),
    [
        (datasets.brexit, 0.9),
        pytest.param(partial(datasets.adult, "weak"), 1.1, marks=needs_pgmpy),
    ],
)
def test_estimate_learns_shares_sooner_where_targets_are_near(make, most, people):
    """The squared error of the shares, of what was seen; 200 samples of a fixed seed."""
    problem, rng = make(), np.random.default_rng(people)
    samples = rng.multinomial(people, problem.p, size=200)
    shares = [(problem.marginals(estimate(problem, seen)), seen) for seen in samples]
    errors = np.mean([(guess - problem.presence) ** 2 for guess, _ in shares], axis=0)
    of_seen = [(problem.marginals(seen / people) - problem.presence) ** 2 for _, seen in shares]
    assert errors.sum() < most * np.mean(of_seen, axis=0).sum()


@given(problems(), st.integers(0, 60), st.integers(0, 99))
def test_estimate_believes_that_every_type_exists(problem, people, seed):
    rng = np.random.default_rng(seed)
    seen = np.zeros(len(problem.p), dtype=int)
    seen[rng.integers(len(seen))] = people
    for counts in (seen, rng.multinomial(people, problem.p)):
        guess = estimate(problem, counts)
        assert (guess > 0).all()
        assert guess.sum() == pytest.approx(1)

"""Appendix B's theorem on groups: its steps, and its bounds, on the strategy that it is about."""

from __future__ import annotations

from math import comb, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import Problem, datasets, recruit
from committees.lp import best_policy
from committees.theory import regret_path
from samples import problems
from tie_broken import ETA, TieBroken, solve, weights

THREE = datasets.brexit(["ethnicity", "social class", "gender"])
DELTA = 0.05


def log_term(problem, horizon):
    n_types, d = len(problem.p), len(problem.rho)
    dimension = d - len(problem.shape)
    regions = sum(comb(n_types, k) for k in range(dimension + 2))
    return log(6 * (d + 2) * horizon * (horizon - 1) / DELTA) + log(regions)


@given(problems(max_features=3, max_values=4), st.integers(1, 200), st.integers(0, 1000))
def test_policy_is_a_score_but_for_few_independent_ties(problem, seen, seed):
    rng = np.random.default_rng(seed)
    estimate = rng.multinomial(seen, problem.p) / seen
    policy, score = solve(problem, estimate, weights(problem, seed))
    was_seen = estimate > 0
    assert (policy[was_seen & (score > 1e-7)] > 1 - 1e-6).all()
    assert (policy[was_seen & (score < -1e-7)] < 1e-6).all()
    tied = np.flatnonzero(was_seen & (np.abs(score) <= 1e-9))
    phi = problem.incidence.toarray()[:, tied] - problem.rho[:, None]
    assert len(tied) <= len(problem.rho) - len(problem.shape)
    assert np.linalg.matrix_rank(phi, tol=1e-9) == len(tied)


@pytest.mark.parametrize("with_c", [True, False])
def test_there_are_no_more_lines_than_the_theorem_counts(with_c):
    """Two hundred thousand of them, through the eight types of three features: all are few sets."""
    rng = np.random.default_rng(1)
    phi = THREE.incidence.toarray() - THREE.rho[:, None]
    c = with_c * weights(THREE)
    prices = rng.normal(size=(200_000, len(phi))) * rng.choice([0.1, 1, 10], size=(200_000, 1))
    levels = rng.normal(size=(200_000, 1))
    sets = c - prices @ phi > levels
    different = len(np.unique(np.packbits(sets, axis=1)))
    assert 50 < different <= sum(comb(8, k) for k in range(5))


def test_no_line_is_further_off_than_the_theorem_says():
    """At several times of fifty streams; the theorem allows a miss in one of sixty."""
    rng = np.random.default_rng(2)
    phi = THREE.incidence.toarray() - THREE.rho[:, None]
    sets = weights(THREE) - rng.normal(size=(5000, len(phi))) @ phi > rng.normal(size=(5000, 1))
    largest = 0.0
    for _ in range(50):
        for t in (2, 10, 100, 1000):
            error = THREE.p - rng.multinomial(t, THREE.p) / t
            limit = sqrt(log_term(THREE, t + 1) / (2 * t))
            off = np.abs(np.concatenate([sets @ error, ((sets * error) @ phi.T).ravel()]))
            largest = max(largest, off.max() / limit)
    assert 0.2 < largest <= 1


@pytest.mark.parametrize("features", [["gender"], ["gender", "vote"]])
def test_regret_and_violation_stay_below_the_bounds(features):
    """Of so many people that who accepts everybody does not."""
    problem = datasets.brexit(features)
    strategy = TieBroken()
    recruitment = recruit(strategy, problem, 60_000, np.random.default_rng(4))
    path = regret_path(problem, recruitment).iloc[1::100]
    root = np.sqrt([t * log_term(problem, t) for t in path.index.tolist()])
    limit = (1 + sqrt(2)) * root
    assert (path["violation"] <= limit).all()
    of_everybody = np.abs(problem.presence - problem.rho).max() * path.index[-1]
    assert of_everybody > limit[-1]
    starts = [episode.start for episode in recruitment.session.episodes[1:]]
    for first in (1, 30, 300):
        scores = zip(starts, strategy.largest_scores, strict=True)
        largest = max((score for start, score in scores if start > first), default=0.0)
        bound = (1 + largest) * limit + ETA * path.index + 2 * first
        assert (path["regret"] <= bound).all()


def test_largest_score_is_bounded_by_the_constant_of_prices():
    """For one feature of two values by hand: the vector is (1, -1) / root 2, up to its sign."""
    shares = np.array([0.2, 0.8])
    problem = Problem({"gender": {"woman": 0.5, "man": 0.5}}, shares)
    _, score = solve(problem, shares, weights(problem))
    r = min(shares) * sqrt(0.5)
    b = sqrt(0.5)
    assert best_policy(problem).rate == pytest.approx(0.4)
    assert 2 - ETA < score.max() <= (1 + ETA) * (1 + b / r)

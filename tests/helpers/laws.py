"""Whether two ways of recruiting have the same law: a two-sample test of many recruitments."""

from __future__ import annotations

import numpy as np
from scipy import stats

from committees import recruit

# Each comparison below is made at this level. There are 12 of them, at fixed seeds: were the seeds
# drawn anew, sound code would fail in fewer than 12 of 1,000 test runs.
LEVEL = 1e-3
RUNS = 600


def observe(how, strategy, problem, size, seed):
    """One row per run: log of people screened, seats per type, types in the first and last seat."""
    rows = []
    for child in np.random.SeedSequence(seed).spawn(RUNS):
        found = how(strategy, problem, size, np.random.default_rng(child))
        seats = np.bincount(found.type_ids, minlength=len(problem.p))
        half = np.log(found.screened[size // 2])
        edges = [found.type_ids[0], found.type_ids[-1]]
        rows.append([np.log(found.screened[-1]), half, *seats, *edges])
    return np.array(rows, dtype=float)


def difference(one, other):
    """The largest Welch statistic over the columns that vary."""
    spread = np.sqrt(one.var(axis=0) / len(one) + other.var(axis=0) / len(other))
    gap = np.abs(one.mean(axis=0) - other.mean(axis=0))
    return (gap[spread > 0] / spread[spread > 0]).max()


def p_value(one, other):
    """A two-sample test: the smaller p-value, doubled, of a permutation and a rank-free test."""
    rng = np.random.default_rng(0)
    both = np.vstack([one, other])
    observed = difference(one, other)
    trials = 4000
    above = 0
    for _ in range(trials):
        mixed = rng.permutation(both)
        above += difference(mixed[: len(one)], mixed[len(one) :]) >= observed
    permutation = (1 + above) / (1 + trials)
    screened = stats.ks_2samp(one[:, 0], other[:, 0]).pvalue
    return min(1.0, 2 * min(permutation, screened))


def slow(strategy, problem, size, rng):
    return recruit(strategy, problem, size, rng, step_by_step=True)

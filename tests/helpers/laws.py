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


def largest_statistics(both, chosen):
    """The largest Welch statistic over the columns that vary, for each choice of a first sample.

    Parameters
    ----------
    both : ndarray, shape (people, columns)
    chosen : ndarray of bool, shape (choices, people)
    """
    samples = []
    for mask in (chosen.astype(float), (~chosen).astype(float)):
        n = mask.sum(axis=1, keepdims=True)
        mean = mask @ both / n
        samples.append((mean, (mask @ both**2 / n - mean**2) / n))
    (mean_1, noise_1), (mean_2, noise_2) = samples
    spread = np.sqrt(np.maximum(noise_1 + noise_2, 0))
    gap = np.abs(mean_1 - mean_2)
    return np.divide(gap, spread, out=np.zeros_like(gap), where=spread > 1e-12).max(axis=1)


def p_value(one, other):
    """A two-sample test: the smaller p-value, doubled, of a permutation and a rank-free test."""
    rng = np.random.default_rng(0)
    both = np.vstack([one, other])
    both = both - both.mean(axis=0)
    first = np.arange(len(both)) < len(one)
    chosen = np.vstack([first, *(rng.permutation(first) for _ in range(4000))])
    found = largest_statistics(both, chosen)
    permutation = (found >= found[0]).mean()
    screened = stats.ks_2samp(one[:, 0], other[:, 0]).pvalue
    return min(1.0, 2 * min(permutation, screened))


def slow(strategy, problem, size, rng):
    return recruit(strategy, problem, size, rng, step_by_step=True)

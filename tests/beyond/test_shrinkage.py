"""Shares of types from few people: the mixture is about the best there is."""

from __future__ import annotations

import numpy as np
import pytest

from committees.beyond.shrinkage import shrink


def test_shrink_finds_about_the_best_mixture():
    """Over many samples, no fixed weight does better than the estimated one by more than a little.

    The formula estimates the weight that minimises the expected squared error.
    """
    rng = np.random.default_rng(7)
    truth = rng.dirichlet(np.full(60, 0.5)).reshape(6, 10)
    errors: dict[str, list[float]] = {"none": [], "all": [], "ours": [], "best": []}
    for _ in range(300):
        joint = rng.multinomial(200, truth.ravel()) / 200
        table = joint.reshape(6, 10)
        towards = np.outer(table.sum(axis=1), table.sum(axis=0)).ravel()
        ours, weight = shrink(joint, towards, 200)
        variance = (joint * (1 - joint)).sum() / 199  # of the shares, without bias
        assert weight == pytest.approx(min(1, variance / ((towards - joint) ** 2).sum()))
        grid = [joint + w * (towards - joint) for w in np.linspace(0, 1, 101)]
        error = [float(((p - truth.ravel()) ** 2).sum()) for p in grid]
        errors["none"].append(error[0])
        errors["all"].append(error[-1])
        errors["best"].append(min(error))
        errors["ours"].append(float(((ours - truth.ravel()) ** 2).sum()))
    mean = {name: float(np.mean(found)) for name, found in errors.items()}
    assert mean["best"] <= mean["ours"] < 0.98 * min(mean["none"], mean["all"])
    assert mean["ours"] < 1.1 * mean["best"]


def test_shrink_at_the_extremes():
    half = np.array([0.5, 0.5])
    assert shrink(half, half, 10)[1] == 1
    assert shrink(np.array([1.0, 0.0]), np.array([1.0, 0.0]), 1)[1] == 1
    assert shrink(half, np.array([0.9, 0.1]), 10**6)[1] < 1e-5

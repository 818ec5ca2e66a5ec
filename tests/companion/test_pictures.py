"""Pictures that respond: the data that they show are the library's."""

from __future__ import annotations

import json

import IPython.display
import numpy as np
import pytest

from committees import CMDP, Greedy, Problem, datasets, recruit, simulate
from committees.beyond import Prices
from committees.volunteers import stream
from companion import pictures
from companion.intervals import means
from samples import random_problem


@pytest.fixture
def shown(monkeypatch):
    """What has been shown, as a notebook stores it: names in alphabetical order."""
    found = []

    def display(bundle, *, raw):
        assert raw
        assert set(bundle) == {pictures.MIME, "text/plain"}
        data = json.loads(json.dumps(bundle[pictures.MIME], sort_keys=True))
        assert data["words"] in bundle["text/plain"]
        found.append(data)

    monkeypatch.setattr(IPython.display, "display", display)
    return found


def test_targets_have_the_rates_of_the_library(shown):
    problem = datasets.brexit()
    pictures.targets(problem, 50)
    (data,) = shown
    names = [(feature, value) for feature, values in data["features"] for value in values]
    assert names == list(problem.labels)
    np.testing.assert_allclose(data["shares"], problem.presence, rtol=1e-6)
    for value, move in enumerate(data["moves"]):
        assert data["targets"][value] in move["targets"]
        assert move["targets"] == sorted(set(move["targets"]))
        assert 20 < len(move["targets"]) < 50
        for k in (0, len(move["targets"]) // 3, -1):
            rho = pictures.moved(problem, value, move["targets"][k])
            policy = CMDP().policy(Problem(dict_of(problem, rho), problem.p))
            assert move["rates"][k] == pytest.approx(policy.rate, rel=1e-6)
            own = problem.labels[value]
            chance = move["targets"][k] * move["rates"][k] / data["shares"][value]
            assert chance == pytest.approx(policy.acceptance_by_value[own], rel=1e-5)


def dict_of(problem, rho):
    """Targets per value as {feature: {value: share}}."""
    found = {feature: {} for feature in problem.features}
    for (feature, value), share in zip(problem.labels, rho, strict=True):
        found[feature][value] = share
    return found


def test_rates_hold_for_features_that_depend_on_each_other():
    problem = random_problem(np.random.default_rng(3), [2, 4, 3])
    for value in (0, 3, 8):
        rates = pictures.rates(problem, value)
        assert rates.index.is_monotonic_increasing
        for target in rates.index[[0, -1]]:
            rho = pictures.moved(problem, value, target)
            policy = CMDP().policy(Problem(dict_of(problem, rho), problem.p))
            assert rates[target] == pytest.approx(policy.rate, rel=1e-7)


def test_moved_keeps_other_features_and_proportions():
    problem = datasets.brexit(["age", "region"])
    rho = pictures.moved(problem, 1, 0.5)
    assert rho[1] == 0.5
    assert rho[:3].sum() == pytest.approx(1)
    assert rho[0] / rho[2] == pytest.approx(problem.rho[0] / problem.rho[2])
    assert (rho[3:] == problem.rho[3:]).all()


def test_queue_seats_whom_the_strategies_seat(shown, monkeypatch):
    monkeypatch.setattr(pictures, "MOST_PEOPLE", 60)
    problem, strategies = datasets.brexit(["age", "vote"]), [Greedy(0), CMDP(), Prices(2)]
    found = {s.name: recruit(s, problem, 30, 4, step_by_step=True) for s in strategies}
    screened = {name: one.screened for name, one in found.items()}
    people = stream(problem, max(one[-1] for one in screened.values()), 4)
    assert len(people) > 60
    pictures.queue(problem, people, screened, "CMDP")
    (data,) = shown
    assert (data["first"], data["size"], len(data["people"])) == ("CMDP", 30, 60)
    assert [one["name"] for one in data["strategies"]] == list(found)
    assert len({one["colour"] for one in data["strategies"]}) == 3
    for one in data["strategies"]:
        seated = [data["people"][person - 1] for person in one["seated"]]
        assert seated == found[one["name"]].type_ids[: len(seated)].tolist()
        assert len(seated) == (found[one["name"]].screened <= 60).sum()


def test_prices_has_the_people_and_the_shares(shown):
    problem = datasets.brexit(["age", "vote"])
    pictures.prices(problem, stream(problem, 40, 1), 20, 4)
    (data,) = shown
    assert data["people"] == stream(problem, 40, 1).tolist()
    np.testing.assert_allclose(data["p"], problem.p, rtol=1e-6)
    assert (data["size"], data["lead"]) == (20, 4)


def test_tradeoff_has_the_means_and_no_single_runs(shown):
    frame = simulate([Greedy(0.05), CMDP()], datasets.brexit(["age"]), [60, 20], runs=50, seed=1)
    pictures.tradeoff(frame)
    (data,) = shown
    assert data["sizes"] == [20, 60]
    assert len(json.dumps(data)) < 500
    for one in data["strategies"]:
        mean = means(frame)["mean"].loc[one["name"]].loc[data["sizes"]]
        np.testing.assert_allclose(one["screened"], mean["screened"], rtol=1e-6)
        np.testing.assert_allclose(one["loss"], mean["loss"], rtol=1e-6)


def test_pictures_are_the_same_when_shown_again(shown):
    problem = datasets.brexit(["age", "gender"])
    for _ in range(2):
        pictures.targets(problem, 20)
    assert shown[0] == shown[1]

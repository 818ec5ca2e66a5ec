"""Charts that respond: what they tell when a reader chooses."""

from __future__ import annotations

import json
import re

import IPython.display
import pytest
import vl_convert

from committees import CMDP, Greedy, datasets, simulate
from companion import charts
from samples import one_queue, seated


@pytest.fixture
def shown(monkeypatch):
    """What a function of `charts` has shown: a list that grows."""
    specs = []

    def display(bundle, *, raw):
        assert raw
        assert set(bundle) == {charts.MIME, "text/plain"}
        specs.append(json.loads(json.dumps(bundle[charts.MIME])))

    monkeypatch.setattr(IPython.display, "display", display)
    return specs


def drawn(spec, **parameters):
    """The words of the picture when the reader has set these parameters, and what its marks say."""
    spec = json.loads(json.dumps(spec))
    for name, value in parameters.items():
        (found,) = (parameter for parameter in spec["params"] if parameter["name"] == name)
        found["value"] = value
    if spec.get("width") == "container":
        spec["width"] = 600
    texts = [vl_convert.vegalite_to_svg(spec, vl_version=version) for version in ("5.21", "6.4")]
    said = r"<(?:text|tspan)[^>]*>([^<]+)<|aria-label=\"([^\"]+)\""
    words = [["".join(pair) for pair in re.findall(said, text)] for text in texts]
    assert words[0] == words[1]  # JupyterLab has the older version
    return words[0]


def test_tradeoff_tells_the_numbers_of_the_size_that_is_chosen(shown):
    problem = datasets.brexit(["age", "gender"])
    frame = simulate([Greedy(0.05), CMDP()], problem, [20, 60], runs=5, seed=1)
    frame["expected"] += 12_000  # a number that rounding could spoil
    charts.tradeoff(frame)
    for size, own in frame.groupby("size"):
        means = own.groupby("strategy")[["expected", "loss"]].mean()
        told = [
            word for word in drawn(shown[0], seats=size) if re.match(r".+: .+ people, loss", word)
        ]
        assert sorted(told) == sorted(
            f"{name}: {row['expected']:,.0f} people, loss {row['loss']:.3f}"
            for name, row in means.iterrows()
        )


def test_queue_tells_who_came_and_counts_who_is_seated(shown):
    problem, type_ids, accepted = one_queue(12)
    came = len(type_ids)
    chances = CMDP().policy(problem).acceptance.to_numpy()[type_ids]
    charts.queue(problem, type_ids, accepted, chances, "CMDP")
    for person in (1, came // 2, came):
        words = drawn(shown[0], seen=int(person))
        outcome = "accepted" if accepted[person - 1] else "rejected"
        assert f"person {person}, chance {chances[person - 1]:.2f}: {outcome}" in words
        assert ", ".join(problem.types.iloc[type_ids[person - 1]]) in words
        counts = seated(problem, type_ids[:person][accepted[:person]])
        for (feature, value), count in zip(problem.labels, counts, strict=True):
            bar = f"people accepted: {count:.0f}; value: {feature}: {value}"
            assert (bar in words) == (count > 0)


def test_acceptance_map_tells_the_probability_of_whoever_is_chosen(shown):
    problem = datasets.brexit(["age", "region", "gender"])
    policy = CMDP().policy(problem)
    charts.acceptance_map(policy)
    commonest = drawn(shown[0])
    for type_id in (0, 11, 30, len(problem.p) - 1, problem.p.argmax()):
        person = {f"value_{i}": value for i, value in enumerate(policy.acceptance.index[type_id])}
        words = drawn(shown[0], **person)
        (told,) = (word for word in words if word.startswith("accepted with"))
        assert told == f"accepted with probability {policy.acceptance.iloc[type_id]:.2f}"
    assert words == commonest  # whom it starts with


def test_charts_are_the_same_when_drawn_again(shown):
    problem = datasets.brexit(["age"])
    frame = simulate([Greedy(0.05), CMDP()], problem, [20, 60], runs=3, seed=1)
    for _ in range(2):
        charts.tradeoff(frame)
        charts.acceptance_map(CMDP().policy(problem))
    assert shown[:2] == shown[2:]

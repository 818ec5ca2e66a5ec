"""Rivals: each does what it is said to do."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyond import Relay
from committees import CMDP, RLCMDP, Greedy, datasets, recruit
from committees.beyond import Foresight, Prices
from committees.beyond.bands import open_values
from committees.beyond.tables import LAST_SEATS
from committees.greedy import band
from committees.lp import best_policy
from committees.optimism import l1_lp
from committees.volunteers import stream
from rivals import InBand, OneProgram, PosteriorSampling, Tailoring
from samples import problems, seated

PROBLEM = datasets.brexit(["gender", "age"])


def is_open(problem, size, tolerance, members):
    counts = seated(problem, np.array(members, dtype=int)).astype(int)
    values = open_values(problem, *band(problem, size, tolerance), counts, size - len(members))
    return problem.product_over_values(values.astype(float))


# InBand


@given(
    problems(max_values=3),
    st.sampled_from([Greedy(0.1), CMDP(), Prices(2), OneProgram()]),
    st.integers(1, 30),
    st.sampled_from([0, 0.05]),
    st.integers(0, 99),
)
def test_in_band_ends_in_the_band(problem, rule, size, tolerance, seed):
    found = recruit(InBand(rule, tolerance), problem, size, np.random.default_rng(seed))
    low, high = band(problem, size, tolerance)
    counts = seated(problem, found.type_ids)
    assert ((low <= counts) & (counts <= high)).all()


@given(problems(max_values=3), st.integers(0, 99))
def test_in_band_is_its_rule_among_the_open_types(problem, seed):
    """All of the open types where the rule would accept none of them."""
    rng, members = np.random.default_rng(seed), []
    session, rule = InBand(Prices(1), 0.05).start(problem, 20), Prices(1).start(problem, 20)
    while len(members) < 20:
        allowed = is_open(problem, 20, 0.05, members)
        both = allowed * rule.acceptance
        np.testing.assert_array_equal(session.acceptance, both if both.any() else allowed)
        type_id = np.array([rng.choice(np.flatnonzero(session.acceptance))])
        assert session.see(type_id, np.array([True])) == 1
        rule.see(type_id, np.array([True]))
        members.append(int(type_id[0]))


def test_in_band_learns_if_its_rule_does():
    """Otherwise it would never be shown the people whom it turns away."""
    assert not InBand(CMDP(), 0.05).learns
    assert InBand(RLCMDP(), 0.05).learns


# Relay


def test_relay_plays_prices_and_then_foresight():
    size, members = LAST_SEATS + 12, []
    relay, prices, foresight = (
        strategy.start(PROBLEM, size) for strategy in (Relay(0.05), Prices(), Foresight(0.05))
    )
    differ = 0
    for type_id in stream(PROBLEM, 2000, np.random.default_rng(1)):
        if len(members) == size:
            break
        if size - len(members) > LAST_SEATS:
            allowed = is_open(PROBLEM, size, 0.05, members)
            np.testing.assert_array_equal(relay.acceptance, allowed * prices.acceptance)
            differ += (relay.acceptance != foresight.acceptance).any()
        else:
            np.testing.assert_array_equal(relay.acceptance, foresight.acceptance)
        if relay.acceptance[type_id]:
            for session in (relay, prices, foresight):
                session.see(np.array([type_id]), np.array([True]))
            members.append(int(type_id))
    assert len(members) == size
    assert differ > 0


# PosteriorSampling


def test_posterior_sampling_depends_only_on_what_it_saw():
    runs = []
    for seed in (1, 2):  # of the coins, which it does not see
        session = PosteriorSampling().start(PROBLEM, 10)
        coins = np.random.default_rng(seed)
        for type_id in stream(PROBLEM, 300, np.random.default_rng(4)):
            accepted = coins.random() < session.acceptance[type_id]
            session.see(np.array([type_id]), np.array([accepted]))
        runs.append(session.episodes)
    assert len(runs[0]) == len(runs[1]) > 10
    for one, two in zip(*runs, strict=True):
        np.testing.assert_array_equal(one.policy, two.policy)


def test_posterior_sampling_solves_the_program_at_its_draw():
    found = recruit(PosteriorSampling(), PROBLEM, 100, np.random.default_rng(3))
    first, *later = found.session.episodes
    assert (first.policy == 1).all()
    for episode in later:
        alpha = episode.counts + 1 / len(PROBLEM.p)
        drawn = np.random.default_rng(episode.counts).dirichlet(alpha)
        value = l1_lp(PROBLEM, drawn, 0.0).solve(solver=cp.HIGHS)
        assert episode.rate == pytest.approx(value, abs=1e-6)
        mass = drawn * episode.policy
        np.testing.assert_allclose(PROBLEM.incidence @ mass, PROBLEM.rho * mass.sum(), atol=1e-6)
    draws = [episode.rate for episode in later]
    assert abs(draws[-1] - best_policy(PROBLEM).rate) < 0.2


# OneProgram


@pytest.mark.parametrize("problem", [PROBLEM, datasets.brexit()], ids=["two", "six"])
def test_one_program_with_a_huge_lead_accepts_by_the_score(problem):
    """Those with a positive score always, those with a negative one never; as CMDP does."""
    score = best_policy(problem).score.to_numpy()
    clear = np.abs(score) > 1e-6
    session = OneProgram(lead=1e9).start(problem, 50)
    for type_id in np.flatnonzero(score > 1e-6)[:20].tolist():
        np.testing.assert_array_equal(session.acceptance[clear], score[clear] > 0)
        session.see(np.array([type_id]), np.array([True]))
    policy = best_policy(problem).acceptance.to_numpy()
    np.testing.assert_array_equal(session.acceptance[clear], policy[clear])


@given(problems(max_values=3), st.sampled_from([0.5, 4.0]), st.integers(0, 99))
def test_one_program_always_accepts_somebody(problem, lead, seed):
    """The mean score over the targets is 1, that of the seats ahead is 0."""
    found = recruit(OneProgram(lead=lead), problem, 30, np.random.default_rng(seed))
    assert len(found.type_ids) == 30


# Tailoring


@given(problems(max_values=3), st.integers(1, 30), st.sampled_from([0, 0.05]), st.integers(0, 99))
def test_tailoring_ends_in_the_band(problem, size, tolerance, seed):
    found = recruit(Tailoring(tolerance), problem, size, np.random.default_rng(seed))
    low, high = band(problem, size, tolerance)
    counts = seated(problem, found.type_ids)
    assert ((low <= counts) & (counts <= high)).all()


@given(problems(max_values=3), st.integers(0, 99))
def test_tailoring_takes_the_open_people_of_the_group_that_one_would_wait_for_longest(
    problem, seed
):
    rng, members, size = np.random.default_rng(seed), [], 20
    session = Tailoring(0.05).start(problem, size)
    low, _ = band(problem, size, 0.05)
    while len(members) < size:
        lacking = np.maximum(low - seated(problem, np.array(members, dtype=int)), 0)
        waits = [lacks / share for lacks, share in zip(lacking, problem.presence, strict=True)]
        longest = [wait >= max(waits) * (1 - 1e-9) for wait in waits]
        wanted = [any(longest[value] for value in values) for values in problem.codes]
        allowed = is_open(problem, size, 0.05, members)
        np.testing.assert_array_equal(session.acceptance, allowed * np.array(wanted))
        type_id = np.array([rng.choice(np.flatnonzero(session.acceptance))])
        assert session.see(type_id, np.array([False])) == 1
        assert session.see(type_id, np.array([True])) == 1
        members.append(int(type_id[0]))


def test_tailoring_waits_for_the_rarest_people_first():
    """With everything lacking, for young people: a larger share of the seats than of callers."""
    session = Tailoring(0.0).start(PROBLEM, 50)
    ages = PROBLEM.types["age"]
    assert set(ages[session.acceptance > 0]) == {"18-34"}

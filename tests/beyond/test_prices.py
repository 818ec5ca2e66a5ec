"""Prices: its formula, what is proved of it, and how its loss falls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees import CMDP, Problem, datasets, recruit, simulate
from committees.beyond.prices import Prices, people_bound, seats_ahead
from committees.exact import expected_screened
from committees.lp import best_policy
from samples import problems, random_problem, seated

BREXIT = datasets.brexit()


def formula(problem, type_ids, lead):
    """Who is accepted: feature by feature, value by value."""
    counts, accepted = seated(problem, np.array(type_ids, dtype=int)), []
    for codes in problem.codes:
        total = 0.0
        for code, n_values in zip(codes, problem.shape, strict=True):
            first = problem.codes[0][list(codes).index(code)]
            own = range(first, first + n_values)
            ahead = {v: counts[v] - problem.rho[v] * len(type_ids) for v in own}
            total += ahead[code] - sum(problem.rho[v] * ahead[v] for v in own)
        accepted.append(total < lead - 1e-9)
    return np.array(accepted)


@given(problems(), st.sampled_from([0.3, 1, 4.0]), st.integers(0, 99))
def test_prices_accept_by_the_formula(problem, lead, seed):
    rng = np.random.default_rng(seed)
    session, members = Prices(lead).start(problem, 25), []
    for _ in range(25):
        np.testing.assert_array_equal(session.acceptance, formula(problem, members, lead))
        weight = problem.p * session.acceptance
        members.append(int(rng.choice(len(weight), p=weight / weight.sum())))
        assert session.see(np.array([members[-1]]), np.array([True])) == 1


@given(problems(), st.integers(0, 99))
def test_seats_ahead_are_zero_on_average_over_the_targets(problem, seed):
    """So somebody is accepted, whatever the lead."""
    ahead = np.random.default_rng(seed).normal(size=len(problem.rho))
    wanted = problem.product_over_values(problem.rho)
    assert wanted @ seats_ahead(problem, ahead) == pytest.approx(0, abs=1e-8)


def test_see_notes_people_up_to_the_first_accepted():
    session = Prices(1).start(BREXIT, 20)
    before = session.acceptance
    assert session.see(np.array([1, 2, 3]), np.array([False, False, False])) == 3
    assert session.acceptance is before
    assert session.see(np.array([1, 2, 3]), np.array([False, True, True])) == 2
    np.testing.assert_array_equal(session.acceptance, formula(BREXIT, [2], 1))


@given(problems(), st.integers(0, 99))
def test_leave_undoes_an_acceptance(problem, seed):
    rng = np.random.default_rng(seed)
    session = Prices(1.5).start(problem, 20)
    members = []
    for _ in range(30):
        if members and rng.random() < 0.4:
            session.leave(members.pop(rng.integers(len(members))))
        else:
            members.append(int(rng.choice(np.flatnonzero(session.acceptance))))
            session.see(np.array(members[-1:]), np.array([True]))
        np.testing.assert_array_equal(session.acceptance, formula(problem, members, 1.5))


@pytest.mark.parametrize("step_by_step", [True, False])
def test_prices_know_no_size(step_by_step):
    """A short committee is the beginning of a longer one."""
    assert not Prices.sized
    short, long = (
        recruit(Prices(2), BREXIT, size, np.random.default_rng(4), step_by_step=step_by_step)
        for size in (30, 80)
    )
    np.testing.assert_array_equal(short.type_ids, long.type_ids[:30])
    np.testing.assert_array_equal(short.screened, long.screened[:30])


@pytest.mark.parametrize("lead", [0, -1, np.nan, np.inf, "4", None])
def test_prices_want_a_lead_above_zero(lead):
    with pytest.raises(ValueError, match="lead: expected a number"):
        Prices(lead)


def test_prices_have_names():
    assert [str(Prices(lead)) for lead in (4, 4.0, 0.5)] == ["Prices 4", "Prices 4", "Prices 0.5"]
    assert Prices(4) == Prices(4.0)


# The bound on the people seen


def largest_square(problem):
    """B, type by type."""
    return max(((step - problem.rho) ** 2).sum() for step in problem.incidence.T.toarray())


@given(problems(), st.integers(1, 500), st.floats(0.1, 20))
def test_people_bound_is_that_of_the_theorem(problem, size, lead):
    factor = 1 + largest_square(problem) / (2 * lead)
    expected = size / best_policy(problem).rate * factor
    assert people_bound(problem, size, lead) == pytest.approx(expected)


@given(problems(max_features=2, max_values=3), st.integers(1, 5), st.sampled_from([0.2, 1, 4]))
def test_people_bound_holds(problem, size, lead):
    """Exact expectations, by following every way of filling the seats."""
    found = expected_screened(Prices(lead), problem, size)
    assert size - 1e-9 <= found <= people_bound(problem, size, lead) + 1e-9


@pytest.mark.slow
def test_people_bound_holds_on_1000_random_problems(fresh_seed):
    rng = np.random.default_rng(fresh_seed)
    closest = 0.0
    for _ in range(1000):
        sizes = [[2], [3], [4], [2, 2], [2, 3]][rng.integers(5)]
        problem = random_problem(rng, sizes)
        size, lead = int(rng.integers(1, 8 if len(sizes) == 1 else 6)), rng.choice([0.1, 0.5, 1, 3])
        share = expected_screened(Prices(lead), problem, size) / people_bound(problem, size, lead)
        closest = max(closest, share)
    assert 0.3 < closest <= 1 + 1e-9  # it is no idle bound either


# The loss


@pytest.fixture(scope="module")
def frame():
    return simulate([Prices(), CMDP()], BREXIT, [125, 1000], runs=20, seed=8, workers=1)


def test_loss_of_prices_falls_like_one_over_the_size(frame):
    """Loss times seats: constant for Prices, growing like the root of the seats for CMDP.

    20 runs each. From 125 to 1,000 seats it grew 1.06-fold and 3.2-fold; the root of 8 is 2.8.
    """
    loss = frame.groupby(["strategy", "size"])["loss"].mean().unstack()
    growth = 8 * loss[1000] / loss[125]
    assert growth["Prices 4"] <= 1.5
    assert growth["CMDP"] >= 1.8


def test_prices_see_hardly_more_people_than_cmdp(frame):
    """Within 3 % of K / g*, far below the bound; the standard error is 0.8 %."""
    found = frame.query("strategy == 'Prices 4' and size == 1000")["screened"].mean()
    assert found <= 1.03 * 1000 / best_policy(BREXIT).rate < people_bound(BREXIT, 1000, 4)


# One feature: how far from its share can a value come, in whatever order people come?


def furthest(shares, lead):
    """The largest number of seats that Prices is ever ahead or behind, over all orders.

    Shares are whole numbers; the seats ahead, times their sum, are whole numbers as well.
    """
    total = sum(shares)
    start = (0,) * len(shares)
    reached, waiting = {start}, [start]
    while waiting:
        ahead = waiting.pop()
        mean = sum(share * seats for share, seats in zip(shares, ahead, strict=True)) / total
        for value, seats in enumerate(ahead):
            if seats - mean < lead * total:
                after = [s - share for s, share in zip(ahead, shares, strict=True)]
                after[value] += total
                if tuple(after) not in reached:
                    reached.add(tuple(after))
                    waiting.append(tuple(after))
    return max(abs(seats) for ahead in reached for seats in ahead) / total


@pytest.mark.parametrize("total", range(2, 16))
def test_prices_with_a_small_lead_are_never_a_seat_off_between_two_values(total):
    for one in range(1, total):
        assert furthest((one, total - one), lead=1e-6) < 1


def test_prices_can_be_more_than_a_seat_off_between_three_values():
    """Where rules that never are exist, as targets do not change: a quota method."""
    assert furthest((1, 7, 15), lead=1e-6) > 1.5


def test_furthest_follows_the_rule_of_prices():
    """On a random order: what Prices accepts is among what was searched."""
    shares = (1, 2, 4)
    problem = Problem(
        {"party": dict(zip("abc", np.array(shares) / 7, strict=True))}, [0.2, 0.5, 0.3]
    )
    found = recruit(Prices(0.5), problem, 200, np.random.default_rng(5))
    counts = np.cumsum(np.eye(3)[found.type_ids], axis=0)
    off = counts - np.arange(1, 201)[:, None] * np.array(shares) / 7
    assert 0.5 < np.abs(off).max() <= furthest(shares, lead=0.5) + 1e-9

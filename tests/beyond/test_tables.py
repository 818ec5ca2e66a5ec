"""Tables of the people still to be seen, read: against plain sums, value by value."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committees.beyond import foresight
from committees.beyond.bands import open_values
from committees.beyond.fitting import fit_tables
from committees.beyond.tables import LAST_SEATS
from committees.greedy import band
from samples import fit_roughly, problems


def with_random_entries(tables, size, rng):
    s = rng.normal(0, size, tables.s.shape)
    a = rng.normal(0, size, tables.a.shape)
    return replace(tables, s=s, a=a)


@given(problems(), st.integers(1, 9), st.integers(0, 99))
def test_after_the_last_seat_nobody_is_ahead(problem, size, seed):
    """k = 1: zero people for every type that is open, and no end for the others."""
    found = fit_roughly(problem, size, 0.1, committees=(3,))
    low, high = band(problem, size, 0.1)
    counts = np.random.default_rng(seed).integers(0, high + 1, (4, len(high)))
    values = open_values(problem, low, high, counts, 1)
    expected = np.where(values[:, problem.codes].all(axis=2), 0.0, np.inf)
    np.testing.assert_array_equal(found.after(counts, 1), expected)


@given(problems(), st.integers(0, 99))
def test_products_are_over_the_values_of_each_type(problem, seed):
    rng, found = np.random.default_rng(seed), fit_roughly(problem, 2, 1.0, (2,))
    for rows in (1, 3):  # one committee has a way of its own
        per_value, level = rng.random((rows, len(problem.rho))), rng.random(rows)
        expected = level[:, None] * per_value[:, problem.codes].prod(axis=2)
        np.testing.assert_allclose(found.products(per_value, level), expected)


@given(problems(), st.integers(0, 99))
def test_after_is_what_the_tables_say(problem, seed):
    """The exponential of the level and one entry for each value, of the committee with x."""
    rng = np.random.default_rng(seed)
    found = with_random_entries(fit_roughly(problem, 6, 0.3, (5,)), 0.3, rng)
    low, high = band(problem, 6, 0.3)
    counts = 0 * low
    for k in range(6, 1, -1):
        V = found.after(counts[None], k)[0]
        for x, codes in enumerate(problem.codes):
            with_x = counts.copy()
            with_x[codes] += 1
            if open_values(problem, low, high, counts, k)[codes].all():
                log_v = found.a[k - 1] + found.s[k - 1, np.arange(len(low)), with_x].sum()
                assert V[x] == pytest.approx(np.exp(log_v))
            else:
                assert np.isinf(V[x])
        counts[problem.codes[rng.choice(np.flatnonzero(np.isfinite(V)))]] += 1


@given(problems(), st.integers(0, 99))
def test_after_looks_at_the_last_table_from_further_away(problem, seed):
    """Seats off the way to the average committee count less, the more seats are left."""
    size, rng = LAST_SEATS + 20, np.random.default_rng(seed)
    found = with_random_entries(fit_roughly(problem, size, 0.3, (2,)), 0.1, rng)
    low, high = band(problem, size, 0.3)
    s, grid = found.s[LAST_SEATS], np.arange(found.s.shape[2])
    for k in (size, LAST_SEATS + 9, LAST_SEATS + 2):
        counts = np.round(problem.rho * (size - k)).astype(int)
        V = found.after(counts[None], k)[0]
        z, way = np.sqrt(LAST_SEATS / (k - 1)), found.centre * (size - k + 1) / 20
        values = open_values(problem, low, high, counts, k)
        for x, codes in enumerate(problem.codes):
            if not values[codes].all():
                assert np.isinf(V[x])
                continue
            with_x = counts.copy()
            with_x[codes] += 1
            at = found.centre + z * (with_x - way)
            entries = [np.interp(n, grid, row) for n, row in zip(at, s, strict=True)]
            assert V[x] == pytest.approx(np.exp(found.a[LAST_SEATS] + sum(entries)) / z, rel=1e-6)


@given(problems(), st.sampled_from([9, LAST_SEATS + 9]), st.booleans(), st.integers(0, 99))
def test_one_committee_is_decided_as_among_many(problem, size, learn, seed):
    """A session decides for one committee in quick ways, trials for many at once: the same."""
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foresight, "fit_tables", partial(fit_tables, committees=(5,)))
        patch.setattr(foresight, "COMMITTEES", (5,))
        foresight.fitted.cache_clear()
        session = foresight.Foresight(0.1, learn).start(problem, size)
        while session.left:
            if found := session.tables:
                counts = np.stack([session.counts, 0 * session.counts])
                (mass, _), (v, _) = found.decide(counts, session.left)
                V, offset = found.after(counts, session.left)[0], found.offset[session.left]
                np.testing.assert_array_equal(session.acceptance * found.p, mass)
                assert session.ahead == pytest.approx(v + offset, rel=1e-9, abs=1e-9)
                np.testing.assert_allclose(session.ahead_with, V + offset, rtol=1e-9, atol=1e-9)
            came = np.array([rng.choice(len(problem.p), p=problem.p)])
            session.see(came, rng.random(1) < session.acceptance[came])
    foresight.fitted.cache_clear()


@given(problems(), st.integers(0, 99))
def test_between_whole_counts_entries_are_on_a_line(problem, seed):
    rng = np.random.default_rng(seed)
    found = with_random_entries(fit_roughly(problem, 5, 0.2, (3,)), 1.0, rng)
    s = found.s[4]
    counts = rng.uniform(-1, s.shape[1] + 1, (4, len(s)))
    grid = np.arange(s.shape[1])
    expected = [
        [np.interp(n, grid, row) for n, row in zip(line, s, strict=True)] for line in counts
    ]
    np.testing.assert_allclose(found.between(4, counts), expected, atol=1e-6)

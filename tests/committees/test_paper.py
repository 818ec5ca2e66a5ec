"""What the paper proves of Greedy and CMDP, on thousands of random problems."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from committees import (
    CMDP,
    RLCMDP,
    Greedy,
    PlugIn,
    Problem,
    datasets,
    recruit,
    simulate,
    theory,
)
from committees.beyond import Resolving
from committees.exact import expected_screened
from committees.greedy import quotas
from samples import problems, random_problem


def example_1(rare: float) -> Problem:
    """Table 1 of the paper; the targets of Example 1."""
    targets = {"gender": {"M": 1 / 2, "F": 1 / 2}, "age": {"S": 3 / 4, "J": 1 / 4}}
    return Problem(targets, [1 / 2 - rare, 1 / 4, 1 / 4, rare])


@pytest.mark.no_cover
@given(problems(max_values=8), st.integers(1, 200), st.floats(0, 0.2), st.integers(0, 2**32 - 1))
@settings(max_examples=2000)
def test_proposition_1_greedy_never_exceeds_its_bound(problem, size, tolerance, seed):
    found = recruit(Greedy(tolerance), problem, size, np.random.default_rng(seed))
    assert (
        problem.committee_loss(found.type_ids)
        <= theory.greedy_loss(problem, size, tolerance) + 1e-9
    )


def test_quotas_forgive_arithmetic_noise():
    """0.3 * 10 and 0.1 * 30 are a hair above 3; so is 0.05 * 60."""
    problem = Problem({"a": {"x": 0.3, "y": 0.7}}, [0.5, 0.5])
    assert quotas(problem, 10, 0.0).tolist() == [3, 7]
    assert quotas(problem, 10, 0.1).tolist() == [4, 8]
    thirds = Problem({"a": {"x": 0.1, "y": 0.4, "z": 0.5}}, [0.3, 0.3, 0.4])
    assert quotas(thirds, 30, 0.0).tolist() == [3, 12, 15]
    assert quotas(thirds, 60, 0.05).tolist() == [7, 25, 31]


@pytest.mark.parametrize("size", [50, 53, 100, 1000])
@pytest.mark.parametrize("tolerance", ["0", "0.02", "0.05"])
def test_quotas_are_the_papers(size, tolerance):
    """ceil(rho K) + tolerance K / (D - 1), in exact arithmetic from the printed decimals."""
    limits = iter(quotas(datasets.brexit(), size, float(tolerance)))
    table = datasets.brexit_table().astype({"target": str})
    for _, rows in table.groupby("feature", sort=False):
        printed = [Fraction(target) for target in rows["target"]]
        slack = Fraction(tolerance) * size / (len(printed) - 1)
        for target in printed:
            assert next(limits) == floor(ceil(target / sum(printed) * size) + slack)


def test_a_feature_with_one_value_constrains_nothing():
    problem = Problem({"planet": {"Earth": 1.0}, "a": {"x": 0.5, "y": 0.5}}, [0.9, 0.1])
    frame = simulate([Greedy(0.0), CMDP()], problem, 10, runs=5)
    assert (frame.loc[frame["strategy"] == "Greedy 0", "loss"] == 0).all()
    alone = Problem({"planet": {"Earth": 1.0}}, [1.0])
    assert theory.cmdp_loss(alone, 10, 0.05) == 0
    assert (simulate([Greedy(0.0), CMDP()], alone, 7, runs=2)["screened"] == 7).all()


@pytest.mark.parametrize("union", ["paper", "corrected"])
@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_proposition_2_covers(union, delta):
    """The bound holds in at least 1 - delta of the runs.

    A bound that held in exactly 1 - delta of all runs would fail here with probability below 1e-4.
    """
    for problem in (datasets.brexit(), random_problem(np.random.default_rng(3), [8, 2])):
        frame = simulate(CMDP(), problem, [20, 100, 500], runs=1000, seed=3)
        for size, losses in frame.groupby("size")["loss"]:
            covered = (losses <= theory.cmdp_loss(problem, size, delta, union)).sum()
            assert stats.binom.cdf(covered, 1000, 1 - delta) > 1e-4


def test_an_unknown_union_is_named():
    with pytest.raises(ValueError, match="union: expected 'paper' or 'full', got 'half'"):
        theory.cmdp_loss(datasets.brexit(), 50, 0.05, "half")


def test_proposition_2_counts_what_it_says():
    problem = datasets.brexit()
    at_100 = theory.cmdp_loss(problem, 100, 0.05)
    assert at_100 == pytest.approx(np.sqrt(np.log(2 * 13 / 0.05) / 200))
    assert theory.cmdp_loss(problem, 100, 0.05, "corrected") == pytest.approx(
        np.sqrt(np.log(2 * 15 / 0.05) / 200)
    )
    with pytest.raises(ValueError, match="delta: expected a number between 0 and 1, got 0"):
        theory.cmdp_loss(problem, 100, 0)


def test_lemma_2_rejections_are_negative_binomial():
    """Chi-square goodness of fit at level 1e-3: tau - K is negative binomial, tau + K is not."""
    problem = datasets.brexit(features=["age", "gender"])
    policy = CMDP().policy(problem)
    size, runs = 12, 4000
    law = theory.rejections(policy, size)
    screened = simulate(CMDP(), problem, size, runs=runs, seed=11)["screened"].to_numpy()
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 15)))

    def p_value(draws):
        bins = np.concatenate([[-np.inf], edges, [np.inf]])
        seen = np.histogram(draws, np.concatenate([[-1e9], edges + 0.5, [1e9]]))[0]
        expected = runs * np.diff(law.cdf(bins))
        return stats.chisquare(seen, expected).pvalue

    assert p_value(screened - size) > 1e-3
    assert p_value(screened + size) < 1e-12
    assert size + law.mean() == pytest.approx(size / policy.rate)


@given(st.floats(0.001, 1 / 6))
@settings(max_examples=20)
def test_example_1_needs_arbitrarily_many_people(rare):
    """Exact expectation above the paper's lower bound, printed or mended."""
    exact = expected_screened(Greedy(0), example_1(rare), 4)
    assert exact >= 1 / (6 * rare)
    assert exact >= 1 / (12 * rare)


def test_example_1_counts_three_orders():
    """{FS, MS, MS} come in 3 orders, not 3!: the paper's P(A) is twice the true one."""
    rare = 0.1
    p = dict(zip(["MS", "MJ", "FS", "FJ"], example_1(rare).p, strict=True))
    orders = [o for o in product(p, repeat=3) if sorted(o) == ["FS", "MS", "MS"]]
    assert len(orders) == 3
    exact = sum(np.prod([p[x] for x in order]) for order in orders)
    assert exact == pytest.approx(3 * (1 / 4) * (1 / 2 - rare) ** 2)


@pytest.mark.no_cover
@pytest.mark.parametrize("rare", [1 / 6, 0.05, 0.01])
def test_example_1_simulation_agrees_with_the_exact_chain(rare):
    """Both simulators within 4 standard errors: sound code fails once in 15,000 seeds."""
    problem = example_1(rare)
    exact = expected_screened(Greedy(0), problem, 4)
    for step_by_step, runs in ((False, 20_000), (True, 2_000)):
        frame = simulate(Greedy(0), problem, 4, runs=runs, seed=5, step_by_step=step_by_step)
        error = frame["screened"].std() / np.sqrt(runs)
        assert abs(frame["screened"].mean() - exact) < 4 * error


@given(problems(max_features=2, max_values=3), st.integers(1, 4))
@settings(max_examples=20)
def test_the_exact_chain_knows_lemma_2(problem, size):
    """For CMDP the chain must give K / g."""
    expected = size / CMDP().policy(problem).rate
    assert expected_screened(CMDP(), problem, size) == pytest.approx(expected)


@pytest.mark.parametrize("strategy", [PlugIn(), RLCMDP(), Resolving(0.1, learn=True)])
def test_the_exact_chain_is_not_that_of_a_learner(strategy):
    with pytest.raises(ValueError, match="also looks at whom it turns away"):
        expected_screened(strategy, datasets.brexit(["gender"]), 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0.05), "horizon: expected a whole number of at least 1, got 0"),
        ((100, 0), "delta: expected a number between 0 and 1, got 0"),
        ((100, 2), "delta: expected a number between 0 and 1, got 2"),
        ((100, 0.05, "Paper"), "version: expected 'paper' or 'mended', got 'Paper'"),
        ((100, 0.05, "paper", "L1"), "confidence: expected 'l1' or 'bernstein', got 'L1'"),
    ],
)
def test_bounds_of_nonsense_are_refused(arguments, message):
    problem = datasets.brexit(["gender"])
    for bound in (theory.learning_term, theory.regret, theory.violation):
        with pytest.raises(ValueError, match=re.escape(message)):
            bound(problem, *arguments)
    with pytest.raises(ValueError, match="rate: expected a number from 0 to 1, got 2"):
        theory.rl_loss(problem, 100, 0.05, 2)
    for loss, more in ((theory.greedy_loss, 0.1), (theory.cmdp_loss, 0.05)):
        with pytest.raises(ValueError, match="size: expected a whole number of at least 1, got -5"):
            loss(problem, -5, more)
    with pytest.raises(ValueError, match="tolerance: expected a number from 0 to 1, got -1"):
        theory.greedy_loss(problem, 5, -1)


def test_the_exact_chain_sees_dead_ends():
    halves = {"gender": {"M": 0.5, "F": 0.5}, "age": {"S": 0.5, "J": 0.5}}
    assert expected_screened(Greedy(0), Problem(halves, [0.3, 0.4, 0.0, 0.3]), 4) == np.inf

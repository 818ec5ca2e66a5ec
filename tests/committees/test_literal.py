"""The pseudocode, read literally, does what the library does with the same people."""

from __future__ import annotations

import numpy as np
import pytest

import literal
from committees import CMDP, RLCMDP, Greedy, datasets, recruit
from committees.simulation import _Stream

PROBLEM = datasets.brexit(["gender", "age", "vote"])


def same_people(seed):
    stream = _Stream(PROBLEM, np.random.default_rng(seed))
    while True:
        type_id, coin = stream.next(1)
        yield int(type_id[0]), float(coin[0])
        stream.skip(1)


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("size", [10, 37, 100])
def test_greedy(size, tolerance):
    rng = np.random.default_rng(size)
    ours = recruit(Greedy(tolerance), PROBLEM, size, rng, step_by_step=True)
    committee, seen = literal.greedy(PROBLEM, size, tolerance, same_people(size))
    assert committee == list(ours.type_ids)
    assert seen == ours.screened[-1]


def test_cmdp():
    policy = CMDP().policy(PROBLEM)
    assert PROBLEM.p @ literal.cmdp_policy(PROBLEM) == pytest.approx(policy.rate, abs=1e-8)
    ours = recruit(CMDP(), PROBLEM, 100, np.random.default_rng(5), step_by_step=True)
    committee, seen = literal.cmdp(100, policy.acceptance.to_numpy(), same_people(5))
    assert committee == list(ours.type_ids)
    assert seen == ours.screened[-1]


def test_rl_cmdp():
    """Episodes depend on who comes, not on who is accepted, and so do the programs' values."""
    ours = recruit(RLCMDP(scale=0.1), PROBLEM, 200, np.random.default_rng(6))
    committee, seen, episodes = literal.rl_cmdp(PROBLEM, 200, 0.05, 0.1, same_people(6))
    assert len(committee) == 200
    both = min(seen, int(ours.screened[-1]))
    known = [(e.start, e.rate) for e in ours.session.episodes if e.start <= both]
    found = [episode for episode in episodes if episode[0] <= both]
    assert [start for start, _ in known] == [start for start, _ in found]
    np.testing.assert_allclose([v for _, v in known], [v for _, v in found], atol=1e-7)
    assert len(known) > 20

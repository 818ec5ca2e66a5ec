r"""What an organiser asks before the first call: how many people, and what would make it fewer.

**People.** CMDP's number is known exactly: $K$ plus a negative binomial number of rejections. The
others' are read off simulated recruitments.

**Relaxing a target.** With $T(\rho) = 1/g^*(\rho)$ people per seat and the dual $w$ of the linear
program (`committees.lp`), a small change $\delta$ of the targets changes $T$ by
$T\,w \cdot \delta$: these are the shadow prices. $T$ is convex in the targets, so for changes that
are not small this promises too much rather than too little:
$T(\rho + \delta) \ge T(\rho)\,(1 + w \cdot \delta)$.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from committees.checks import FloatArray
from committees.lp import best_policy
from committees.problem import Problem
from committees.strategy import Strategy
from committees.theory import rejections

#: The shares of all recruitments for which the numbers of people are told.
QUANTILES = [0.5, 0.9, 0.99]

#: A saving of fewer people than this is not worth a sentence.
MIN_SAVING_PEOPLE = 0.05


def expectations(
    frame: pd.DataFrame, problem: Problem, strategies: Iterable[Strategy]
) -> pd.DataFrame:
    """How many people to expect to contact, and what loss.

    Parameters
    ----------
    frame : DataFrame
        A table of `simulate` for one committee size.
    problem : Problem
    strategies : iterable of Strategy
        Those that were simulated.

    Returns
    -------
    DataFrame
        A row per strategy: the number of people screened on average, the numbers that suffice in
        50, 90 and 99 % of all recruitments, the loss on average and the largest in nine of ten.
    """
    (size,) = frame["size"].unique()
    rows = {}
    for strategy in strategies:
        runs = frame[frame["strategy"] == strategy.name]
        people = [runs["screened"].mean(), *runs["screened"].quantile(QUANTILES)]
        fixed_policy = getattr(strategy, "policy", None)
        if fixed_policy is not None:  # then the law is known
            rejected = rejections(fixed_policy(problem), size)
            people = [size + rejected.mean(), *(size + rejected.ppf(QUANTILES))]
        rows[strategy.name] = [*people, runs["loss"].mean(), runs["loss"].quantile(0.9)]
    columns = ["screened", *(f"{q:.0%}" for q in QUANTILES), "loss", "loss 90%"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("strategy")


def relaxations(problem: Problem, size: int, step: float = 0.01) -> pd.DataFrame:
    """What a slightly lower target of each value would save, in people for the whole committee.

    The other values of the feature share what the one gives up (`step`, a share of the committee)
    in proportion to their targets.

    Returns
    -------
    DataFrame
        A row per value, the largest saving first: its target, the saving that the shadow price
        promises and the saving found by solving again. A negative saving is a cost; it is infinite
        if there is no policy for the new targets.
    """
    policy = best_policy(problem)
    people = size / policy.rate
    rows = []
    for position, (feature, value) in enumerate(problem.labels):
        change = _lower_one(problem, position, step)
        promised = -people * float(policy.dual.to_numpy() @ change)
        moved = Problem(pd.Series(problem.rho + change, problem.labels), problem.p)
        try:
            saved = people - size / best_policy(moved).rate
        except ValueError:  # no combination of the types that occur has these shares
            saved = -np.inf
        rows.append((feature, value, problem.rho[position], promised + 0.0, saved))
    frame = pd.DataFrame(rows, columns=["feature", "value", "target", "promised", "saved"])
    return frame.sort_values(
        ["saved", "promised"], ascending=False, kind="stable", ignore_index=True
    )


def in_words(table: pd.DataFrame, size: int, step: float = 0.01) -> list[str]:
    """The savings of `relaxations` that matter, a sentence each; the largest first."""
    sentences = []
    for feature, value, target, promised, saved in table.to_numpy().tolist():
        if saved > MIN_SAVING_PEOPLE:
            less = f"{target:.1%} to {target - min(step, target):.1%}"
            sentence = (
                f"Lowering the target of {feature} {value} from {less} would save {saved:.1f} of "
                f"the people to be seen for {size} seats"
            )
            if promised > saved + MIN_SAVING_PEOPLE:
                sentence += f" (not the {promised:.1f} of the first step: others run short next)"
            sentences.append(f"{sentence}.")
    return sentences or ["No single target holds the recruitment up."]


def _lower_one(problem: Problem, position: int, step: float) -> FloatArray:
    """The change of the targets, per value, when one is lowered and its feature's others rise."""
    feature = problem.labels.get_level_values(0)
    others = np.asarray(feature == feature[position])
    others[position] = False
    share = np.where(others, problem.rho, 0.0)
    if not share.sum():
        return np.zeros_like(share)
    step = min(step, problem.rho[position])
    change = step * share / share.sum()
    change[position] = -step
    return np.asarray(change)

r"""What an organiser asks before the first call: how many people, and what would make it fewer.

**People.** CMDP's number is known exactly: $K$ plus a negative binomial number of rejections. The
others' are read off simulated recruitments.

**Relaxing a target.** With $T(\rho) = 1/g^*(\rho)$ people per seat and the points $\lambda$ of the
linear program (`committees.lp`), a small change $\delta$ of the targets changes $T$ by
$T\,\lambda \cdot \delta$: these are the shadow prices. $T$ is convex in the targets, so for changes
that are not small this promises too much rather than too little:
$T(\rho + \delta) \ge T(\rho)\,(1 + \lambda \cdot \delta)$.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from committees.checks import FloatArray
from committees.cmdp import CMDP
from committees.lp import best_policy
from committees.problem import Problem
from committees.theory import rejections

QUANTILES = [0.5, 0.9, 0.99]

#: A saving below this many people is not worth a sentence.
WORTH_SAYING = 0.05


def expectations(frame: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """How many people to expect to contact, and what loss: a row per strategy.

    Parameters
    ----------
    frame
        A table of `simulate`, with one committee size.

    Returns
    -------
    People on average, the numbers that suffice in 50, 90 and 99 % of all recruitments, the loss on
    average and the largest in nine of ten.
    """
    (size,) = frame["size"].unique()
    rows = {}
    for name, own in frame.groupby("strategy", sort=False):
        people = [own["screened"].mean(), *own["screened"].quantile(QUANTILES)]
        if name == str(CMDP()):
            rejected = rejections(best_policy(problem), size)
            people = [size + rejected.mean(), *(size + rejected.ppf(QUANTILES))]
        rows[name] = [*people, own["loss"].mean(), own["loss"].quantile(0.9)]
    columns = ["people", *(f"{q:.0%}" for q in QUANTILES), "loss", "loss 90%"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("strategy")


def relaxations(problem: Problem, size: int, points: float = 0.01) -> pd.DataFrame:
    """What asking for a little less of each value would save, in people for the whole committee.

    The other values of the feature share what the one gives up, in proportion to their targets.

    Returns
    -------
    A row per value, the largest saving first: its target, the saving that the shadow price promises
    and the saving found by solving again. A negative saving is a cost; it is infinite if there is
    no policy for the new targets.
    """
    policy = best_policy(problem)
    people = size / policy.rate
    rows = []
    for position, (feature, value) in enumerate(problem.labels):
        change = _give_up(problem, position, points)
        promised = -people * float(policy.dual.to_numpy() @ change)
        moved = Problem(pd.Series(problem.rho + change, problem.labels), problem.p)
        try:
            found = people - size / best_policy(moved).rate
        except ValueError:  # no combination of the types that occur has these shares
            found = -np.inf
        rows.append((feature, value, problem.rho[position], promised + 0.0, found))
    frame = pd.DataFrame(rows, columns=["feature", "value", "target", "promised", "saved"])
    return frame.sort_values(
        ["saved", "promised"], ascending=False, kind="stable", ignore_index=True
    )


def in_words(table: pd.DataFrame, size: int, points: float = 0.01) -> list[str]:
    """The savings of `relaxations` that matter, a sentence each; the largest first."""
    sentences = []
    for feature, value, target, promised, saved in table.to_numpy().tolist():
        if saved > WORTH_SAYING:
            less = f"{target:.1%} to {target - min(points, target):.1%}"
            sentence = (
                f"Lowering the target of {feature} {value} from {less} would save {saved:.1f} of "
                f"the people to be contacted for {size} seats"
            )
            if promised > saved + WORTH_SAYING:
                sentence += f" (not the {promised:.1f} of the first step: others run short next)"
            sentences.append(f"{sentence}.")
    return sentences or ["No single target holds the recruitment up."]


def _give_up(problem: Problem, position: int, points: float) -> FloatArray:
    """The change of the targets when one value asks for less and its feature's others for more."""
    feature = problem.labels.get_level_values(0)
    others = np.asarray(feature == feature[position])
    others[position] = False
    share = np.where(others, problem.rho, 0.0)
    step = min(points, problem.rho[position])
    if not share.sum():
        return np.zeros_like(share)
    change = step * share / share.sum()
    change[position] = -step
    return np.asarray(change)

"""The paper in one file: Online Selection of Diverse Committees (Do, Atif, Lang, Usunier 2021).

A committee of K people should hold a target share of each value of each feature: half women, a
third from the North, and so on. Volunteers come one at a time and are accepted or turned away at
once. How many people have to be seen, and how close does the committee come to its targets?

    python examples/paper.py

takes about a minute and prints Figure 1 as a table; with matplotlib it is drawn as well.
"""

import math
from dataclasses import dataclass
from itertools import product

import cvxpy as cp
import numpy as np

#: Table 2: the UK Citizens' Assembly on Brexit. {feature: {value: (target, share of volunteers)}}
BREXIT = {
    "ethnicity": {"white": (0.860, 0.863), "non-white": (0.140, 0.136)},
    "social class": {"ABC1": (0.550, 0.556), "C2DE": (0.450, 0.444)},
    "age": {"18-34": (0.288, 0.154), "35-54": (0.344, 0.432), "55+": (0.367, 0.414)},
    "region": {
        "North": (0.233, 0.179),
        "Midlands": (0.160, 0.155),
        "East of England": (0.093, 0.090),
        "London": (0.134, 0.117),
        "South": (0.222, 0.211),
        "Wales": (0.047, 0.073),
        "Scotland": (0.082, 0.154),
        "Northern Ireland": (0.028, 0.021),
    },
    "gender": {"female": (0.507, 0.384), "male": (0.493, 0.616)},
    "vote": {"remain": (0.481, 0.565), "leave": (0.519, 0.434)},
}


# --- Section 3.1: the problem. Values are numbered through all features; a type is a tuple of them.


@dataclass
class Problem:
    """Who is wanted, and who comes."""

    features: list  #: for each feature, the numbers of its values
    rho: np.ndarray  #: for each value, its target share of the committee
    types: list  #: for each type, the numbers of its values, one of each feature
    p: np.ndarray  #: for each type, the probability that the next volunteer is of it


def make_problem(table):
    """A problem whose features are independent among the volunteers."""
    features, targets, shares = [], [], []
    for values in table.values():
        numbers = np.array(list(values.values()))
        numbers = numbers / numbers.sum(axis=0)  # printed shares may add up to 0.999
        features.append(range(len(targets), len(targets) + len(values)))
        targets.extend(numbers[:, 0])
        shares.extend(numbers[:, 1])
    types = list(product(*features))
    p = np.array([math.prod(shares[value] for value in x) for x in types])
    return Problem(features, np.array(targets), types, p)


def volunteers(problem, rng):
    """The people who come, without end: the type of each, and a coin between 0 and 1."""
    while True:
        types = rng.choice(len(problem.p), size=1000, p=problem.p)
        coins = rng.random(1000)
        yield from zip(types.tolist(), coins.tolist(), strict=True)


def recruit(rule, size, people):
    """See people until all seats are filled: the committee, and how many were seen."""
    committee = []
    for seen, (x, coin) in enumerate(people, start=1):
        is_accepted = coin < rule.chance(x)
        if is_accepted:
            committee.append(x)
        if len(committee) == size:
            return committee, seen
        rule.see(x, is_accepted)
    raise ValueError("nobody comes any more")


def loss(problem, committee):
    """How far the share of some value is from its target, at worst."""
    counts = np.zeros(len(problem.rho))
    for x in committee:
        counts[list(problem.types[x])] += 1
    return np.abs(counts / len(committee) - problem.rho).max()


# --- Section 3.2: Greedy, which accepts everybody whose quotas are not full (Algorithm 2)


class Greedy:
    """Knows the targets alone."""

    def __init__(self, problem, size, tolerance):
        self.types = problem.types
        self.room = []  # for each value, how many more people may have it
        for feature in problem.features:
            for value in feature:
                slack = tolerance * size / (len(feature) - 1)
                self.room.append(math.ceil(problem.rho[value] * size - 1e-9) + slack)

    def chance(self, x):
        return float(all(self.room[value] >= 1 - 1e-9 for value in self.types[x]))

    def see(self, x, is_accepted):
        if is_accepted:
            for value in self.types[x]:
                self.room[value] -= 1


# --- Section 4: CMDP, which tosses a coin for each type (Algorithm 3)


def has_value(problem):
    """A row for each value, a column for each type: 1 where the type has the value."""
    rows = [[value in x for x in problem.types] for value in range(len(problem.rho))]
    return np.array(rows, dtype=float)


def best_policy(problem):
    """The linear program: accept as many as possible, so that on average the targets are met."""
    accepted = cp.Variable(len(problem.p), nonneg=True)  # of this type, and accepted
    rate = cp.sum(accepted)
    in_proportion = has_value(problem) @ accepted == problem.rho * rate
    cp.Problem(cp.Maximize(rate), [accepted <= problem.p, in_proportion]).solve(solver=cp.HIGHS)
    return accepted.value / problem.p


class CMDP:
    """Knows the distribution of the volunteers."""

    def __init__(self, policy):
        self.policy = policy

    def chance(self, x):
        return self.policy[x]

    def see(self, x, is_accepted):
        pass


# --- Section 5: RL-CMDP, which learns the distribution while it recruits (Algorithm 1)


class RLCMDP:
    """Knows the targets, counts who comes, and plans for the best that could still be true."""

    def __init__(self, problem, delta=0.05, scale=1.0):
        self.problem, self.delta, self.scale = problem, delta, scale
        self.seen = 0
        self.count = np.zeros(len(problem.p))  # how often each type has been seen,
        self.before = self.count.copy()  # and at the start of this episode
        self.policy = np.ones(len(problem.p))  # nothing is known: accept everybody
        self.episodes = [(1, 1.0)]  # the first person of each, and the rate that was hoped for

    def chance(self, x):
        return self.policy[x]

    def see(self, x, is_accepted):
        self.seen += 1
        self.count[x] += 1
        if self.count[x] >= max(1, 2 * self.before[x]):  # twice as often: a new episode
            self.before = self.count.copy()
            rate, self.policy = self.optimistic_policy()
            self.episodes.append((self.seen + 1, rate))

    def optimistic_policy(self):
        """The extended linear program: the best policy for the best p near the estimate."""
        n, t = len(self.count), self.seen
        estimate = self.count / t
        radius = self.scale * math.sqrt(2 * n * math.log(6 * n * (t + 1) * t / self.delta) / t)
        accept = cp.Variable(n, nonneg=True)
        reject = cp.Variable(n, nonneg=True)
        p = accept + reject
        rate = cp.sum(accept)
        constraints = [
            cp.sum(p) == 1,
            cp.norm1(p - estimate) <= radius,
            has_value(self.problem) @ accept == self.problem.rho * rate,
        ]
        cp.Problem(cp.Maximize(rate), constraints).solve(solver=cp.HIGHS)
        chance = np.divide(accept.value, p.value, out=np.full(n, 0.5), where=p.value > 1e-9)
        return float(rate.value), chance


# --- Section 6.1: Figure 1, and a line of Figure 2


def means(problem, make_rule, size, runs):
    """People seen and loss, on average over some recruitments."""
    rows = []
    for run in range(runs):
        people = volunteers(problem, np.random.default_rng([2021, run]))
        committee, seen = recruit(make_rule(size), size, people)
        rows.append([seen, loss(problem, committee)])
    return np.mean(rows, axis=0)


def figure_1(sizes, runs):
    """{strategy: people seen and loss, a row for each size}, all six features."""
    problem = make_problem(BREXIT)
    policy = best_policy(problem)
    rules = {
        "Greedy 0.02": lambda size: Greedy(problem, size, 0.02),
        "Greedy 0.05": lambda size: Greedy(problem, size, 0.05),
        "CMDP": lambda size: CMDP(policy),
    }
    return {
        name: np.array([means(problem, make_rule, size, runs) for size in sizes])
        for name, make_rule in rules.items()
    }


def draw(sizes, results):
    """Both panels of the figure, in figure_1.png."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.5))
    for name, table in results.items():
        panels[0].plot(sizes, table[:, 0], marker="o", label=name)
        panels[1].plot(sizes, table[:, 1], marker="o", label=name)
    panels[0].set(xlabel="seats", ylabel="people seen", yscale="log")
    panels[1].set(xlabel="seats", ylabel="loss")
    panels[0].legend()
    figure.savefig("figure_1.png")


if __name__ == "__main__":
    sizes = (50, 100, 150, 250, 500, 1000)
    results = figure_1(sizes, runs=50)
    for name, table in results.items():
        for size, (people, distance) in zip(sizes, table, strict=True):
            print(f"{name:12}{size:6} seats {people:8.0f} people seen   loss {distance:.3f}")
    few = make_problem({name: BREXIT[name] for name in ("ethnicity", "social class", "gender")})
    people, distance = means(few, lambda size: RLCMDP(few, scale=0.075), size=250, runs=5)
    print(f"RL-CMDP, three features, 250 seats {people:8.0f} people seen   loss {distance:.3f}")
    try:
        draw(sizes, results)
    except ImportError:
        print("With matplotlib there would be a picture as well.")

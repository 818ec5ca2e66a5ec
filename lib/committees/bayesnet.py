r"""Appendix D: Bayesian networks fitted to a table of people, for more or less dependence.

A network is a directed acyclic graph on the features. Fitted to a table of people, it gives the
distribution $p(x) = \prod_i \hat p(x^i \mid x^{\text{parents of } i})$, with conditional
frequencies for $\hat p$ (given parents that nobody has together, all values are equally likely).
More edges keep more of the dependence in the data: the graph without edges makes the features
independent, a complete one gives the table's own joint distribution.

pgmpy does the fitting. It is imported when it is first needed, since that takes seconds, and
nothing outside this module knows of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np
import pandas as pd

from committees.checks import FloatArray, check_extra

Edge = tuple[str, str]


def joints(
    people: pd.DataFrame,
    networks: Iterable[Sequence[Edge]],
    features: Mapping[str, Sequence[str]],
) -> list[FloatArray]:
    """The distributions of networks fitted to a table of people: ndarrays of float, per type.

    A network is a sequence of edges (from, to) without a cycle; `features` has the features and
    their values in order. A factor that several networks share is fitted once.

    >>> people = pd.DataFrame({"a": list("xxyy"), "b": list("uvuu")})
    >>> joints(people, [[("a", "b")]], {"a": ["x", "y"], "b": ["u", "v"]})[0].tolist()
    [0.25, 0.25, 0.5, 0.0]
    """
    for feature, values in features.items():
        if feature not in people or set(people[feature]) != set(values):
            raise ValueError(f"people, {feature!r}: expected a column with {', '.join(values)}")
    counts = people[list(features)].value_counts().reset_index(name="count")
    for feature, values in features.items():
        counts[feature] = pd.Categorical(counts[feature], list(values))
    factors: dict[tuple[str, frozenset[str]], FloatArray] = {}
    distributions = []
    for edges in networks:
        check_edges(edges, list(features))
        p: FloatArray = np.ones([len(values) for values in features.values()])
        for feature in features:
            parents = frozenset(start for start, end in edges if end == feature)
            if (feature, parents) not in factors:
                factors[feature, parents] = _factor(counts, feature, parents, features)
            p = p * factors[feature, parents]
        distributions.append(p.ravel())
    return distributions


def _factor(
    counts: pd.DataFrame,
    feature: str,
    parents: frozenset[str],
    features: Mapping[str, Sequence[str]],
) -> FloatArray:
    """The frequencies of a feature given its parents, one axis per feature of the problem."""
    check_extra("pgmpy", "adult")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgmpy announces its own future changes
        from pgmpy.models import DiscreteBayesianNetwork

        names = [name for name in features if name == feature or name in parents]
        network = DiscreteBayesianNetwork([(name, feature) for name in names if name in parents])
        network.add_nodes_from(names)
        network.fit(counts[names], sample_weight=counts["count"].to_numpy())
        table = network.get_cpds(feature)
    states = [[str(state) for state in table.state_names[name]] for name in table.variables]
    rows = pd.MultiIndex.from_product(states, names=table.variables).to_frame(index=False)
    rows["frequency"] = np.ravel(table.values)
    ours = pd.MultiIndex.from_product([features[name] for name in names], names=names)
    frequencies = rows.set_index(names)["frequency"].reindex(ours)
    shape = [len(values) if name in names else 1 for name, values in features.items()]
    return frequencies.to_numpy(dtype=np.float64).reshape(shape)


def check_edges(edges: Sequence[Edge], features: Sequence[str]) -> None:
    """Refuse anything but pairs of these features, without a cycle."""
    for edge in edges:
        if not isinstance(edge, list | tuple) or len(edge) != 2 or not set(edge) <= set(features):
            known = ", ".join(map(repr, features))
            raise ValueError(f"network: expected pairs (from, to) of {known}, got {edge!r}")
    graph: TopologicalSorter[str] = TopologicalSorter()
    for start, end in edges:
        graph.add(end, start)
    try:
        graph.prepare()
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise ValueError(f"network: has a cycle, {cycle}") from None


def all_networks(features: Sequence[str]) -> list[tuple[Edge, ...]]:
    """Every directed acyclic graph on these features, those with few edges first."""
    check_extra("pgmpy", "adult")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import ExhaustiveSearch

        graphs = ExhaustiveSearch(pd.DataFrame(columns=list(features))).all_dags(list(features))
        return [tuple(graph.edges) for graph in graphs]

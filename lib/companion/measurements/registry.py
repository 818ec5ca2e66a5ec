"""Which function measures which claim of the ledger."""

from __future__ import annotations

from collections.abc import Callable

from companion.runs import Measurement, Runs

Measure = Callable[[Runs], Measurement]

#: The function that measures each claim, by the claim's id in `data/claims.yml`.
REGISTRY: dict[str, Measure] = {}


def claim(name: str) -> Callable[[Measure], Measure]:
    """Register the function that follows as what measures the claim with this id.

    >>> @claim("lemma-1")
    ... def another(runs: Runs) -> Measurement:
    ...     return Measurement(1.0)
    Traceback (most recent call last):
    ValueError: claim 'lemma-1': measured by lemma_1 already
    """

    def register(measure: Measure) -> Measure:
        if name in REGISTRY:
            first = getattr(REGISTRY[name], "__name__", "another function")
            raise ValueError(f"claim {name!r}: measured by {first} already")
        REGISTRY[name] = measure
        return measure

    return register

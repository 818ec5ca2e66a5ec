"""One measurement per claim of the ledger; see `companion.claims`.

A function that measures the claim `lemma-2-law` of `data/claims.yml` says so: it stands below
`@claim("lemma-2-law")`. It takes `Runs`, and returns a `Measurement`.
"""

from companion.measurements import figures, learning, setting
from companion.measurements.registry import REGISTRY, claim

__all__ = ["REGISTRY", "claim", "figures", "learning", "setting"]

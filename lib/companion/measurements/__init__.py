"""One measurement per claim of the ledger; see `companion.claims`.

Every public function here that returns a `Measurement` measures the claim of `data/claims.yml` with
its name: `lemma_2_law` is for `lemma-2-law`. Its docstring is the claim, unless it has another.
"""

import inspect
from collections.abc import Callable

import yaml

from committees.datasets import DATA
from companion.measurements import figures, theory
from companion.runs import Measurement, Runs

#: The function that measures each claim.
REGISTRY: dict[str, Callable[[Runs], Measurement]] = {
    name.replace("_", "-"): function
    for module in (theory, figures)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__annotations__.get("return") == "Measurement" and not name.startswith("_")
}
for _claim in yaml.safe_load((DATA / "claims.yml").read_text("utf-8")):
    if _measure := REGISTRY.get(_claim["id"]):
        _measure.__doc__ = _measure.__doc__ or _claim["says"]

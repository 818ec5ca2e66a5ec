"""One measurement per claim of the ledger; see `companion.claims`.

Every public function here that takes `Runs` measures the claim of `data/claims.yml` with its name:
`lemma_2_law` is for `lemma-2-law`. Its docstring is the claim, unless it has another.
"""

from collections.abc import Callable

import yaml

from committees.datasets import DATA
from companion.measurements import figures, learning, setting
from companion.runs import Measurement, Runs

#: The function that measures each claim.
REGISTRY: dict[str, Callable[[Runs], Measurement]] = {
    name.replace("_", "-"): function
    for module in (setting, learning, figures)
    for name, function in vars(module).items()
    if getattr(function, "__annotations__", {}).get("return") == "Measurement" and name[0] != "_"
}
for _claim in yaml.safe_load((DATA / "claims.yml").read_text("utf-8")):
    if _measure := REGISTRY.get(_claim["id"]):
        _measure.__name__ = _claim["id"].replace("-", "_")
        _measure.__doc__ = _measure.__doc__ or _claim["says"]

"""What the chapters share beyond computing and drawing: numbers on their way into the prose."""

from __future__ import annotations

from typing import Any

import numpy as np
from myst_nb import glue


def say(**values: Any) -> None:
    """Make values known to the text under their names: ``{glue:text}`name:.2f` ``."""
    for name, value in values.items():
        glue(name, value.item() if isinstance(value, np.generic) else value, display=False)

"""The pictures: `look` is common to all, `tables` draws results, and `people` people."""

from companion.plots.people import (
    acceptance_map,
    acceptance_table,
    filling,
    networks,
    places,
    queue,
    shares,
)
from companion.plots.style import LABELS, MAP, PALE, REFERENCE, palette, use_style
from companion.plots.tables import (
    against,
    cloud,
    curves,
    frontier,
    lines,
    loss_and_bounds,
    per_seat,
    tradeoff,
)

__all__ = [
    "LABELS",
    "MAP",
    "PALE",
    "REFERENCE",
    "acceptance_map",
    "acceptance_table",
    "against",
    "cloud",
    "curves",
    "filling",
    "frontier",
    "lines",
    "loss_and_bounds",
    "networks",
    "palette",
    "per_seat",
    "places",
    "queue",
    "shares",
    "tradeoff",
    "use_style",
]

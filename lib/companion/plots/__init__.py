"""The book's pictures: `tables` draws results, `people` draws people, `style` is common to both."""
# ruff: noqa: F401

from .people import acceptance_map, filling, networks, queue, shares
from .style import LABELS, MAP, REFERENCE, palette, use_style
from .tables import curves, lines, loss_and_bounds, tradeoff

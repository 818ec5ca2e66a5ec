"""The book's pictures: `tables` draws results, `people` draws people, `style` is common to both.

Functions that draw leave their figures open, a panel each, and `show` shows them.
"""
# ruff: noqa: F401

from .people import networks, queue, shares
from .show import show, svg
from .style import LABELS, MAP, PANEL, REFERENCE, palette, use_style
from .tables import curves, legend_above, lines, per_seat, tradeoff

"""A map of the ledger: every claim, coloured by its verdict, with arrows to what rests on it.

Claims that have to do with each other stand in one drawing, each below those that it rests on. All
others share the last. Drawings stand beside each other, or below each other on a phone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from companion import steps
from companion.claims import FALSE, MARKS
from companion.ledger import slug

#: Pixels. A drawing is as wide as a phone's text, and a row as high as a finger needs.
WIDTH = 340
ROW = 28
BOX = 24
#: Room for arrows on the left, and how far the longest one bends into it.
LANE = 84
BEND = 98
#: Boxes of those without arrows stand in two columns.
COLUMNS = 2
GAP = 6

#: What the paper numbers: written in bold.
NUMBERED = re.compile(r"(theorem|proposition|lemma)-\d")

STYLE = """<style>
.claim-map {columns: 320px; column-gap: 24px}
.claim-map svg {display: block; max-width: 100%; height: auto; margin: 0 auto 20px;
  break-inside: avoid; font: 12.5px system-ui, sans-serif}
.claim-map svg.alone {font-size: 11.2px}
.claim-map rect {stroke: currentColor; fill: var(--open-ground, #ececec)}
.claim-map a {color: var(--open, #404040); text-decoration: none}
.claim-map a text {fill: currentColor}
.claim-map a:hover text, .claim-map a:focus text {text-decoration: underline}
.claim-map .numbered text:first-of-type {font-weight: 700}
.claim-map .numbered rect {stroke-width: 2}
.claim-map .kind {font-size: 11px}
.claim-map .not-reproduced {color: var(--failed, #8a1220)}
.claim-map .not-reproduced rect {fill: var(--failed-ground, #fbe4e6)}
.claim-map .fitted {color: var(--fitted, #6b4500)}
.claim-map .fitted rect {fill: var(--fitted-ground, #fcefd0)}
.claim-map .corrected {color: var(--corrected, #123f80)}
.claim-map .corrected rect {fill: var(--corrected-ground, #e1ecfb)}
.claim-map .reproduced {color: var(--held, #0f5a2a)}
.claim-map .reproduced rect {fill: var(--held-ground, #dff3e4)}
.claim-map path {fill: none; stroke: var(--open, #404040); stroke-opacity: .45}
.claim-map path.false {stroke: var(--failed, #8a1220); stroke-opacity: 1; stroke-width: 1.6}
.claim-map path.stands {stroke-dasharray: 4 3}
.claim-map path.head {stroke: none; fill: var(--open, #404040)}
.claim-map path.head.false {fill: var(--failed, #8a1220)}
</style>"""


class Map:
    """What `companion.claims.ledger` returns, drawn; each claim links to its row in the table."""

    def __init__(self, rows: pd.DataFrame):
        self.rows = rows
        self.needs = {str(name): list(needs) for name, needs in rows["needs"].items()}

    def __repr__(self) -> str:
        lines = [f"{name} needs {', '.join(need)}" for name, need in self.needs.items() if need]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        groups = steps.groups(self.needs)
        alone = [group[0] for group in groups if len(group) == 1]
        drawings = [self._chain(group) for group in groups if len(group) > 1]
        if alone:
            drawings.append(self._alone(alone))
        return f'{STYLE}\n<div class="claim-map">\n{"".join(drawings)}</div>'

    def _chain(self, names: Sequence[str]) -> str:
        """Claims below each other, and on their left the arrows."""
        middle = {name: ROW * row + ROW / 2 for row, name in enumerate(names)}
        longest = max(middle[name] - middle[step] for name in names for step in self.needs[name])
        pairs = [(step, name) for name in names for step in self.needs[name]]
        pairs.sort(key=lambda pair: self._is_false(pair[0]))  # what is false is drawn on top
        arrows = [self._arrow(step, name, middle, longest) for step, name in pairs]
        boxes = [self._box(name, LANE, middle[name], WIDTH - LANE - 1) for name in names]
        return _svg(ROW * len(names), [*arrows, *boxes], "Claims and what they rest on", "chain")

    def _alone(self, names: Sequence[str]) -> str:
        """Claims without arrows, in columns, from the top."""
        in_a_column = -(-len(names) // COLUMNS)
        wide = (WIDTH - 2 - GAP * (COLUMNS - 1)) / COLUMNS
        boxes = []
        for place, name in enumerate(names):
            column, row = divmod(place, in_a_column)
            left = 1 + column * (wide + GAP)
            boxes.append(self._box(name, left, ROW * row + ROW / 2, wide))
        label = "Claims that rest on no other, and on which none rests"
        return _svg(ROW * in_a_column, boxes, label, "alone")

    def _is_false(self, name: str) -> bool:
        return self.rows["verdict"][name] in FALSE

    def _box(self, name: str, left: float, middle: float, wide: float) -> str:
        """A claim: its verdict's sign and colour, its name, what the verdict rests on."""
        row = self.rows.loc[name]
        mark = MARKS[str(row["verdict"])]
        kinds = [slug(mark)]
        if NUMBERED.match(name):
            kinds.append("numbered")
        by = f", by {row['evidence']}" if row["evidence"] else ""
        words = f"{name}: {mark.partition(' ')[2]}{by}. {row['says']}"
        if self.needs[name]:
            words += f" Rests on {', '.join(self.needs[name])}."
        evidence = ""
        if wide > WIDTH / 2:
            evidence = (
                f'<text class="kind" x="{left + wide - 8:g}" y="{middle + 4:g}" '
                f'text-anchor="end">{row["evidence"]}</text>'
            )
        return (
            f'<a id="map-{name}" href="#{name}" class="{" ".join(kinds)}" '
            f'aria-label="{escape(words)}"><title>{escape(words)}</title>'
            f'<rect x="{left:g}" y="{middle - BOX / 2:g}" width="{wide:g}" height="{BOX}" rx="6"/>'
            f'<text x="{left + 7:g}" y="{middle + 4:g}">{mark[0]} {name}</text>{evidence}</a>\n'
        )

    def _arrow(self, step: str, name: str, middle: Mapping[str, float], longest: float) -> str:
        """From a step to what rests on it; the longer, the further it bends to the left."""
        start, end = middle[step] + 3, middle[name] - 3
        bend = LANE - 8 - BEND * ((middle[name] - middle[step]) / longest) ** 0.6
        kind = ""
        if self._is_false(step):
            kind = "false" if self._is_false(name) else "false stands"
        line = f"M{LANE} {start:g}C{bend:.1f} {start:g} {bend:.1f} {end:g} {LANE - 6} {end:g}"
        head = f"M{LANE} {end:g}l-8 -3.5v7z"
        title = f"<title>{name} rests on {step}</title>"
        return (
            f'<path class="{kind}" data-from="{step}" data-to="{name}" d="{line}">{title}</path>'
            f'<path class="{f"head {kind}".strip()}" d="{head}"/>\n'
        )


def _svg(height: float, parts: Sequence[str], label: str, kind: str) -> str:
    """A drawing with a name for those who do not see it."""
    size = f'width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}"'
    head = f'<svg class="{kind}" role="group" aria-label="{label}" {size}>'
    return f"{head}\n{''.join(parts)}</svg>\n"

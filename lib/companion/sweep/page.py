"""The page of a sweep: what was run, how it went, and the results."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

import pandas as pd

from companion.sweep.grid import Grid
from companion.sweep.values import as_text

#: The rows of results that the page shows.
ROWS_SHOWN = 1000


class State(NamedTuple):
    """How a run went, in words; whether well; in how many seconds; and its executed notebook."""

    words: str
    done: bool
    seconds: str
    notebook: str


def page(grid: Grid, states: Iterable[State], results: pd.DataFrame) -> str:
    """One page that needs nothing else; the states of the runs are in the order of the grid."""
    rows, done = [], 0
    for run, state in zip(grid.runs, states, strict=True):
        done += state.done
        fields = [*map(as_text, run.labels.values()), state.words, state.seconds]
        row = "".join(f"<td>{html.escape(field)}</td>" for field in fields)
        link = f'<a href="{quote(state.notebook)}">notebook</a>' if state.notebook else ""
        shade = "" if state.done else ' class="failed"'
        rows.append(f"<tr{shade}>{row}<td>{link}</td></tr>")
    first = grid.runs[0]
    names = [*first.labels, "state", "seconds", "executed"]
    fixed = [f"{n} = {as_text(v)}" for n, v in first.parameters.items() if n not in first.labels]
    return PAGE.format(
        title=html.escape(grid.path.stem),
        notebook=html.escape(grid.notebook.name),
        fixed=html.escape("; ".join(fixed) or "nothing but the defaults"),
        done=done,
        total=len(rows),
        head="".join(f"<th>{html.escape(name)}</th>" for name in names),
        runs="\n".join(rows),
        shown=f"{min(len(results), ROWS_SHOWN):,} of {len(results):,}",
        results=results.head(ROWS_SHOWN).to_html(index=False, border=0, justify="left"),
    )


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sweep: {title}</title>
<style>
body {{font: 16px/1.5 sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem}}
div {{overflow-x: auto}}
table {{border-collapse: collapse; font-size: 90%; font-variant-numeric: tabular-nums}}
th, td {{border-bottom: 1px solid #ddd; padding: .2rem .8rem .2rem 0; text-align: left}}
.failed td {{background: #fdecea; white-space: pre-wrap}}
</style>
</head>
<body>
<h1>Sweep: {title}</h1>
<p>{done} of {total} runs of the notebook {notebook} are done.
The same in every run: {fixed}.</p>
<h2>Runs</h2>
<div><table>
<thead><tr>{head}</tr></thead>
<tbody>
{runs}
</tbody>
</table></div>
<h2>Results</h2>
<p>{shown} rows; all are in <a href="results.csv">results.csv</a>.</p>
<div>{results}</div>
</body>
</html>
"""

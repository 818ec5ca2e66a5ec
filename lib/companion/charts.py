"""Pictures that respond to the reader: three of `plots`, once more, for a screen.

Each function shows a Vega-Lite chart, made with Altair, and is called in the cell below the still
picture. In the book the chart takes the place of that picture (`companion.vega`), which stays for
paper and for readers without scripts. The data are rounded, so that stored notebooks do not depend
on last digits, and travel as CSV, in a fifth of the space of JSON. Text, ticks and outlines have no
colour here: the page gives them one, light or dark.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import IPython.display
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.colors import to_hex

from committees.checks import BoolArray, FloatArray, IntArray
from committees.lp import Policy
from committees.problem import Problem
from companion.plots.people import acceptance_table, positions
from companion.plots.style import LABELS, MAP, PALE, palette
from companion.plots.tables import per_seat

#: The last version of Vega-Lite that JupyterLab draws.
MIME = "application/vnd.vegalite.v5+json"


def tradeoff(frame: pd.DataFrame) -> None:
    """Show people screened per seat against loss, of a table of `simulate`; choose a size."""
    colours = {name: to_hex(colour) for name, colour in palette(frame["strategy"]).items()}
    sizes = [int(size) for size in sorted(frame["size"].unique())]
    runs = frame.assign(**{"per seat": frame["screened"] / frame["size"]})
    columns = ["strategy", "size", "screened", "per seat", "loss"]
    radio = alt.binding_radio(options=sizes, name="seats")
    seats = alt.param(name="seats", value=sizes[0], bind=radio)

    x = alt.X("per seat:Q", title="people screened per seat")
    x = x.scale(type="log", domain=[1, round(1.3 * runs["per seat"].max(), 3)], nice=False)
    x = x.axis(values=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    y = alt.Y("loss:Q", title=LABELS["loss"])
    y = y.scale(domain=[0, round(1.05 * runs["loss"].max(), 3)], nice=False)
    colour = alt.Color("strategy:N").legend(None)
    colour = colour.scale(domain=list(colours), range=list(colours.values()))
    told = [alt.Tooltip("strategy:N"), alt.Tooltip("size:Q", title="seats")]
    told.append(alt.Tooltip("screened:Q", title=LABELS["screened"], format=",.0f"))
    told.append(alt.Tooltip("per seat:Q", title="per seat", format=".2f"))
    told.append(alt.Tooltip("loss:Q", format=".3f"))
    means = alt.Chart(_data(per_seat(frame).reset_index()[columns]))
    points = means.encode(x, y, colour, tooltip=told)
    committees = alt.Chart(_data(runs[columns])).encode(x, y, colour, tooltip=told)
    is_chosen = "datum.size == seats"
    layers = [
        committees.transform_filter(is_chosen).mark_circle(size=16, opacity=0.5),
        points.mark_line(opacity=0.5).encode(order="size:Q"),
        points.mark_circle(size=36, opacity=0.7),
        points.transform_filter(is_chosen).mark_circle(size=170, opacity=1),
    ]
    people, loss = "format(datum.screened, ',.0f')", "format(datum.loss, '.3f')"
    words = f"datum.strategy + ': ' + {people} + ' people, loss ' + {loss}"
    for line, name in enumerate(colours):  # a legend, with the numbers of the chosen size
        row = means.transform_filter(is_chosen).transform_filter(alt.datum.strategy == name)
        row = row.encode(x=alt.value("width"), y=alt.value(18 * (line - len(colours))))
        layers.append(row.mark_square(size=110, opacity=1, xOffset=-6).encode(colour))
        layers.append(_text(row, words, align="right", dx=-16, fontSize=12))
    chart = alt.layer(*layers).add_params(seats).properties(width="container", height=330)
    _show(chart, "the trade-off, with a committee size to choose")


def queue(
    problem: Problem, type_ids: IntArray, accepted: BoolArray, chances: FloatArray, name: str
) -> None:
    """Show people in the order in which they came; move along, and the committee fills up.

    The arrays are per person: types, decisions of the strategy of this name, and chances.
    """
    x, y = positions(len(type_ids))
    person, outcome = np.arange(1, len(type_ids) + 1), np.where(accepted, "accepted", "rejected")
    people = pd.DataFrame({"person": person, "x": x, "y": y, "outcome": outcome, "chance": chances})
    came = problem.types.to_numpy()[type_ids]  # three values to a line
    people["type"] = ["\n".join(", ".join(t[i : i + 3]) for i in range(0, len(t), 3)) for t in came]
    labels = [f"{feature}: {value}" for feature, value in problem.labels]
    values = np.array(labels)[problem.codes[type_ids[accepted]]]
    seated = person[accepted].repeat(values.shape[1])
    members = pd.DataFrame({"person": seated, "value": values.ravel()})
    goals = pd.DataFrame({"value": labels, "target": problem.rho * accepted.sum()})
    slider = alt.binding_range(min=1, max=len(type_ids), step=1, name="people seen")
    seen = alt.param(name="seen", value=len(type_ids), bind=slider)

    colour = to_hex(palette([name])[name])
    states = {"accepted": colour, "rejected": PALE, "not seen yet": "transparent"}
    shade = alt.Color("state:N", title=None)
    shade = shade.scale(domain=list(states), range=list(states.values()))
    shade = shade.legend(orient="top", symbolType="square", symbolStrokeColor="gray")
    state = "datum.person > seen ? 'not seen yet' : datum.outcome"
    told = ["person:Q", "type:N", alt.Tooltip("chance:Q", format=".2f"), "state:N"]
    everybody = alt.Chart(_data(people)).transform_calculate(state=state).encode(tooltip=told)
    everybody = everybody.encode(x=alt.X("x:O").axis(None), y=alt.Y("y:O").axis(None))
    last = everybody.transform_filter("datum.person == seen")
    words = "'person ' + datum.person + ', chance ' + format(datum.chance, '.2f')"
    words += " + ': ' + datum.outcome + '\\n' + datum.type"
    below = last.encode(x=alt.value(0), y=alt.value(312))
    crowd = alt.layer(
        everybody.mark_square(size=330, stroke="gray", strokeWidth=0.5, opacity=1).encode(shade),
        last.mark_point(shape="square", size=420, strokeWidth=3, opacity=1),
        _text(below, words, align="left", baseline="top", lineBreak="\n", fontSize=12),
    ).properties(width=300, height=300)

    row = alt.Y("value:N", sort=labels, title=None).scale(domain=labels)
    row = row.axis(orient="right")  # so that the two parts are flush when one is below the other
    most = max(members["value"].value_counts().max(), goals["target"].max())
    length = alt.X("count():Q", title="people accepted").scale(domain=[0, 1.05 * most], nice=False)
    near = ["value:N", alt.Tooltip("target:Q", format=".1f")]
    bars = alt.Chart(_data(members)).transform_filter("datum.person <= seen").mark_bar(color=colour)
    targets = alt.Chart(_data(goals)).mark_tick(thickness=3, opacity=1)
    targets = targets.encode(x="target:Q", y=row, tooltip=near)
    seats = alt.layer(bars.encode(x=length, y=row), targets).properties(width=190, height=340)
    chart = alt.concat(crowd, seats, columns=2).add_params(seen)
    _show(chart, "people in the order in which they came, with a slider over people seen")


def acceptance_map(policy: Policy) -> None:
    """Show the acceptance table; choose a person, value by value, and read the probability."""
    problem, table = policy.problem, acceptance_table(policy)
    types = problem.types.assign(chance=policy.acceptance.to_numpy())
    commonest = problem.types.iloc[problem.p.argmax()]
    choices, is_chosen = [], []
    for number, (feature, values) in enumerate(problem.features.items()):
        averages = policy.acceptance_by_value[feature]
        shown = [f"{value} ({averages[value]:.2f} on average)" for value in values]
        menu = alt.binding_select(options=list(values), labels=shown, name=feature)
        choices.append(alt.param(name=f"value_{number}", value=commonest[feature], bind=menu))
        is_chosen.append(f"datum[{feature!r}] == value_{number}")
    told: list[Any] = [f"{feature}:N" for feature in problem.features]
    told.append(alt.Tooltip("chance:Q", format=".2f"))
    everybody = alt.Chart(_data(types)).encode(tooltip=told)
    for channel, side, keys in ((alt.Y, "row", table.index), (alt.X, "column", table.columns)):
        joined = " + ', ' + ".join(f"datum[{name!r}]" for name in keys.names if name) or "''"
        order = [", ".join(np.atleast_1d(key)) for key in keys]
        everybody = everybody.transform_calculate(**{side: joined})
        everybody = everybody.encode(channel(f"{side}:N", sort=order, title=None))
    person = everybody.transform_filter(" && ".join(is_chosen))
    shades = sns.color_palette(MAP, as_cmap=True)(np.linspace(0, 1, 9))
    colour = alt.Color("chance:Q", title="acceptance probability").legend(orient="bottom")
    colour = colour.scale(domain=[0, 1], range=[to_hex(shade) for shade in shades])
    ring = to_hex(palette(["CMDP"])["CMDP"])
    words = "'accepted with probability ' + format(datum.chance, '.2f')"
    above = person.encode(x=alt.value("width"), y=alt.value(-14))
    text = _text(above, words, align="right", fontSize=14, fontWeight="bold")
    outline = person.mark_point(shape="square", size=200, strokeWidth=4, opacity=1, color=ring)
    chart = alt.layer(everybody.mark_rect().encode(colour), outline, text).add_params(*choices)
    chart = chart.properties(width="container", height=15 * len(table) + 20)
    _show(chart, "the acceptance table, with a person to choose")


def _text(chart: alt.Chart, words: str, **look: Any) -> alt.Chart:
    """The words that this expression makes of each row."""
    return chart.transform_calculate(words=words).encode(text="words:N").mark_text(**look)


def _data(frame: pd.DataFrame) -> alt.InlineData:
    """A table as CSV that says which columns are numbers, so that "18-34" is not read as a date."""
    numbers = frame.select_dtypes("number").columns
    values = frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    form = alt.CsvDataFormat(type="csv", parse=dict.fromkeys(numbers, "number"))
    return alt.InlineData(values=values, format=form)


def _show(chart: alt.TopLevelMixin, description: str) -> None:
    spec = chart.to_dict()
    del spec["$schema"]  # it names the version of Altair's, which is later
    words = f"A picture that responds: {description}."
    IPython.display.display({MIME: spec, "text/plain": words}, raw=True)

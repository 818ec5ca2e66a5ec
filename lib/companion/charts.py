"""Pictures that respond to the reader: those of `plots`, once more, for a screen.

Each function shows a Vega-Lite chart, made with Altair, and is called in the cell below the still
picture. JupyterLab shows both. In the book the chart takes the place of the picture
(`companion.vega`), which stays for paper and for readers without scripts.

The data are rounded, so that stored notebooks do not depend on last digits, and travel as CSV,
which takes a fifth of the space of JSON. Text, ticks and outlines have no colour here: the page
gives them one, light or dark.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.colors import to_hex

from committees.checks import BoolArray, FloatArray, IntArray
from committees.lp import Policy
from committees.problem import Problem
from companion import plots
from companion.vega import MIME


def tradeoff(frame: pd.DataFrame) -> None:
    """People per seat against loss: choose a size, and see each of its committees."""
    names = list(frame["strategy"].unique())
    sizes = [int(size) for size in sorted(frame["size"].unique())]
    runs = frame.assign(**{"per seat": frame["screened"] / frame["size"]})
    columns = ["strategy", "size", "screened", "per seat", "loss"]
    choice = alt.binding_radio(options=sizes, name="seats")
    seats = alt.param(name="seats", value=sizes[0], bind=choice)

    x = alt.X("per seat:Q", title="people screened per seat")
    x = x.scale(type="log", domain=[1, round(1.3 * runs["per seat"].max(), 3)], nice=False)
    x = x.axis(values=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    y = alt.Y("loss:Q", title=plots.LABELS["loss"])
    y = y.scale(domain=[0, round(1.05 * runs["loss"].max(), 3)], nice=False)
    colours = [to_hex(colour) for colour in plots.palette(names).values()]
    colour = alt.Color("strategy:N").scale(domain=names, range=colours).legend(None)
    told = [
        alt.Tooltip("strategy:N"),
        alt.Tooltip("size:Q", title="seats"),
        alt.Tooltip("screened:Q", title="people screened", format=",.0f"),
        alt.Tooltip("per seat:Q", title="per seat", format=".2f"),
        alt.Tooltip("loss:Q", format=".3f"),
    ]
    committees = alt.Chart(_data(runs[columns])).encode(x, y, colour, tooltip=told)
    means = alt.Chart(_data(plots.per_seat(frame).reset_index()[columns]))
    points = means.encode(x, y, colour, tooltip=told)
    is_chosen = "datum.size == seats"
    layers = [
        committees.transform_filter(is_chosen).mark_circle(size=16, opacity=0.5),
        points.mark_line(opacity=0.5).encode(order="size:Q"),
        points.mark_circle(size=36, opacity=0.7),
        points.transform_filter(is_chosen).mark_circle(size=170, opacity=1),
    ]
    for line, name in enumerate(names):  # the numbers of the chosen size, and a legend
        row = means.transform_filter(is_chosen).transform_filter(alt.datum.strategy == name)
        row = row.encode(x=alt.value("width"), y=alt.value(18 * (line - len(names))))
        people, loss = "format(datum.screened, ',.0f')", "format(datum.loss, '.3f')"
        words = f"datum.strategy + ': ' + {people} + ' people, loss ' + {loss}"
        text = row.transform_calculate(words=words).encode(text="words:N")
        layers.append(row.mark_square(size=110, opacity=1, xOffset=-6).encode(colour))
        layers.append(text.mark_text(align="right", dx=-16, fontSize=12))
    chart = alt.layer(*layers).add_params(seats).properties(width="container", height=330)
    _show(chart, "the trade-off, with a committee size to choose")


def queue(
    problem: Problem, type_ids: IntArray, accepted: BoolArray, chances: FloatArray, name: str
) -> None:
    """People in the order in which they came: move along, and see the committee fill up."""
    x, y = plots.places(len(type_ids))
    outcome = np.where(accepted, "accepted", "rejected")
    person = np.arange(1, len(type_ids) + 1)
    people = pd.DataFrame({"person": person, "x": x, "y": y, "outcome": outcome, "chance": chances})
    people["type"] = [_lines(type_id) for type_id in problem.types.to_numpy()[type_ids]]
    labels = np.array([f"{feature}: {value}" for feature, value in problem.labels])
    values = labels[problem.codes[type_ids[accepted]]]
    members = pd.DataFrame(
        {"person": person[accepted].repeat(values.shape[1]), "value": values.ravel()}
    )
    goals = pd.DataFrame({"value": labels, "target": problem.rho * accepted.sum()})
    slider = alt.binding_range(min=1, max=len(type_ids), step=1, name="people seen")
    seen = alt.param(name="seen", value=len(type_ids), bind=slider)

    colour = to_hex(plots.palette([name])[name])
    states = {"accepted": colour, "rejected": plots.PALE, "not seen yet": "transparent"}
    shade = alt.Color("state:N", title=None)
    shade = shade.scale(domain=list(states), range=list(states.values()))
    shade = shade.legend(orient="top", symbolType="square", symbolStrokeColor="gray")
    everybody = (
        alt.Chart(_data(people))
        .transform_calculate(state="datum.person > seen ? 'not seen yet' : datum.outcome")
        .encode(
            x=alt.X("x:O").axis(None),
            y=alt.Y("y:O").axis(None),
            tooltip=["person:Q", "type:N", alt.Tooltip("chance:Q", format=".2f"), "state:N"],
        )
    )
    last = everybody.transform_filter("datum.person == seen")
    words = (
        "'person ' + datum.person + ', chance ' + format(datum.chance, '.2f')"
        " + ': ' + datum.outcome + '\\n' + datum.type"
    )
    text = last.transform_calculate(words=words).encode(text="words:N")
    text = text.encode(x=alt.value(0), y=alt.value(312))
    crowd = alt.layer(
        everybody.mark_square(size=330, stroke="gray", strokeWidth=0.5, opacity=1).encode(shade),
        last.mark_point(shape="square", size=420, strokeWidth=3, opacity=1),
        text.mark_text(align="left", baseline="top", lineBreak="\n", fontSize=12),
    ).properties(width=300, height=300)

    row = alt.Y("value:N", sort=list(labels), title=None).scale(domain=list(labels))
    row = row.axis(orient="right")  # so that the two parts are flush when one is below the other
    most = max(members["value"].value_counts().max(), goals["target"].max())
    length = alt.X("count():Q", title="people accepted").scale(domain=[0, 1.05 * most], nice=False)
    near = alt.Tooltip("target:Q", format=".1f")
    so_far = alt.Chart(_data(members)).transform_filter("datum.person <= seen")
    targets = alt.Chart(_data(goals)).encode(x="target:Q", y=row, tooltip=["value:N", near])
    seats = alt.layer(
        so_far.mark_bar(color=colour).encode(x=length, y=row),
        targets.mark_tick(thickness=3, opacity=1),
    ).properties(width=190, height=340)
    chart = alt.concat(crowd, seats, columns=2).add_params(seen)
    _show(chart, "people in the order in which they came, with a slider over people seen")


def acceptance_map(policy: Policy) -> None:
    """The acceptance table: choose a person, value by value, and read the probability."""
    problem, table = policy.problem, plots.acceptance_table(policy)
    types = problem.types.assign(chance=policy.acceptance.to_numpy())
    commonest = problem.types.iloc[problem.p.argmax()]
    choices, is_chosen = [], []
    for number, (feature, values) in enumerate(problem.features.items()):
        shown = [
            f"{value} ({policy.acceptance_by_value[feature, value]:.2f} on average)"
            for value in values
        ]
        menu = alt.binding_select(options=list(values), labels=shown, name=feature)
        choices.append(alt.param(name=f"value_{number}", value=commonest[feature], bind=menu))
        is_chosen.append(f"datum[{feature!r}] == value_{number}")
    keys = {
        name: " + ', ' + ".join(f"datum[{feature!r}]" for feature in axis.names if feature) or "''"
        for name, axis in (("row", table.index), ("column", table.columns))
    }
    orders = [
        [", ".join(np.atleast_1d(key)) for key in axis] for axis in (table.index, table.columns)
    ]
    told = [f"{feature}:N" for feature in problem.features]
    everybody = (
        alt.Chart(_data(types))
        .transform_calculate(**keys)
        .encode(
            x=alt.X("column:N", sort=orders[1], title=None),
            y=alt.Y("row:N", sort=orders[0], title=None),
            tooltip=[*told, alt.Tooltip("chance:Q", format=".2f")],
        )
    )
    person = everybody.transform_filter(" && ".join(is_chosen))
    shades = sns.color_palette(plots.MAP, as_cmap=True)(np.linspace(0, 1, 9))
    colour = alt.Color("chance:Q", title="acceptance probability").legend(orient="bottom")
    colour = colour.scale(domain=[0, 1], range=[to_hex(shade) for shade in shades])
    ring = to_hex(plots.palette(["CMDP"])["CMDP"])
    words = "'accepted with probability ' + format(datum.chance, '.2f')"
    text = person.transform_calculate(words=words).encode(text="words:N")
    text = text.encode(x=alt.value("width"), y=alt.value(-14))
    layers = [
        everybody.mark_rect().encode(colour),
        person.mark_point(shape="square", size=200, strokeWidth=4, opacity=1, color=ring),
        text.mark_text(align="right", fontSize=14, fontWeight="bold"),
    ]
    chart = alt.layer(*layers).add_params(*choices)
    chart = chart.properties(width="container", height=15 * len(table) + 20)
    _show(chart, "the acceptance table, with a person to choose")


def _lines(values: Any) -> str:
    """The values of a type, three to a line."""
    words = [str(value) for value in values]
    return "\n".join(", ".join(words[at : at + 3]) for at in range(0, len(words), 3))


def _data(frame: pd.DataFrame) -> alt.InlineData:
    """A table as CSV, with its numbers told from its words: "18-34" is no date."""
    numbers = frame.select_dtypes("number").columns
    values = frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    form = alt.CsvDataFormat(type="csv", parse=dict.fromkeys(numbers, "number"))
    return alt.InlineData(values=values, format=form)


def _show(chart: alt.TopLevelMixin, description: str) -> None:
    from IPython.display import display

    spec: dict[str, Any] = chart.to_dict()
    del spec["$schema"]  # it names the version of Altair's, which is later
    words = f"A picture that responds: {description}."
    display({MIME: spec, "text/plain": words}, raw=True)  # type: ignore[no-untyped-call]

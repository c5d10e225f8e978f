"""What every chart shares: rows, colours, and figures that the page's script can filter and re-colour.

The script in the page knows three conventions. In a figure laid out `by_row`, `y` of a trace holds the row's
id of every point, and arrays of that length are filtered with it; `layout.meta` holds the height in pixels
of one row and of the rest. In any other figure a trace belongs to the one row that its `meta` names. Colours
are those of the light palette, which the script exchanges for the dark ones.
"""

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from ..summarize import Summary

#: Light to dark. Okabe and Ito's colours, which the colour-blind can tell apart, with the lightness of each
#: theme.
CATEGORICAL = {
    "#0072b2": "#56a8e0",
    "#c75000": "#f08a4b",
    "#00795a": "#3fc6a0",
    "#a24f86": "#dc92c2",
    "#8a6d00": "#e3bd3f",
    "#3a86a8": "#8fd0ea",
    "#6a4c93": "#b39ddb",
}
INK, MUTED, RULE, CONTROL = "#1c1e21", "#5b6067", "#d9dce0", "#868c94"
DARK = {**CATEGORICAL, INK: "#e8e9eb", MUTED: "#a3a9b1", RULE: "#3a3e44", CONTROL: "#8d949d"}
BLUE, ORANGE, GREEN, PURPLE = list(CATEGORICAL)[:4]


@dataclass(frozen=True, slots=True)
class Row:
    """A summary with figures, as charts name and colour it."""

    summary: Summary
    text: str
    colour: str

    @property
    def id(self) -> str:
        return self.summary.id


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure of the page; `build` gives None when there is nothing to draw."""

    id: str
    title: str
    caption: str
    build: Callable[[Sequence[Row]], dict[str, Any] | None]


def literal(text: str) -> str:
    """Text that plotly prints as it is: it understands a few HTML tags."""
    return html.escape(text, quote=False)


def chart_rows(summaries: Iterable[Summary], cell_texts: Mapping[str, str]) -> list[Row]:
    """Rows that have figures, in the given order.

    Args:
        cell_texts: row id to what tells its cell apart; empty texts when there is one cell.
    """
    drawn = [summary for summary in summaries if summary.figures]
    clients = sorted({summary.identity.client for summary in drawn if not summary.identity.control})
    colours = {client: list(CATEGORICAL)[i % len(CATEGORICAL)] for i, client in enumerate(clients)}
    rows = []
    for summary in drawn:
        cell = cell_texts.get(summary.id, "")
        label = literal(summary.identity.label) + (" (control)" if summary.identity.control else "")
        text = f"{label}<br><span style='font-size:10px'>{literal(cell)}</span>" if cell else label
        rows.append(Row(summary, text, colours.get(summary.identity.client, CONTROL)))
    return rows


def figure(traces: Sequence[Any], layout: Mapping[str, Any]) -> dict[str, Any]:
    """A figure as plain JSON, in the page's type and colours.

    Raises:
        ValueError: plotly does not know an attribute.
    """
    shared = {
        "template": None,
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 10, "r": 16, "t": 8, "b": 48},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "hoverlabel": {"align": "left"},
        "hovermode": "closest",
        "dragmode": False,
    }
    plain: dict[str, Any] = json.loads(go.Figure(data=list(traces), layout={**shared, **layout}).to_json())
    plain["layout"].pop("template", None)
    return plain


def value_axis(title: str, **more: Any) -> dict[str, Any]:
    """A horizontal axis of values; `title` names the unit."""
    return {
        "title": {"text": title, "font": {"color": MUTED}},
        "gridcolor": RULE,
        "zerolinecolor": RULE,
        "tickcolor": RULE,
        "automargin": True,
        "rangemode": "tozero",
        **more,
    }


def by_row(rows: Sequence[Row], axis: Mapping[str, Any], row_px: int = 40, **layout: Any) -> dict[str, Any]:
    """Layout of a chart with a line a row, the first on top, and values along `axis`."""
    ids = [row.id for row in rows]
    rest = 116
    return {
        "xaxis": dict(axis),
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": ids,
            "tickmode": "array",
            "tickvals": ids,
            "ticktext": [row.text for row in rows],
            "autorange": "reversed",
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
            "ticklen": 6,
            "tickcolor": "rgba(0,0,0,0)",
        },
        "height": rest + row_px * len(rows),
        "meta": {"row_px": row_px, "rest_px": rest},
        **layout,
    }

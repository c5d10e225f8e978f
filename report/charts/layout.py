"""What every chart shares: rows, views, colours, and figures that the page's script can filter and re-colour.

The script in the page (`static/charts.js`) knows these conventions. `meta` of a trace holds the id of the row
that it belongs to, or the id of every point's row; arrays of that length are filtered with it. `layout.meta`
holds `max_rows`, how many rows are drawn at once. In a figure laid out by row it also holds the categories of
its axis with the rows behind each, and heights in pixels: the script gives each line its place, and widths
and offsets of bars are shares of a row. Any other figure holds `views`, of which one is drawn at a time, and
may hold `narrow_px`, its height on a narrow page without the legend.
Colours are those of the light palette, which the script exchanges for the dark ones.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go

from report.analysis.layer_text import LayerText
from report.charts.chart_data import CATEGORICAL, CONTROL_COLOUR, ChartData, ChartRow, View, literal

INK, MUTED, RULE = "#1c1e21", "#5b6067", "#dfe2e6"
SERVER, SERVER_LIGHT, STORE, SERVICE = "#43536a", "#9fb0c6", "#a98600", "#8a4f7d"

#: Light to dark, of what is neither a client's colour nor text: roles.
ROLE_COLOURS = {SERVER: "#9db2d0", SERVER_LIGHT: "#5a6d8a", STORE: "#e3bd3f", SERVICE: "#cf93c2"}
#: How requests ended, and the time of a fault.
SERVED, LIMITED, FAILED, BAND = "#7ba9c9", "#d9b44a", "#b3362b", "#ece4d6"
OUTCOME_COLOURS = {SERVED: "#4c7fa3", LIMITED: "#c79a2a", FAILED: "#ff8a7a", BAND: "#3b3428"}
GREYS = {INK: "#e8e9eb", MUTED: "#a3a9b1", RULE: "#33373d", CONTROL_COLOUR: "#8d949d"}
DARK = {**CATEGORICAL, **ROLE_COLOURS, **OUTCOME_COLOURS, **GREYS}

#: The most rows of a chart with one line per row, and the most lines of any other, that are still readable.
MAX_BARS, MAX_LINES = 30, 16


#: What captions tell at the server layer, and at the limiter layer, alone.
_OF_SERVERS = {
    "rejection": " (HTTP 429)",
    "generator_part": " The generator’s part belongs to the harness, not to the client.",
    "server_memory": "Server: mean over the window of the median run, heap in use and resident set. ",
}
_OF_LIMITERS = {"no_controls": " Controls, which call no store, are not drawn."}


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure of the page; `build` gives None when there is nothing to draw.

    `title` and `caption` may hold the names in braces that `worded` replaces, e.g. `{request}`."""

    id: str
    title: str
    caption: str
    build: Callable[[ChartData], dict[str, Any] | None]

    def worded(self, text: LayerText, layer: str = "") -> "Chart":
        """In the words of a layer."""
        words = {
            "request": text.request,
            "requests": text.requests,
            "consumer": text.consumer,
            "connections": f"{text.requests} at a time" if not text.has_servers else "connections",
            **dict.fromkeys((*_OF_SERVERS, *_OF_LIMITERS), ""),
            **(_OF_SERVERS if text.has_servers else _OF_LIMITERS),
        }
        title = self.title.format_map(words)
        return replace(
            self,
            id=f"{self.id}-{text.layer}" if layer and text.layer != "server" else self.id,
            title=f"{layer.capitalize()}: {title}" if layer else title,
            caption=self.caption.format_map(words),
        )


def figure(traces: Sequence[Any], layout: Mapping[str, Any]) -> dict[str, Any]:
    """A figure as plain JSON, in the page's type and colours."""
    shared = {
        "template": None,
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 10, "r": 16, "t": 4, "b": 44},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "hoverlabel": {"align": "left"},
        "hovermode": "closest",
        "dragmode": False,
    }
    plain: dict[str, Any] = json.loads(go.Figure(data=list(traces), layout={**shared, **layout}).to_json())
    plain["layout"].pop("template", None)
    return plain


def value_axis(title: str, **more: Any) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"color": MUTED}},
        "gridcolor": RULE,
        "zerolinecolor": RULE,
        "tickcolor": RULE,
        "tickfont": {"color": MUTED},
        "automargin": True,
        "rangemode": "tozero",
        "fixedrange": True,
        **more,
    }


def rate_axis(text: LayerText) -> dict[str, Any]:
    return value_axis(f"{text.requests} per second", tickformat=",")


def latency_axis(title: str, text: LayerText) -> dict[str, Any]:
    return value_axis(title, **({"tickformat": ","} if text.in_microseconds else {}))


def log_axis(title: str, **more: Any) -> dict[str, Any]:
    return value_axis(title, type="log", rangemode="normal", dtick="D2", tickformat=",~g", **more)


def _categories(views: Sequence[View], rows: Sequence[ChartRow]) -> list[dict[str, Any]]:
    drawn = {row.id for row in rows}
    found: list[dict[str, Any]] = []
    for number, view in enumerate(views, start=1):
        members = [row for row in view.own if row.id in drawn]
        if not members:
            continue
        if len(views) > 1:
            heading = f"<b>{literal(view.text)}</b>"
            found.append({"id": f"view{number}", "text": heading, "rows": [row.id for row in members]})
        found.extend({"id": row.id, "text": row.text, "rows": [row.id]} for row in members)
    return found


def by_row(
    data: ChartData, rows: Sequence[ChartRow], axis: Mapping[str, Any], row_px: int = 21, **layout: Any
) -> dict[str, Any]:
    """Layout of a chart with one line per row, under headings, the first on top, and values along `axis`."""
    categories = _categories(data.by_cell, rows)
    return {
        "xaxis": {"side": "bottom", **axis},
        "yaxis": {
            "tickmode": "array",
            "automargin": True,
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "ticklen": 6,
            "tickcolor": "rgba(0,0,0,0)",
        },
        # By default plotly leaves no room for the axis of a chart with two rows.
        "minreducedheight": row_px,
        "meta": {
            "rows": [category["id"] for category in categories if category["rows"] == [category["id"]]],
            "categories": categories,
            "max_rows": MAX_BARS,
            "row_px": row_px,
            "rest_px": 76,
        },
        **layout,
    }


def by_view(
    views: Sequence[View],
    rows: Sequence[ChartRow],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    max_rows: int = MAX_LINES,
    **layout: Any,
) -> dict[str, Any]:
    """Layout of a chart that draws one view at a time, its controls with it."""
    drawn = {row.id for row in rows}
    filled = [view for view in views if any(row.id in drawn for row in view.own)]
    # The controls stand beside the clients; they have a view of their own only where there are none.
    wanted = [view for view in filled if not view.own[0].summary.identity.control] or filled
    offered = [
        {
            "text": view.text,
            "rows": [row.id for row in view.rows if row.id in drawn],
            "own": sum(row.id in drawn for row in view.own),
        }
        for view in wanted
    ]
    return {
        "xaxis": dict(x),
        "yaxis": dict(y),
        "showlegend": True,
        "legend": {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top", "tracegroupgap": 0},
        "height": 380,
        "meta": {"views": offered, "max_rows": max_rows},
        **layout,
    }

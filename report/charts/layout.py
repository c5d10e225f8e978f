"""The parts that all charts share: axes, traces, and figures that the page can filter and
re-colour.

The script in the page (`static/charts.js`) knows these conventions. `meta` of a trace holds the id
of the row that it belongs to, or the id of every point's row; arrays of that length are filtered
with it. `layout.meta` holds `max_rows`, how many rows are drawn at once. In a figure laid out by
row it also holds the categories of its axis with the rows behind each, and heights in pixels: the
script gives each line its place, and widths and offsets of bars are shares of a row. Any other
figure holds `views`, of which one is drawn at a time, and may hold `narrow_px`, its height on a
narrow page without the legend. Colours are those of the light palette, which the script exchanges
for the dark ones.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import plotly.io
from msgspec import Struct, structs

from report.analysis.figures import Figure
from report.analysis.texts import LayerText
from report.base.format import Show
from report.charts.chart_data import ChartData, ChartRow, View, literal
from report.charts.colours import INK, MUTED, RULE
from report.results.model import Measured, Run

#: The most rows of a chart with one line per row that are still readable.
MAX_BARS = 30
#: The most lines of any other chart that are still readable.
MAX_LINES = 16

BYTES_PER_MIB = 1024**2


#: Parts of captions that hold only at the server layer, or only at the limiter layer.
_OF_SERVERS = {
    "rejection": " (HTTP 429)",
    "generator_part": " The generator’s part belongs to the harness, not to the client.",
    "server_memory": "Server: mean over the window, heap in use and resident set. ",
}
_OF_LIMITERS = {"no_controls": " Controls, which call no store, are not drawn."}


class Chart(Struct, frozen=True):
    """One figure of the page. `build` returns None when there is nothing to draw.

    `title` and `caption` may hold names in braces, such as `{request}`, which `worded` replaces."""

    id: str
    title: str
    caption: str
    build: Callable[[ChartData], dict[str, Any] | None]

    def worded(self, text: LayerText, layer: str = "") -> "Chart":
        words = {
            "request": text.request,
            "requests": text.requests,
            "consumer": text.consumer,
            "consumer_title": text.consumer.capitalize(),
            "connections": f"{text.requests} at a time" if not text.has_servers else "connections",
            **dict.fromkeys((*_OF_SERVERS, *_OF_LIMITERS), ""),
            **(_OF_SERVERS if text.has_servers else _OF_LIMITERS),
        }
        title = self.title.format_map(words)
        return structs.replace(
            self,
            id=f"{self.id}-{text.layer}" if layer and text.layer != "server" else self.id,
            title=f"{layer.capitalize()}: {title}" if layer else title,
            caption=self.caption.format_map(words),
        )


def figure(traces: Sequence[Any], layout: Mapping[str, Any]) -> dict[str, Any]:
    """A figure as plain JSON, in the page's type and colours.

    A trace is an object of plotly, which has validated it, or its plain form in charts with a line
    for each row. There the validation would take longer than all else, so that a test does it."""
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
    # A Figure would copy each trace, and validate again what the trace has validated.
    document = {
        "data": [trace if isinstance(trace, dict) else trace.to_plotly_json() for trace in traces],
        "layout": go.Layout({**shared, **layout}).to_plotly_json(),
    }
    plain: dict[str, Any] = json.loads(plotly.io.to_json(document, validate=False))
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
    if text.in_microseconds:
        return value_axis(title, tickformat=",")
    return value_axis(title)


def log_axis(title: str, **more: Any) -> dict[str, Any]:
    return value_axis(title, type="log", rangemode="normal", dtick="D2", tickformat=",~g", **more)


def _categories(views: Sequence[View], rows: Sequence[ChartRow]) -> list[dict[str, Any]]:
    """The lines of a chart by row. They are the rows of each view, under a heading if there are
    several views."""
    drawn = {row.id for row in rows}
    categories: list[dict[str, Any]] = []
    for number, view in enumerate(views, start=1):
        drawn_rows = [row for row in view.main_rows if row.id in drawn]
        if not drawn_rows:
            continue
        if len(views) > 1:
            heading = f"<b>{literal(view.text)}</b>"
            categories.append(
                {"id": f"view{number}", "text": heading, "rows": [row.id for row in drawn_rows]}
            )
        categories.extend({"id": row.id, "text": row.text, "rows": [row.id]} for row in drawn_rows)
    return categories


def by_row(
    data: ChartData,
    rows: Sequence[ChartRow],
    axis: Mapping[str, Any],
    row_px: int = 21,
    **layout: Any,
) -> dict[str, Any]:
    """The layout of a chart with one line for each row, the first on top, and values along
    `axis`."""
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
            "rows": [
                category["id"] for category in categories if category["rows"] == [category["id"]]
            ],
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
) -> dict[str, Any]:
    """The layout of a chart that draws one view with its controls at a time."""
    drawn = {row.id for row in rows}
    filled_views = [view for view in views if any(row.id in drawn for row in view.main_rows)]
    # The controls stand beside the clients. They have a view of their own only where there is no
    # client.
    views_of_clients = [
        view
        for view in filled_views
        if not all(row.summary.identity.ceiling for row in view.main_rows)
    ]
    view_entries = [
        {
            "text": view.text,
            "rows": [row.id for row in view.rows if row.id in drawn],
            "own": sum(row.id in drawn for row in view.main_rows),
        }
        for view in views_of_clients or filled_views
    ]
    return {
        "xaxis": dict(x),
        "yaxis": dict(y),
        "showlegend": True,
        "legend": {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top", "tracegroupgap": 0},
        "height": 380,
        "meta": {"views": view_entries, "max_rows": max_rows},
    }


Read = Callable[[Measured], float | None]
_HOVER = "%{customdata}<extra></extra>"


def bars(
    name: str,
    rows: Sequence[ChartRow],
    values: Sequence[float | None],
    texts: Sequence[str],
    **more: Any,
) -> go.Bar:
    """A bar for each row, with a text for hovering."""
    ids = [row.id for row in rows]
    hover_texts = [f"{row.text}: {text}" for row, text in zip(rows, texts, strict=True)]
    style = {
        "orientation": "h",
        "customdata": hover_texts,
        "hovertemplate": _HOVER,
        "width": 0.62,
        **more,
    }
    return go.Bar(name=name, x=list(values), y=ids, meta=ids, **style)


def scatter(
    name: str,
    ids: Sequence[str],
    x: Sequence[Any],
    y: Sequence[Any],
    texts: Sequence[str],
    mode: str = "markers",
    **more: Any,
) -> go.Scatter:
    return go.Scatter(
        name=name,
        mode=mode,
        x=list(x),
        y=list(y),
        meta=list(ids),
        customdata=list(texts),
        hovertemplate=_HOVER,
        **more,
    )


def points(
    name: str,
    values: Sequence[tuple[ChartRow, float, str]],
    marker: dict[str, Any],
    **more: Any,
) -> go.Scatter:
    """Points in the lines of their rows, each with a text for hovering."""
    ids = [row.id for row, _, _ in values]
    texts = [text for _, _, text in values]
    x = [value for _, value, _ in values]
    return scatter(name, ids, x, ids, texts, marker=marker, **more)


def whiskers(
    rows: Sequence[ChartRow], figure: Figure, drawn_value: Callable[[float], float | None] = float
) -> dict[str, Any]:
    """Error bars over the range of a figure, around its median. A row without a range has none.

    `drawn_value` converts a value to the unit of the axis."""
    above = []
    below = []
    for row in rows:
        summary = row.summary.figure_of(figure)
        low, middle, high = (
            0
            if end is None or summary.value is None or summary.range is None
            else drawn_value(end) or 0
            for end in (summary.low, summary.value, summary.high)
        )
        above.append(max(0, high - middle))
        below.append(max(0, middle - low))
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "color": INK,
        "thickness": 1.2,
        "width": 0,
    }


def run_points(rows: Sequence[ChartRow], read: Read, show: Show, unit: str) -> Iterator[go.Scatter]:
    """A mark for every measured run: circles for runs that served their load, × for invalid runs,
    and + for runs in which the target failed its load."""
    for kind, symbol in _SYMBOL_OF_KIND.items():
        values = [
            (row, value, _run_text(row, run, f"{show(value)} {unit}"))
            for row in rows
            for run in row.summary.runs
            if run.measured and _kind(run) == kind and (value := read(run.measured)) is not None
        ]
        marker = {"symbol": symbol, "size": 7, "color": INK, "line": {"color": INK, "width": 1.3}}
        if values:
            yield points(kind, values, marker)


def _run_text(row: ChartRow, run: Run, value: str) -> str:
    """The value of a run with its verdict, and its outcome unless the target served the load."""
    state = f"{run.verdict}, {run.outcome}" if run.spoiled else run.verdict
    return f"{row.text}, run {run.run} ({literal(state)}): {value}"


#: The marks of runs.
_SYMBOL_OF_KIND = {
    "run": "circle-open",
    "invalid run": "x-thin-open",
    "failed its load": "cross-thin-open",
}


def _kind(run: Run) -> str:
    if run.eligible:
        return "run"
    return "failed its load" if run.spoiled else "invalid run"

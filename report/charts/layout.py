"""What every chart shares: rows, views, traces, colours, and figures that the page can filter and
re-colour.

All rows are of one layer. A view holds rows of one runtime, topology, workload, traffic, number of
servers, load, store, decider and algorithm: nothing else may be compared; the controls under the
same load stand beside them.

The script in the page (`static/charts.js`) knows these conventions. `meta` of a trace holds the id
of the row that it belongs to, or the id of every point's row; arrays of that length are filtered
with it. `layout.meta` holds `max_rows`, how many rows are drawn at once. In a figure laid out by
row it also holds the categories of its axis with the rows behind each, and heights in pixels: the
script gives each line its place, and widths and offsets of bars are shares of a row. Any other
figure holds `views`, of which one is drawn at a time, and may hold `narrow_px`, its height on a
narrow page without the legend. Colours are those of the light palette, which the script exchanges
for the dark ones.
"""

import html
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from msgspec import Struct, structs

from report.analysis.cells import Cell
from report.analysis.figures import Figure
from report.analysis.summary import Summary, layer_text_of
from report.analysis.texts import LayerText, layer_text, load_text, varying_fields
from report.base.format import Show
from report.results.model import Measured, Run

#: Light to dark. After Okabe and Ito's colours, which the colour-blind can tell apart, with the
#: lightness of each theme.
CATEGORICAL = {
    "#0072b2": "#56a8e0",
    "#d0560a": "#f08a4b",
    "#00795a": "#3fc6a0",
    "#a24f86": "#dc92c2",
    "#6a4c93": "#b39ddb",
    "#3a86a8": "#8fd0ea",
    "#8c3b3b": "#e08a8a",
}
CONTROL_COLOUR = "#868c94"

#: They have the first colours, in every campaign the same; any other client has one of the rest.
_FIRST = ("valkey-glide", "iovalkey", "ioredis", "node-redis")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down")


def literal(text: str) -> str:
    """Text that plotly prints as it is: it understands a few HTML tags, and `%{…}` in templates."""
    return html.escape(text, quote=False).replace("%{", "%\u200b{")


class ChartRow(Struct, frozen=True):
    """A summary with figures; `text` is its label, which plotly prints as it is. One label, one
    style."""

    summary: Summary
    text: str
    colour: str
    dash: str
    symbol: str

    @property
    def id(self) -> str:
        return self.summary.id

    @property
    def selected(self) -> Measured:
        """The selected run, for what only a single run has."""
        if self.summary.selected_figures is None:
            raise ValueError(f"{self.id} has no run that counts, and so no place in a chart")
        return self.summary.selected_figures

    def median(self, figure: Figure) -> float | None:
        return self.summary.figure_of(figure).value

    def style(self, width: int, size: int) -> dict[str, Any]:
        line = {"color": self.colour, "dash": self.dash, "width": width}
        return {"line": line, "marker": {"color": self.colour, "symbol": self.symbol, "size": size}}


class View(Struct, frozen=True):
    text: str
    own: tuple[ChartRow, ...]
    controls: tuple[ChartRow, ...] = ()

    @property
    def rows(self) -> tuple[ChartRow, ...]:
        return (*self.own, *self.controls)


class ChartData(Struct, frozen=True):
    """All that charts draw from.

    `by_cell`: one view per cell, store, decider and algorithm, then views of controls alone.
    `by_curve`: the same, but rows that differ only in their connections share a view, and so do
    rows of an open loop that differ only in rate. `by_servers`: the same, but rows that differ only
    in the number of servers share a view."""

    text: LayerText
    rows: tuple[ChartRow, ...]
    by_cell: tuple[View, ...]
    by_curve: tuple[View, ...]
    by_servers: tuple[View, ...]

    @property
    def at_capacity(self) -> tuple[ChartRow, ...]:
        """Rows of a closed loop: they are never drawn beside latencies at a given rate (rule M4).

        At the limiter layer clients alone: controls call no store there, and their millions of
        decisions per second would leave the clients no width."""
        rows = tuple(row for row in self.rows if not row.summary.identity.open_loop)
        clients = tuple(row for row in rows if not row.summary.identity.ceiling)
        return clients if not self.text.has_servers and clients else rows

    @property
    def at_a_rate(self) -> tuple[ChartRow, ...]:
        return tuple(row for row in self.rows if row.summary.identity.open_loop)


def client_colours(summaries: Iterable[Summary]) -> dict[str, str]:
    clients = {summary.identity.client for summary in summaries if not summary.identity.control}
    palette = list(CATEGORICAL)
    first = dict(zip(_FIRST, palette, strict=False))
    rest = palette[len(_FIRST) :]
    others = sorted(clients.difference(_FIRST))
    return first | {client: rest[i % len(rest)] for i, client in enumerate(others)}


def _styles(summaries: Iterable[Summary]) -> dict[str, int]:
    labels: dict[str, set[str]] = {}
    for summary in summaries:
        # Controls are all of one colour, so that they differ in these alone.
        group = "" if summary.identity.control else summary.identity.client
        labels.setdefault(group, set()).add(summary.identity.short_label)
    return {
        label: number
        for found in labels.values()
        for number, label in enumerate(sorted(found, key=lambda label: (len(label), label)))
    }


def _rows(summaries: Sequence[Summary]) -> dict[str, ChartRow]:
    colours, styles = client_colours(summaries), _styles(summaries)
    rows = {}
    for summary in summaries:
        if summary.has_figures:
            identity = summary.identity
            label = literal(identity.short_label)
            style = styles[identity.short_label]
            rows[summary.id] = ChartRow(
                summary,
                f"{label} (control)" if identity.ceiling else label,
                CONTROL_COLOUR if identity.control else colours[identity.client],
                _DASHES[style % len(_DASHES)],
                _SYMBOLS[style % len(_SYMBOLS)],
            )
    return rows


def _merged(views: Iterable[tuple[str, View]]) -> tuple[View, ...]:
    curves: dict[str, list[View]] = {}
    for name, view in views:
        curves.setdefault(name, []).append(view)

    def rows(lists: Iterable[tuple[ChartRow, ...]]) -> tuple[ChartRow, ...]:
        found = {row.id: row for rows in lists for row in rows}.values()
        order = {label: n for n, label in reversed(list(enumerate(row.text for row in found)))}

        def place(row: ChartRow) -> tuple[int, int, int, str]:
            identity = row.summary.identity
            return (order[row.text], identity.servers, identity.connections, row.id)

        return tuple(sorted(found, key=place))

    return tuple(
        View(name, rows(view.own for view in members), rows(view.controls for view in members))
        for name, members in curves.items()
    )


def chart_data_of(parts: Sequence[tuple[str, Sequence[Cell], Sequence[Summary]]]) -> ChartData:
    """What the charts of one layer of a campaign draw."""
    summaries = [
        row for _, cells, own in parts for row in (*(s for c in cells for s in c.rows), *own)
    ]
    fields = varying_fields(summaries) if summaries else ()
    rows = _rows(summaries)
    views: list[tuple[View, str, str]] = []

    def add(
        first: str, own: Sequence[Summary], controls: Sequence[Summary] = (), store: str = ""
    ) -> None:
        """A view, and the names under which it is merged with others: everything but the number of
        connections, or the rate of an open loop, and everything but the number of servers."""
        identity = own[0].identity

        def name(without: str = "") -> str:
            """`Standalone · heavy · 50 connections · on valkey`: what of the load tells rows
            apart."""
            load = load_text(identity, [part for part in fields if part.name != without])
            loop = (
                f"open loop, {identity.arrivals}"
                if identity.open_loop and without == "Load"
                else ""
            )
            return " · ".join(filter(None, (first, loop, load, f"on {store}" if store else "")))

        drawn = [
            tuple(rows[each.id] for each in group if each.id in rows) for group in (own, controls)
        ]
        if drawn[0]:
            views.append((View(name(), *drawn), name("Load"), name("Servers")))

    for part, cells, _ in parts:
        for cell in cells:
            stores: dict[str, list[Summary]] = {}
            for row in cell.rows:
                named = cell.named.short_text(row.identity)
                place = " · ".join(filter(None, (row.identity.store_text, named)))
                stores.setdefault(place, []).append(row)
            topology = (cell.identity.topology or "other addresses").capitalize()
            first = " · ".join(filter(None, (part, topology, cell.caps)))
            for store, members in stores.items():
                add(first, members, cell.controls, store)
    for part, _, own in parts:
        loads: dict[str, list[Summary]] = {}
        for row in own:
            loads.setdefault(load_text(row.identity, fields), []).append(row)
        for members in loads.values():
            add(" · ".join(filter(None, (part, "Controls"))), members)
    return ChartData(
        text=layer_text_of(summaries) if summaries else layer_text("server"),
        rows=tuple(rows.values()),
        by_cell=tuple(view for view, _, _ in views),
        by_curve=_merged((name, view) for view, name, _ in views),
        by_servers=_merged((name, view) for view, _, name in views),
    )


INK, MUTED, RULE = "#1c1e21", "#5b6067", "#dfe2e6"
SERVER, SERVER_LIGHT, STORE, SERVICE = "#43536a", "#9fb0c6", "#a98600", "#8a4f7d"

#: Light to dark, of what is neither a client's colour nor text: roles.
ROLE_COLOURS = {SERVER: "#9db2d0", SERVER_LIGHT: "#5a6d8a", STORE: "#e3bd3f", SERVICE: "#cf93c2"}
#: How requests ended, and the time of a fault.
SERVED, LIMITED, FAILED, BAND = "#7ba9c9", "#d9b44a", "#b3362b", "#ece4d6"
OUTCOME_COLOURS = {SERVED: "#4c7fa3", LIMITED: "#c79a2a", FAILED: "#ff8a7a", BAND: "#3b3428"}
GREYS = {INK: "#e8e9eb", MUTED: "#a3a9b1", RULE: "#33373d", CONTROL_COLOUR: "#8d949d"}
DARK = {**CATEGORICAL, **ROLE_COLOURS, **OUTCOME_COLOURS, **GREYS}

#: The most rows of a chart with one line per row that are still readable.
MAX_BARS = 30
#: The most lines of any other chart that are still readable.
MAX_LINES = 16

BYTES_PER_MIB = 1024**2


#: What captions tell at the server layer, and at the limiter layer, alone.
_OF_SERVERS = {
    "rejection": " (HTTP 429)",
    "generator_part": " The generator’s part belongs to the harness, not to the client.",
    "server_memory": "Server: mean over the window, heap in use and resident set. ",
}
_OF_LIMITERS = {"no_controls": " Controls, which call no store, are not drawn."}


class Chart(Struct, frozen=True):
    """One figure of the page; `build` gives None when there is nothing to draw.

    `title` and `caption` may hold the names in braces that `worded` replaces, e.g. `{request}`."""

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
    plain: dict[str, Any] = json.loads(
        go.Figure(data=list(traces), layout={**shared, **layout}).to_json()
    )
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
            found.append(
                {"id": f"view{number}", "text": heading, "rows": [row.id for row in members]}
            )
        found.extend({"id": row.id, "text": row.text, "rows": [row.id]} for row in members)
    return found


def by_row(
    data: ChartData,
    rows: Sequence[ChartRow],
    axis: Mapping[str, Any],
    row_px: int = 21,
    **layout: Any,
) -> dict[str, Any]:
    """Layout of a chart with one line per row, under headings, the first on top, and values along
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
    """Layout of a chart that draws one view at a time, its controls with it."""
    drawn = {row.id for row in rows}
    filled = [view for view in views if any(row.id in drawn for row in view.own)]
    # The controls stand beside the clients; they have a view of their own only where there are
    # none.
    wanted = [
        view for view in filled if not all(row.summary.identity.ceiling for row in view.own)
    ] or filled
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
    ids = [row.id for row in rows]
    said = [f"{row.text}: {text}" for row, text in zip(rows, texts, strict=True)]
    shown = {"orientation": "h", "customdata": said, "hovertemplate": _HOVER, "width": 0.62, **more}
    return go.Bar(name=name, x=list(values), y=ids, meta=ids, **shown)


def scatter(
    name: str,
    ids: Sequence[str],
    x: Sequence[Any],
    y: Sequence[Any],
    texts: Sequence[str],
    mode: str = "markers",
    **more: Any,
) -> go.Scatter:
    shown = {"customdata": list(texts), "hovertemplate": _HOVER}
    return go.Scatter(name=name, mode=mode, x=list(x), y=list(y), meta=list(ids), **shown, **more)


def points(
    name: str, found: Sequence[tuple[ChartRow, float, str]], marker: dict[str, Any], **more: Any
) -> go.Scatter:
    """Values in the lines of their rows, with what hovering shows."""
    ids = [row.id for row, _, _ in found]
    texts = [text for _, _, text in found]
    return scatter(name, ids, [value for _, value, _ in found], ids, texts, marker=marker, **more)


def whiskers(
    rows: Sequence[ChartRow], figure: Figure, shown: Callable[[float], float | None] = float
) -> dict[str, Any]:
    """Error bars over the range of a figure, around its median; none where there is no range.
    `shown` gives the value that is drawn of one."""
    more, less = [], []
    for row in rows:
        found = row.summary.figure_of(figure)
        low, middle, high = (
            0 if end is None or found.value is None or found.range is None else shown(end) or 0
            for end in (found.low, found.value, found.high)
        )
        more.append(max(0, high - middle))
        less.append(max(0, middle - low))
    ends = {"type": "data", "symmetric": False, "array": more, "arrayminus": less}
    return {**ends, "color": INK, "thickness": 1.2, "width": 0}


def run_points(rows: Sequence[ChartRow], read: Read, show: Show, unit: str) -> Iterator[go.Scatter]:
    """Every measured run: circles for those that served their load, × for invalid ones, + for those
    in which the target failed it."""
    for name, symbol in _KINDS:
        found = [
            (
                row,
                value,
                f"{row.text}, run {run.run} ({literal(_state(run))}): {show(value)} {unit}",
            )
            for row in rows
            for run in row.summary.runs
            if run.measured and _kind(run) == name and (value := read(run.measured)) is not None
        ]
        marker = {"symbol": symbol, "size": 7, "color": INK, "line": {"color": INK, "width": 1.3}}
        if found:
            yield points(name, found, marker)


#: Of runs, with their marks.
_KINDS = (
    ("run", "circle-open"),
    ("invalid run", "x-thin-open"),
    ("failed its load", "cross-thin-open"),
)


def _kind(run: Run) -> str:
    return "run" if run.eligible else "failed its load" if run.spoiled else "invalid run"


def _state(run: Run) -> str:
    """Its verdict, and its outcome unless the target served the load."""
    return f"{run.verdict}, {run.outcome}" if run.spoiled else run.verdict

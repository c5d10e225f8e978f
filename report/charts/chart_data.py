"""What is drawn: rows with figures, how charts name and colour them, and which of them share a view.

All rows are of one layer. A view holds rows of one runtime, topology, workload, traffic, number of servers,
load, store, decider and algorithm: nothing else may be compared; the controls under the same load stand
beside them.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from report.analysis.cells import Cell
from report.analysis.summary import Summary
from report.analysis.texts import LayerText, layer_text, layer_text_of, load_text, varying_fields
from report.results.model import Measured

#: Light to dark. After Okabe and Ito's colours, which the colour-blind can tell apart, with the lightness of
#: each theme.
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


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A summary with figures; `text` is its label, which plotly prints as it is. One label, one style."""

    summary: Summary
    text: str
    colour: str
    dash: str
    symbol: str

    @property
    def id(self) -> str:
        return self.summary.id

    @property
    def figures(self) -> Measured:
        if self.summary.figures is None:
            raise ValueError(f"{self.id} has no valid run, and so no place in a chart")
        return self.summary.figures

    def style(self, width: int, size: int) -> dict[str, Any]:
        """Of its line and its marks."""
        line = {"color": self.colour, "dash": self.dash, "width": width}
        return {"line": line, "marker": {"color": self.colour, "symbol": self.symbol, "size": size}}


@dataclass(frozen=True, slots=True)
class View:
    text: str
    own: tuple[ChartRow, ...]
    controls: tuple[ChartRow, ...] = ()

    @property
    def rows(self) -> tuple[ChartRow, ...]:
        return (*self.own, *self.controls)


@dataclass(frozen=True, slots=True)
class ChartData:
    """All that charts draw from.

    `by_cell`: one view per cell, store, decider and algorithm, then views of controls alone. `by_curve`: the
    same, but rows that differ only in their connections share a view, and so do rows of an open loop that
    differ only in rate.
    `by_servers`: the same, but rows that differ only in the number of servers share a view."""

    text: LayerText
    rows: tuple[ChartRow, ...]
    by_cell: tuple[View, ...]
    by_curve: tuple[View, ...]
    by_servers: tuple[View, ...]

    @property
    def at_capacity(self) -> tuple[ChartRow, ...]:
        """Rows of a closed loop: they are never drawn beside latencies at a given rate (rule M4).

        At the limiter layer clients alone: controls call no store there, and their millions of decisions per
        second would leave the clients no width."""
        rows = tuple(row for row in self.rows if not row.summary.identity.open_loop)
        clients = tuple(row for row in rows if not row.summary.identity.control)
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
        if summary.figures:
            identity = summary.identity
            label = literal(identity.short_label)
            style = styles[identity.short_label]
            rows[summary.id] = ChartRow(
                summary,
                f"{label} (control)" if identity.control else label,
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
    summaries = [row for _, cells, own in parts for row in (*(s for c in cells for s in c.summaries), *own)]
    fields = varying_fields(summaries) if summaries else ()
    rows = _rows(summaries)
    views: list[tuple[View, str, str]] = []

    def add(first: str, own: Sequence[Summary], controls: Sequence[Summary] = (), store: str = "") -> None:
        """A view, and the names under which it is merged with others: everything but the number of
        connections, or the rate of an open loop, and everything but the number of servers."""
        identity = own[0].identity

        def name(without: str = "") -> str:
            """`Standalone · heavy · 50 connections · on valkey`: what of the load tells rows apart."""
            load = load_text(identity, [part for part in fields if part.name != without])
            loop = f"open loop, {identity.arrivals}" if identity.open_loop and without == "Load" else ""
            return " · ".join(filter(None, (first, loop, load, f"on {store}" if store else "")))

        drawn = [tuple(rows[each.id] for each in group if each.id in rows) for group in (own, controls)]
        if drawn[0]:
            views.append((View(name(), *drawn), name("Load"), name("Servers")))

    for part, cells, _ in parts:
        for cell in cells:
            stores: dict[str, list[Summary]] = {}
            for row in cell.summaries:
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

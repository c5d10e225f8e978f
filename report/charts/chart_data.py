"""The data of charts: rows with their styles, and the views that may show rows together.

All rows are of one layer. A view holds rows of one runtime, topology, workload, traffic, number of
servers, load, store, decider and algorithm, because nothing else may be compared. The controls
under the same load stand beside them."""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from report.analysis.cells import Cell
from report.analysis.figures import Figure
from report.analysis.summary import Summary, layer_text_of
from report.analysis.texts import LayerText, LoadField, layer_text, load_text, varying_fields
from report.charts.colours import CONTROL_COLOUR, client_colours
from report.results.model import Measured

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down")

Part = tuple[str, Sequence[Cell], Sequence[Summary]]
"""A part of a campaign: its runtime, its cells, and the controls that stand beside no cell."""


def literal(text: str) -> str:
    """Escapes a text so that plotly prints it as it is. Plotly interprets a few HTML tags, and
    `%{…}` in templates."""
    return html.escape(text, quote=False).replace("%{", "%\u200b{")


class ChartRow(Struct, frozen=True):
    """A summary with figures. Plotly prints its label `text` as it is, and each label has one
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
        """The selected run, for figures that only a single run has."""
        if self.summary.selected_figures is None:
            raise ValueError(f"{self.id} has no run that counts, and so no place in a chart")
        return self.summary.selected_figures

    def median(self, figure: Figure) -> float | None:
        return self.summary.figure_of(figure).value

    def style(self, width: int, size: int) -> dict[str, Any]:
        line = {"color": self.colour, "dash": self.dash, "width": width}
        return {"line": line, "marker": {"color": self.colour, "size": size, "symbol": self.symbol}}


class View(Struct, frozen=True):
    """Rows that may be compared, with the controls beside them."""

    text: str
    main_rows: tuple[ChartRow, ...]
    controls: tuple[ChartRow, ...] = ()

    @property
    def rows(self) -> tuple[ChartRow, ...]:
        return (*self.main_rows, *self.controls)


class ChartData(Struct, frozen=True):
    """All data of charts.

    `by_cell` has one view for each cell, store, decider and algorithm, then views of controls
    alone. In `by_curve`, rows that differ only in their connections share a view, and so do rows of
    an open loop that differ only in rate. In `by_servers`, rows that differ only in the number of
    servers share a view."""

    text: LayerText
    rows: tuple[ChartRow, ...]
    by_cell: tuple[View, ...]
    by_curve: tuple[View, ...]
    by_servers: tuple[View, ...]

    @property
    def at_capacity(self) -> tuple[ChartRow, ...]:
        """Rows of a closed loop, which are never drawn beside latencies at a given rate (rule M4).

        At the limiter layer they are clients alone. Controls call no store there, and their
        millions of decisions per second would leave the clients no width."""
        rows = tuple(row for row in self.rows if not row.summary.identity.open_loop)
        clients = tuple(row for row in rows if not row.summary.identity.ceiling)
        return clients if not self.text.has_servers and clients else rows

    @property
    def at_a_rate(self) -> tuple[ChartRow, ...]:
        return tuple(row for row in self.rows if row.summary.identity.open_loop)


def chart_data_of(parts: Sequence[Part]) -> ChartData:
    """The data of the charts of one layer of a campaign."""
    summaries = [
        summary
        for _, cells, controls in parts
        for summary in (*(row for cell in cells for row in cell.rows), *controls)
    ]
    fields = varying_fields(summaries) if summaries else ()
    rows = _rows(summaries)
    views = [
        named_view
        for members in (*_cell_members(parts), *_control_members(parts, fields))
        if (named_view := _named_view(members, rows, fields))
    ]
    return ChartData(
        text=layer_text_of(summaries) if summaries else layer_text("server"),
        rows=tuple(rows.values()),
        by_cell=tuple(named_view.view for named_view in views),
        by_curve=_merged((named_view.curve, named_view.view) for named_view in views),
        by_servers=_merged((named_view.scaling, named_view.view) for named_view in views),
    )


def _styles(summaries: Iterable[Summary]) -> dict[str, int]:
    """The number of each label's style, among those of its client."""
    labels: dict[str, set[str]] = {}
    for summary in summaries:
        # Controls share one colour, so only the number of their style tells them apart.
        client = "" if summary.identity.control else summary.identity.client
        labels.setdefault(client, set()).add(summary.identity.short_label)

    styles = {}
    for labels_of_client in labels.values():
        by_length = sorted(labels_of_client, key=lambda label: (len(label), label))
        for number, label in enumerate(by_length):
            styles[label] = number
    return styles


def _rows(summaries: Sequence[Summary]) -> dict[str, ChartRow]:
    """The rows with figures, by their ids."""
    colours = client_colours(summaries)
    styles = _styles(summaries)
    rows = {}
    for summary in summaries:
        if not summary.has_figures:
            continue
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


class _Members(Struct, frozen=True):
    """The summaries of a view."""

    place: str
    """Where they were measured: runtime, topology and caps."""
    main_rows: Sequence[Summary]
    controls: Sequence[Summary] = ()
    store: str = ""


def _cell_members(parts: Sequence[Part]) -> Iterator[_Members]:
    """The summaries of each cell, by store and by what decides."""
    for runtime, cells, _ in parts:
        for cell in cells:
            topology = (cell.identity.topology or "other addresses").capitalize()
            place = " · ".join(filter(None, (runtime, topology, cell.caps)))
            by_store: dict[str, list[Summary]] = {}
            for row in cell.rows:
                decider = cell.named.short_text(row.identity)
                store_and_decider = " · ".join(filter(None, (row.identity.store_text, decider)))
                by_store.setdefault(store_and_decider, []).append(row)
            for store_and_decider, rows_of_store in by_store.items():
                yield _Members(place, rows_of_store, cell.controls, store_and_decider)


def _control_members(parts: Sequence[Part], fields: Sequence[LoadField]) -> Iterator[_Members]:
    """The controls that stand beside no cell, by their load."""
    for runtime, _, controls in parts:
        by_load: dict[str, list[Summary]] = {}
        for row in controls:
            by_load.setdefault(load_text(row.identity, fields), []).append(row)
        for rows_of_load in by_load.values():
            yield _Members(" · ".join(filter(None, (runtime, "Controls"))), rows_of_load)


class _NamedView(Struct, frozen=True):
    """A view, and the names under which it is merged with others."""

    view: View
    curve: str
    """Everything but the number of connections, or the rate of an open loop."""
    scaling: str
    """Everything but the number of servers."""


def _named_view(
    members: _Members, rows: Mapping[str, ChartRow], fields: Sequence[LoadField]
) -> _NamedView | None:
    """The view of these summaries; None where none of them has figures."""
    main_rows = tuple(rows[row.id] for row in members.main_rows if row.id in rows)
    controls = tuple(rows[row.id] for row in members.controls if row.id in rows)
    if not main_rows:
        return None
    return _NamedView(
        View(_view_name(members, fields), main_rows, controls),
        _view_name(members, fields, without="Load"),
        _view_name(members, fields, without="Servers"),
    )


def _view_name(members: _Members, fields: Sequence[LoadField], without: str = "") -> str:
    """Names a view by the parts of the load that tell rows apart: `Standalone · heavy ·
    50 connections · on valkey`."""
    identity = members.main_rows[0].identity
    load = load_text(identity, [field for field in fields if field.name != without])
    loop = ""
    if identity.open_loop and without == "Load":
        loop = f"open loop, {identity.arrivals}"
    store = f"on {members.store}" if members.store else ""
    return " · ".join(filter(None, (members.place, loop, load, store)))


def _merged(named_views: Iterable[tuple[str, View]]) -> tuple[View, ...]:
    """One view for each name, with the rows of all views of that name."""
    views_of: dict[str, list[View]] = {}
    for name, view in named_views:
        views_of.setdefault(name, []).append(view)
    return tuple(
        View(
            name,
            _merged_rows([row for view in views for row in view.main_rows]),
            _merged_rows([row for view in views for row in view.controls]),
        )
        for name, views in views_of.items()
    )


def _merged_rows(rows: Iterable[ChartRow]) -> tuple[ChartRow, ...]:
    """Each row once, ordered by the first place of its label, then by servers and connections."""
    by_id = {row.id: row for row in rows}
    labels = list(dict.fromkeys(row.text for row in by_id.values()))

    def place(row: ChartRow) -> tuple[int, int, int, str]:
        identity = row.summary.identity
        return (labels.index(row.text), identity.servers, identity.connections, row.id)

    return tuple(sorted(by_id.values(), key=place))

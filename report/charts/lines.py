"""Figures over a number that rows differ in: connections, servers, the rate of an open loop."""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.load_text import load_name
from report.base.format import plural, rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import MAX_LINES, Chart, by_view, figure, log_axis, value_axis
from report.charts.marks import scatter


def lines_of(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    """Rows that differ in their connections alone, in an open loop in their rate, the least first.

    Args:
        over_servers: rows that differ in the number of servers alone, instead."""
    lines: dict[tuple[object, ...], list[ChartRow]] = {}
    for row in rows:
        identity = row.summary.identity
        key = (
            row.summary.runtime,
            identity.connections if over_servers else identity.servers,
            *(count for key, count in identity.counts.items() if key != "servers"),
            identity.label,
            identity.store_text,
            identity.topology,
            identity.workload_text,
            identity.traffic,
            identity.extent_text,
            identity.arrivals,
            identity.connections if identity.open_loop else None,
            identity.limits,
            identity.caps,
        )
        lines.setdefault(key, []).append(row)
    return [sorted(line, key=_servers if over_servers else _amount) for line in lines.values()]


def _amount(row: ChartRow) -> float:
    identity = row.summary.identity
    return identity.rate_per_second or identity.connections


def _servers(row: ChartRow) -> int:
    return row.summary.identity.servers


def _connections(row: ChartRow) -> int:
    return row.summary.identity.connections


def most_rows(rows: Sequence[ChartRow]) -> int:
    return MAX_LINES * len(set(map(_connections, rows)))


def _style(line: Sequence[ChartRow]) -> dict[str, Any]:
    first = line[0]
    return {
        "line": {"color": first.colour, "dash": first.dash, "width": 2},
        "marker": {"color": first.colour, "symbol": first.symbol, "size": 8},
    }


def _throughput(
    line: Sequence[ChartRow], amount: Callable[[ChartRow], int], named: Callable[[ChartRow], str], unit: str
) -> go.Scatter:
    values = [row.figures.requests_per_second for row in line]
    spreads = [row.summary.spread for row in line]
    above, below = (
        [
            abs(getattr(spread, end) - value) if spread else 0
            for spread, value in zip(spreads, values, strict=True)
        ]
        for end in ("max", "min")
    )
    ends = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
    texts = [f"{row.text}, {named(row)}: {rate(row.figures.requests_per_second)} {unit}" for row in line]
    return scatter(
        line[0].text,
        [row.id for row in line],
        list(map(amount, line)),
        values,
        texts,
        "lines+markers",
        error_y={**ends, "color": line[0].colour, "thickness": 1, "width": 0},
        **_style(line),
    )


def _number_axis(title: str, numbers: Sequence[int]) -> dict[str, Any]:
    return value_axis(
        title,
        type="log" if numbers[-1] > 8 * numbers[0] else "linear",
        rangemode="normal",
        tickmode="array",
        tickvals=list(numbers),
        ticktext=[f"{number:,}" for number in numbers],
    )


def _over_connections(data: ChartData) -> dict[str, Any] | None:
    lines = [line for line in lines_of(data.at_capacity) if len(line) > 1]
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    x = _number_axis(
        "connections" if data.text.has_servers else "at a time", sorted(set(map(_connections, rows)))
    )
    y = value_axis(f"{data.text.requests} per second", tickformat=",")

    def named(row: ChartRow) -> str:
        return load_name(row.summary.identity)

    traces = [_throughput(line, _connections, named, data.text.rate_unit) for line in lines]
    return figure(traces, by_view(data.by_curve, rows, x, y, max_rows=most_rows(rows)))


def _linear(line: Sequence[ChartRow]) -> go.Scatter:
    first = line[0]
    each = first.figures.requests_per_second / _servers(first)
    return go.Scatter(
        name=f"{first.text}, linear",
        mode="lines",
        x=list(map(_servers, line)),
        y=[each * _servers(row) for row in line],
        meta=[row.id for row in line],
        legendgroup=first.text,
        showlegend=False,
        hoverinfo="skip",
        line={"color": first.colour, "dash": "dot", "width": 1},
    )


def _over_servers(data: ChartData) -> dict[str, Any] | None:
    lines = [line for line in lines_of(data.at_capacity, over_servers=True) if len(line) > 1]
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted(set(map(_servers, rows)))
    x, y = _number_axis("servers", numbers), value_axis(f"{data.text.requests} per second", tickformat=",")

    def named(row: ChartRow) -> str:
        return plural(_servers(row), "server")

    unit = data.text.rate_unit
    traces = [trace for line in lines for trace in (_throughput(line, _servers, named, unit), _linear(line))]
    return figure(traces, by_view(data.by_servers, rows, x, y, max_rows=MAX_LINES * len(numbers)))


def over_rate(data: ChartData) -> dict[str, Any] | None:
    answered = [row for row in data.at_a_rate if "p99" in row.figures.percentiles_ms]
    lines = [line for line in lines_of(answered) if len(line) > 1]
    if not lines:
        return None
    text, rows = data.text, [row for line in lines for row in line]

    def drawn(line: Sequence[ChartRow]) -> go.Scatter:
        offered = [row.summary.identity.rate_per_second for row in line]
        p99s = [row.figures.percentiles_ms["p99"] for row in line]
        texts = [
            f"{row.text}: p99 {text.latency(p99)} {text.latency_unit} at {rate(at)} {text.rate_unit}"
            for row, p99, at in zip(line, p99s, offered, strict=True)
        ]
        y = list(map(text.latency_value, p99s))
        ids = [row.id for row in line]
        return scatter(line[0].text, ids, offered, y, texts, "lines+markers", **_style(line))

    x, y = log_axis(f"offered {text.requests} per second"), log_axis(f"p99 in {text.latency_unit}")
    most = MAX_LINES * max(len(line) for line in lines)
    return figure([drawn(line) for line in lines], by_view(data.by_curve, rows, x, y, max_rows=most))


TREND = Chart(
    "trend",
    "Over concurrency",
    "Throughput of the median runs by number of {connections}; more is better. Vertical lines are the range "
    "of the runs that served their load.",
    _over_connections,
)
SCALING = Chart(
    "scaling",
    "Over servers",
    "Throughput of the median runs by the number of servers on one store, over which the connections are "
    "spread evenly; more is better. Vertical lines are the range of the runs that served their load; thin "
    "dotted lines show growth in proportion to the servers.",
    _over_servers,
)
CURVE = Chart(
    "curve",
    "Latency over the offered rate",
    "p99 of the median runs from the intended send, in an open loop at several rates. Where a line bends "
    "upwards, the {consumer} comes near its capacity. Rates that were not kept, and those "
    "without a p99, are left out.",
    over_rate,
)

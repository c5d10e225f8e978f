"""Figures over a number that rows differ in, connections, servers, the rate of an open loop, and throughput
against latency: more connections along a line."""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.cells import subject
from report.analysis.layer_text import LayerText
from report.analysis.load_text import load_name
from report.base.format import plural, rate
from report.charts.chart_data import ChartData, ChartRow, View
from report.charts.layout import (
    MAX_LINES,
    Chart,
    by_view,
    figure,
    latency_axis,
    log_axis,
    rate_axis,
    value_axis,
)
from report.charts.marks import scatter
from report.results.model import Measured


def lines_of(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    """Rows that differ in their connections alone, in an open loop in their rate, the least first.

    Args:
        over_servers: rows that differ in the number of servers alone, instead."""
    lines: dict[tuple[str, str], list[ChartRow]] = {}
    for row in rows:
        identity, ignored = row.summary.identity, dict[str, Any](connections=0)
        if over_servers:
            ignored = {"counts": {**identity.counts, "servers": 0}}
        elif identity.open_loop:
            ignored = {"rate_per_second": None}
        lines.setdefault((row.summary.runtime, subject(identity, **ignored)), []).append(row)
    return [sorted(line, key=_servers if over_servers else _amount) for line in lines.values()]


def _long_lines(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    return [line for line in lines_of(rows, over_servers) if len(line) > 1]


def _amount(row: ChartRow) -> float:
    return row.summary.identity.rate_per_second or row.summary.identity.connections


def _servers(row: ChartRow) -> int:
    return row.summary.identity.servers


def _connections(row: ChartRow) -> int:
    return row.summary.identity.connections


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
        **line[0].style(2, 8),
    )


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


def _over(
    data: ChartData,
    lines: Sequence[Sequence[ChartRow]],
    views: Sequence[View],
    title: str,
    amount: Callable[[ChartRow], int],
    traces: Sequence[go.Scatter],
) -> dict[str, Any] | None:
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted(set(map(amount, rows)))
    x = value_axis(
        title,
        type="log" if numbers[-1] > 8 * numbers[0] else "linear",
        rangemode="normal",
        tickmode="array",
        tickvals=numbers,
        ticktext=[f"{number:,}" for number in numbers],
    )
    return figure(traces, by_view(views, rows, x, rate_axis(data.text), max_rows=MAX_LINES * len(numbers)))


def _over_connections(data: ChartData) -> dict[str, Any] | None:
    lines, unit = _long_lines(data.at_capacity), data.text.rate_unit
    title = "connections" if data.text.has_servers else "at a time"
    traces = [
        _throughput(line, _connections, lambda row: load_name(row.summary.identity), unit) for line in lines
    ]
    return _over(data, lines, data.by_curve, title, _connections, traces)


def _over_servers(data: ChartData) -> dict[str, Any] | None:
    lines, unit = _long_lines(data.at_capacity, over_servers=True), data.text.rate_unit
    traces = [
        trace
        for line in lines
        for trace in (
            _throughput(line, _servers, lambda row: plural(_servers(row), "server"), unit),
            _linear(line),
        )
    ]
    return _over(data, lines, data.by_servers, "servers", _servers, traces)


def over_rate(data: ChartData) -> dict[str, Any] | None:
    lines = _long_lines([row for row in data.at_a_rate if "p99" in row.figures.percentiles_ms])
    if not lines:
        return None
    text, rows, traces = data.text, [row for line in lines for row in line], []
    for line in lines:
        offered = [row.summary.identity.rate_per_second for row in line]
        p99s = [row.figures.percentiles_ms["p99"] for row in line]
        texts = [
            f"{row.text}: p99 {text.latency(p99)} {text.latency_unit} at {rate(at)} {text.rate_unit}"
            for row, p99, at in zip(line, p99s, offered, strict=True)
        ]
        y, ids = list(map(text.latency_value, p99s)), [row.id for row in line]
        traces.append(scatter(line[0].text, ids, offered, y, texts, "lines+markers", **line[0].style(2, 8)))
    x, y_axis = log_axis(f"offered {text.requests} per second"), log_axis(f"p99 in {text.latency_unit}")
    most = MAX_LINES * max(len(line) for line in lines)
    return figure(traces, by_view(data.by_curve, rows, x, y_axis, max_rows=most))


def _against(
    points: Sequence[tuple[ChartRow, Measured, str]], text: LayerText, mode: str, **more: Any
) -> go.Scatter:
    """Throughput and p99 of each point, with what hovering shows."""
    first = points[0][0]
    return scatter(
        first.text,
        [row.id for row, _, _ in points],
        [figures.requests_per_second for _, figures, _ in points],
        [text.latency_value(figures.percentiles_ms["p99"]) for _, figures, _ in points],
        [hover for _, _, hover in points],
        mode,
        legendgroup=first.text,
        **more,
    )


def _tradeoff(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.at_capacity if "p99" in row.figures.percentiles_ms]
    if not rows:
        return None
    text = data.text

    def shown(figures: Measured) -> str:
        p99 = text.latency(figures.percentiles_ms["p99"])
        return f"{rate(figures.requests_per_second)} {text.rate_unit}, p99 {p99} {text.latency_unit}"

    def median_hover(row: ChartRow) -> str:
        few = " (too few samples)" if "p99" in row.figures.unsupported else ""
        return f"{row.text}, {load_name(row.summary.identity)}<br>{shown(row.figures)}{few}"

    medians, others = [], []
    for line in lines_of(rows):
        first = line[0]
        points = [(row, row.figures, median_hover(row)) for row in line]
        medians.append(_against(points, text, "lines+markers", **first.style(1, 11)))
        runs = [
            (row, run.measured, f"{row.text}, run {run.run}: {shown(run.measured)}")
            for row in line
            for run in row.summary.runs
            if run.measured and run.eligible and run is not row.summary.median
            if "p99" in run.measured.percentiles_ms
        ]
        if runs:
            marker = {"color": first.colour, "symbol": f"{first.symbol}-open", "size": 6, "opacity": 0.7}
            others.append(_against(runs, text, "markers", showlegend=False, marker=marker))
    x, y = rate_axis(text), latency_axis(f"p99 in {text.latency_unit}", text)
    most = MAX_LINES * len(set(map(_connections, rows)))
    return figure([*others, *medians], by_view(data.by_curve, rows, x, y, max_rows=most))


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
TRADEOFF = Chart(
    "tradeoff",
    "Throughput against latency",
    "Further right is more throughput, lower is less latency. Full marks are median runs, small hollow "
    "marks the other runs that served their load; rows and runs without a p99 are left out. A line joins "
    "different numbers of {connections}: where it turns upwards, more {connections} add waiting "
    "time and no throughput.",
    _tradeoff,
)

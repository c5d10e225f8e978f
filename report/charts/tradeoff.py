"""Throughput against latency: one point per configuration, more connections along a line."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.layer_text import LayerText
from report.analysis.load_text import load_name
from report.base.format import rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import MAX_LINES, Chart, by_view, figure, latency_axis, value_axis
from report.results.model import Measured


def lines_of(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    """Rows that differ in their connections alone, in an open loop in their rate, the least first.

    Args:
        over_servers: rows that differ in the number of servers alone, instead.
    """
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


def _servers(row: ChartRow) -> float:
    return row.summary.identity.servers


def _amount(row: ChartRow) -> float:
    """How hard the load is: the rate of an open loop, or the number of connections."""
    identity = row.summary.identity
    return identity.rate_per_second or identity.connections


def most_rows(rows: Sequence[ChartRow]) -> int:
    """How many rows `MAX_LINES` lines are."""
    return MAX_LINES * len({row.summary.identity.connections for row in rows})


def _figures(figures: Measured, text: LayerText) -> str:
    p99 = text.latency(figures.percentiles_ms["p99"])
    return f"{rate(figures.requests_per_second)} {text.rate_unit}, p99 {p99} {text.latency_unit}"


def _text(row: ChartRow, text: LayerText) -> str:
    few = " (too few samples)" if "p99" in row.figures.unsupported else ""
    return f"{row.text}, {load_name(row.summary.identity)}<br>{_figures(row.figures, text)}{few}"


def _line(line: Sequence[ChartRow], text: LayerText) -> go.Scatter:
    first = line[0]
    return go.Scatter(
        name=first.text,
        mode="lines+markers",
        x=[row.figures.requests_per_second for row in line],
        y=[text.latency_value(row.figures.percentiles_ms["p99"]) for row in line],
        meta=[row.id for row in line],
        legendgroup=first.text,
        customdata=[_text(row, text) for row in line],
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": first.colour, "dash": first.dash, "width": 1},
        marker={"color": first.colour, "symbol": first.symbol, "size": 11},
    )


def _runs(line: Sequence[ChartRow], text: LayerText) -> go.Scatter:
    """The other runs that count, small."""
    first = line[0]
    runs = [
        (row, run.run, run.measured)
        for row in line
        for run in row.summary.runs
        if run.measured
        and run.eligible
        and run is not row.summary.median
        and "p99" in run.measured.percentiles_ms
    ]
    return go.Scatter(
        name=first.text,
        mode="markers",
        x=[figures.requests_per_second for _, _, figures in runs],
        y=[text.latency_value(figures.percentiles_ms["p99"]) for _, _, figures in runs],
        meta=[row.id for row, _, _ in runs],
        legendgroup=first.text,
        showlegend=False,
        customdata=[f"{row.text}, run {number}: {_figures(figures, text)}" for row, number, figures in runs],
        hovertemplate="%{customdata}<extra></extra>",
        marker={"color": first.colour, "symbol": f"{first.symbol}-open", "size": 6, "opacity": 0.7},
    )


def build(data: ChartData) -> dict[str, Any] | None:
    """One point per row of a closed loop; None when nothing was answered."""
    rows = [row for row in data.at_capacity if "p99" in row.figures.percentiles_ms]
    if not rows:
        return None
    lines, text = lines_of(rows), data.text
    traces = [*(_runs(line, text) for line in lines), *(_line(line, text) for line in lines)]
    layout = by_view(
        data.by_curve,
        rows,
        value_axis(f"{text.requests} per second", tickformat=","),
        latency_axis(f"p99 in {text.latency_unit}", text),
        max_rows=most_rows(rows),
    )
    return figure([trace for trace in traces if trace.x], layout)


CHART = Chart(
    "tradeoff",
    "Throughput against latency",
    "Further right is more throughput, lower is less latency. Full marks are median runs, small hollow "
    "marks the other runs that served their load; rows and runs without a p99 are left out. A line joins "
    "different numbers of {connections}: where it "
    "turns upwards, more {connections} add waiting time and no throughput.",
    build,
)

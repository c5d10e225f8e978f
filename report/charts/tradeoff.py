"""Throughput against latency: one point per configuration, more connections along a line."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.layer_text import LayerText
from report.analysis.load_text import load_name
from report.base.format import rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure, latency_axis, value_axis
from report.charts.lines import lines_of, most_rows
from report.charts.marks import scatter
from report.results.model import Measured


def _figures(figures: Measured, text: LayerText) -> str:
    p99 = text.latency(figures.percentiles_ms["p99"])
    return f"{rate(figures.requests_per_second)} {text.rate_unit}, p99 {p99} {text.latency_unit}"


def _text(row: ChartRow, text: LayerText) -> str:
    few = " (too few samples)" if "p99" in row.figures.unsupported else ""
    return f"{row.text}, {load_name(row.summary.identity)}<br>{_figures(row.figures, text)}{few}"


def _line(line: Sequence[ChartRow], text: LayerText) -> go.Scatter:
    first = line[0]
    return scatter(
        first.text,
        [row.id for row in line],
        [row.figures.requests_per_second for row in line],
        [text.latency_value(row.figures.percentiles_ms["p99"]) for row in line],
        [_text(row, text) for row in line],
        "lines+markers",
        legendgroup=first.text,
        line={"color": first.colour, "dash": first.dash, "width": 1},
        marker={"color": first.colour, "symbol": first.symbol, "size": 11},
    )


def _runs(line: Sequence[ChartRow], text: LayerText) -> go.Scatter:
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
    return scatter(
        first.text,
        [row.id for row, _, _ in runs],
        [figures.requests_per_second for _, _, figures in runs],
        [text.latency_value(figures.percentiles_ms["p99"]) for _, _, figures in runs],
        [f"{row.text}, run {number}: {_figures(figures, text)}" for row, number, figures in runs],
        legendgroup=first.text,
        showlegend=False,
        marker={"color": first.colour, "symbol": f"{first.symbol}-open", "size": 6, "opacity": 0.7},
    )


def build(data: ChartData) -> dict[str, Any] | None:
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

"""Latency over the offered rate: one line per client, where an open loop ran at several rates."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.layer_text import LayerText
from report.base.format import rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import MAX_LINES, Chart, by_view, figure, log_axis
from report.charts.tradeoff import lines_of


def _hover(row: ChartRow, text: LayerText) -> str:
    p99 = f"{text.latency(row.figures.percentiles_ms['p99'])} {text.latency_unit}"
    return f"{row.text}: p99 {p99} at {rate(row.summary.identity.rate_per_second)} {text.rate_unit}"


def _line(line: Sequence[ChartRow], text: LayerText) -> go.Scatter:
    first = line[0]
    return go.Scatter(
        name=first.text,
        mode="lines+markers",
        x=[row.summary.identity.rate_per_second for row in line],
        y=[text.latency_value(row.figures.percentiles_ms["p99"]) for row in line],
        meta=[row.id for row in line],
        customdata=[_hover(row, text) for row in line],
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": first.colour, "dash": first.dash, "width": 2},
        marker={"color": first.colour, "symbol": first.symbol, "size": 8},
    )


def build(data: ChartData) -> dict[str, Any] | None:
    """p99 over the offered rate, both logarithmic; None unless some client ran at several rates."""
    answered = [row for row in data.at_a_rate if "p99" in row.figures.percentiles_ms]
    lines = [line for line in lines_of(answered) if len(line) > 1]
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    layout = by_view(
        data.by_curve,
        rows,
        log_axis(f"offered {data.text.requests} per second"),
        log_axis(f"p99 in {data.text.latency_unit}"),
        max_rows=MAX_LINES * max(len(line) for line in lines),
    )
    return figure([_line(line, data.text) for line in lines], layout)


CHART = Chart(
    "curve",
    "Latency over the offered rate",
    "p99 of the median runs from the intended send, in an open loop at several rates. Where a line bends "
    "upwards, the {consumer} comes near its capacity. Rates that were not kept, and those "
    "without a p99, are left out.",
    build,
)

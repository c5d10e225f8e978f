"""Throughput over the number of connections, one line per configuration."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.base.format import plural, rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure, value_axis
from report.charts.tradeoff import lines_of, most_rows


def _range(row: ChartRow) -> tuple[float, float]:
    spread = row.summary.spread
    value = row.figures.requests_per_second
    return (spread.min, spread.max) if spread else (value, value)


def _line(line: Sequence[ChartRow]) -> go.Scatter:
    first = line[0]
    values = [row.figures.requests_per_second for row in line]
    return go.Scatter(
        name=first.text,
        mode="lines+markers",
        x=[row.summary.identity.connections for row in line],
        y=values,
        meta=[row.id for row in line],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [_range(row)[1] - value for row, value in zip(line, values, strict=True)],
            "arrayminus": [value - _range(row)[0] for row, value in zip(line, values, strict=True)],
            "color": first.colour,
            "thickness": 1,
            "width": 0,
        },
        customdata=[
            f"{row.text}, {plural(row.summary.identity.connections, 'connection')}: {rate(value)} requests/s"
            for row, value in zip(line, values, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": first.colour, "dash": first.dash, "width": 2},
        marker={"color": first.colour, "symbol": first.symbol, "size": 8},
    )


def build(data: ChartData) -> dict[str, Any] | None:
    """None unless some row was measured with several numbers of connections."""
    lines = [line for line in lines_of(data.at_capacity) if len(line) > 1]
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted({row.summary.identity.connections for row in rows})
    x = value_axis(
        "connections",
        type="log" if numbers[-1] > 8 * numbers[0] else "linear",
        rangemode="normal",
        tickmode="array",
        tickvals=numbers,
        ticktext=[f"{number:,}" for number in numbers],
    )
    y = value_axis("requests per second", tickformat=",")
    return figure(
        [_line(line) for line in lines],
        by_view(data.by_curve, rows, x, y, max_rows=most_rows(rows)),
    )


CHART = Chart(
    "trend",
    "Over concurrency",
    "Throughput of the median runs by number of connections; more is better. Vertical lines are the range "
    "of the runs that count.",
    build,
)

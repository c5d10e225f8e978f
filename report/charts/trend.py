"""Throughput over the number of connections, one line per configuration."""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.load_text import load_name
from report.base.format import rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure, value_axis
from report.charts.tradeoff import lines_of, most_rows
from report.results.model import Identity


def _range(row: ChartRow) -> tuple[float, float]:
    spread = row.summary.spread
    value = row.figures.requests_per_second
    return (spread.min, spread.max) if spread else (value, value)


def line_over(
    line: Sequence[ChartRow],
    amount: Callable[[Identity], int],
    named: Callable[[Identity], str],
    unit: str,
) -> go.Scatter:
    """Throughput of the median runs with the range of the runs that count.

    Args:
        amount: what stands on the other axis, and `named` what it is called.
    """
    first = line[0]
    values = [row.figures.requests_per_second for row in line]
    return go.Scatter(
        name=first.text,
        mode="lines+markers",
        x=[amount(row.summary.identity) for row in line],
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
            f"{row.text}, {named(row.summary.identity)}: {rate(value)} {unit}"
            for row, value in zip(line, values, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": first.colour, "dash": first.dash, "width": 2},
        marker={"color": first.colour, "symbol": first.symbol, "size": 8},
    )


def axis_of(title: str, numbers: Sequence[int]) -> dict[str, Any]:
    """An axis with a tick at each of the numbers, which are in order."""
    return value_axis(
        title,
        type="log" if numbers[-1] > 8 * numbers[0] else "linear",
        rangemode="normal",
        tickmode="array",
        tickvals=list(numbers),
        ticktext=[f"{number:,}" for number in numbers],
    )


def _connections(identity: Identity) -> int:
    return identity.connections


def build(data: ChartData) -> dict[str, Any] | None:
    """None unless some row was measured with several numbers of connections."""
    lines = [line for line in lines_of(data.at_capacity) if len(line) > 1]
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted({row.summary.identity.connections for row in rows})
    title = "at a time" if not data.text.has_servers else "connections"
    y = value_axis(f"{data.text.requests} per second", tickformat=",")
    return figure(
        [line_over(line, _connections, load_name, data.text.rate_unit) for line in lines],
        by_view(data.by_curve, rows, axis_of(title, numbers), y, max_rows=most_rows(rows)),
    )


CHART = Chart(
    "trend",
    "Over concurrency",
    "Throughput of the median runs by number of {connections}; more is better. Vertical lines are the range "
    "of the runs that served their load.",
    build,
)

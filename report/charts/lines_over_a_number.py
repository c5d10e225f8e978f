"""Shared parts of charts that draw a line over a number in which rows differ: connections, rate or
servers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import Figure, throughput
from report.analysis.subjects import subject
from report.analysis.texts import LayerText
from report.base.format import rate
from report.charts import chart_data, layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import by_view, figure, rate_axis


def lines_of(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    """Groups rows that differ in one number alone, the smallest first.

    The number is that of servers, or else the connections, or the rate of an open loop."""
    lines: dict[tuple[str, str], list[ChartRow]] = {}
    for row in rows:
        identity = row.summary.identity
        ignored: dict[str, Any] = {"connections": 0}
        if over_servers:
            ignored = {"counts": {**identity.counts, "servers": 0}}
        elif identity.open_loop:
            ignored = {"rate_per_second": None}
        lines.setdefault((row.summary.runtime, subject(identity, **ignored)), []).append(row)

    amount_of = server_count if over_servers else _rate_or_connections
    return [sorted(line, key=amount_of) for line in lines.values()]


def long_lines(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    """The lines of two rows or more."""
    return [line for line in lines_of(rows, over_servers) if len(line) > 1]


def _rate_or_connections(row: ChartRow) -> float:
    return row.summary.identity.rate_per_second or row.summary.identity.connections


def server_count(row: ChartRow) -> int:
    return row.summary.identity.servers


def connection_count(row: ChartRow) -> int:
    return row.summary.identity.connections


def connections_title(text: LayerText) -> str:
    return "connections" if text.has_servers else "at a time"


def median_line(
    name: str,
    line: Sequence[ChartRow],
    x: Sequence[float | None],
    figure: Figure,
    texts: Sequence[str],
    drawn_value: Callable[[float | None], float | None] = lambda value: value,
) -> go.Scatter:
    """A line through the medians of a figure with their ranges.

    `drawn_value` converts a value to the unit of the axis."""
    whiskers = layout.whiskers(line, figure, drawn_value)
    whiskers |= {"color": line[0].colour, "thickness": 1}
    ids = [row.id for row in line]
    y = [drawn_value(row.median(figure)) for row in line]
    return layout.scatter(
        name, ids, x, y, texts, "lines+markers", error_y=whiskers, **line[0].style(2, 8)
    )


def throughput_line(
    line: Sequence[ChartRow],
    amount_of: Callable[[ChartRow], int],
    amount_text: Callable[[ChartRow], str],
    unit: str,
) -> go.Scatter:
    """A line through the median throughputs. The two functions give the place of a row on the x
    axis, and a text for it."""
    texts = [
        f"{row.text}, {amount_text(row)}: {rate(row.median(throughput))} {unit}" for row in line
    ]
    return median_line(line[0].text, line, list(map(amount_of, line)), throughput, texts)


def figure_over_number(
    data: ChartData,
    lines: Sequence[Sequence[ChartRow]],
    views: Sequence[chart_data.View],
    title: str,
    amount_of: Callable[[ChartRow], int],
    traces: Sequence[go.Scatter],
    y: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """The figure of these lines over a whole number. The default of the axis `y` is that of the
    rate."""
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted(set(map(amount_of, rows)))
    x = layout.value_axis(
        title,
        type="log" if numbers[-1] > 8 * numbers[0] else "linear",
        rangemode="normal",
        tickmode="array",
        tickvals=numbers,
        ticktext=[f"{number:,}" for number in numbers],
    )
    max_rows = layout.MAX_LINES * len(numbers)
    return figure(traces, by_view(views, rows, x, y or rate_axis(data.text), max_rows=max_rows))

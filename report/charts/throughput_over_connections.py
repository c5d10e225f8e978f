"""The chart of the throughput over the number of connections."""

from typing import Any

from report.charts.chart_data import ChartData
from report.charts.layout import Chart
from report.charts.lines_over_a_number import (
    connection_count,
    connections_title,
    figure_over_number,
    long_lines,
    throughput_line,
)


def _draw(data: ChartData) -> dict[str, Any] | None:
    lines = long_lines(data.at_capacity)
    traces = [
        throughput_line(
            line,
            connection_count,
            lambda row: row.summary.identity.load_text,
            data.text.rate_unit,
        )
        for line in lines
    ]
    title = connections_title(data.text)
    return figure_over_number(data, lines, data.by_curve, title, connection_count, traces)


THROUGHPUT_OVER_CONNECTIONS = Chart(
    "trend",
    "Over concurrency",
    "Median throughput of the runs by number of {connections}; more is better. Vertical lines are the "
    "range of the runs that served their load.",
    _draw,
)

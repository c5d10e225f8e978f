"""The chart of the throughput over the number of servers."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import throughput
from report.base.format import plural
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart
from report.charts.lines_over_a_number import (
    figure_over_number,
    long_lines,
    server_count,
    throughput_line,
)


def _proportional_line(line: Sequence[ChartRow]) -> go.Scatter:
    """Growth in proportion to the servers, from the row with the fewest."""
    first = line[0]
    rate_per_server = (first.median(throughput) or 0) / server_count(first)
    return go.Scatter(
        name=f"{first.text}, linear",
        mode="lines",
        x=list(map(server_count, line)),
        y=[rate_per_server * server_count(row) for row in line],
        meta=[row.id for row in line],
        legendgroup=first.text,
        showlegend=False,
        hoverinfo="skip",
        line={"color": first.colour, "dash": "dot", "width": 1},
    )


def _draw(data: ChartData) -> dict[str, Any] | None:
    lines = long_lines(data.at_capacity, over_servers=True)
    traces = []
    for line in lines:
        traces.append(
            throughput_line(
                line,
                server_count,
                lambda row: plural(server_count(row), "server"),
                data.text.rate_unit,
            )
        )
        traces.append(_proportional_line(line))
    return figure_over_number(data, lines, data.by_servers, "servers", server_count, traces)


THROUGHPUT_OVER_SERVERS = Chart(
    "scaling",
    "Over servers",
    "Median throughput of the runs by the number of servers on one store, over which the connections are "
    "spread evenly; more is better. Vertical lines are the range of the runs that served their load; "
    "thin dotted lines show growth in proportion to the servers.",
    _draw,
)

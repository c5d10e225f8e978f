"""Throughput over the number of servers, one line per configuration."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.base.format import plural
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import MAX_LINES, Chart, by_view, figure, value_axis
from report.charts.tradeoff import lines_of
from report.charts.trend import axis_of, line_over
from report.results.model import Identity


def _servers(identity: Identity) -> int:
    return identity.servers


def _text(identity: Identity) -> str:
    return plural(identity.servers, "server")


def _linear(line: Sequence[ChartRow]) -> go.Scatter:
    """What the throughput would be if it grew with the servers, from the fewest of them."""
    first = line[0]
    each = first.figures.requests_per_second / _servers(first.summary.identity)
    servers = [_servers(row.summary.identity) for row in line]
    return go.Scatter(
        name=f"{first.text}, linear",
        mode="lines",
        x=servers,
        y=[each * number for number in servers],
        meta=[row.id for row in line],
        legendgroup=first.text,
        showlegend=False,
        hoverinfo="skip",
        line={"color": first.colour, "dash": "dot", "width": 1},
    )


def build(data: ChartData) -> dict[str, Any] | None:
    """None unless some row was measured with several numbers of servers."""
    lines = [line for line in lines_of(data.at_capacity, over_servers=True) if len(line) > 1]
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted({_servers(row.summary.identity) for row in rows})
    y = value_axis(f"{data.text.requests} per second", tickformat=",")
    return figure(
        [
            trace
            for line in lines
            for trace in (line_over(line, _servers, _text, data.text.rate_unit), _linear(line))
        ],
        by_view(data.by_servers, rows, axis_of("servers", numbers), y, max_rows=MAX_LINES * len(numbers)),
    )


CHART = Chart(
    "scaling",
    "Over servers",
    "Throughput of the median runs by the number of servers on one store; more is better. The connections "
    "are spread evenly over the servers. Vertical lines are the range of the runs that served their load; "
    "thin dotted lines show growth in proportion to the servers. "
    "This shows how capacity grows; rows with different numbers of servers are not ranked.",
    build,
)

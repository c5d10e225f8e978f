"""Throughput over the number of servers, one line per configuration."""

from typing import Any

from report.base.format import plural
from report.charts.chart_data import ChartData
from report.charts.layout import MAX_LINES, Chart, by_view, figure, value_axis
from report.charts.tradeoff import lines_of
from report.charts.trend import axis_of, line_over
from report.results.model import Identity


def _servers(identity: Identity) -> int:
    return identity.servers


def _text(identity: Identity) -> str:
    return plural(identity.servers, "server")


def build(data: ChartData) -> dict[str, Any] | None:
    """None unless some row was measured with several numbers of servers."""
    lines = [line for line in lines_of(data.at_capacity, over_servers=True) if len(line) > 1]
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted({_servers(row.summary.identity) for row in rows})
    y = value_axis(f"{data.text.requests} per second", tickformat=",")
    return figure(
        [line_over(line, _servers, _text, data.text.rate_unit) for line in lines],
        by_view(data.by_servers, rows, axis_of("servers", numbers), y, max_rows=MAX_LINES * len(numbers)),
    )


CHART = Chart(
    "scaling",
    "Over servers",
    "Throughput of the median runs by the number of servers on one store; more is better. The connections "
    "are spread evenly over the servers. Vertical lines are the range of the runs that served their load. "
    "This shows how capacity grows; rows with different numbers of servers are not ranked.",
    build,
)

"""The chart of the latency at full load over the number of connections."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from msgspec import structs

from report.analysis.figures import mean_latency, p99
from report.analysis.texts import AT_FULL_LOAD, LayerText
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.latency_text import latency_text
from report.charts.layout import Chart
from report.charts.lines_over_a_number import (
    connection_count,
    connections_title,
    figure_over_number,
    long_lines,
    median_line,
)


def _lines_of_one_group_size(rows: Sequence[ChartRow]) -> list[list[ChartRow]]:
    """Lines over the connections, each of the runs in groups of one size.

    Between two sizes of groups, latency at full load changes with the size alone (rule M35)."""
    by_size: dict[int, list[ChartRow]] = {}
    for row in rows:
        for size in row.summary.group_sizes:
            row_of_size = structs.replace(row, summary=row.summary.in_groups_of(size))
            if row_of_size.median(p99) is not None:
                by_size.setdefault(size, []).append(row_of_size)
    return [
        line for _, rows_of_size in sorted(by_size.items()) for line in long_lines(rows_of_size)
    ]


def _p99_and_mean(name: str, line: Sequence[ChartRow], text: LayerText) -> list[go.Scatter]:
    """The line of the p99 and that of the mean, which share one entry of the legend."""
    texts = [
        f"{row.text}, {row.summary.identity.load_text}: {latency_text(row, text)}" for row in line
    ]
    connections = list(map(connection_count, line))
    p99_line = median_line(name, line, connections, p99, texts, text.latency_value)
    mean_line = layout.scatter(
        f"{name}, mean",
        [row.id for row in line],
        connections,
        [text.latency_value(row.median(mean_latency)) for row in line],
        texts,
        "lines",
        legendgroup=name,
        showlegend=False,
        line={"color": line[0].colour, "dash": "dot", "width": 1},
    )
    return [p99_line.update(legendgroup=name), mean_line]


def _draw(data: ChartData) -> dict[str, Any] | None:
    text = data.text
    lines = _lines_of_one_group_size(data.at_capacity)
    has_one_size = len({line[0].summary.group_size_text for line in lines}) == 1
    traces = []
    for line in lines:
        name = line[0].text
        if not has_one_size:
            name += f", {line[0].summary.group_text}"
        traces += _p99_and_mean(name, line, text)

    y = layout.latency_axis(f"{text.latency_unit} {AT_FULL_LOAD}", text)
    title = connections_title(text)
    return figure_over_number(data, lines, data.by_curve, title, connection_count, traces, y)


LATENCY_OVER_CONNECTIONS = Chart(
    "latency-trend",
    f"Latency over concurrency {AT_FULL_LOAD}",
    "Median p99 of the runs by number of {connections}, thin dotted their mean; less is better. "
    "Vertical lines are the range of the p99. A line has the runs in groups of one size, because latency "
    "at full load moves with the number of targets that were up at once.",
    _draw,
)

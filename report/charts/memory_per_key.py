"""Memory over the number of fresh keys: all runs as points, and lines whose slopes are the bytes per key."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import MEMORY_KINDS
from report.analysis.memory_per_key import KeyMemory, memory_per_key
from report.base.format import mebibytes
from report.charts.chart_data import ChartData, ChartRow, View
from report.charts.layout import MAX_LINES, Chart, by_view, figure, value_axis
from report.charts.marks import scatter

_MIB = 1024**2


def _traces(target: KeyMemory, rows: Mapping[str, ChartRow]) -> list[go.Scatter]:
    slope = target.slopes[0]
    points = [point for point in slope.points if point.summary_id in rows]
    if not points:
        return []
    first = rows[points[0].summary_id]
    name = f"{first.text}, {MEMORY_KINDS[slope.kind].lower()}"
    ends = [min(points, key=lambda point: point.keys), max(points, key=lambda point: point.keys)]
    hover = [
        f"{first.text}, run {point.run}: {mebibytes(point.bytes)} MiB for {point.keys:,} keys"
        for point in points
    ]
    return [
        scatter(
            name,
            [point.summary_id for point in ends],
            [point.keys for point in ends],
            [(slope.line.intercept + slope.line.slope * point.keys) / _MIB for point in ends],
            [f"{first.text}: {slope.line.slope:.1f} bytes per key, {slope.text}"] * 2,
            "lines",
            line={"color": first.colour, "dash": first.dash, "width": 2},
            legendgroup=first.text,
        ),
        scatter(
            name,
            [point.summary_id for point in points],
            [point.keys for point in points],
            [point.bytes / _MIB for point in points],
            hover,
            showlegend=False,
            marker={"color": first.colour, "symbol": first.symbol, "size": 7},
            legendgroup=first.text,
        ),
    ]


def build(data: ChartData) -> dict[str, Any] | None:
    rows = {row.id: row for row in data.rows}
    targets = [target for target in memory_per_key(row.summary for row in data.rows) if target.slopes]
    drawn = [rows[summary_id] for target in targets for summary_id in target.summary_ids]
    traces = [trace for target in targets for trace in _traces(target, rows)]
    if not traces:
        return None
    most = max(len(target.summary_ids) for target in targets)
    return figure(
        traces,
        by_view(
            [View("all targets", tuple(drawn))],
            drawn,
            value_axis("fresh keys", tickformat=","),
            value_axis("MiB more than before any key"),
            max_rows=MAX_LINES * most,
        ),
    )


CHART = Chart(
    "memory-per-key",
    "Memory over the number of keys",
    "Each point is a run with a fresh store and as many decisions, each on a key of its own; the slope of a "
    "line is the bytes per key. Memory is read where the table says.",
    build,
)

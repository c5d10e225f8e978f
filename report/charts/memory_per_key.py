"""Memory over the number of fresh keys: all runs as points, and lines whose slopes are the bytes per key."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import MEMORY_KINDS
from report.analysis.memory_per_key import KeyMemory, Point, memory_per_key
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
    first, line = rows[points[0].summary_id], slope.line
    name, style = f"{first.text}, {MEMORY_KINDS[slope.kind].lower()}", first.style(2, 7)

    def trace(
        shown: Sequence[Point], values: Sequence[float], texts: list[str], mode: str, **more: Any
    ) -> Any:
        ids, keys = [point.summary_id for point in shown], [point.keys for point in shown]
        found = [value / _MIB for value in values]
        return scatter(name, ids, keys, found, texts, mode, legendgroup=first.text, **more)

    ends = [min(points, key=lambda point: point.keys), max(points, key=lambda point: point.keys)]
    fitted = [line.intercept + line.slope * point.keys for point in ends]
    slope_text = f"{first.text}: {line.slope:.1f} bytes per key, {slope.text}"
    hover = [
        f"{first.text}, run {point.run}: {mebibytes(point.bytes)} MiB for {point.keys:,} keys"
        for point in points
    ]
    measured = [point.bytes for point in points]
    return [
        trace(ends, fitted, [slope_text] * 2, "lines", line=style["line"]),
        trace(points, measured, hover, "markers", showlegend=False, marker=style["marker"]),
    ]


def build(data: ChartData) -> dict[str, Any] | None:
    rows = {row.id: row for row in data.rows}
    targets = [target for target in memory_per_key(row.summary for row in data.rows) if target.slopes]
    drawn = tuple(rows[summary_id] for target in targets for summary_id in target.summary_ids)
    traces = [trace for target in targets for trace in _traces(target, rows)]
    if not traces:
        return None
    most = MAX_LINES * max(len(target.summary_ids) for target in targets)
    x, y = value_axis("fresh keys", tickformat=","), value_axis("MiB more than before any key")
    return figure(traces, by_view([View("all targets", drawn)], drawn, x, y, max_rows=most))


CHART = Chart(
    "memory-per-key",
    "Memory over the number of keys",
    "Each point is a run with a fresh store and as many decisions, each on a key of its own; the slope of a "
    "line is the bytes per key. Memory is read where the table says.",
    build,
)

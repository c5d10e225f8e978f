"""The chart of the memory over the number of keys."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import MEMORY_KINDS
from report.analysis.memory_per_key_rows import KeyMemory, Point, memory_per_key
from report.base.format import mebibytes
from report.charts import chart_data, layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import BYTES_PER_MIB, Chart, by_view, figure


def _traces_of(target: KeyMemory, rows: Mapping[str, ChartRow]) -> list[go.Scatter]:
    """The line with the slope of a target, and a mark for each of its runs."""
    slope = target.slopes[0]
    points = [point for point in slope.points if point.summary_id in rows]
    if not points:
        return []

    row = rows[points[0].summary_id]
    name = f"{row.text}, {MEMORY_KINDS[slope.kind].lower()}"
    style = row.style(2, 7)
    line = slope.line
    end_points = [
        min(points, key=lambda point: point.keys),
        max(points, key=lambda point: point.keys),
    ]
    line_trace = _trace(
        name,
        end_points,
        [line.intercept + line.slope * point.keys for point in end_points],
        [f"{row.text}: {line.slope:.1f} bytes per key, {slope.text}"] * 2,
        "lines",
        legendgroup=row.text,
        line=style["line"],
    )
    run_trace = _trace(
        name,
        points,
        [point.bytes for point in points],
        [
            f"{row.text}, run {point.run}: {mebibytes(point.bytes)} MiB for {point.keys:,} keys"
            for point in points
        ],
        "markers",
        legendgroup=row.text,
        showlegend=False,
        marker=style["marker"],
    )
    return [line_trace, run_trace]


def _trace(
    name: str,
    points: Sequence[Point],
    sizes_bytes: Sequence[float],
    texts: Sequence[str],
    mode: str,
    **style: Any,
) -> go.Scatter:
    ids = [point.summary_id for point in points]
    keys = [point.keys for point in points]
    sizes_mib = [size / BYTES_PER_MIB for size in sizes_bytes]
    return layout.scatter(name, ids, keys, sizes_mib, texts, mode, **style)


def _draw(data: ChartData) -> dict[str, Any] | None:
    rows = {row.id: row for row in data.rows}
    memories = memory_per_key(row.summary for row in data.rows)
    targets = [target for target in memories if target.slopes]
    traces = [trace for target in targets for trace in _traces_of(target, rows)]
    if not traces:
        return None

    drawn = tuple(rows[summary_id] for target in targets for summary_id in target.summary_ids)
    view = chart_data.View("all targets", drawn)
    x = layout.value_axis("fresh keys", tickformat=",")
    y = layout.value_axis("MiB more than before any key")
    max_rows = layout.MAX_LINES * max(len(target.summary_ids) for target in targets)
    return figure(traces, by_view([view], drawn, x, y, max_rows=max_rows))


MEMORY_OVER_KEYS = Chart(
    "memory-per-key",
    "Memory over the number of keys",
    "Each point is a run with a fresh store and as many decisions, each on a key of its own; the slope "
    "of a line is the bytes per key. Memory is read where the table says.",
    _draw,
)

"""The chart of the throughput against the latency."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from msgspec import Struct

from report.analysis.figures import p99, throughput
from report.analysis.texts import LayerText
from report.base.format import rate
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.latency_text import few_samples_text, latency_with_range
from report.charts.layout import Chart, by_view, figure, rate_axis
from report.charts.lines_over_a_number import connection_count, lines_of
from report.results.model import Run


class _Point(Struct, frozen=True):
    row: ChartRow
    rate: float
    p99_ms: float
    hover: str


def _median_point(row: ChartRow, text: LayerText) -> _Point | None:
    rate_per_second = row.median(throughput)
    p99_ms = row.median(p99)
    if rate_per_second is None or p99_ms is None:
        return None
    load = f"{row.summary.identity.load_text}, {row.summary.group_text}"
    latency = f"{latency_with_range(row, 'p99', p99, text)}{few_samples_text(row)}"
    hover = f"{row.text}, {load}<br>{rate(rate_per_second)} {text.rate_unit}, {latency}"
    return _Point(row, rate_per_second, p99_ms, hover)


def _run_point(row: ChartRow, run: Run, text: LayerText) -> _Point | None:
    if run.measured is None or not run.eligible:
        return None
    p99_ms = run.measured.percentiles_ms.get("p99")
    if p99_ms is None:
        return None
    rate_per_second = run.measured.requests_per_second
    latency = f"p99 {text.latency(p99_ms)} {text.latency_unit}"
    hover = f"{row.text}, run {run.run}: {rate(rate_per_second)} {text.rate_unit}, {latency}"
    return _Point(row, rate_per_second, p99_ms, hover)


def _median_points(line: Sequence[ChartRow], text: LayerText) -> list[_Point]:
    return [point for row in line if (point := _median_point(row, text))]


def _run_points(line: Sequence[ChartRow], text: LayerText) -> list[_Point]:
    return [
        point for row in line for run in row.summary.runs if (point := _run_point(row, run, text))
    ]


def _trace(points: Sequence[_Point], text: LayerText, mode: str, **style: Any) -> go.Scatter:
    """A trace of the throughput and p99 of each point, with a text for hovering."""
    first = points[0].row
    return layout.scatter(
        first.text,
        [point.row.id for point in points],
        [point.rate for point in points],
        [text.latency_value(point.p99_ms) for point in points],
        [point.hover for point in points],
        mode,
        legendgroup=first.text,
        **style,
    )


def _draw(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.at_capacity if row.median(p99) is not None]
    if not rows:
        return None

    text = data.text
    median_traces = []
    run_traces = []
    for line in lines_of(rows):
        first = line[0]
        medians = _median_points(line, text)
        median_traces.append(_trace(medians, text, "lines+markers", **first.style(1, 11)))
        runs = _run_points(line, text)
        if len(runs) > len(line):
            marker = {
                "color": first.colour,
                "symbol": f"{first.symbol}-open",
                "size": 6,
                "opacity": 0.7,
            }
            run_traces.append(_trace(runs, text, "markers", showlegend=False, marker=marker))

    x = rate_axis(text)
    y = layout.latency_axis(f"p99 in {text.latency_unit}", text)
    max_rows = layout.MAX_LINES * len(set(map(connection_count, rows)))
    views = by_view(data.by_curve, rows, x, y, max_rows=max_rows)
    return figure([*run_traces, *median_traces], views)


TRADEOFF = Chart(
    "tradeoff",
    "Throughput against latency",
    "Further right is more throughput, lower is less latency at full load, which moves with the number "
    "of targets that were up at once. Full marks are medians, small hollow "
    "marks the runs that served their load; rows and runs without a p99 are left out. A line joins "
    "different numbers of {connections}: where it turns upwards, more {connections} add waiting "
    "time and no throughput.",
    _draw,
)

"""Requests per second over the window, one line a median run."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure, value_axis
from report.results.records import Sample

#: A longer run has several seconds a point.
MAX_POINTS = 120


def _points(seconds: Sequence[Sample]) -> list[tuple[float, float]]:
    step = -(-len(seconds) // MAX_POINTS)
    stretches = [seconds[start : start + step] for start in range(0, len(seconds), step)]
    return [
        (
            stretch[-1].t_s,
            sum(second.allowed + second.limited for second in stretch)
            / sum(second.interval_s for second in stretch),
        )
        for stretch in stretches
    ]


def _line(row: ChartRow, unit: str) -> go.Scatter:
    points = _points(row.figures.seconds)
    return go.Scatter(
        name=row.text,
        mode="lines+markers" if len(points) < 20 else "lines",
        x=[round(at, 3) for at, _ in points],
        y=[round(value, 1) for _, value in points],
        meta=row.id,
        hovertemplate=f"{row.text} at %{{x}} s: %{{y:,.0f}} {unit}<extra></extra>",
        line={"color": row.colour, "dash": row.dash, "width": 2},
        marker={"color": row.colour, "symbol": row.symbol, "size": 6},
    )


def build(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if row.figures.seconds]
    if not rows:
        return None
    x = value_axis("seconds since the window opened")
    y = value_axis(f"{data.text.requests} per second", tickformat=",")
    return figure([_line(row, data.text.rate_unit) for row in rows], by_view(data.by_cell, rows, x, y))


CHART = Chart(
    "series",
    "Over time",
    "Each second of the median runs. A steady line means that the warm-up was long enough and that "
    f"nothing disturbed the run. In runs of more than {MAX_POINTS} s a point stands for several seconds.",
    build,
)

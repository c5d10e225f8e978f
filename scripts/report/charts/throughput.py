"""Requests per second: the median run as a bar, every measured run as a point."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..format import rate
from ..model import Run
from .base import INK, Chart, Row, by_row, figure, literal, value_axis


def _points(rows: Sequence[Row], name: str, eligible: bool, symbol: str) -> go.Scatter | None:
    points: list[tuple[Row, Run, float]] = [
        (row, run, run.requests_per_second)
        for row in rows
        for run in row.summary.runs
        if run.requests_per_second is not None and run.eligible == eligible
    ]
    if not points:
        return None
    return go.Scatter(
        name=name,
        mode="markers",
        x=[value for _, _, value in points],
        y=[row.id for row, _, _ in points],
        customdata=[
            f"{literal(row.summary.identity.label)}, run {run.run} ({run.verdict}): {rate(value)} requests/s"
            for row, run, value in points
        ],
        hovertemplate="%{customdata}<extra></extra>",
        marker={"symbol": symbol, "size": 9, "color": INK, "line": {"color": INK, "width": 1.5}},
    )


def build(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Bars by row of closed loops: at an offered rate the throughput is no capacity. None without any."""
    rows = [row for row in rows if not row.summary.identity.open_loop]
    if not rows:
        return None
    values = [row.summary.figures.requests_per_second if row.summary.figures else None for row in rows]
    bars = go.Bar(
        name="median run",
        orientation="h",
        x=values,
        y=[row.id for row in rows],
        customdata=[
            f"{literal(row.summary.identity.label)}, median run: {rate(value)} requests/s"
            for row, value in zip(rows, values, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        marker={"color": [row.colour for row in rows]},
        showlegend=False,
        width=0.6,
    )
    points = [
        _points(rows, "run that counts", True, "circle-open"),
        _points(rows, "invalid run", False, "x-thin-open"),
    ]
    axis = value_axis("requests per second")
    return figure([bars, *filter(None, points)], by_row(rows, axis))


CHART = Chart(
    "throughput",
    "Throughput",
    "Capacity in a closed loop: answered requests per second. Bars are the median runs, circles all runs "
    "that count, crosses invalid ones. Controls are grey: they are the ceiling of the harness, not "
    "competitors.",
    build,
)

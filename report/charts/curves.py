"""One line a median run: latency by percentile up to p99.9, and requests per second over the window."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.layer_text import LayerText
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure, log_axis, rate_axis, value_axis
from report.results.records import Sample
from report.statistics.histograms import CURVE

#: Where points are marked, with the names under which `unsupported` lists them.
_MARKED = {50.0: "p50", 90.0: "p90", 99.0: "p99", 99.9: "p99_9"}


def _beyond(percent: float) -> float:
    """One request in so many is slower: p50 → 2, p99.9 → 1000, which spreads the tail evenly."""
    return round(100 / (100 - percent), 4)


def _percentile_line(row: ChartRow, text: LayerText) -> go.Scatter:
    curve = list(zip(CURVE, row.figures.curve_ms, strict=False))
    few = {percent for percent, name in _MARKED.items() if name in row.figures.unsupported}
    return go.Scatter(
        name=row.text,
        mode="lines+markers",
        x=[_beyond(percent) for percent, _ in curve],
        # A logarithmic axis has no place for 0, so it becomes the histogram's smallest step.
        y=[text.latency_value(max(round(value, 3), 0.001)) for _, value in curve],
        meta=row.id,
        customdata=[f"{percent:g}{', too few samples' if percent in few else ''}" for percent, _ in curve],
        hovertemplate=f"{row.text}: %{{y:,.3~r}} {text.latency_unit} at p%{{customdata}}<extra></extra>",
        line={"color": row.colour, "dash": row.dash, "width": 2},
        marker={
            "color": row.colour,
            "symbol": [f"{row.symbol}-open" if percent in few else row.symbol for percent, _ in curve]
            if few
            else row.symbol,
            "size": [8 if percent in _MARKED else 0 for percent, _ in curve],
            "opacity": 1,
            "line": {"color": row.colour, "width": 1.5},
        },
    )


def _percentiles(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if row.figures.curve_ms]
    if not rows:
        return None
    x = value_axis(
        "percentile",
        type="log",
        rangemode="normal",
        tickmode="array",
        tickvals=[_beyond(percent) for percent in (50, 75, 90, 95, 99, 99.5, 99.9)],
        ticktext=["p50", "p75", "p90", "p95", "p99", "p99.5", "p99.9"],
    )
    y = log_axis(data.text.latency_unit)
    return figure([_percentile_line(row, data.text) for row in rows], by_view(data.by_cell, rows, x, y))


PERCENTILES = Chart(
    "percentiles",
    "Latency by percentile",
    "How slow the slowest {requests} were; lower is better. Further to the right are rarer {requests}: at "
    "p99 one in 100 is slower, at p99.9 one in 1,000. From the merged histograms of the median runs. Marks "
    "stand at p50, p90, p99 and p99.9; a hollow mark has too few samples (p99 needs 10,000, p99.9 needs "
    "100,000). A line ends where failed or unanswered requests could move it. Closed and open loops are "
    "never in one view: the first is latency at capacity, the second at a rate.",
    _percentiles,
)


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


def _seconds_line(row: ChartRow, unit: str) -> go.Scatter:
    points = _points(row.figures.seconds)
    return go.Scatter(
        name=row.text,
        mode="lines+markers" if len(points) < 20 else "lines",
        x=[round(at, 3) for at, _ in points],
        y=[round(value, 1) for _, value in points],
        meta=row.id,
        hovertemplate=f"{row.text} at %{{x}} s: %{{y:,.0f}} {unit}<extra></extra>",
        **row.style(2, 6),
    )


def _seconds(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if row.figures.seconds]
    if not rows:
        return None
    x = value_axis("seconds since the window opened")
    traces = [_seconds_line(row, data.text.rate_unit) for row in rows]
    return figure(traces, by_view(data.by_cell, rows, x, rate_axis(data.text)))


SERIES = Chart(
    "series",
    "Over time",
    "Each second of the median runs. A steady line means that the warm-up was long enough and that "
    f"nothing disturbed the run. In runs of more than {MAX_POINTS} s a point stands for several seconds.",
    _seconds,
)

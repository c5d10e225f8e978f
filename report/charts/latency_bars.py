"""The charts of the latency, at full load and at a given rate."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import Figure, mean_latency, p50, p99
from report.analysis.texts import LayerText
from report.base.format import milliseconds
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.colours import INK
from report.charts.latency_text import has_few_samples, latency_text
from report.charts.layout import Chart, bars, by_row, figure
from report.results.model import Measured

_HOW_TO_READ = (
    "The full bar is the median p50 of the runs, the pale bar their median p99 (palest: fewer than 10,000 "
    "samples, too few for it), the upright stroke their median mean; circles are p99 of the runs in which it "
    "is known, × of invalid runs, + of runs in which the target failed its load; lines are ranges. A "
    "percentile that failed or unanswered requests could move has no bar: its bounds are in the text."
)


def _medians(rows: Sequence[ChartRow], figure: Figure, text: LayerText) -> list[float | None]:
    """The medians in the unit of the axis."""
    return [text.latency_value(row.median(figure)) for row in rows]


def _percentile_bars(
    rows: Sequence[ChartRow], texts: Sequence[str], text: LayerText
) -> list[go.Bar]:
    colours = [row.colour for row in rows]
    p99_bars = bars(
        "p99",
        rows,
        _medians(rows, p99, text),
        texts,
        marker={
            "color": colours,
            "opacity": [0.25 if has_few_samples(row) else 0.4 for row in rows],
        },
        error_x=layout.whiskers(rows, p99, text.latency_value),
        showlegend=False,
    )
    p50_bars = bars(
        "p50",
        rows,
        _medians(rows, p50, text),
        texts,
        marker={"color": colours},
        showlegend=False,
    )
    return [p99_bars, p50_bars]


def _mean_strokes(
    rows: Sequence[ChartRow], texts: Sequence[str], text: LayerText
) -> list[go.Scatter]:
    means = _medians(rows, mean_latency, text)
    points = [
        (row, mean, f"{row.text}: {hover}")
        for row, mean, hover in zip(rows, means, texts, strict=True)
        if mean is not None
    ]
    if not points:
        return []
    stroke = {
        "symbol": "line-ns-open",
        "size": 13,
        "color": INK,
        "line": {"color": INK, "width": 2},
    }
    return [layout.points("mean", points, stroke)]


def _draw(data: ChartData, drawn: Sequence[ChartRow]) -> dict[str, Any] | None:
    rows = [row for row in drawn if row.summary.figure_of(p50).runs]
    if not rows:
        return None
    text = data.text

    def read_p99(measured: Measured) -> float | None:
        return text.latency_value(p99(measured))

    texts = [latency_text(row, text) for row in rows]
    traces = [
        *_percentile_bars(rows, texts, text),
        *_mean_strokes(rows, texts, text),
        *layout.run_points(rows, read_p99, milliseconds, f"{text.latency_unit} p99"),
    ]
    axis = layout.latency_axis(text.latency_unit, text)
    return figure(traces, by_row(data, rows, axis, barmode="overlay"))


LATENCY_AT_FULL_LOAD = Chart(
    "latency",
    "Latency at full load",
    f"Less is better. {_HOW_TO_READ} This latency follows from the throughput, moves with the number of "
    "targets that were up at once, and is not that at a given rate.",
    lambda data: _draw(data, data.at_capacity),
)
LATENCY_AT_RATE = Chart(
    "latency-at-rate",
    "Latency at a given rate",
    "Less is better. In an open loop {requests} are due at the rate that the heading names, and latency "
    f"counts from when a {{request}} was due, even if it was sent late. {_HOW_TO_READ} Do not compare these "
    "with latencies at full load.",
    lambda data: _draw(data, data.at_a_rate),
)

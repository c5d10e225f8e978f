"""Throughput and latency: the median run as a bar, every measured run as a point."""

from collections.abc import Sequence
from typing import Any

from report.analysis.figures import figure_text, p50, p99, throughput
from report.analysis.layer_text import LayerText
from report.base.format import milliseconds, percent, plural, rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_row, figure, latency_axis, rate_axis
from report.charts.marks import bars, run_points, whiskers
from report.results.model import Measured


def _rate_text(row: ChartRow, unit: str) -> str:
    spread = row.summary.spread
    more = ""
    if spread and spread.count > 1:
        runs = plural(spread.count, "run")
        more = f"<br>{rate(spread.min)} to {rate(spread.max)} over {runs}, CV {percent(spread.cv_percent)}"
    return f"{rate(row.figures.requests_per_second)} {unit} in the median run{more}"


def _throughput(data: ChartData) -> dict[str, Any] | None:
    rows = data.at_capacity
    if not rows:
        return None
    values, unit = [row.figures.requests_per_second for row in rows], data.text.rate_unit
    texts = [_rate_text(row, unit) for row in rows]
    medians = bars(
        "median run",
        rows,
        values,
        texts,
        marker={"color": [row.colour for row in rows]},
        error_x=whiskers(rows, throughput, values),
        showlegend=False,
    )
    points = run_points(rows, throughput, rate, unit)
    return figure([medians, *points], by_row(data, rows, rate_axis(data.text)))


def _latency_text(row: ChartRow, text: LayerText) -> str:
    few = ", too few samples" if "p99" in row.figures.unsupported else ""
    shown = [f"{figure_text(row.figures, each, text.latency)} {text.latency_unit}" for each in (p50, p99)]
    return f"p50 {shown[0]}, p99 {shown[1]}{few}"


def _latency(data: ChartData, drawn: Sequence[ChartRow]) -> dict[str, Any] | None:
    rows = [row for row in drawn if row.figures.percentiles_ms or row.figures.bounds_ms]
    if not rows:
        return None
    unit = data.text.latency_unit

    def read_p99(figures: Measured) -> float | None:
        return data.text.latency_value(p99(figures))

    texts = [_latency_text(row, data.text) for row in rows]
    colours = [row.colour for row in rows]
    p50s = [data.text.latency_value(p50(row.figures)) for row in rows]
    p99s = [read_p99(row.figures) for row in rows]
    pale = bars(
        "p99",
        rows,
        p99s,
        texts,
        marker={
            "color": colours,
            "opacity": [0.25 if "p99" in row.figures.unsupported else 0.4 for row in rows],
        },
        error_x=whiskers(rows, read_p99, p99s),
        showlegend=False,
    )
    full = bars("p50", rows, p50s, texts, marker={"color": colours}, showlegend=False)
    points = run_points(rows, read_p99, milliseconds, f"{unit} p99")
    layout = by_row(data, rows, latency_axis(unit, data.text), barmode="overlay")
    return figure([pale, full, *points], layout)


_READ = (
    "The full bar is p50 of the median run, the pale bar p99 (palest: fewer than 10,000 samples, too few for "
    "it); circles are p99 of the runs in which it is known, × of invalid runs, + of runs in which the target "
    "failed its load; lines are ranges. A percentile that failed or unanswered requests could move has no "
    "bar: its bounds are in the text."
)
THROUGHPUT = Chart(
    "throughput",
    "Throughput at capacity",
    "Answered {requests} per second in a closed loop; more is better. Bars are median runs, circles all "
    "runs that served their load, lines their range, × invalid runs, + runs in which the target failed its "
    "load. Compare rows within a heading only: load, store or what decides differ between "
    "headings.{no_controls}",
    _throughput,
)
AT_CAPACITY = Chart(
    "latency",
    "Latency at capacity",
    f"Less is better. {_READ} This latency follows from the throughput, and is not that at a given rate.",
    lambda data: _latency(data, data.at_capacity),
)
AT_A_RATE = Chart(
    "latency-at-rate",
    "Latency at a given rate",
    "Less is better. In an open loop {requests} are due at the rate that the heading names, and latency "
    f"counts from when a {{request}} was due, even if it was sent late. {_READ} Do not compare these with "
    "latencies at capacity.",
    lambda data: _latency(data, data.at_a_rate),
)

"""Latency of open loops: at a given rate, from the intended send."""

from typing import Any

from report.charts.chart_data import ChartData
from report.charts.latency import latency_bars
from report.charts.layout import Chart


def build(data: ChartData) -> dict[str, Any] | None:
    """Bars by row; None without an open loop."""
    return latency_bars(data, data.at_a_rate)


CHART = Chart(
    "latency-at-rate",
    "Latency at a given rate",
    "Less is better. In an open loop {requests} are due at the rate that the heading names, and latency "
    "counts from when a {request} was due, even if it was sent late. The full bar is p50 of the median "
    "run, the pale bar p99; circles are p99 of the runs in which it is known, × of invalid runs, + of "
    "runs in which the target failed its load; lines are ranges. A percentile that failed or unanswered "
    "requests could move has no bar: its bounds are in the text. Do not compare these with latencies at "
    "capacity.",
    build,
)

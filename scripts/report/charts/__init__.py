"""The charts of the page. A new one is a file in this folder and a line in `CHARTS`."""

from . import (
    ceiling,
    cpu,
    curve,
    latency,
    latency_at_rate,
    limited,
    memory,
    percentiles,
    series,
    throughput,
    tradeoff,
    trend,
)
from .base import Chart

CHARTS: tuple[Chart, ...] = (
    throughput.CHART,
    latency.CHART,
    latency_at_rate.CHART,
    curve.CHART,
    percentiles.CHART,
    tradeoff.CHART,
    trend.CHART,
    ceiling.CHART,
    cpu.CHART,
    memory.CHART,
    limited.CHART,
    series.CHART,
)

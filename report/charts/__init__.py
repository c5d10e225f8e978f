"""The charts of the page. A new one is a file in this folder and a line here."""

from report.charts import (
    ceiling,
    cpu,
    latency,
    limited,
    lines,
    memory,
    memory_per_key,
    percentiles,
    series,
    throughput,
    tradeoff,
)
from report.charts.layout import Chart

CHARTS: tuple[Chart, ...] = (
    throughput.CHART,
    latency.AT_CAPACITY,
    latency.AT_A_RATE,
    lines.CURVE,
    cpu.CHART,
    lines.TREND,
    lines.SCALING,
    memory_per_key.CHART,
    percentiles.CHART,
    tradeoff.CHART,
    ceiling.CHART,
    memory.CHART,
    limited.CHART,
    series.CHART,
)

"""The charts of the page. A new one is a file in this folder and a line here."""

from report.charts import (
    ceiling,
    cpu,
    curve,
    decision_cpu,
    latency,
    latency_at_rate,
    limited,
    memory,
    memory_per_key,
    percentiles,
    scaling,
    series,
    throughput,
    tradeoff,
    trend,
)
from report.charts.layout import Chart

CHARTS: tuple[Chart, ...] = (
    throughput.CHART,
    latency.CHART,
    latency_at_rate.CHART,
    curve.CHART,
    cpu.CHART,
    trend.CHART,
    scaling.CHART,
    memory_per_key.CHART,
    decision_cpu.CHART,
    percentiles.CHART,
    tradeoff.CHART,
    ceiling.CHART,
    memory.CHART,
    limited.CHART,
    series.CHART,
)

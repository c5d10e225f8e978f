"""The charts of the page. A new one is a file in this folder and a line here."""

from report.charts import ceiling, cpu, curves, limited, lines, median_bars, memory, memory_per_key
from report.charts.layout import Chart

CHARTS: tuple[Chart, ...] = (
    median_bars.THROUGHPUT,
    median_bars.AT_CAPACITY,
    median_bars.AT_A_RATE,
    lines.CURVE,
    cpu.CHART,
    lines.TREND,
    lines.SCALING,
    memory_per_key.CHART,
    curves.PERCENTILES,
    lines.TRADEOFF,
    ceiling.CHART,
    memory.CHART,
    limited.CHART,
    curves.SERIES,
)

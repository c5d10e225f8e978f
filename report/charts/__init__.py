"""The charts of the page. A new one is a function and a `Chart` in this folder, and a line here."""

from report.charts import lines, rows
from report.charts.layout import Chart

CHARTS: tuple[Chart, ...] = (
    rows.THROUGHPUT,
    rows.AT_CAPACITY,
    rows.AT_A_RATE,
    lines.CURVE,
    rows.CPU,
    lines.TREND,
    lines.SCALING,
    lines.MEMORY_PER_KEY,
    lines.PERCENTILES,
    lines.TRADEOFF,
    rows.CEILING,
    rows.MEMORY,
    rows.LIMITED,
    lines.SERIES,
)

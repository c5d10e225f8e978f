"""The charts of the page. A new one is a function and a `Chart` in this folder, and a line here."""

from report.charts import graphs
from report.charts.layout import Chart

CHARTS: tuple[Chart, ...] = (
    graphs.THROUGHPUT,
    graphs.AT_CAPACITY,
    graphs.AT_A_RATE,
    graphs.CURVE,
    graphs.CPU,
    graphs.TREND,
    graphs.SCALING,
    graphs.MEMORY_PER_KEY,
    graphs.PERCENTILES,
    graphs.TRADEOFF,
    graphs.CEILING,
    graphs.MEMORY,
    graphs.LIMITED,
    graphs.SERIES,
)

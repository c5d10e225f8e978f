"""The chart of the latency over the offered rate."""

from typing import Any

from report.analysis.figures import p99
from report.base.format import rate
from report.charts import layout
from report.charts.chart_data import ChartData
from report.charts.latency_text import latency_text
from report.charts.layout import Chart, by_view, figure
from report.charts.lines_over_a_number import long_lines, median_line


def draw_latency_over_rate(data: ChartData) -> dict[str, Any] | None:
    """Draws a line for rows that differ in their rate alone; None where no two of them have a
    p99."""
    lines = long_lines([row for row in data.at_a_rate if row.median(p99) is not None])
    if not lines:
        return None

    text = data.text
    traces = []
    for line in lines:
        offered_rates = [row.summary.identity.rate_per_second for row in line]
        texts = [
            f"{row.text} at {rate(rate_per_second)} {text.rate_unit}: {latency_text(row, text)}"
            for row, rate_per_second in zip(line, offered_rates, strict=True)
        ]
        traces.append(
            median_line(line[0].text, line, offered_rates, p99, texts, text.latency_value)
        )

    rows = [row for line in lines for row in line]
    x = layout.log_axis(f"offered {text.requests} per second")
    y = layout.log_axis(f"p99 in {text.latency_unit}")
    max_rows = layout.MAX_LINES * max(len(line) for line in lines)
    return figure(traces, by_view(data.by_curve, rows, x, y, max_rows=max_rows))


LATENCY_OVER_RATE = Chart(
    "curve",
    "Latency over the offered rate",
    "Median p99 of the runs from the intended send, in an open loop at several rates; vertical lines "
    "are the range. Where a line bends upwards, the {consumer} comes near its capacity. Rates that "
    "were not kept, and those without a p99, are left out.",
    draw_latency_over_rate,
)

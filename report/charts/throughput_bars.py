"""The chart of the throughput at capacity."""

from typing import Any

from report.analysis.figures import throughput
from report.base.format import percent, plural, rate
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, bars, by_row, figure, rate_axis


def _hover_text(row: ChartRow, unit: str) -> str:
    text = f"{rate(row.median(throughput))} {unit}"
    spread = row.summary.spread
    if not spread or spread.count <= 1:
        return text
    run_count = plural(spread.count, "run")
    variation = percent(spread.cv_percent)
    return (
        f"{text}<br>median of {run_count}: {rate(spread.min)} to {rate(spread.max)}, CV {variation}"
    )


def _draw(data: ChartData) -> dict[str, Any] | None:
    rows = data.at_capacity
    if not rows:
        return None
    unit = data.text.rate_unit
    medians = bars(
        "median",
        rows,
        [row.median(throughput) for row in rows],
        [_hover_text(row, unit) for row in rows],
        marker={"color": [row.colour for row in rows]},
        error_x=layout.whiskers(rows, throughput),
        showlegend=False,
    )
    points = layout.run_points(rows, throughput, rate, unit)
    return figure([medians, *points], by_row(data, rows, rate_axis(data.text)))


THROUGHPUT_BARS = Chart(
    "throughput",
    "Throughput at capacity",
    "Answered {requests} per second in a closed loop; more is better. Bars are medians, circles the "
    "runs that served their load, lines their range, × invalid runs, + runs in which the target failed "
    "its load. Compare rows within a heading only: load, store or what decides differ between "
    "headings.{no_controls}",
    _draw,
)

"""Requests per second: the median run as a bar, every measured run as a point."""

from typing import Any

from report.base.format import percent, plural, rate
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_row, figure, value_axis
from report.charts.marks import bars, run_points, whiskers
from report.results.model import Measured


def _read(figures: Measured) -> float:
    return figures.requests_per_second


def _text(row: ChartRow, unit: str) -> str:
    spread = row.summary.spread
    more = ""
    if spread and spread.count > 1:
        runs = plural(spread.count, "run")
        more = f"<br>{rate(spread.min)} to {rate(spread.max)} over {runs}, CV {percent(spread.cv_percent)}"
    return f"{rate(_read(row.figures))} {unit} in the median run{more}"


def build(data: ChartData) -> dict[str, Any] | None:
    rows = data.at_capacity
    if not rows:
        return None
    values, unit = [_read(row.figures) for row in rows], data.text.rate_unit
    medians = bars(
        "median run",
        rows,
        values,
        [_text(row, unit) for row in rows],
        marker={"color": [row.colour for row in rows]},
        error_x=whiskers(rows, _read, values),
        showlegend=False,
    )
    axis = value_axis(f"{data.text.requests} per second", tickformat=",")
    return figure([medians, *run_points(rows, _read, rate, unit)], by_row(data, rows, axis))


CHART = Chart(
    "throughput",
    "Throughput at capacity",
    "Answered {requests} per second in a closed loop; more is better. Bars are median runs, circles all "
    "runs that served their load, lines their range, × invalid runs, + runs in which the target failed its "
    "load. Compare rows within a heading only: load, store or what decides differ between "
    "headings.{no_controls}",
    build,
)

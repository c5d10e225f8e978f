"""How often a request calls the limiter."""

from typing import Any

from report.charts.chart_data import ChartData
from report.charts.layout import Chart, by_row, figure, value_axis
from report.charts.marks import bars


def build(data: ChartData) -> dict[str, Any] | None:
    """One bar per row; None when no request calls a limiter."""
    calls = [(row, value) for row in data.rows if (value := row.figures.calls_per_request) is not None]
    if not calls:
        return None
    rows = [row for row, _ in calls]
    texts = [f"{value:g} calls per request" for _, value in calls]
    trace = bars(
        "calls", rows, [value for _, value in calls], texts, marker={"color": [row.colour for row in rows]}
    )
    return figure([trace], by_row(data, rows, value_axis("calls per request")))


CHART = Chart("calls", "Calls of the limiter", "Calls of the limiter per request, in the window.", build)

"""The charts of the cores over the rate, of a load curve."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import Figure, consumer_cores, cores
from report.analysis.load_curve import Estimate, estimate_of
from report.analysis.texts import LayerText
from report.base.format import cores as cores_text
from report.base.format import rate
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure
from report.charts.lines_over_a_number import lines_of


def _draw(part: Figure, data: ChartData) -> dict[str, Any] | None:
    """Draws a line for each target; None without a load curve."""
    rows = [row for row in data.at_a_rate if row.summary.in_curve]
    estimates = {row.id: estimate_of(row.summary, part) for row in rows}
    lines = lines_of([row for row in rows if estimates[row.id]])
    if not lines:
        return None

    traces = [_line(line, estimates, data.text) for line in lines]
    drawn = [row for line in lines for row in line]
    x = layout.log_axis(f"{data.text.requests} per second")
    y = layout.value_axis("CPUs kept busy")
    max_rows = layout.MAX_LINES * max(len(line) for line in lines)
    return figure(traces, by_view(data.by_curve, drawn, x, y, max_rows=max_rows))


def _line(
    line: Sequence[ChartRow], estimates: dict[str, Estimate | None], text: LayerText
) -> go.Scatter:
    known = [(row, estimate) for row in line if (estimate := estimates[row.id])]
    whiskers = {
        "type": "data",
        "symmetric": False,
        "array": [_distance(estimate.high, estimate.value) for _, estimate in known],
        "arrayminus": [_distance(estimate.value, estimate.low) for _, estimate in known],
        "color": line[0].colour,
        "thickness": 1.5,
        "width": 4,
    }
    return layout.scatter(
        line[0].text,
        [row.id for row, _ in known],
        [row.summary.identity.rate_per_second for row, _ in known],
        [estimate.value for _, estimate in known],
        [_hover_text(row, estimate, text) for row, estimate in known],
        "lines+markers",
        error_y=whiskers,
        **line[0].style(2, 8),
    )


def _distance(high: float | None, low: float | None) -> float:
    return 0 if high is None or low is None else max(0, high - low)


def _hover_text(row: ChartRow, estimate: Estimate, text: LayerText) -> str:
    interval = ""
    if estimate.low is not None and estimate.high is not None:
        interval = f" ({cores_text(estimate.low)}–{cores_text(estimate.high)})"
    per_second = f"{rate(row.summary.identity.rate_per_second)} {text.rate_unit}"
    return f"{row.text} at {per_second}: {cores_text(estimate.value)} CPUs{interval}"


_CAPTION = (
    "CPUs that {roles} kept busy at each measured rate, the median over the rounds with its interval of "
    "95 %; less is better. Beyond the highest rate nothing is known."
)


def _chart(chart_id: str, title: str, roles: str, part: Figure) -> Chart:
    return Chart(chart_id, title, _CAPTION.replace("{roles}", roles), partial(_draw, part))


CORES_OVER_RATE = (
    _chart("cores", "Rate against cores: {consumer}", "the {consumer}", consumer_cores),
    _chart("store-cores", "Rate against cores: store", "all nodes of the store", cores("store")),
    _chart("service-cores", "Rate against cores: service", "the service", cores("service")),
)

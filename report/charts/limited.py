"""The share of limited answers: predicted by the traffic, and seen."""

from typing import Any

from report.base.format import share
from report.charts.chart_data import ChartData
from report.charts.layout import INK, Chart, by_row, figure, value_axis
from report.charts.marks import points


def build(data: ChartData) -> dict[str, Any] | None:
    seen = [(row, value) for row in data.rows if (value := row.figures.limited_share) is not None]
    predicted = [(row, prediction) for row, _ in seen if (prediction := row.figures.record.prediction)]
    if not seen:
        return None
    expected = []
    for row, each in predicted:
        told = f"{share(each.limited_share)} predicted, ± {share(each.tolerance)}, set by the {each.basis}"
        expected.append((row, 100 * each.limited_share, f"{row.text}: {told}"))
    tolerances = [100 * each.tolerance for _, each in predicted]
    whiskers = {"type": "data", "array": tolerances, "color": INK, "thickness": 1.5, "width": 6}
    stroke = {"symbol": "line-ns-open", "size": 14, "color": INK, "line": {"color": INK, "width": 2}}
    measured = [(row, 100 * value, f"{row.text}: {share(value)} measured") for row, value in seen]
    dots = {"symbol": "circle", "size": 9, "color": [row.colour for row, _ in seen]}
    traces = [points("measured", measured, dots, cliponaxis=False)]
    if predicted:
        traces.insert(0, points("predicted, with tolerance", expected, stroke, error_x=whiskers))
    layout = by_row(data, [row for row, _ in seen], value_axis("% of answers", ticksuffix=" %"))
    return figure(traces, layout)


CHART = Chart(
    "limited",
    "Limited share, predicted and measured",
    "The share of answers that were rejections{rejection}. The traffic sets this share, so a faster "
    "client does not get more rejections, and a run outside the tolerance is invalid. With limits set by "
    "hand the share follows the speed: then a model predicts it, and a run outside the tolerance is "
    "suspect.",
    build,
)

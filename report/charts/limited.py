"""The share of limited answers: predicted by the traffic, and seen."""

from typing import Any

from report.base.format import share
from report.charts.chart_data import ChartData
from report.charts.layout import INK, Chart, by_row, figure, value_axis
from report.charts.marks import scatter


def build(data: ChartData) -> dict[str, Any] | None:
    seen = [(row, value) for row in data.rows if (value := row.figures.limited_share) is not None]
    predicted = [(row, prediction) for row, _ in seen if (prediction := row.figures.record.prediction)]
    if not seen:
        return None
    ids, expected_ids = ([row.id for row, _ in rows] for rows in (seen, predicted))
    expected = scatter(
        "predicted, with tolerance",
        expected_ids,
        [100 * prediction.limited_share for _, prediction in predicted],
        expected_ids,
        [
            f"{row.text}: {share(prediction.limited_share)} predicted, "
            f"± {share(prediction.tolerance)}, set by the {prediction.basis}"
            for row, prediction in predicted
        ],
        error_x={
            "type": "data",
            "array": [100 * prediction.tolerance for _, prediction in predicted],
            "color": INK,
            "thickness": 1.5,
            "width": 6,
        },
        marker={"symbol": "line-ns-open", "size": 14, "color": INK, "line": {"color": INK, "width": 2}},
    )
    found = scatter(
        "measured",
        ids,
        [100 * value for _, value in seen],
        ids,
        [f"{row.text}: {share(value)} measured" for row, value in seen],
        cliponaxis=False,
        marker={"symbol": "circle", "size": 9, "color": [row.colour for row, _ in seen]},
    )
    layout = by_row(data, [row for row, _ in seen], value_axis("% of answers", ticksuffix=" %"))
    return figure([*([expected] if predicted else []), found], layout)


CHART = Chart(
    "limited",
    "Limited share, predicted and measured",
    "The share of answers that were rejections{rejection}. The traffic sets this share, so a faster "
    "client does not get more rejections, and a run outside the tolerance is invalid. With limits set by "
    "hand the share follows the speed: then a model predicts it, and a run outside the tolerance is "
    "suspect.",
    build,
)

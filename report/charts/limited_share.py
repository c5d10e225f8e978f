"""The chart of the share of answers that were rejections, predicted and measured."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from report.analysis.figures import limit_hits, limited_share
from report.base.format import count, share
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.colours import INK
from report.charts.layout import Chart, by_row, figure


def _predicted_strokes(rows: Sequence[ChartRow]) -> list[go.Scatter]:
    """The predictions with their tolerances; empty where no row has one."""
    points = []
    tolerances_percent = []
    for row in rows:
        prediction = row.selected.record.prediction
        if not prediction:
            continue
        text = (
            f"{share(prediction.limited_share)} predicted, ± {share(prediction.tolerance)}, "
            f"set by the {prediction.basis}"
        )
        points.append((row, 100 * prediction.limited_share, f"{row.text}: {text}"))
        tolerances_percent.append(100 * prediction.tolerance)
    if not points:
        return []

    stroke = {
        "symbol": "line-ns-open",
        "size": 14,
        "color": INK,
        "line": {"color": INK, "width": 2},
    }
    tolerance = {
        "type": "data",
        "array": tolerances_percent,
        "color": INK,
        "thickness": 1.5,
        "width": 6,
    }
    return [layout.points("predicted, with tolerance", points, stroke, error_x=tolerance)]


def _draw(data: ChartData) -> dict[str, Any] | None:
    rows = []
    measured = []
    for row in data.rows:
        limited = row.median(limited_share)
        if limited is None:
            continue
        hits = f"{count(row.median(limit_hits))} {data.text.requests} in a run"
        rows.append(row)
        measured.append((row, 100 * limited, f"{row.text}: {share(limited)} measured, {hits}"))
    if not rows:
        return None

    dots = {"symbol": "circle", "size": 9, "color": [row.colour for row in rows]}
    traces = [
        *_predicted_strokes(rows),
        layout.points("measured", measured, dots, cliponaxis=False),
    ]
    axis = layout.value_axis("% of answers", ticksuffix=" %")
    return figure(traces, by_row(data, rows, axis))


LIMITED_SHARE = Chart(
    "limited",
    "Limited share, predicted and measured",
    "The share of answers that were rejections{rejection}; hovering also shows how many there were in a "
    "run, the median of the runs. The traffic sets this share, so a faster "
    "client does not get more rejections, and a run outside the tolerance is invalid. With limits set by "
    "hand the share follows the speed: then a model predicts it, and a run outside the tolerance is "
    "suspect.",
    _draw,
)

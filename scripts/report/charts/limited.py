"""The share of limited answers: predicted by the traffic, and seen."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..format import share
from ..model import Prediction
from .base import BLUE, INK, Chart, Row, by_row, figure, literal, value_axis


def _prediction(row: Row) -> Prediction | None:
    return row.summary.figures.prediction if row.summary.figures else None


def build(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Predicted share with its tolerance, and the seen one, by row; None when nothing was answered."""
    seen = [
        (row, row.summary.figures.limited_share)
        for row in rows
        if row.summary.figures and row.summary.figures.limited_share is not None
    ]
    predicted = [(row, prediction) for row, _ in seen if (prediction := _prediction(row))]
    if not seen:
        return None
    expected = go.Scatter(
        name="predicted, with tolerance",
        mode="markers",
        x=[100 * prediction.limited_share for _, prediction in predicted],
        y=[row.id for row, _ in predicted],
        error_x={
            "type": "data",
            "array": [100 * prediction.tolerance for _, prediction in predicted],
            "color": INK,
            "thickness": 1.5,
            "width": 6,
        },
        customdata=[
            f"{literal(row.summary.identity.label)}: {share(prediction.limited_share)} predicted, "
            f"± {share(prediction.tolerance)}, set by the {prediction.basis}"
            for row, prediction in predicted
        ],
        hovertemplate="%{customdata}<extra></extra>",
        marker={"symbol": "line-ns-open", "size": 18, "color": INK, "line": {"color": INK, "width": 2}},
    )
    found = go.Scatter(
        name="seen",
        mode="markers",
        x=[100 * value for _, value in seen],
        y=[row.id for row, _ in seen],
        customdata=[f"{literal(row.summary.identity.label)}: {share(value)} seen" for row, value in seen],
        hovertemplate="%{customdata}<extra></extra>",
        marker={"symbol": "circle", "size": 10, "color": BLUE},
    )
    drawn = [row for row, _ in seen]
    axis = value_axis("% of answers")
    return figure([*([expected] if predicted else []), found], by_row(drawn, axis, row_px=36))


CHART = Chart(
    "limited",
    "Limited share",
    "How many answers were rejections (HTTP 429). The traffic sets this share, so that a faster client does "
    "not meet more of them, and a run outside the tolerance is invalid. Where the limits were set by hand "
    "the share follows the speed: then a model predicts it, and a miss makes the run suspect.",
    build,
)

"""Requests per second over the window, one line a median run."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..format import rate
from .base import Chart, Row, figure, literal, value_axis

#: More lines than this cannot be told apart.
MAX_LINES = 24
_DASHES = ("solid", "dash", "dot", "dashdot")


def _line(row: Row, dash: str) -> go.Scatter:
    seconds = row.summary.figures.seconds if row.summary.figures else ()
    name = row.text.replace("<br>", " · ")
    return go.Scatter(
        name=name,
        mode="lines",
        x=[second.t_s for second in seconds],
        y=[second.requests_per_second for second in seconds],
        meta=row.id,
        customdata=[
            f"{literal(row.summary.identity.label)} at {second.t_s:g} s: "
            f"{rate(second.requests_per_second)} requests/s"
            for second in seconds
        ],
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": row.colour, "dash": dash, "width": 2},
    )


def build(rows: Sequence[Row]) -> dict[str, Any] | None:
    """A line a row, of the first `MAX_LINES`; None when no run has samples."""
    drawn = [row for row in rows if row.summary.figures and row.summary.figures.seconds][:MAX_LINES]
    if not drawn:
        return None
    uses: dict[str, int] = {}
    lines = []
    for row in drawn:
        uses[row.colour] = uses.get(row.colour, -1) + 1
        lines.append(_line(row, _DASHES[uses[row.colour] % len(_DASHES)]))
    layout = {
        "xaxis": value_axis("seconds since the window opened"),
        "yaxis": value_axis("requests per second"),
        "showlegend": True,
        "height": 420,
    }
    return figure(lines, layout)


CHART = Chart(
    "series",
    "Over time",
    f"Each second of the median runs. A steady line means that the warm-up was long enough and nothing else "
    f"disturbed the run. At most {MAX_LINES} runs are drawn.",
    build,
)

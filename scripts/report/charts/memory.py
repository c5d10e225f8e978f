"""Memory of the server and the store."""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from ..format import mebibytes
from ..model import Measured
from .base import CATEGORICAL, Chart, Row, by_row, figure, literal, value_axis

_SERIES: tuple[tuple[str, Callable[[Measured], float | None]], ...] = (
    ("server heap used", lambda figures: figures.heap_bytes),
    ("server resident", lambda figures: figures.resident_bytes),
    ("store used, at the end", lambda figures: figures.store_memory_bytes),
)
_MIB = 1024**2


def _bars(rows: Sequence[Row], name: str, values: Sequence[float | None], colour: str) -> go.Bar:
    return go.Bar(
        name=name,
        orientation="h",
        x=[None if value is None else value / _MIB for value in values],
        y=[row.id for row in rows],
        customdata=[
            f"{literal(row.summary.identity.label)}: {name} {mebibytes(value)} MiB"
            for row, value in zip(rows, values, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        marker={"color": colour},
    )


def build(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Bars by row and kind of memory; None when none was read."""
    bars = []
    for (name, read), colour in zip(_SERIES, CATEGORICAL, strict=False):
        values = [read(row.summary.figures) if row.summary.figures else None for row in rows]
        if any(value is not None for value in values):
            bars.append(_bars(rows, name, values, colour))
    if not bars:
        return None
    layout = by_row(rows, value_axis("MiB"), row_px=54, barmode="group", bargap=0.35)
    return figure(bars, layout)


CHART = Chart(
    "memory",
    "Memory",
    "Server: mean over the window of the median run, heap in use and resident set. Store: what it says it "
    "uses after the last answer, all nodes together.",
    build,
)

"""CPU time per answered request, stacked by role."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..format import microseconds
from ..roles import cpu_us_per_request, group_names
from .base import CATEGORICAL, CONTROL, Chart, Row, by_row, figure, literal, value_axis

_COLOURS = dict(zip(("server", "store", "generator"), (*list(CATEGORICAL)[:2], CONTROL), strict=True))


def _used(row: Row) -> dict[str, float]:
    return cpu_us_per_request(row.summary.figures.roles) if row.summary.figures else {}


def _bars(rows: Sequence[Row], role: str) -> go.Bar:
    values = [_used(row).get(role) for row in rows]
    return go.Bar(
        name=literal(role),
        orientation="h",
        x=values,
        y=[row.id for row in rows],
        customdata=[
            f"{literal(row.summary.identity.label)}: {literal(role)} {microseconds(value)} µs per request"
            for row, value in zip(rows, values, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        marker={"color": _COLOURS.get(role, list(CATEGORICAL)[3])},
        width=0.6,
    )


def build(rows: Sequence[Row]) -> dict[str, Any] | None:
    """One bar a row, a part a role; None when no role was read."""
    known = [row for row in rows if _used(row)]
    roles = group_names({name: role for row in known for name, role in _roles(row).items()})
    if not roles:
        return None
    axis = value_axis("µs per answered request")
    return figure([_bars(known, role) for role in roles], by_row(known, axis, barmode="stack"))


def _roles(row: Row) -> dict[str, Any]:
    return dict(row.summary.figures.roles) if row.summary.figures else {}


CHART = Chart(
    "cpu",
    "CPU per request",
    "What one answered request cost in each role, from counters at both ends of the window of the median "
    "run. The nodes of a cluster are added up. On a noisy host this is the steadiest figure; the generator's "
    "part is the harness and not the client.",
    build,
)

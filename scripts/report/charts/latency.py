"""Latency percentiles of the median run, one line a row."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..format import milliseconds, percentile_name
from .base import BLUE, GREEN, ORANGE, PURPLE, RULE, Chart, Row, by_row, figure, literal, value_axis

_MARKS = {
    "p50": (GREEN, "circle"),
    "p90": (BLUE, "square"),
    "p99": (ORANGE, "diamond"),
    "p99_9": (PURPLE, "triangle-right"),
}


def _percentiles(row: Row) -> dict[str, float]:
    """In ms; a logarithmic axis has no place for 0, so it becomes the histogram's smallest step, 1 µs."""
    found = row.summary.figures.percentiles_ms if row.summary.figures else {}
    return {name: max(found[name], 0.001) for name in _MARKS if name in found}


def _hover(row: Row, name: str, value: float, unsupported: bool) -> str:
    mark = ", too few samples" if unsupported else ""
    return f"{literal(row.summary.identity.label)}: {percentile_name(name)} {milliseconds(value)} ms{mark}"


def _line(row: Row, values: Sequence[float]) -> go.Scatter:
    return go.Scatter(
        mode="lines",
        x=[min(values), max(values)],
        y=[row.id, row.id],
        line={"color": RULE, "width": 4},
        hoverinfo="skip",
        showlegend=False,
    )


def _marks(rows: Sequence[Row], name: str) -> go.Scatter:
    colour, symbol = _MARKS[name]
    unsupported = [name in row.summary.figures.unsupported for row in rows if row.summary.figures]
    values = [_percentiles(row)[name] for row in rows]
    return go.Scatter(
        name=percentile_name(name),
        mode="markers",
        x=values,
        y=[row.id for row in rows],
        customdata=[
            _hover(row, name, value, few) for row, value, few in zip(rows, values, unsupported, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        marker={
            "symbol": [f"{symbol}-open" if few else symbol for few in unsupported],
            "size": 11,
            "color": colour,
            "line": {"color": colour, "width": 2},
        },
    )


def build(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Closed loops: marks for p50, p90, p99, p99.9, logarithmic; None when nothing was answered."""
    return _build([row for row in rows if not row.summary.identity.open_loop])


def build_at_rate(rows: Sequence[Row]) -> dict[str, Any] | None:
    """The same of open loops."""
    return _build([row for row in rows if row.summary.identity.open_loop])


def _build(rows: Sequence[Row]) -> dict[str, Any] | None:
    answered = [row for row in rows if _percentiles(row)]
    if not answered:
        return None
    traces = [_line(row, list(_percentiles(row).values())) for row in answered]
    marks = [_marks(answered, name) for name in _MARKS]
    axis = value_axis("ms, logarithmic", type="log", rangemode="normal", dtick="D2")
    return figure([*traces, *marks], by_row(answered, axis))


CHART = Chart(
    "latency",
    "Latency",
    "Percentiles of the median run over allowed and limited answers, from merged histograms. Under a closed "
    "loop latency follows from throughput: it tells how long an answer took at capacity, not at a given "
    "rate. Hollow marks have too few samples behind them (p99 needs 10,000, p99.9 needs 100,000).",
    build,
)

AT_RATE = Chart(
    "latency-at-rate",
    "Latency at a rate",
    "Percentiles of the median run in an open loop, from the moment at which a request was to be sent. "
    "Hollow marks have too few samples behind them (p99 needs 10,000, p99.9 needs 100,000).",
    build_at_rate,
)

"""Latency over the offered rate: one line a client, where an open loop ran at several rates."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ..format import milliseconds, rate
from .base import MUTED, RULE, Chart, Row, figure, literal, value_axis


def _key(row: Row) -> tuple[object, ...]:
    """What the points of one line share: all but the rate."""
    identity = row.summary.identity
    return (
        identity.label,
        identity.store_text,
        identity.workload_text,
        identity.traffic,
        identity.arrivals,
        identity.connections,
    )


def _hover(row: Row, name: str) -> str:
    identity, figures = row.summary.identity, row.summary.figures
    p99 = figures.percentiles_ms.get("p99") if figures else None
    return f"{literal(name)}: p99 {milliseconds(p99)} ms at {rate(identity.rate_per_second)} requests/s"


def _line(rows: Sequence[Row], name: str) -> go.Scatter:
    """Its `meta` is any of its rows: what the page filters by is the same for all of them."""
    points = [
        (row.summary.identity.rate_per_second, row.summary.figures.percentiles_ms["p99"], row)
        for row in rows
        if row.summary.figures and "p99" in row.summary.figures.percentiles_ms
    ]
    points.sort(key=lambda point: point[0] or 0)
    return go.Scatter(
        name=literal(name),
        mode="lines+markers",
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        customdata=[_hover(row, name) for _, _, row in points],
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": rows[0].colour, "width": 2},
        marker={"size": 8, "color": rows[0].colour},
        meta=rows[0].id,
    )


def build(rows: Sequence[Row]) -> dict[str, Any] | None:
    """p99 over the offered rate, both logarithmic; None unless some client ran at several rates."""
    lines: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.summary.identity.open_loop:
            lines.setdefault(_key(row), []).append(row)
    if all(len(members) < 2 for members in lines.values()):
        return None
    labels = [str(key[0]) for key in lines]
    traces = []
    for key, members in lines.items():
        alone = labels.count(str(key[0])) == 1
        name = str(key[0]) if alone else " · ".join(str(part) for part in key)
        traces.append(_line(members, name))
    layout = {
        "xaxis": value_axis("offered requests/s, logarithmic", type="log", rangemode="normal", dtick="D2"),
        "yaxis": {
            "title": {"text": "p99 in ms, logarithmic", "font": {"color": MUTED}},
            "type": "log",
            "gridcolor": RULE,
            "automargin": True,
            "dtick": "D2",
        },
        "height": 420,
    }
    return figure(traces, layout)


CHART = Chart(
    "curve",
    "Latency over the offered rate",
    "p99 of the median runs from the intended send, in an open loop at several rates. Where a line bends "
    "upwards the server comes near what it can do; rates that could not be kept are invalid, and missing.",
    build,
)

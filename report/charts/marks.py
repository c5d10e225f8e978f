"""Traces that several charts share."""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from report.charts.chart_data import ChartRow, literal
from report.charts.layout import INK
from report.results.model import Measured, Run

Read = Callable[[Measured], float | None]
Show = Callable[[float | None], str]
_HOVER = "%{customdata}<extra></extra>"


def bars(
    name: str, rows: Sequence[ChartRow], values: Sequence[float | None], texts: Sequence[str], **more: Any
) -> go.Bar:
    ids = [row.id for row in rows]
    said = [f"{row.text}: {text}" for row, text in zip(rows, texts, strict=True)]
    shown = {"orientation": "h", "customdata": said, "hovertemplate": _HOVER, "width": 0.62, **more}
    return go.Bar(name=name, x=list(values), y=ids, meta=ids, **shown)


def scatter(
    name: str,
    ids: Sequence[str],
    x: Sequence[Any],
    y: Sequence[Any],
    texts: Sequence[str],
    mode: str = "markers",
    **more: Any,
) -> go.Scatter:
    shown = {"customdata": list(texts), "hovertemplate": _HOVER}
    return go.Scatter(name=name, mode=mode, x=list(x), y=list(y), meta=list(ids), **shown, **more)


def points(
    name: str, found: Sequence[tuple[ChartRow, float, str]], marker: dict[str, Any], **more: Any
) -> go.Scatter:
    """Values in the lines of their rows, with what hovering shows."""
    ids = [row.id for row, _, _ in found]
    texts = [text for _, _, text in found]
    return scatter(name, ids, [value for _, value, _ in found], ids, texts, marker=marker, **more)


def whiskers(rows: Sequence[ChartRow], read: Read, middles: Sequence[float | None]) -> dict[str, Any]:
    """Error bars from the least to the most of the runs that served their load, around the figure of the
    median run; none where one of them knows no more than bounds (see `Summary.range_of`)."""
    more, less = [], []
    for row, middle in zip(rows, middles, strict=True):
        found = [read(run.measured) for run in row.summary.runs if run.eligible and run.measured]
        values = [value for value in found if value is not None]
        whole = middle is not None and len(values) == len(found)
        more.append(max(0, max(values) - (middle or 0)) if whole else 0)
        less.append(max(0, (middle or 0) - min(values)) if whole else 0)
    ends = {"type": "data", "symmetric": False, "array": more, "arrayminus": less}
    return {**ends, "color": INK, "thickness": 1.2, "width": 0}


def run_points(rows: Sequence[ChartRow], read: Read, show: Show, unit: str) -> list[go.Scatter]:
    """Every measured run: circles for those that served their load, × for invalid ones, + for those in which
    the target failed it."""
    traces = []
    for name, symbol in _KINDS:
        found = [
            (row, value, f"{row.text}, run {run.run} ({literal(_state(run))}): {show(value)} {unit}")
            for row in rows
            for run in row.summary.runs
            if run.measured and _kind(run) == name and (value := read(run.measured)) is not None
        ]
        marker = {"symbol": symbol, "size": 7, "color": INK, "line": {"color": INK, "width": 1.3}}
        if found:
            traces.append(points(name, found, marker))
    return traces


#: Of runs, with their marks.
_KINDS = (("run", "circle-open"), ("invalid run", "x-thin-open"), ("failed its load", "cross-thin-open"))


def _kind(run: Run) -> str:
    return "run" if run.eligible else "failed its load" if run.spoiled else "invalid run"


def _state(run: Run) -> str:
    """Its verdict, and its outcome unless the target served the load."""
    return f"{run.verdict}, {run.outcome}" if run.spoiled else run.verdict

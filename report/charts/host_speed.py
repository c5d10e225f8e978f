"""The host's speed over the campaign, with the runs on it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import plotly.graph_objects as go

from report.analysis.host_speed import MAX_OFF
from report.base.format import decimals, ratio
from report.charts.chart_data import ChartData, ChartRow, View
from report.charts.layout import RULE, Chart, by_view, figure, value_axis
from report.results.model import HostSpeed, Run

_HEIGHT_PX = 230


def _runs(row: ChartRow) -> list[Run]:
    """In order of time, those beside which the host's speed is known."""
    return sorted((run for run in row.summary.runs if run.host_index), key=lambda run: run.started_at)


def _hint(row: ChartRow, run: Run, moment: str, speed: HostSpeed, index: float) -> str:
    loopback = "" if speed.ping_pong_us is None else f", loopback {decimals(speed.ping_pong_us, 1)} µs"
    return (
        f"{moment} {row.text}, run {run.run}: {ratio(index)}, integer loop "
        f"{decimals(speed.integer_us / 1000, 2)} ms, memory {decimals(speed.chase_us / 1000, 2)} ms{loopback}"
    )


def _line(row: ChartRow, began: datetime) -> go.Scatter:
    """A stroke for each run, from the host before it to the host after it."""
    x: list[float | None] = []
    y: list[float | None] = []
    hints: list[str] = []
    for run in _runs(row):
        if run.host_speed is None or run.host_index is None:
            continue
        # The median run's time, by which all are related.
        median_us = run.host_index * run.host_speed.integer_us
        for moment, at, speed in (
            ("before", run.started_at, run.host_speed.before),
            ("after", run.finished_at, run.host_speed.after),
        ):
            index = median_us / speed.integer_us
            x.append(round((datetime.fromisoformat(at) - began).total_seconds() / 60, 3))
            y.append(round(index, 4))
            hints.append(_hint(row, run, moment, speed, index))
        # A gap, so that no line leads to the next run.
        x.append(None)
        y.append(None)
        hints.append("")
    return go.Scatter(
        name=row.text,
        mode="lines+markers",
        x=x,
        y=y,
        meta=row.id,
        customdata=hints,
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": row.colour, "width": 2},
        marker={"color": row.colour, "symbol": row.symbol, "size": 5},
        showlegend=False,
    )


def _band() -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": 1 / (1 + MAX_OFF),
        "y1": 1 + MAX_OFF,
        "line": {"width": 0},
        "fillcolor": RULE,
        "opacity": 0.5,
        "layer": "below",
    }


def _first_start(rows: Sequence[ChartRow]) -> datetime:
    return min(datetime.fromisoformat(run.started_at) for row in rows for run in _runs(row))


def build(data: ChartData) -> dict[str, Any] | None:
    """None where the host's speed is not known of any run."""
    rows = [row for row in data.rows if _runs(row)]
    if not rows:
        return None
    began = _first_start(rows)
    x = value_axis("minutes since the first run")
    y = value_axis("speed, of the median run’s", rangemode="normal", tickformat=".2f")
    # All rows in one view: they ran on one host.
    layout = by_view(
        [View("All runs", tuple(rows))],
        rows,
        x,
        y,
        max_rows=len(rows),
        showlegend=False,
        height=_HEIGHT_PX,
        shapes=[_band()],
    )
    return figure([_line(row, began) for row in rows], layout)


CHART = Chart(
    "host-speed",
    "Speed of the host",
    "What this machine could do just before and just after each run, by a fixed loop of integer operations "
    "on all CPUs; 1 is the campaign’s median run, and less is slower. A run that is outside the grey band on "
    f"average (± {100 * MAX_OFF:.0f} %) is suspect, unless the host drifts throughout.",
    build,
)

"""Where a decision's CPU goes: a bar per row, stacked by kind of role, with the range of the sum."""

from typing import Any

import plotly.graph_objects as go

from report.analysis.decision_cpu import DecisionCpu, decision_cpu_of, total_of
from report.analysis.layer_text import LayerText
from report.base.format import microseconds
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import INK, SERVER, SERVICE, STORE, Chart, by_row, figure, value_axis
from report.charts.marks import bars, whiskers
from report.results.model import MEASURED_KINDS

_COLOURS = {"server": SERVER, "generator": SERVER, "service": SERVICE, "store": STORE}


def part_name(kind: str, text: LayerText) -> str:
    """`Node (server)`, `Node (client)`, `service`, `store`."""
    return kind if kind in ("service", "store") else f"Node ({text.consumer})"


def _text(found: DecisionCpu, text: LayerText) -> str:
    parts = ", ".join(f"{part_name(kind, text)} {microseconds(value)}" for kind, value in found.parts.items())
    ends = (
        f"<br>{microseconds(found.range[0])} to {microseconds(found.range[1])} over the runs"
        if found.range
        else ""
    )
    limited = "<br>limited by client: nothing is claimed about the service" if found.limited_by_client else ""
    return f"{microseconds(found.total)} µs per decision<br>{parts}{ends}{limited}"


def _sum_marks(rows: list[tuple[ChartRow, DecisionCpu]], texts: list[str]) -> list[go.Scatter]:
    """The sums with their ranges. Rows of one figure differ in their parts, so each has its own sum."""
    by_kinds: dict[tuple[str, ...], list[int]] = {}
    for place, (_, found) in enumerate(rows):
        by_kinds.setdefault(found.kinds, []).append(place)
    traces = []
    for kinds, places in by_kinds.items():
        members = [rows[place] for place in places]
        totals = [found.total for _, found in members]
        ids = [row.id for row, _ in members]
        traces.append(
            go.Scatter(
                name="sum",
                mode="markers",
                x=totals,
                y=ids,
                meta=ids,
                customdata=[
                    f"{row.text}: {texts[place]}" for place, (row, _) in zip(places, members, strict=True)
                ],
                hovertemplate="%{customdata}<extra></extra>",
                showlegend=False,
                cliponaxis=False,
                marker={
                    "symbol": "line-ns-open",
                    "size": 9,
                    "color": INK,
                    "line": {"color": INK, "width": 1.3},
                },
                error_x=whiskers([row for row, _ in members], total_of(kinds), totals),
            )
        )
    return traces


def build(data: ChartData) -> dict[str, Any] | None:
    """Bars of the rows of which every part is known; None where there is none."""
    rows = [(row, found) for row in data.rows if (found := decision_cpu_of(row.summary))]
    kinds = [kind for kind in MEASURED_KINDS if any(kind in found.parts for _, found in rows)]
    if not kinds:
        return None
    drawn = [row for row, _ in rows]
    texts = [_text(found, data.text) for _, found in rows]
    traces = [
        bars(
            part_name(kind, data.text),
            drawn,
            [found.parts.get(kind) for _, found in rows],
            texts,
            marker={"color": _COLOURS[kind]},
        )
        for kind in kinds
    ]
    axis = value_axis("µs of CPU per decision")
    return figure([*traces, *_sum_marks(rows, texts)], by_row(data, drawn, axis, barmode="stack"))


CHART = Chart(
    "decision-cpu",
    "Where a decision’s CPU goes",
    "CPU time per decision (an answer to one descriptor) of all roles that take part, in the median run; a "
    "bar is their sum, the line its range over the runs that served their load. {node_part} Rows with a part "
    "that was not counted are left out.",
    build,
)

"""How far the clients are from the controls: from what the harness can do without them."""

from typing import Any

import plotly.graph_objects as go

from report.analysis.comparison_text import interval_of
from report.analysis.figures import throughput
from report.analysis.summary import sample_between
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import INK, Chart, by_row, figure, value_axis
from report.charts.marks import bars
from report.statistics.decision import Comparison, compare_samples


def _shares(data: ChartData, control: str) -> dict[str, tuple[ChartRow, float, Comparison]]:
    """By row id: the row, its throughput in % of that of the control beside it, and what that is from; rows
    with one run have none."""
    found = {}
    for view in data.by_cell:
        ceilings = [row for row in view.controls if row.summary.identity.client == control]
        if not ceilings:
            continue
        ceiling = ceilings[0].summary
        for row in view.own:
            if row.summary.identity.open_loop:
                continue
            (comparison,) = compare_samples([sample_between(row.summary, ceiling, throughput)])
            if comparison.ratio is not None:
                found[row.id] = (row, 100 * comparison.ratio, comparison)
    return found


def _text(control: str, comparison: Comparison) -> str:
    return f"{interval_of(comparison)} of {control}"


def build(data: ChartData) -> dict[str, Any] | None:
    """Bars in % of `none`, marks in % of `memory`; None where no control stands beside a client."""
    of_none, of_memory = (list(_shares(data, name).values()) for name in ("none", "memory"))
    if not of_none and not of_memory:
        return None
    traces: list[Any] = []
    if of_none:
        rows = [row for row, _, _ in of_none]
        traces.append(
            bars(
                "of none",
                rows,
                [share for _, share, _ in of_none],
                [_text("none", comparison) for _, _, comparison in of_none],
                marker={"color": [row.colour for row in rows]},
                showlegend=False,
            )
        )
    if of_memory:
        ids = [row.id for row, _, _ in of_memory]
        traces.append(
            go.Scatter(
                name="in % of memory",
                mode="markers",
                x=[share for _, share, _ in of_memory],
                y=ids,
                meta=ids,
                customdata=[f"{row.text}: {_text('memory', comparison)}" for row, _, comparison in of_memory],
                hovertemplate="%{customdata}<extra></extra>",
                marker={
                    "symbol": "diamond-open",
                    "size": 9,
                    "color": INK,
                    "line": {"color": INK, "width": 1.5},
                },
            )
        )
    drawn = {row.id: row for row, _, _ in (*of_none, *of_memory)}
    rows = [row for row in data.rows if row.id in drawn]
    highest = max(100.0, *(share for _, share, _ in (*of_none, *of_memory)))
    axis = value_axis("% of the control's throughput", ticksuffix=" %", range=[0, highest * 1.02])
    return figure(traces, by_row(data, rows, axis, showlegend=bool(of_memory)))


CHART = Chart(
    "ceiling",
    "Distance to the ceiling",
    "Throughput in % of the controls under the same load, over their runs. Bars: of none, the {consumer} "
    "without a limiter. Diamonds: of memory, counters in the {consumer}'s own process. What is missing "
    "to 100 % is the price of the limiter and its store. Bars close to 100 % say more about the harness than "
    "the client.",
    build,
)

"""The chart of the distance to the ceiling."""

from typing import Any

from msgspec import Struct

from report.analysis.figures import throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.analysis.texts import interval_of
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow, View
from report.charts.colours import INK
from report.charts.layout import Chart, bars, by_row, figure
from report.statistics.decision import compare_samples


class _Share(Struct, frozen=True):
    """The throughput of a row in % of that of a control."""

    row: ChartRow
    percent: float
    text: str
    """The share with its interval, as text."""


def _shares_of(data: ChartData, control: str) -> list[_Share]:
    """The rows in % of the control under the same load. Rows with one run have no share."""
    shares: dict[str, _Share] = {}
    for view in data.by_cell:
        ceiling = _control_of(view, control)
        for row in view.main_rows:
            if ceiling and not row.summary.identity.open_loop:
                share = _share(row, ceiling, control)
                if share:
                    shares[row.id] = share
    return list(shares.values())


def _control_of(view: View, control: str) -> Summary | None:
    for row in view.controls:
        if row.summary.identity.client == control:
            return row.summary
    return None


def _share(row: ChartRow, ceiling: Summary, control: str) -> _Share | None:
    (comparison,) = compare_samples(
        [sample_between(row.summary, ceiling, throughput)], row.summary.margin
    )
    if comparison.ratio is None:
        return None
    return _Share(row, 100 * comparison.ratio, f"{interval_of(comparison)} of {control}")


def _draw(data: ChartData) -> dict[str, Any] | None:
    shares_of_none = _shares_of(data, "none")
    shares_of_memory = _shares_of(data, "memory")
    shares = [*shares_of_none, *shares_of_memory]
    if not shares:
        return None

    traces: list[Any] = []
    if shares_of_none:
        traces.append(
            bars(
                "of none",
                [share.row for share in shares_of_none],
                [share.percent for share in shares_of_none],
                [share.text for share in shares_of_none],
                marker={"color": [share.row.colour for share in shares_of_none]},
                showlegend=False,
            )
        )
    if shares_of_memory:
        points = [
            (share.row, share.percent, f"{share.row.text}: {share.text}")
            for share in shares_of_memory
        ]
        diamond = {
            "symbol": "diamond-open",
            "size": 9,
            "color": INK,
            "line": {"color": INK, "width": 1.5},
        }
        traces.append(layout.points("in % of memory", points, diamond))

    highest = max(100.0, *(share.percent for share in shares))
    axis = layout.value_axis(
        "% of the control's throughput", ticksuffix=" %", range=[0, highest * 1.02]
    )
    drawn_ids = {share.row.id for share in shares}
    rows = [row for row in data.rows if row.id in drawn_ids]
    return figure(traces, by_row(data, rows, axis, showlegend=bool(shares_of_memory)))


CEILING = Chart(
    "ceiling",
    "Distance to the ceiling",
    "Throughput in % of the controls under the same load, over their runs. Bars: of none, the {consumer} "
    "without a limiter. Diamonds: of memory, counters in the {consumer}'s own process. What is missing "
    "to 100 % is the price of the limiter and its store. Bars close to 100 % say more about the harness "
    "than the client.",
    _draw,
)

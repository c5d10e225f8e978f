"""How far the clients are from the controls: from what the harness can do without them."""

from typing import Any

from report.analysis.comparison_text import interval_of
from report.analysis.figures import throughput
from report.analysis.summary import sample_between
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import INK, Chart, by_row, figure, value_axis
from report.charts.marks import bars, points
from report.statistics.decision import compare_samples


def _shares(data: ChartData, control: str) -> list[tuple[ChartRow, float, str]]:
    """Each row with its throughput in % of that of the control beside it, and the same with its interval;
    rows with one run have none."""
    found = {}
    for view in data.by_cell:
        ceiling = next((row.summary for row in view.controls if row.summary.identity.client == control), None)
        for row in view.own:
            if ceiling and not row.summary.identity.open_loop:
                (comparison,) = compare_samples([sample_between(row.summary, ceiling, throughput)])
                if comparison.ratio is not None:
                    text = f"{interval_of(comparison)} of {control}"
                    found[row.id] = (row, 100 * comparison.ratio, text)
    return list(found.values())


def build(data: ChartData) -> dict[str, Any] | None:
    of_none, of_memory = (_shares(data, name) for name in ("none", "memory"))
    both = [*of_none, *of_memory]
    if not both:
        return None
    traces: list[Any] = []
    if of_none:
        rows, shares, texts = (list(column) for column in zip(*of_none, strict=True))
        colours = {"color": [row.colour for row in rows]}
        traces.append(bars("of none", rows, shares, texts, marker=colours, showlegend=False))
    if of_memory:
        found = [(row, share, f"{row.text}: {text}") for row, share, text in of_memory]
        diamond = {"symbol": "diamond-open", "size": 9, "color": INK, "line": {"color": INK, "width": 1.5}}
        traces.append(points("in % of memory", found, diamond))
    drawn = {row.id for row, _, _ in both}
    highest = max(100.0, *(share for _, share, _ in both))
    axis = value_axis("% of the control's throughput", ticksuffix=" %", range=[0, highest * 1.02])
    shown = [row for row in data.rows if row.id in drawn]
    return figure(traces, by_row(data, shown, axis, showlegend=bool(of_memory)))


CHART = Chart(
    "ceiling",
    "Distance to the ceiling",
    "Throughput in % of the controls under the same load, over their runs. Bars: of none, the {consumer} "
    "without a limiter. Diamonds: of memory, counters in the {consumer}'s own process. What is missing "
    "to 100 % is the price of the limiter and its store. Bars close to 100 % say more about the harness than "
    "the client.",
    build,
)

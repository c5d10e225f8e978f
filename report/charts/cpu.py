"""CPU time per answered request, stacked by role."""

from typing import Any

from report.base.format import microseconds
from report.charts.chart_data import CATEGORICAL, CONTROL_COLOUR, ChartData, ChartRow, literal
from report.charts.layout import SERVER, STORE, Chart, by_row, figure, value_axis
from report.charts.marks import bars
from report.results.roles import cpu_us_per_request, group_names

_COLOURS = {"server": SERVER, "store": STORE, "generator": CONTROL_COLOUR}


def _used(row: ChartRow) -> dict[str, float]:
    return cpu_us_per_request(row.figures.roles)


def _text(row: ChartRow) -> str:
    used = _used(row)
    total = microseconds(sum(used.values()))
    each = ", ".join(f"{literal(role)} {microseconds(value)}" for role, value in used.items())
    return f"{total} µs per request<br>{each}"


def build(data: ChartData) -> dict[str, Any] | None:
    """One bar per row, one part per role; None when no role was read."""
    rows = [row for row in data.rows if _used(row)]
    roles = group_names({name: role for row in rows for name, role in row.figures.roles.items()})
    if not roles:
        return None
    texts = [_text(row) for row in rows]
    traces = [
        bars(
            literal(role),
            rows,
            [_used(row).get(role) for row in rows],
            texts,
            marker={"color": _COLOURS.get(role, list(CATEGORICAL)[-1])},
        )
        for role in roles
    ]
    return figure(traces, by_row(data, rows, value_axis("µs per answered request"), barmode="stack"))


CHART = Chart(
    "cpu",
    "CPU per request",
    "CPU time per answered request in each role, in the window of the median run; less is better. A "
    "cluster’s nodes are added up. The generator’s part belongs to the harness, not to the client.",
    build,
)

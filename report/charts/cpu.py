"""CPU time per answered request, stacked by kind of role."""

from typing import Any

from report.analysis.layer_text import LayerText
from report.base.format import microseconds
from report.charts.chart_data import CONTROL_COLOUR, ChartData, ChartRow
from report.charts.layout import SERVER, SERVICE, STORE, Chart, by_row, figure, value_axis
from report.charts.marks import bars
from report.results.model import MEASURED_KINDS, cpu_us_per_request

_COLOURS = {
    "server": SERVER,
    "client": SERVER,
    "service": SERVICE,
    "store": STORE,
    "generator": CONTROL_COLOUR,
}


def _used(row: ChartRow) -> dict[str, float]:
    return cpu_us_per_request(row.figures.record.resources)


def _text(row: ChartRow, text: LayerText) -> str:
    used = _used(row)
    total = microseconds(sum(used.values()))
    each = ", ".join(f"{_name(kind, text)} {microseconds(value)}" for kind, value in used.items())
    return f"{total} µs per {text.request}<br>{each}"


def _name(kind: str, text: LayerText) -> str:
    return text.consumer if not text.has_servers and kind == "generator" else kind


def build(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if _used(row)]
    kinds = [kind for kind in MEASURED_KINDS if any(kind in _used(row) for row in rows)]
    if not kinds:
        return None
    text = data.text
    texts = [_text(row, text) for row in rows]
    traces = [
        bars(
            _name(kind, text),
            rows,
            [_used(row).get(kind) for row in rows],
            texts,
            marker={"color": _COLOURS[_name(kind, text)]},
        )
        for kind in kinds
    ]
    return figure(traces, by_row(data, rows, value_axis(f"µs per answered {text.request}"), barmode="stack"))


CHART = Chart(
    "cpu",
    "CPU per {request}",
    "CPU time per answered {request} in each kind of role, in the window of the median run; less is better. "
    "A cluster’s nodes and several servers are added up.{generator_part}",
    build,
)

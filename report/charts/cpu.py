"""CPU time per answered request, stacked by kind of role."""

from typing import Any

from report.analysis.layer_text import LayerText
from report.base.format import microseconds
from report.charts.chart_data import CONTROL_COLOUR, ChartData
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


def _name(kind: str, text: LayerText) -> str:
    return text.consumer if not text.has_servers and kind == "generator" else kind


def build(data: ChartData) -> dict[str, Any] | None:
    text = data.text
    used = [(row, cpu) for row in data.rows if (cpu := cpu_us_per_request(row.figures.record.resources))]
    kinds = [kind for kind in MEASURED_KINDS if any(kind in cpu for _, cpu in used)]
    if not kinds:
        return None
    rows, texts = [row for row, _ in used], []
    for _, cpu in used:
        each = ", ".join(f"{_name(kind, text)} {microseconds(value)}" for kind, value in cpu.items())
        texts.append(f"{microseconds(sum(cpu.values()))} µs per {text.request}<br>{each}")
    traces = []
    for kind in kinds:
        name, values = _name(kind, text), [cpu.get(kind) for _, cpu in used]
        traces.append(bars(name, rows, values, texts, marker={"color": _COLOURS[name]}))
    return figure(traces, by_row(data, rows, value_axis(f"µs per answered {text.request}"), barmode="stack"))


CHART = Chart(
    "cpu",
    "CPU per {request}",
    "CPU time per answered {request} in each kind of role, in the window of the median run; less is better. "
    "A cluster’s nodes and several servers are added up.{generator_part}",
    build,
)

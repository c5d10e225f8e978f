"""The charts of the CPU time per request, at full load and at a given rate."""

from collections.abc import Mapping
from typing import Any

from report.analysis.figures import sum_of_kind
from report.analysis.texts import AT_FULL_LOAD, LayerText, at_its_load
from report.base.format import microseconds
from report.charts import colours, layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, bars, by_row, figure
from report.results.catalog import MEASURED_KINDS

_WHAT_IS_SHOWN = (
    "CPU time per answered {request} in each kind of role, the median of the runs; less is "
    "better. A cluster’s nodes and several servers are added up."
)

_COLOURS = {
    "server": colours.SERVER,
    "client": colours.SERVER,
    "service": colours.SERVICE,
    "store": colours.STORE,
    "generator": colours.CONTROL_COLOUR,
}

_CPU_OF_KIND = {kind: sum_of_kind("cpu_us_per_request", kind) for kind in MEASURED_KINDS}


def _cpu_us(row: ChartRow) -> dict[str, float]:
    """The CPU time in µs per request of each kind of role that was measured."""
    medians = {kind: row.median(figure) for kind, figure in _CPU_OF_KIND.items()}
    return {kind: median for kind, median in medians.items() if median is not None}


def _kind_name(kind: str, text: LayerText) -> str:
    return text.consumer if not text.has_servers and kind == "generator" else kind


def _hover_text(cpu_us: Mapping[str, float], text: LayerText) -> str:
    parts = [f"{_kind_name(kind, text)} {microseconds(value)}" for kind, value in cpu_us.items()]
    return f"µs per {text.request}: {', '.join(parts)}"


def _draw(data: ChartData, open_loop: bool) -> dict[str, Any] | None:
    """Draws one kind of loop, because a request costs something else at full load than at a
    rate."""
    text = data.text
    rows = []
    cpu_of_rows = []
    for row in data.rows:
        cpu_us = _cpu_us(row)
        if row.summary.identity.open_loop is open_loop and cpu_us:
            rows.append(row)
            cpu_of_rows.append(cpu_us)
    if not rows:
        return None

    texts = [_hover_text(cpu_us, text) for cpu_us in cpu_of_rows]
    traces = []
    for kind in MEASURED_KINDS:
        if any(kind in cpu_us for cpu_us in cpu_of_rows):
            name = _kind_name(kind, text)
            values = [cpu_us.get(kind) for cpu_us in cpu_of_rows]
            traces.append(bars(name, rows, values, texts, marker={"color": _COLOURS[name]}))
    axis = layout.value_axis(at_its_load(f"µs per answered {text.request}", open_loop))
    return figure(traces, by_row(data, rows, axis, barmode="stack"))


CPU_AT_FULL_LOAD = Chart(
    "cpu",
    f"CPU per {{request}} {AT_FULL_LOAD}",
    f"{_WHAT_IS_SHOWN} At another load it is another.{{generator_part}}",
    lambda data: _draw(data, open_loop=False),
)
CPU_AT_RATE = Chart(
    "cpu-at-rate",
    "CPU per {request} at a given rate",
    f"{_WHAT_IS_SHOWN}{{generator_part}} Do not compare it with that {AT_FULL_LOAD}.",
    lambda data: _draw(data, open_loop=True),
)

"""Memory of the server and the store."""

from collections.abc import Callable
from typing import Any

from report.base.format import mebibytes
from report.charts.chart_data import ChartData
from report.charts.layout import SERVER, SERVER_LIGHT, STORE, Chart, by_row, figure, value_axis
from report.charts.marks import bars
from report.results.model import Measured

_SERIES: tuple[tuple[str, Callable[[Measured], float | None], str], ...] = (
    ("server heap used", lambda figures: figures.record.memory_usage, SERVER),
    ("server resident", lambda figures: figures.record.memory_resident, SERVER_LIGHT),
    ("store used, at the end", lambda figures: figures.store_memory_bytes, STORE),
)


def build(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if any(read(row.figures) is not None for _, read, _ in _SERIES)]
    if not rows:
        return None
    traces, width = [], 0.72 / len(_SERIES)
    for number, (name, read, colour) in enumerate(_SERIES):
        values = [read(row.figures) for row in rows]
        if any(value is not None for value in values):
            amounts = [None if value is None else value / 1024**2 for value in values]
            texts = [f"{name} {mebibytes(value)} MiB" for value in values]
            place = {"width": width, "offset": width * (number - len(_SERIES) / 2)}
            traces.append(bars(name, rows, amounts, texts, marker={"color": colour}, **place))
    return figure(traces, by_row(data, rows, value_axis("MiB"), row_px=32, barmode="overlay"))


CHART = Chart(
    "memory",
    "Memory",
    "{server_memory}Store: the memory that it reports after the last answer, all nodes together.",
    build,
)

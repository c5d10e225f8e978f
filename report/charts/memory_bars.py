"""The chart of the memory of server and store."""

from typing import Any

from report.analysis.figures import Figure, heap, store_used
from report.base.format import mebibytes
from report.charts import colours, layout
from report.charts.chart_data import ChartData
from report.charts.layout import BYTES_PER_MIB, Chart, bars, by_row, figure

#: The name, figure and colour of each kind of memory.
_KINDS: tuple[tuple[str, Figure, str], ...] = (
    ("server heap used", heap, colours.SERVER),
    (
        "server resident",
        Figure(lambda measured: measured.record.memory_resident),
        colours.SERVER_LIGHT,
    ),
    ("store used, at the end", store_used, colours.STORE),
)

#: The part of a row's height that its bars take together.
_HEIGHT_OF_BARS = 0.72


def _draw(data: ChartData) -> dict[str, Any] | None:
    rows = [
        row for row in data.rows if any(row.median(figure) is not None for _, figure, _ in _KINDS)
    ]
    if not rows:
        return None

    traces = []
    width = _HEIGHT_OF_BARS / len(_KINDS)
    for number, (name, memory, colour) in enumerate(_KINDS):
        sizes_bytes = [row.median(memory) for row in rows]
        if all(size is None for size in sizes_bytes):
            continue
        traces.append(
            bars(
                name,
                rows,
                [None if size is None else size / BYTES_PER_MIB for size in sizes_bytes],
                [f"{name} {mebibytes(size)} MiB" for size in sizes_bytes],
                marker={"color": colour},
                width=width,
                offset=width * (number - len(_KINDS) / 2),
            )
        )
    axis = layout.value_axis("MiB")
    return figure(traces, by_row(data, rows, axis, row_px=32, barmode="overlay"))


MEMORY_BARS = Chart(
    "memory",
    "Memory",
    "{server_memory}Store: the memory that it reports after the last answer, all nodes together.",
    _draw,
)

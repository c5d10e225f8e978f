"""The charts of one run of each row over its seconds, all of one shape."""

from collections.abc import Callable, Sequence
from typing import Any

from report.analysis.figures import node_kind
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import BYTES_PER_MIB, Chart, by_view, figure, rate_axis
from report.results.model import Usage
from report.results.series import MAX_POINTS, stretches

#: Stands for the kind of role that calls the limiter, which is `node_kind` of the layer.
_CONSUMER = "consumer"

TimedValues = Sequence[tuple[float, float]]
"""Times in seconds, each with its value."""


def _answers_over_time(row: ChartRow) -> TimedValues:
    """Answers per second of the selected run."""
    points = []
    for stretch in stretches(row.selected.seconds):
        answers = sum(second.allowed + second.limited for second in stretch)
        duration_s = sum(second.interval_s for second in stretch)
        points.append((stretch[-1].t_s, answers / duration_s))
    return points


def _usage_over_time(
    kind: str, read: Callable[[Usage], float | None]
) -> Callable[[ChartRow], TimedValues]:
    """A function that reads what the roles of a kind used in the selected run."""

    def values(row: ChartRow) -> TimedValues:
        points = [(usage.t_s, read(usage)) for usage in row.selected.usage.get(kind, ())]
        return [(t_s, value) for t_s, value in points if value is not None]

    return values


def _line(row: ChartRow, points: TimedValues, value_text: str) -> dict[str, Any]:
    return {
        "hovertemplate": f"{row.text} at %{{x}} s: {value_text}<extra></extra>",
        **row.style(2, 6),
        "meta": row.id,
        "mode": "lines+markers" if len(points) < 20 else "lines",
        "name": row.text,
        "x": [round(t_s, 3) for t_s, _ in points],
        "y": [round(value, 1) for _, value in points],
        "type": "scatter",
    }


def _figure(
    data: ChartData,
    values: Callable[[ChartRow], TimedValues],
    y: dict[str, Any],
    value_text: str,
    since: str = "the first reading",
) -> dict[str, Any] | None:
    """A line for each row over the seconds of its selected run.

    `value_text` is the template by which hovering shows a value."""
    lines = [(row, points) for row in data.rows if (points := values(row))]
    if not lines:
        return None
    traces = [_line(row, points, value_text) for row, points in lines]
    x = layout.value_axis(f"seconds since {since}")
    return figure(traces, by_view(data.by_cell, [row for row, _ in lines], x, y))


def _draw_throughput(data: ChartData) -> dict[str, Any] | None:
    value_text = f"%{{y:,.0f}} {data.text.rate_unit}"
    return _figure(
        data, _answers_over_time, rate_axis(data.text), value_text, since="the window opened"
    )


def _kind_of(data: ChartData, kind: str) -> str:
    return node_kind(data.text.layer) if kind == _CONSUMER else kind


def _draw_cpu(data: ChartData, kind: str) -> dict[str, Any] | None:
    values = _usage_over_time(_kind_of(data, kind), lambda usage: usage.cpu_percent)
    return _figure(data, values, layout.value_axis("% of one CPU"), "%{y:,.0f} % of one CPU")


def _draw_memory(data: ChartData, kind: str) -> dict[str, Any] | None:
    values = _usage_over_time(
        _kind_of(data, kind), lambda usage: usage.resident_bytes / BYTES_PER_MIB
    )
    return _figure(data, values, layout.value_axis("MiB"), "%{y:,.1f} MiB")


def _usage_charts(kind: str, title: str) -> tuple[Chart, Chart]:
    """CPU and memory over time of the kind of role that `title` names."""
    return (
        Chart(
            f"{kind}-cpu-over-time",
            f"{title} CPU over time",
            "CPU time in the same runs; several processes of a kind are added up. In a closed loop it is "
            "that at full load. The first reading is before the lead-in.",
            lambda data: _draw_cpu(data, kind),
        ),
        Chart(
            f"{kind}-memory-over-time",
            f"{title} memory over time",
            "Resident memory in the same runs, as the system counts it; several processes of a kind are "
            "added up. In a container it is the container's, without what the kernel can drop.",
            lambda data: _draw_memory(data, kind),
        ),
    )


OVER_TIME = (
    Chart(
        "series",
        "Throughput over time",
        "Each second of one run of each row, the selected one. A steady line means that the warm-up was "
        f"long enough and that nothing disturbed the run. In runs of more than {MAX_POINTS} s a point "
        "stands for several seconds.",
        _draw_throughput,
    ),
    *_usage_charts(_CONSUMER, "{consumer_title}"),
    *_usage_charts("store", "Store"),
    *_usage_charts("service", "Service"),
)

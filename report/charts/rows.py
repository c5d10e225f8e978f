"""Charts with one line per row: throughput, latency, CPU, memory, limited share, distance to the ceiling."""

from collections.abc import Callable, Sequence
from typing import Any

from report.analysis.figures import figure_text, p50, p99, throughput
from report.analysis.summary import sample_between
from report.analysis.texts import LayerText, interval_of
from report.base.format import mebibytes, microseconds, milliseconds, percent, plural, rate, share
from report.charts.layout import (
    CONTROL_COLOUR,
    INK,
    SERVER,
    SERVER_LIGHT,
    SERVICE,
    STORE,
    Chart,
    ChartData,
    ChartRow,
    bars,
    by_row,
    figure,
    latency_axis,
    points,
    rate_axis,
    run_points,
    value_axis,
    whiskers,
)
from report.results.model import MEASURED_KINDS, Measured, cpu_us_per_request
from report.statistics.decision import compare_samples


def _rate_text(row: ChartRow, unit: str) -> str:
    spread = row.summary.spread
    more = ""
    if spread and spread.count > 1:
        runs = plural(spread.count, "run")
        more = f"<br>{rate(spread.min)} to {rate(spread.max)} over {runs}, CV {percent(spread.cv_percent)}"
    return f"{rate(row.figures.requests_per_second)} {unit} in the median run{more}"


def _throughput(data: ChartData) -> dict[str, Any] | None:
    rows = data.at_capacity
    if not rows:
        return None
    values, unit = [row.figures.requests_per_second for row in rows], data.text.rate_unit
    texts = [_rate_text(row, unit) for row in rows]
    medians = bars(
        "median run",
        rows,
        values,
        texts,
        marker={"color": [row.colour for row in rows]},
        error_x=whiskers(rows, throughput, values),
        showlegend=False,
    )
    points = run_points(rows, throughput, rate, unit)
    return figure([medians, *points], by_row(data, rows, rate_axis(data.text)))


def _latency_text(row: ChartRow, text: LayerText) -> str:
    few = ", too few samples" if "p99" in row.figures.unsupported else ""
    shown = [f"{figure_text(row.figures, each, text.latency)} {text.latency_unit}" for each in (p50, p99)]
    return f"p50 {shown[0]}, p99 {shown[1]}{few}"


def _latency(data: ChartData, drawn: Sequence[ChartRow]) -> dict[str, Any] | None:
    rows = [row for row in drawn if row.figures.percentiles_ms or row.figures.bounds_ms]
    if not rows:
        return None
    unit = data.text.latency_unit

    def read_p99(figures: Measured) -> float | None:
        return data.text.latency_value(p99(figures))

    texts = [_latency_text(row, data.text) for row in rows]
    colours = [row.colour for row in rows]
    p50s = [data.text.latency_value(p50(row.figures)) for row in rows]
    p99s = [read_p99(row.figures) for row in rows]
    pale = bars(
        "p99",
        rows,
        p99s,
        texts,
        marker={
            "color": colours,
            "opacity": [0.25 if "p99" in row.figures.unsupported else 0.4 for row in rows],
        },
        error_x=whiskers(rows, read_p99, p99s),
        showlegend=False,
    )
    full = bars("p50", rows, p50s, texts, marker={"color": colours}, showlegend=False)
    points = run_points(rows, read_p99, milliseconds, f"{unit} p99")
    layout = by_row(data, rows, latency_axis(unit, data.text), barmode="overlay")
    return figure([pale, full, *points], layout)


_READ = (
    "The full bar is p50 of the median run, the pale bar p99 (palest: fewer than 10,000 samples, too few for "
    "it); circles are p99 of the runs in which it is known, × of invalid runs, + of runs in which the target "
    "failed its load; lines are ranges. A percentile that failed or unanswered requests could move has no "
    "bar: its bounds are in the text."
)
THROUGHPUT = Chart(
    "throughput",
    "Throughput at capacity",
    "Answered {requests} per second in a closed loop; more is better. Bars are median runs, circles all runs "
    "that served their load, lines their range, × invalid runs, + runs in which the target failed its load. "
    "Compare rows within a heading only: load, store or what decides differ between headings.{no_controls}",
    _throughput,
)
AT_CAPACITY = Chart(
    "latency",
    "Latency at capacity",
    f"Less is better. {_READ} This latency follows from the throughput, and is not that at a given rate.",
    lambda data: _latency(data, data.at_capacity),
)
AT_A_RATE = Chart(
    "latency-at-rate",
    "Latency at a given rate",
    "Less is better. In an open loop {requests} are due at the rate that the heading names, and latency "
    f"counts from when a {{request}} was due, even if it was sent late. {_READ} Do not compare these with "
    "latencies at capacity.",
    lambda data: _latency(data, data.at_a_rate),
)


_KIND_COLOURS = {
    "server": SERVER,
    "client": SERVER,
    "service": SERVICE,
    "store": STORE,
    "generator": CONTROL_COLOUR,
}


def _kind_name(kind: str, text: LayerText) -> str:
    return text.consumer if not text.has_servers and kind == "generator" else kind


def _cpu(data: ChartData) -> dict[str, Any] | None:
    text = data.text
    used = [(row, cpu) for row in data.rows if (cpu := cpu_us_per_request(row.figures.record.resources))]
    kinds = [kind for kind in MEASURED_KINDS if any(kind in cpu for _, cpu in used)]
    if not kinds:
        return None
    rows, texts = [row for row, _ in used], []
    for _, cpu in used:
        each = ", ".join(f"{_kind_name(kind, text)} {microseconds(value)}" for kind, value in cpu.items())
        texts.append(f"{microseconds(sum(cpu.values()))} µs per {text.request}<br>{each}")
    traces = []
    for kind in kinds:
        name, values = _kind_name(kind, text), [cpu.get(kind) for _, cpu in used]
        traces.append(bars(name, rows, values, texts, marker={"color": _KIND_COLOURS[name]}))
    return figure(traces, by_row(data, rows, value_axis(f"µs per answered {text.request}"), barmode="stack"))


CPU = Chart(
    "cpu",
    "CPU per {request}",
    "CPU time per answered {request} in each kind of role, in the window of the median run; less is better. "
    "A cluster’s nodes and several servers are added up.{generator_part}",
    _cpu,
)


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


def _ceiling(data: ChartData) -> dict[str, Any] | None:
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


CEILING = Chart(
    "ceiling",
    "Distance to the ceiling",
    "Throughput in % of the controls under the same load, over their runs. Bars: of none, the {consumer} "
    "without a limiter. Diamonds: of memory, counters in the {consumer}'s own process. What is missing "
    "to 100 % is the price of the limiter and its store. Bars close to 100 % say more about the harness than "
    "the client.",
    _ceiling,
)


_MEMORY: tuple[tuple[str, Callable[[Measured], float | None], str], ...] = (
    ("server heap used", lambda figures: figures.record.memory_usage, SERVER),
    ("server resident", lambda figures: figures.record.memory_resident, SERVER_LIGHT),
    ("store used, at the end", lambda figures: figures.store_memory_bytes, STORE),
)


def _memory(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if any(read(row.figures) is not None for _, read, _ in _MEMORY)]
    if not rows:
        return None
    traces, width = [], 0.72 / len(_MEMORY)
    for number, (name, read, colour) in enumerate(_MEMORY):
        values = [read(row.figures) for row in rows]
        if any(value is not None for value in values):
            amounts = [None if value is None else value / 1024**2 for value in values]
            texts = [f"{name} {mebibytes(value)} MiB" for value in values]
            place = {"width": width, "offset": width * (number - len(_MEMORY) / 2)}
            traces.append(bars(name, rows, amounts, texts, marker={"color": colour}, **place))
    return figure(traces, by_row(data, rows, value_axis("MiB"), row_px=32, barmode="overlay"))


MEMORY = Chart(
    "memory",
    "Memory",
    "{server_memory}Store: the memory that it reports after the last answer, all nodes together.",
    _memory,
)


def _limited(data: ChartData) -> dict[str, Any] | None:
    seen = [(row, value) for row in data.rows if (value := row.figures.limited_share) is not None]
    predicted = [(row, prediction) for row, _ in seen if (prediction := row.figures.record.prediction)]
    if not seen:
        return None
    expected = []
    for row, each in predicted:
        told = f"{share(each.limited_share)} predicted, ± {share(each.tolerance)}, set by the {each.basis}"
        expected.append((row, 100 * each.limited_share, f"{row.text}: {told}"))
    tolerances = [100 * each.tolerance for _, each in predicted]
    tolerance = {"type": "data", "array": tolerances, "color": INK, "thickness": 1.5, "width": 6}
    stroke = {"symbol": "line-ns-open", "size": 14, "color": INK, "line": {"color": INK, "width": 2}}
    measured = [(row, 100 * value, f"{row.text}: {share(value)} measured") for row, value in seen]
    dots = {"symbol": "circle", "size": 9, "color": [row.colour for row, _ in seen]}
    traces = [points("measured", measured, dots, cliponaxis=False)]
    if predicted:
        traces.insert(0, points("predicted, with tolerance", expected, stroke, error_x=tolerance))
    layout = by_row(data, [row for row, _ in seen], value_axis("% of answers", ticksuffix=" %"))
    return figure(traces, layout)


LIMITED = Chart(
    "limited",
    "Limited share, predicted and measured",
    "The share of answers that were rejections{rejection}. The traffic sets this share, so a faster client "
    "does not get more rejections, and a run outside the tolerance is invalid. With limits set by hand the "
    "share follows the speed: then a model predicts it, and a run outside the tolerance is suspect.",
    _limited,
)

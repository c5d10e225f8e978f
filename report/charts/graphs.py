"""All charts but the strips of faults: of lines over a number that rows differ in, and of bars a
row."""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

import plotly.graph_objects as go
from msgspec import Struct, structs

from report.analysis.cells import subject
from report.analysis.figures import (
    MEMORY_KINDS,
    Figure,
    heap,
    limit_hits,
    limited_share,
    mean_latency,
    node_kind,
    p50,
    p99,
    percentile,
    store_used,
    sum_of_kind,
    throughput,
)
from report.analysis.memory_per_key_rows import KeyMemory, Point, memory_per_key
from report.analysis.summary import Summary, sample_between
from report.analysis.texts import AT_FULL_LOAD, LayerText, at_its_load, interval_of
from report.base.format import (
    count,
    mebibytes,
    microseconds,
    milliseconds,
    percent,
    plural,
    rate,
    share,
)
from report.charts import layout
from report.charts.layout import (
    INK,
    Chart,
    ChartData,
    ChartRow,
    bars,
    by_row,
    by_view,
    figure,
    rate_axis,
)
from report.results.model import MEASURED_KINDS, Measured, Run, Usage
from report.results.series import MAX_POINTS, stretches
from report.statistics.decision import compare_samples
from report.statistics.histograms import CURVE as PERCENTS
from report.statistics.histograms import PERCENTILES, Bounds


def lines_of(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    """Rows that differ in their connections alone, in an open loop in their rate, the least first;
    or in the number of servers alone."""
    lines: dict[tuple[str, str], list[ChartRow]] = {}
    for row in rows:
        identity, ignored = row.summary.identity, dict[str, Any](connections=0)
        if over_servers:
            ignored = {"counts": {**identity.counts, "servers": 0}}
        elif identity.open_loop:
            ignored = {"rate_per_second": None}
        lines.setdefault((row.summary.runtime, subject(identity, **ignored)), []).append(row)
    return [sorted(line, key=_servers if over_servers else _amount) for line in lines.values()]


def _long_lines(rows: Sequence[ChartRow], over_servers: bool = False) -> list[list[ChartRow]]:
    return [line for line in lines_of(rows, over_servers) if len(line) > 1]


def _amount(row: ChartRow) -> float:
    return row.summary.identity.rate_per_second or row.summary.identity.connections


def _servers(row: ChartRow) -> int:
    return row.summary.identity.servers


def _connections(row: ChartRow) -> int:
    return row.summary.identity.connections


def _medians(
    name: str,
    line: Sequence[ChartRow],
    x: Sequence[float | None],
    figure: Figure,
    texts: Sequence[str],
    shown: Callable[[float | None], float | None] = lambda value: value,
) -> go.Scatter:
    """A line through the medians of a figure with their ranges; `shown` gives the value that is
    drawn."""
    ends = layout.whiskers(line, figure, shown) | {"color": line[0].colour, "thickness": 1}
    y, ids = [shown(row.median(figure)) for row in line], [row.id for row in line]
    return layout.scatter(
        name, ids, x, y, texts, "lines+markers", error_y=ends, **line[0].style(2, 8)
    )


def _throughput(
    line: Sequence[ChartRow],
    amount: Callable[[ChartRow], int],
    named: Callable[[ChartRow], str],
    unit: str,
) -> go.Scatter:
    texts = [f"{row.text}, {named(row)}: {rate(row.median(throughput))} {unit}" for row in line]
    return _medians(line[0].text, line, list(map(amount, line)), throughput, texts)


def _linear(line: Sequence[ChartRow]) -> go.Scatter:
    first = line[0]
    each = (first.median(throughput) or 0) / _servers(first)
    return go.Scatter(
        name=f"{first.text}, linear",
        mode="lines",
        x=list(map(_servers, line)),
        y=[each * _servers(row) for row in line],
        meta=[row.id for row in line],
        legendgroup=first.text,
        showlegend=False,
        hoverinfo="skip",
        line={"color": first.colour, "dash": "dot", "width": 1},
    )


def _over(
    data: ChartData,
    lines: Sequence[Sequence[ChartRow]],
    views: Sequence[layout.View],
    title: str,
    amount: Callable[[ChartRow], int],
    traces: Sequence[go.Scatter],
    y: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    if not lines:
        return None
    rows = [row for line in lines for row in line]
    numbers = sorted(set(map(amount, rows)))
    x = layout.value_axis(
        title,
        type="log" if numbers[-1] > 8 * numbers[0] else "linear",
        rangemode="normal",
        tickmode="array",
        tickvals=numbers,
        ticktext=[f"{number:,}" for number in numbers],
    )
    most = layout.MAX_LINES * len(numbers)
    return figure(traces, by_view(views, rows, x, y or rate_axis(data.text), max_rows=most))


def _connections_title(text: LayerText) -> str:
    return "connections" if text.has_servers else "at a time"


def _over_connections(data: ChartData) -> dict[str, Any] | None:
    lines, unit = _long_lines(data.at_capacity), data.text.rate_unit
    traces = [
        _throughput(line, _connections, lambda row: row.summary.identity.load_text, unit)
        for line in lines
    ]
    return _over(data, lines, data.by_curve, _connections_title(data.text), _connections, traces)


def _lines_of_one_group_size(rows: Sequence[ChartRow]) -> list[list[ChartRow]]:
    """Lines over the connections of rows over their runs in groups of one size: between two sizes
    the latency at full load changes with the size alone (rule M35)."""
    by_size: dict[int, list[ChartRow]] = {}
    for row in rows:
        for size in row.summary.group_sizes:
            at_size = structs.replace(row, summary=row.summary.in_groups_of(size))
            if at_size.median(p99) is not None:
                by_size.setdefault(size, []).append(at_size)
    return [line for _, of_size in sorted(by_size.items()) for line in _long_lines(of_size)]


def _mean_line(name: str, line: Sequence[ChartRow], text: LayerText) -> go.Scatter:
    """The mean belongs to the line of the p99, and has no entry of its own in the legend."""
    values = [text.latency_value(row.median(mean_latency)) for row in line]
    texts = [
        f"{row.text}, {row.summary.identity.load_text}: {_latency_text(row, text)}" for row in line
    ]
    style = {"color": line[0].colour, "dash": "dot", "width": 1}
    ids, x = [row.id for row in line], list(map(_connections, line))
    more: dict[str, Any] = {"legendgroup": name, "showlegend": False, "line": style}
    return layout.scatter(f"{name}, mean", ids, x, values, texts, "lines", **more)


def _latency_over_connections(data: ChartData) -> dict[str, Any] | None:
    text, traces = data.text, []
    lines = _lines_of_one_group_size(data.at_capacity)
    sizes = {line[0].summary.group_size_text for line in lines}
    for line in lines:
        name = line[0].text if len(sizes) == 1 else f"{line[0].text}, {line[0].summary.group_text}"
        texts = [
            f"{row.text}, {row.summary.identity.load_text}: {_latency_text(row, text)}"
            for row in line
        ]
        x = list(map(_connections, line))
        p99_line = _medians(name, line, x, p99, texts, text.latency_value)
        traces += [p99_line.update(legendgroup=name), _mean_line(name, line, text)]
    y = layout.latency_axis(f"{text.latency_unit} {AT_FULL_LOAD}", text)
    return _over(data, lines, data.by_curve, _connections_title(text), _connections, traces, y)


def _over_servers(data: ChartData) -> dict[str, Any] | None:
    lines, unit = _long_lines(data.at_capacity, over_servers=True), data.text.rate_unit
    traces = [
        trace
        for line in lines
        for trace in (
            _throughput(line, _servers, lambda row: plural(_servers(row), "server"), unit),
            _linear(line),
        )
    ]
    return _over(data, lines, data.by_servers, "servers", _servers, traces)


def over_rate(data: ChartData) -> dict[str, Any] | None:
    lines = _long_lines([row for row in data.at_a_rate if row.median(p99) is not None])
    if not lines:
        return None
    text, rows, traces = data.text, [row for line in lines for row in line], []
    for line in lines:
        offered = [row.summary.identity.rate_per_second for row in line]
        texts = [
            f"{row.text} at {rate(at)} {text.rate_unit}: {_latency_text(row, text)}"
            for row, at in zip(line, offered, strict=True)
        ]
        traces.append(_medians(line[0].text, line, offered, p99, texts, text.latency_value))
    x = layout.log_axis(f"offered {text.requests} per second")
    y_axis = layout.log_axis(f"p99 in {text.latency_unit}")
    most = layout.MAX_LINES * max(len(line) for line in lines)
    return figure(traces, by_view(data.by_curve, rows, x, y_axis, max_rows=most))


class _Point(Struct, frozen=True):
    row: ChartRow
    rate: float
    p99_ms: float
    hover: str


def _against(points: Sequence[_Point], text: LayerText, mode: str, **more: Any) -> go.Scatter:
    """Throughput and p99 of each point, with what hovering shows."""
    first = points[0].row
    return layout.scatter(
        first.text,
        [point.row.id for point in points],
        [point.rate for point in points],
        [text.latency_value(point.p99_ms) for point in points],
        [point.hover for point in points],
        mode,
        legendgroup=first.text,
        **more,
    )


def _few(row: ChartRow) -> str:
    return ", too few samples" if row.summary.figure_of(p99).few_samples else ""


def _with_range(row: ChartRow, name: str, figure: Figure, text: LayerText) -> str:
    """`p99 12.2 ms (8.10–14.0)`."""
    found = row.summary.figure_of(figure)
    range_ = found.range_text(text.latency)
    return (
        f"{name} {found.text(text.latency)} {text.latency_unit}{f' ({range_})' if range_ else ''}"
    )


def _median_point(row: ChartRow, text: LayerText) -> _Point | None:
    amount, slow = row.median(throughput), row.median(p99)
    if amount is None or slow is None:
        return None
    said = f"{rate(amount)} {text.rate_unit}, {_with_range(row, 'p99', p99, text)}{_few(row)}"
    load = f"{row.summary.identity.load_text}, {row.summary.group_text}"
    hover = f"{row.text}, {load}<br>{said}"
    return _Point(row, amount, slow, hover)


def _run_point(row: ChartRow, run: Run, text: LayerText) -> _Point | None:
    slow = run.measured.percentiles_ms.get("p99") if run.measured and run.eligible else None
    if run.measured is None or slow is None:
        return None
    amount = run.measured.requests_per_second
    said = f"{rate(amount)} {text.rate_unit}, p99 {text.latency(slow)} {text.latency_unit}"
    return _Point(row, amount, slow, f"{row.text}, run {run.run}: {said}")


def _tradeoff(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.at_capacity if row.median(p99) is not None]
    if not rows:
        return None
    text = data.text

    medians, others = [], []
    for line in lines_of(rows):
        first = line[0]
        points = [point for row in line if (point := _median_point(row, text))]
        medians.append(_against(points, text, "lines+markers", **first.style(1, 11)))
        runs = [
            point
            for row in line
            for run in row.summary.runs
            if (point := _run_point(row, run, text))
        ]
        if len(runs) > len(line):
            marker = {
                "color": first.colour,
                "symbol": f"{first.symbol}-open",
                "size": 6,
                "opacity": 0.7,
            }
            others.append(_against(runs, text, "markers", showlegend=False, marker=marker))
    x, y = rate_axis(text), layout.latency_axis(f"p99 in {text.latency_unit}", text)
    most = layout.MAX_LINES * len(set(map(_connections, rows)))
    return figure([*others, *medians], by_view(data.by_curve, rows, x, y, max_rows=most))


#: Where points are marked, with the names under which `unsupported` lists them.
_MARKED = {50.0: "p50", 90.0: "p90", 99.0: "p99", 99.9: "p99_9"}


def _beyond(percent: float) -> float:
    """One request in so many is slower: p50 → 2, p99.9 → 1000, which spreads the tail evenly."""
    return round(100 / (100 - percent), 4)


#: Of what a curve passes through: the percentiles with a name, and each by its place in the curves
#: of runs.
_NAMED = {percent: percentile(name) for name, percent in PERCENTILES.items()}


def _of_curve(place: int) -> Figure:
    def read(figures: Measured) -> float | None:
        return figures.curve_ms[place] if place < len(figures.curve_ms) else None

    def at_least(figures: Measured) -> Bounds | None:
        return Bounds(figures.curve_ms[-1], None) if figures.curve_ms else None

    return Figure(read, read_bounds=at_least)


_CURVE = tuple(
    (percent, _NAMED.get(percent) or _of_curve(at)) for at, percent in enumerate(PERCENTS)
)


def _median_curve(summary: Summary) -> list[tuple[float, float]]:
    """The median of each percentile over the runs, up to the first one that is not identified."""
    medians = ((percent, summary.figure_of(figure).value) for percent, figure in _CURVE)
    known = takewhile(lambda each: each[1] is not None, medians)
    return [(percent, value) for percent, value in known if value is not None]


def _percentile_line(row: ChartRow, text: LayerText) -> go.Scatter:
    curve = _median_curve(row.summary)
    found = {percent: row.summary.figure_of(percentile(name)) for percent, name in _MARKED.items()}
    few = {percent for percent, median_ in found.items() if median_.few_samples}
    return go.Scatter(
        name=row.text,
        mode="lines+markers",
        x=[_beyond(percent) for percent, _ in curve],
        # A logarithmic axis has no place for 0, so it becomes the histogram's smallest step.
        y=[text.latency_value(max(round(value, 3), 0.001)) for _, value in curve],
        meta=row.id,
        customdata=[
            f"{percent:g}{', too few samples' if percent in few else ''}" for percent, _ in curve
        ],
        hovertemplate=f"{row.text}: %{{y:,.3~r}} {text.latency_unit} at p%{{customdata}}<extra></extra>",
        line={"color": row.colour, "dash": row.dash, "width": 2},
        marker={
            "color": row.colour,
            "symbol": [
                f"{row.symbol}-open" if percent in few else row.symbol for percent, _ in curve
            ]
            if few
            else row.symbol,
            "size": [8 if percent in _MARKED else 0 for percent, _ in curve],
            "opacity": 1,
            "line": {"color": row.colour, "width": 1.5},
        },
    )


def _percentiles(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if _median_curve(row.summary)]
    if not rows:
        return None
    x = layout.value_axis(
        "percentile",
        type="log",
        rangemode="normal",
        tickmode="array",
        tickvals=[_beyond(percent) for percent in (50, 75, 90, 95, 99, 99.5, 99.9)],
        ticktext=["p50", "p75", "p90", "p95", "p99", "p99.5", "p99.9"],
    )
    y = layout.log_axis(data.text.latency_unit)
    return figure(
        [_percentile_line(row, data.text) for row in rows], by_view(data.by_cell, rows, x, y)
    )


_MIB = 1024**2

#: A time in seconds, and the value there.
TimedValues = Sequence[tuple[float, float]]


def _answers_over_time(row: ChartRow) -> TimedValues:
    """Answers per second of the selected run."""
    points = []
    for stretch in stretches(row.selected.seconds):
        answers = sum(second.allowed + second.limited for second in stretch)
        points.append((stretch[-1].t_s, answers / sum(second.interval_s for second in stretch)))
    return points


def _usage_over_time(
    kind: str, read: Callable[[Usage], float | None]
) -> Callable[[ChartRow], TimedValues]:
    """What the roles of a kind used in the selected run."""

    def values(row: ChartRow) -> TimedValues:
        read_at = [(usage.t_s, read(usage)) for usage in row.selected.usage.get(kind, ())]
        return [(t_s, value) for t_s, value in read_at if value is not None]

    return values


def _line_over_time(row: ChartRow, points: TimedValues, shown: str) -> go.Scatter:
    return go.Scatter(
        name=row.text,
        mode="lines+markers" if len(points) < 20 else "lines",
        x=[round(t_s, 3) for t_s, _ in points],
        y=[round(value, 1) for _, value in points],
        meta=row.id,
        hovertemplate=f"{row.text} at %{{x}} s: {shown}<extra></extra>",
        **row.style(2, 6),
    )


def _over_time(
    data: ChartData,
    values: Callable[[ChartRow], TimedValues],
    y: dict[str, Any],
    shown: str,
    since: str = "the first reading",
) -> dict[str, Any] | None:
    """A line a row over the seconds of its selected run; `shown` is how hovering shows a value."""
    lines = [(row, points) for row in data.rows if (points := values(row))]
    if not lines:
        return None
    traces = [_line_over_time(row, points, shown) for row, points in lines]
    x = layout.value_axis(f"seconds since {since}")
    return figure(traces, by_view(data.by_cell, [row for row, _ in lines], x, y))


def _throughput_over_time(data: ChartData) -> dict[str, Any] | None:
    shown = f"%{{y:,.0f}} {data.text.rate_unit}"
    return _over_time(data, _answers_over_time, rate_axis(data.text), shown, "the window opened")


#: Stands for the kind of role that asks: `node_kind` of the layer.
_CONSUMER = "consumer"


def _kind_of(data: ChartData, kind: str) -> str:
    return node_kind(data.text.layer) if kind == _CONSUMER else kind


def _cpu_over_time(data: ChartData, kind: str) -> dict[str, Any] | None:
    values = _usage_over_time(_kind_of(data, kind), lambda usage: usage.cpu_percent)
    return _over_time(data, values, layout.value_axis("% of one CPU"), "%{y:,.0f} % of one CPU")


def _memory_over_time(data: ChartData, kind: str) -> dict[str, Any] | None:
    values = _usage_over_time(_kind_of(data, kind), lambda usage: usage.resident_bytes / _MIB)
    return _over_time(data, values, layout.value_axis("MiB"), "%{y:,.1f} MiB")


def _usage_charts(kind: str, title: str) -> tuple[Chart, Chart]:
    """CPU and memory over time of the kind of role that `title` names."""
    return (
        Chart(
            f"{kind}-cpu-over-time",
            f"{title} CPU over time",
            "CPU time in the same runs; several processes of a kind are added up. In a closed loop it is "
            "that at full load. The first reading is before the lead-in.",
            lambda data: _cpu_over_time(data, kind),
        ),
        Chart(
            f"{kind}-memory-over-time",
            f"{title} memory over time",
            "Resident memory in the same runs, as the system counts it; several processes of a kind are "
            "added up. In a container it is the container's, without what the kernel can drop.",
            lambda data: _memory_over_time(data, kind),
        ),
    )


#: The charts of one run of each row over its seconds, all of one shape.
OVER_TIME = (
    Chart(
        "series",
        "Throughput over time",
        "Each second of one run of each row, the selected one. A steady line means that the warm-up was "
        f"long enough and that nothing disturbed the run. In runs of more than {MAX_POINTS} s a point "
        "stands for several seconds.",
        _throughput_over_time,
    ),
    *_usage_charts(_CONSUMER, "{consumer_title}"),
    *_usage_charts("store", "Store"),
    *_usage_charts("service", "Service"),
)


def _memory_lines(target: KeyMemory, rows: Mapping[str, ChartRow]) -> list[go.Scatter]:
    slope = target.slopes[0]
    points = [point for point in slope.points if point.summary_id in rows]
    if not points:
        return []
    first, line = rows[points[0].summary_id], slope.line
    name, style = f"{first.text}, {MEMORY_KINDS[slope.kind].lower()}", first.style(2, 7)

    def trace(
        own: Sequence[Point], values: Sequence[float], texts: list[str], mode: str, **more: Any
    ) -> Any:
        ids, keys = [point.summary_id for point in own], [point.keys for point in own]
        found = [value / _MIB for value in values]
        return layout.scatter(name, ids, keys, found, texts, mode, legendgroup=first.text, **more)

    ends = [min(points, key=lambda point: point.keys), max(points, key=lambda point: point.keys)]
    fitted = [line.intercept + line.slope * point.keys for point in ends]
    slope_text = f"{first.text}: {line.slope:.1f} bytes per key, {slope.text}"
    hover = [
        f"{first.text}, run {point.run}: {mebibytes(point.bytes)} MiB for {point.keys:,} keys"
        for point in points
    ]
    measured = [point.bytes for point in points]
    return [
        trace(ends, fitted, [slope_text] * 2, "lines", line=style["line"]),
        trace(points, measured, hover, "markers", showlegend=False, marker=style["marker"]),
    ]


def _memory_per_key(data: ChartData) -> dict[str, Any] | None:
    rows = {row.id: row for row in data.rows}
    targets = [
        target for target in memory_per_key(row.summary for row in data.rows) if target.slopes
    ]
    drawn = tuple(rows[summary_id] for target in targets for summary_id in target.summary_ids)
    traces = [trace for target in targets for trace in _memory_lines(target, rows)]
    if not traces:
        return None
    most = layout.MAX_LINES * max(len(target.summary_ids) for target in targets)
    x, y = (
        layout.value_axis("fresh keys", tickformat=","),
        layout.value_axis("MiB more than before any key"),
    )
    return figure(traces, by_view([layout.View("all targets", drawn)], drawn, x, y, max_rows=most))


def _rate_text(row: ChartRow, unit: str) -> str:
    spread = row.summary.spread
    more = ""
    if spread and spread.count > 1:
        runs, cv = plural(spread.count, "run"), percent(spread.cv_percent)
        more = f"<br>median of {runs}: {rate(spread.min)} to {rate(spread.max)}, CV {cv}"
    return f"{rate(row.median(throughput))} {unit}{more}"


def _throughputs(data: ChartData) -> dict[str, Any] | None:
    rows = data.at_capacity
    if not rows:
        return None
    values, unit = [row.median(throughput) for row in rows], data.text.rate_unit
    texts = [_rate_text(row, unit) for row in rows]
    medians = bars(
        "median",
        rows,
        values,
        texts,
        marker={"color": [row.colour for row in rows]},
        error_x=layout.whiskers(rows, throughput),
        showlegend=False,
    )
    points = layout.run_points(rows, throughput, rate, unit)
    return figure([medians, *points], by_row(data, rows, rate_axis(data.text)))


def _latency_text(row: ChartRow, text: LayerText) -> str:
    group = "" if row.summary.identity.open_loop else f", {AT_FULL_LOAD}, {row.summary.group_text}"
    figures = (("mean", mean_latency), ("p50", p50), ("p99", p99))
    return f"{', '.join(_with_range(row, *named, text) for named in figures)}{_few(row)}{group}"


def _latency(data: ChartData, drawn: Sequence[ChartRow]) -> dict[str, Any] | None:
    rows = [row for row in drawn if row.summary.figure_of(p50).runs]
    if not rows:
        return None
    unit = data.text.latency_unit

    def read_p99(figures: Measured) -> float | None:
        return data.text.latency_value(p99(figures))

    texts = [_latency_text(row, data.text) for row in rows]
    colours = [row.colour for row in rows]
    p50s, p99s = (
        [data.text.latency_value(row.median(each)) for row in rows] for each in (p50, p99)
    )
    pale = bars(
        "p99",
        rows,
        p99s,
        texts,
        marker={
            "color": colours,
            "opacity": [0.25 if _few(row) else 0.4 for row in rows],
        },
        error_x=layout.whiskers(rows, p99, data.text.latency_value),
        showlegend=False,
    )
    full = bars("p50", rows, p50s, texts, marker={"color": colours}, showlegend=False)
    means = [(row, data.text.latency_value(row.median(mean_latency))) for row in rows]
    marked = [
        (row, value, f"{row.text}: {text}")
        for (row, value), text in zip(means, texts, strict=True)
        if value is not None
    ]
    stroke = {
        "symbol": "line-ns-open",
        "size": 13,
        "color": INK,
        "line": {"color": INK, "width": 2},
    }
    strokes = [layout.points("mean", marked, stroke)] if marked else []
    points = layout.run_points(rows, read_p99, milliseconds, f"{unit} p99")
    axis = layout.latency_axis(unit, data.text)
    return figure([pale, full, *strokes, *points], by_row(data, rows, axis, barmode="overlay"))


_READ = (
    "The full bar is the median p50 of the runs, the pale bar their median p99 (palest: fewer than 10,000 "
    "samples, too few for it), the upright stroke their median mean; circles are p99 of the runs in which it "
    "is known, × of invalid runs, + of runs in which the target failed its load; lines are ranges. A "
    "percentile that failed or unanswered requests could move has no bar: its bounds are in the text."
)


_CPU = (
    "CPU time per answered {request} in each kind of role, the median of the runs; less is "
    "better. A cluster’s nodes and several servers are added up."
)

_KIND_COLOURS = {
    **{"server": layout.SERVER, "client": layout.SERVER, "service": layout.SERVICE},
    **{"store": layout.STORE, "generator": layout.CONTROL_COLOUR},
}


def _kind_name(kind: str, text: LayerText) -> str:
    return text.consumer if not text.has_servers and kind == "generator" else kind


def _cpu_us(row: ChartRow) -> dict[str, float]:
    """In µs per request by kind of role."""
    found = {kind: row.median(figure) for kind, figure in _CPU_OF_KIND.items()}
    return {kind: value for kind, value in found.items() if value is not None}


_CPU_OF_KIND = {kind: sum_of_kind("cpu_us_per_request", kind) for kind in MEASURED_KINDS}


def _cpu(data: ChartData, open_loop: bool) -> dict[str, Any] | None:
    """Of one kind of loop: what a request costs at full load is not what it costs at a rate."""
    text, drawn = (
        data.text,
        [row for row in data.rows if row.summary.identity.open_loop is open_loop],
    )
    used = [(row, cpu) for row in drawn if (cpu := _cpu_us(row))]
    kinds = [kind for kind in MEASURED_KINDS if any(kind in cpu for _, cpu in used)]
    if not kinds:
        return None
    rows, texts = [row for row, _ in used], []
    for _, cpu in used:
        each = ", ".join(
            f"{_kind_name(kind, text)} {microseconds(value)}" for kind, value in cpu.items()
        )
        texts.append(f"µs per {text.request}: {each}")
    traces = []
    for kind in kinds:
        name, values = _kind_name(kind, text), [cpu.get(kind) for _, cpu in used]
        traces.append(bars(name, rows, values, texts, marker={"color": _KIND_COLOURS[name]}))
    axis = layout.value_axis(at_its_load(f"µs per answered {text.request}", open_loop))
    return figure(traces, by_row(data, rows, axis, barmode="stack"))


def _shares(data: ChartData, control: str) -> list[tuple[ChartRow, float, str]]:
    """Each row with its throughput in % of that of the control beside it, and the same with its
    interval; rows with one run have none."""
    found = {}
    for view in data.by_cell:
        ceiling = next(
            (row.summary for row in view.controls if row.summary.identity.client == control), None
        )
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
        diamond = {
            "symbol": "diamond-open",
            "size": 9,
            "color": INK,
            "line": {"color": INK, "width": 1.5},
        }
        traces.append(layout.points("in % of memory", found, diamond))
    drawn = {row.id for row, _, _ in both}
    highest = max(100.0, *(share for _, share, _ in both))
    axis = layout.value_axis(
        "% of the control's throughput", ticksuffix=" %", range=[0, highest * 1.02]
    )
    shown = [row for row in data.rows if row.id in drawn]
    return figure(traces, by_row(data, shown, axis, showlegend=bool(of_memory)))


_MEMORY: tuple[tuple[str, Figure, str], ...] = (
    ("server heap used", heap, layout.SERVER),
    (
        "server resident",
        Figure(lambda figures: figures.record.memory_resident),
        layout.SERVER_LIGHT,
    ),
    ("store used, at the end", store_used, layout.STORE),
)


def _memory(data: ChartData) -> dict[str, Any] | None:
    rows = [
        row for row in data.rows if any(row.median(figure) is not None for _, figure, _ in _MEMORY)
    ]
    if not rows:
        return None
    traces, width = [], 0.72 / len(_MEMORY)
    for number, (name, memory, colour) in enumerate(_MEMORY):
        values = [row.median(memory) for row in rows]
        if any(value is not None for value in values):
            amounts = [None if value is None else value / _MIB for value in values]
            texts = [f"{name} {mebibytes(value)} MiB" for value in values]
            place = {"width": width, "offset": width * (number - len(_MEMORY) / 2)}
            traces.append(bars(name, rows, amounts, texts, marker={"color": colour}, **place))
    return figure(
        traces, by_row(data, rows, layout.value_axis("MiB"), row_px=32, barmode="overlay")
    )


def _limited(data: ChartData) -> dict[str, Any] | None:
    seen = [(row, value) for row in data.rows if (value := row.median(limited_share)) is not None]
    predicted = [
        (row, prediction) for row, _ in seen if (prediction := row.selected.record.prediction)
    ]
    if not seen:
        return None
    expected = []
    for row, each in predicted:
        told = f"{share(each.limited_share)} predicted, ± {share(each.tolerance)}, set by the {each.basis}"
        expected.append((row, 100 * each.limited_share, f"{row.text}: {told}"))
    hits = f"{data.text.requests} in a run"
    tolerances = [100 * each.tolerance for _, each in predicted]
    tolerance = {"type": "data", "array": tolerances, "color": INK, "thickness": 1.5, "width": 6}
    stroke = {
        "symbol": "line-ns-open",
        "size": 14,
        "color": INK,
        "line": {"color": INK, "width": 2},
    }
    measured = [
        (
            row,
            100 * value,
            f"{row.text}: {share(value)} measured, {count(row.median(limit_hits))} {hits}",
        )
        for row, value in seen
    ]
    dots = {"symbol": "circle", "size": 9, "color": [row.colour for row, _ in seen]}
    traces = [layout.points("measured", measured, dots, cliponaxis=False)]
    if predicted:
        traces.insert(
            0, layout.points("predicted, with tolerance", expected, stroke, error_x=tolerance)
        )
    rows, axis = [row for row, _ in seen], layout.value_axis("% of answers", ticksuffix=" %")
    return figure(traces, by_row(data, rows, axis))


CHARTS = (
    Chart(
        "throughput",
        "Throughput at capacity",
        "Answered {requests} per second in a closed loop; more is better. Bars are medians, circles the "
        "runs that served their load, lines their range, × invalid runs, + runs in which the target failed "
        "its load. Compare rows within a heading only: load, store or what decides differ between "
        "headings.{no_controls}",
        _throughputs,
    ),
    Chart(
        "latency",
        "Latency at full load",
        f"Less is better. {_READ} This latency follows from the throughput, moves with the number of targets "
        "that were up at once, and is not that at a given rate.",
        lambda data: _latency(data, data.at_capacity),
    ),
    Chart(
        "latency-at-rate",
        "Latency at a given rate",
        "Less is better. In an open loop {requests} are due at the rate that the heading names, and latency "
        f"counts from when a {{request}} was due, even if it was sent late. {_READ} Do not compare these "
        "with latencies at full load.",
        lambda data: _latency(data, data.at_a_rate),
    ),
    Chart(
        "curve",
        "Latency over the offered rate",
        "Median p99 of the runs from the intended send, in an open loop at several rates; vertical lines "
        "are the range. Where a line bends upwards, the {consumer} comes near its capacity. Rates that "
        "were not kept, and those without a p99, are left out.",
        over_rate,
    ),
    Chart(
        "cpu",
        f"CPU per {{request}} {AT_FULL_LOAD}",
        f"{_CPU} At another load it is another.{{generator_part}}",
        lambda data: _cpu(data, open_loop=False),
    ),
    Chart(
        "cpu-at-rate",
        "CPU per {request} at a given rate",
        f"{_CPU}{{generator_part}} Do not compare it with that {AT_FULL_LOAD}.",
        lambda data: _cpu(data, open_loop=True),
    ),
    Chart(
        "trend",
        "Over concurrency",
        "Median throughput of the runs by number of {connections}; more is better. Vertical lines are the "
        "range of the runs that served their load.",
        _over_connections,
    ),
    Chart(
        "latency-trend",
        f"Latency over concurrency {AT_FULL_LOAD}",
        "Median p99 of the runs by number of {connections}, thin dotted their mean; less is better. "
        "Vertical lines are the range of the p99. A line has the runs in groups of one size, because latency "
        "at full load moves with the number of targets that were up at once.",
        _latency_over_connections,
    ),
    Chart(
        "scaling",
        "Over servers",
        "Median throughput of the runs by the number of servers on one store, over which the connections are "
        "spread evenly; more is better. Vertical lines are the range of the runs that served their load; "
        "thin dotted lines show growth in proportion to the servers.",
        _over_servers,
    ),
    Chart(
        "memory-per-key",
        "Memory over the number of keys",
        "Each point is a run with a fresh store and as many decisions, each on a key of its own; the slope "
        "of a line is the bytes per key. Memory is read where the table says.",
        _memory_per_key,
    ),
    Chart(
        "percentiles",
        "Latency by percentile",
        "How slow the slowest {requests} were; lower is better. Further to the right are rarer {requests}: "
        "at p99 one in 100 is slower, at p99.9 one in 1,000. Each percentile is the median of the runs. "
        "Marks stand at p50, p90, p99 and p99.9; a hollow mark has too few samples (p99 needs 10,000, p99.9 "
        "needs 100,000). A line ends where failed or unanswered requests could move it. Closed and open "
        "loops are never in one view: the first is latency at full load, which moves with the number of "
        "targets that were up at once, the second at a rate.",
        _percentiles,
    ),
    Chart(
        "tradeoff",
        "Throughput against latency",
        "Further right is more throughput, lower is less latency at full load, which moves with the number "
        "of targets that were up at once. Full marks are medians, small hollow "
        "marks the runs that served their load; rows and runs without a p99 are left out. A line joins "
        "different numbers of {connections}: where it turns upwards, more {connections} add waiting "
        "time and no throughput.",
        _tradeoff,
    ),
    Chart(
        "ceiling",
        "Distance to the ceiling",
        "Throughput in % of the controls under the same load, over their runs. Bars: of none, the {consumer} "
        "without a limiter. Diamonds: of memory, counters in the {consumer}'s own process. What is missing "
        "to 100 % is the price of the limiter and its store. Bars close to 100 % say more about the harness "
        "than the client.",
        _ceiling,
    ),
    Chart(
        "memory",
        "Memory",
        "{server_memory}Store: the memory that it reports after the last answer, all nodes together.",
        _memory,
    ),
    Chart(
        "limited",
        "Limited share, predicted and measured",
        "The share of answers that were rejections{rejection}; hovering also shows how many there were in a "
        "run, the median of the runs. The traffic sets this share, so a faster "
        "client does not get more rejections, and a run outside the tolerance is invalid. With limits set by "
        "hand the share follows the speed: then a model predicts it, and a run outside the tolerance is "
        "suspect.",
        _limited,
    ),
    *OVER_TIME,
)

"""The chart of the latency by percentile."""

from collections.abc import Iterator
from typing import Any

from report.analysis.figures import Figure, percentile
from report.analysis.summary import Summary
from report.analysis.texts import LayerText
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure
from report.results.model import Measured
from report.statistics.histograms import CURVE as PERCENTS
from report.statistics.histograms import PERCENTILES, Bounds

#: The percentiles with a mark, and the names under which `unsupported` lists them.
_MARKED = {50.0: "p50", 90.0: "p90", 99.0: "p99", 99.9: "p99_9"}

_TICKS = {
    50: "p50",
    75: "p75",
    90: "p90",
    95: "p95",
    99: "p99",
    99.5: "p99.5",
    99.9: "p99.9",
}


def _figure_of_curve(place: int) -> Figure:
    """The figure of the latency at one place of the curves of runs."""

    def read(measured: Measured) -> float | None:
        return measured.curve_ms[place] if place < len(measured.curve_ms) else None

    def at_least(measured: Measured) -> Bounds | None:
        return Bounds(measured.curve_ms[-1], None) if measured.curve_ms else None

    return Figure(read, read_bounds=at_least)


def _curve_figures() -> Iterator[tuple[float, Figure]]:
    """The percents of a curve with their figures. Percentiles with a name have a figure of their
    own."""
    named = {percent: percentile(name) for name, percent in PERCENTILES.items()}
    for place, percent in enumerate(PERCENTS):
        yield percent, named.get(percent) or _figure_of_curve(place)


_CURVE = tuple(_curve_figures())


def _median_curve(summary: Summary) -> list[tuple[float, float]]:
    """Percents with the median over the runs in ms, up to the first percentile that is not
    identified."""
    curve: list[tuple[float, float]] = []
    for percent, latency in _CURVE:
        median = summary.figure_of(latency).value
        if median is None:
            break
        curve.append((percent, median))
    return curve


def _inverse_share(percent: float) -> float:
    """One request in this many is slower: 2 for p50, 1000 for p99.9. It spreads the tail evenly."""
    return round(100 / (100 - percent), 4)


def _line(row: ChartRow, text: LayerText) -> dict[str, Any]:
    curve = _median_curve(row.summary)
    few_samples = {
        percent
        for percent, name in _MARKED.items()
        if row.summary.figure_of(percentile(name)).few_samples
    }
    symbol: str | list[str] = row.symbol
    if few_samples:
        symbol = [
            f"{row.symbol}-open" if percent in few_samples else row.symbol for percent, _ in curve
        ]
    return {
        "customdata": [
            f"{percent:g}{', too few samples' if percent in few_samples else ''}"
            for percent, _ in curve
        ],
        "hovertemplate": f"{row.text}: %{{y:,.3~r}} {text.latency_unit} at p%{{customdata}}<extra></extra>",
        "line": {"color": row.colour, "dash": row.dash, "width": 2},
        "marker": {
            "color": row.colour,
            "line": {"color": row.colour, "width": 1.5},
            "opacity": 1,
            "size": [8 if percent in _MARKED else 0 for percent, _ in curve],
            "symbol": symbol,
        },
        "meta": row.id,
        "mode": "lines+markers",
        "name": row.text,
        "x": [_inverse_share(percent) for percent, _ in curve],
        # A logarithmic axis has no place for 0, so it becomes the histogram's smallest step.
        "y": [text.latency_value(max(round(value, 3), 0.001)) for _, value in curve],
        "type": "scatter",
    }


def _draw(data: ChartData) -> dict[str, Any] | None:
    rows = [row for row in data.rows if _median_curve(row.summary)]
    if not rows:
        return None

    x = layout.value_axis(
        "percentile",
        type="log",
        rangemode="normal",
        tickmode="array",
        tickvals=[_inverse_share(percent) for percent in _TICKS],
        ticktext=list(_TICKS.values()),
    )
    y = layout.log_axis(data.text.latency_unit)
    lines = [_line(row, data.text) for row in rows]
    return figure(lines, by_view(data.by_cell, rows, x, y))


PERCENTILE_CURVES = Chart(
    "percentiles",
    "Latency by percentile",
    "How slow the slowest {requests} were; lower is better. Further to the right are rarer {requests}: "
    "at p99 one in 100 is slower, at p99.9 one in 1,000. Each percentile is the median of the runs. "
    "Marks stand at p50, p90, p99 and p99.9; a hollow mark has too few samples (p99 needs 10,000, p99.9 "
    "needs 100,000). A line ends where failed or unanswered requests could move it. Closed and open "
    "loops are never in one view: the first is latency at full load, which moves with the number of "
    "targets that were up at once, the second at a rate.",
    _draw,
)

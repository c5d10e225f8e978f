"""Latency of the median runs: p50 and p99 as bars, p99 of every run as a point."""

from collections.abc import Sequence
from typing import Any

from report.analysis.figures import figure_text, percentile
from report.analysis.layer_text import LayerText
from report.base.format import milliseconds
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_row, figure, latency_axis
from report.charts.marks import bars, run_points, whiskers
from report.results.model import Measured


def _p50(figures: Measured) -> float | None:
    return figures.percentiles_ms.get("p50")


def _p99(figures: Measured) -> float | None:
    return figures.percentiles_ms.get("p99")


def _text(row: ChartRow, text: LayerText) -> str:
    few = ", too few samples" if "p99" in row.figures.unsupported else ""
    p50, p99 = (
        f"{figure_text(row.figures, percentile(name), text.latency)} {text.latency_unit}"
        for name in ("p50", "p99")
    )
    return f"p50 {p50}, p99 {p99}{few}"


def latency_bars(data: ChartData, drawn: Sequence[ChartRow]) -> dict[str, Any] | None:
    """Bars by row, from 0; None when nothing was answered."""
    rows = [row for row in drawn if row.figures.percentiles_ms or row.figures.bounds_ms]
    if not rows:
        return None
    unit = data.text.latency_unit

    def read_p99(figures: Measured) -> float | None:
        return data.text.latency_value(_p99(figures))

    texts = [_text(row, data.text) for row in rows]
    colours = [row.colour for row in rows]
    p50 = [data.text.latency_value(_p50(row.figures)) for row in rows]
    p99 = [read_p99(row.figures) for row in rows]
    pale = bars(
        "p99",
        rows,
        p99,
        texts,
        marker={"color": colours, "opacity": [0.25 if _few(row) else 0.4 for row in rows]},
        error_x=whiskers(rows, read_p99, p99),
        showlegend=False,
    )
    full = bars("p50", rows, p50, texts, marker={"color": colours}, showlegend=False)
    points = run_points(rows, read_p99, milliseconds, f"{unit} p99")
    layout = by_row(data, rows, latency_axis(unit, data.text), barmode="overlay")
    return figure([pale, full, *points], layout)


def _few(row: ChartRow) -> bool:
    return "p99" in row.figures.unsupported


def build(data: ChartData) -> dict[str, Any] | None:
    """Of the rows of a closed loop; None without one."""
    return latency_bars(data, data.at_capacity)


CHART = Chart(
    "latency",
    "Latency at capacity",
    "Less is better. Full bars are p50 of the median runs, pale bars p99 (palest: fewer than 10,000 "
    "samples, too few for it); circles are p99 of the runs in which it is known, × of invalid runs, + of "
    "runs in which the target failed its load. A percentile that failed or unanswered requests could move "
    "has no bar: its bounds are in the text. This latency follows from the throughput, and is not that at a "
    "given rate.",
    build,
)

"""--images: the answer, and throughput and latency of each cell, as SVG, for a README or a slide."""

from collections.abc import Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import figure_text, percentile
from report.analysis.summary import Summary
from report.base.format import rate
from report.export.svg import Bar, Interval, bar_chart, interval_chart
from report.sections.first_screen import cell_title
from report.sections.forest import Forest, forests

#: More is no picture any more.
MAX_BARS = 40
MAX_CELLS = 50


def _label(cell: Cell, summary: Summary) -> str:
    label = summary.identity.short_label
    if summary.identity.control:
        return f"{label} (control)"
    return f"{label}, {summary.identity.store_text}" if cell.stores_differ else label


def _with_outcome(text: str, row: Summary) -> str:
    return f"{text}, failed {row.spoiled_runs} of {row.counted_runs}" if row.spoiled_runs else text


def _title(metric: str, cell: Cell, runtime: str) -> str:
    return " · ".join([metric, *([runtime] if runtime else []), cell_title(cell)])


def _throughput(cell: Cell, rows: Sequence[Summary], runtime: str) -> str:
    bars = []
    for row in rows:
        value = row.figures.requests_per_second if row.figures else None
        points = tuple(run.measured.requests_per_second for run in row.runs if run.eligible and run.measured)
        text = row.no_figures_reason if value is None else _with_outcome(rate(value), row)
        bars.append(Bar(_label(cell, row), value, text, points=points if value is not None else ()))
    what = f"{cell.text.requests.capitalize()}/s of the median run; points are the runs, the line their range"
    return bar_chart(_title("Throughput", cell, runtime), what, bars)


def _latency(cell: Cell, rows: Sequence[Summary], runtime: str) -> str:
    bars = []
    for row in rows:
        percentiles = row.figures.percentiles_ms if row.figures else {}
        p50, p99 = percentiles.get("p50"), percentiles.get("p99")
        few = ", few samples" if row.figures and "p99" in row.figures.unsupported else ""
        text = row.no_figures_reason
        if row.figures:
            both = (figure_text(row.figures, percentile(name), cell.text.latency) for name in ("p50", "p99"))
            text = _with_outcome(f"{' / '.join(both)}{few}", row)
        bars.append(Bar(_label(cell, row), p50, text, behind=p99))
    return bar_chart(
        f"Latency · {cell_title(cell)}",
        f"p50 (dark) and p99 (pale) of the median run in {cell.text.latency_unit}",
        bars,
    )


def _answer(forest: Forest) -> str:
    rows = [
        Interval(row.label, f"{row.text} {row.status}".strip(), row.shape, row.at, row.low, row.high)
        for row in forest.rows
    ]
    subtitle = (
        f"Ratio with its 95 % interval; {forest.better} is better. The band is ± 2 %, which is no difference."
    )
    return interval_chart(
        f"{forest.figure} to the reference", subtitle, rows, forest.one, forest.floor, forest.ticks
    )


def _rows(cell: Cell) -> list[Summary]:
    return [*cell.summaries, *cell.controls][:MAX_BARS]


def images(analysis: Analysis) -> tuple[dict[str, str], int]:
    """Two files per cell, one of an open loop, by name."""
    found = [(cell, runtime.runtime) for runtime in analysis.runtimes for cell in runtime.cells]
    files = {
        f"answer-{number}.svg": _answer(forest) for number, forest in enumerate(forests(analysis), start=1)
    }
    for cell, runtime in found[:MAX_CELLS]:
        rows = _rows(cell)
        # At an offered rate the throughput is the rate: no capacity to draw.
        if not cell.identity.open_loop:
            files[f"throughput-{cell.id}.svg"] = _throughput(cell, rows, runtime)
        files[f"latency-{cell.id}.svg"] = _latency(cell, rows, runtime)
    return files, max(0, len(found) - MAX_CELLS)

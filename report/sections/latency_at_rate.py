"""Open loops: the latency at an offered rate, and how well that rate was kept (rules M3 to M5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.cells import Cell
from report.analysis.layer_text import LayerText
from report.analysis.rankings import by_p99
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, rate
from report.sections.first_screen import cell_title


def _columns(text: LayerText) -> tuple[tuple[str, str], ...]:
    """Name and unit of each column after the row's name."""
    latencies = ("p50", "p99", "p50 from send", "p99 from send")
    return (
        *((name, text.latency_unit) for name in latencies),
        ("Sent", text.rate_unit),
        ("Late", "sends"),
        ("Never sent", "sends"),
    )


@dataclass(frozen=True, slots=True)
class RateRow:
    """`cells` go with the table's columns; `no_figures_reason` replaces them if no run is valid."""

    summary_id: str
    label: str
    store: str
    control: bool
    cells: tuple[str, ...]
    no_figures_reason: str


@dataclass(frozen=True, slots=True)
class RateTable:
    """Of one cell: all rows were offered the same rate."""

    id: str
    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[RateRow, ...]


def _row(summary: Summary, text: LayerText) -> RateRow:
    figures = summary.figures
    latency = figures.percentiles_ms if figures else {}
    service = figures.service_ms if figures else {}
    schedule = figures.schedule if figures else None
    kept = (
        (rate(schedule.achieved_per_second), count(schedule.late), count(schedule.dropped + schedule.unsent))
        if schedule
        else (ABSENT,) * 3
    )
    return RateRow(
        summary.id,
        summary.identity.short_label,
        summary.identity.store_text,
        summary.identity.control,
        (*(text.latency(times.get(name)) for times in (latency, service) for name in ("p50", "p99")), *kept),
        summary.no_figures_reason,
    )


def rate_tables(cells: Sequence[Cell], layer_named: bool = False) -> tuple[RateTable, ...]:
    """A table for each cell of an open loop, rows by p99 and controls last; empty without one.

    Args:
        layer_named: as for `cell_title`.
    """
    return tuple(
        RateTable(
            cell.id,
            cell_title(cell, layer_named),
            _columns(cell.text),
            tuple(_row(summary, cell.text) for summary in (*by_p99(cell.summaries), *by_p99(cell.controls))),
        )
        for cell in cells
        if cell.identity.open_loop
    )

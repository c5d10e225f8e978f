"""Open loops: the latency at an offered rate, and how well that rate was kept (rules M3 to M5)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.analysis.cells import Cell
from report.analysis.figures import figure_text, percentile
from report.analysis.layer_text import LayerText
from report.analysis.rankings import by_p99
from report.analysis.summary import Summary
from report.base.format import ABSENT, bounds, count, decimals, rate
from report.results.model import Measured, SendSchedule
from report.sections.first_screen import cell_title
from report.sections.spread_text import UNIDENTIFIED, UNIDENTIFIED_MARK, figure_marks, suspect_marks
from report.sections.tables import TableCell, sort_key


def _columns(text: LayerText) -> tuple[tuple[str, str], ...]:
    """Name and unit of each column after the row's name."""
    latencies = ("p50", "p99", "p50 from send", "p99 from send")
    return (
        *((name, text.latency_unit) for name in latencies),
        ("Sent", text.rate_unit),
        ("Late", "sends"),
        ("Never sent", "sends"),
        ("Gap as due", "ms"),
        ("Gaps as sent", "p10 · p50 · p90 · p99, ms"),
        ("Wakes", "of the generator"),
    )


@dataclass(frozen=True, slots=True)
class RateRow:
    """`cells` go with the table's columns; `no_figures_reason` replaces them if no run is valid."""

    summary_id: str
    label: str
    store: str
    control: bool
    cells: tuple[TableCell, ...]
    no_figures_reason: str


@dataclass(frozen=True, slots=True)
class RateTable:
    """Of one cell: all rows were offered the same rate."""

    id: str
    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[RateRow, ...]

    @property
    def marks(self) -> str:
        """What the marks on its figures mean."""
        found = dict.fromkeys(mark for row in self.rows for cell in row.cells for mark in cell.marks)
        return " ".join(f"{mark} {meaning}." for mark, meaning in found)


def _number(text: str, sort: float | None, marks: tuple[tuple[str, str], ...] = ()) -> TableCell:
    return TableCell(text, marks=marks, kind="number", sort=sort_key(sort))


def _from_send(figures: Measured | None, name: str, text: LayerText) -> TableCell:
    """As the result states it: the histograms behind it are not read."""
    if figures is None:
        return _number(ABSENT, None)
    value, known = figures.service_ms.get(name), figures.service_bounds_ms.get(name)
    if value is None and known:
        printed = bounds(known.low, known.high, text.latency)
        return _number(printed, None, ((UNIDENTIFIED_MARK, UNIDENTIFIED),))
    return _number(text.latency(value), value)


def _from_due(figures: Measured | None, name: str, text: LayerText) -> TableCell:
    if figures is None:
        return _number(ABSENT, None)
    figure = percentile(name)
    return _number(figure_text(figures, figure, text.latency), figure(figures), figure_marks(figures, figure))


def _marked(cell: TableCell, summary: Summary) -> TableCell:
    return replace(cell, marks=(*cell.marks, *suspect_marks(summary)))


def _kept(schedule: SendSchedule | None) -> tuple[TableCell, ...]:
    """How the schedule was kept."""
    if schedule is None:
        return (_number(ABSENT, None),) * 6
    gaps, never = schedule.gaps_ms, schedule.dropped + schedule.unsent
    sent = [decimals(gaps[name], 2) for name in ("p10", "p50", "p90", "p99") if name in gaps]
    intended = gaps.get("intended")
    return (
        _number(rate(schedule.achieved_per_second), schedule.achieved_per_second),
        _number(count(schedule.late), schedule.late),
        _number(count(never), never),
        _number(decimals(intended, 2), intended),
        _number(" · ".join(sent) or ABSENT, gaps.get("p50")),
        TableCell("shared" if schedule.shared_wakes else "one a send"),
    )


def _row(summary: Summary, text: LayerText) -> RateRow:
    figures = summary.figures
    return RateRow(
        summary.id,
        summary.identity.short_label,
        summary.identity.store_text,
        summary.identity.control,
        (
            *(
                _marked(read(figures, name, text), summary)
                for read in (_from_due, _from_send)
                for name in ("p50", "p99")
            ),
            *_kept(figures.schedule if figures else None),
        ),
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

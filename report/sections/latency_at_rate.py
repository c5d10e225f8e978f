"""Open loops: the latency at an offered rate, and how well that rate was kept (rules M3 to M5)."""

from dataclasses import replace

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import figure_text, percentile
from report.analysis.layer_text import LayerText
from report.analysis.rankings import by_p99
from report.analysis.runtimes import RuntimeResults
from report.analysis.summary import Summary
from report.base.format import ABSENT, bounds, count, decimals, rate
from report.results.model import Measured, stated_bounds
from report.results.records import Schedule
from report.sections.first_screen import cell_title
from report.sections.section import (
    Column,
    Section,
    Table,
    TableCell,
    TableRow,
    number,
    numbers,
    table_of,
    words,
)
from report.sections.spread_text import (
    UNIDENTIFIED,
    UNIDENTIFIED_MARK,
    figure_marks,
    marks_note,
    suspect_marks,
)


def _columns(text: LayerText) -> tuple[Column, ...]:
    latencies = [(name, text.latency_unit) for name in ("p50", "p99", "p50 from send", "p99 from send")]
    schedule = [
        ("Sent", text.rate_unit),
        ("Late", "sends"),
        ("Never sent", "sends"),
        ("Gap as due", "ms"),
        ("Gaps as sent", "p10 · p50 · p90 · p99, ms"),
        ("Wakes", "of the generator"),
    ]
    return (*words("Client", "Store"), *numbers([*latencies, *schedule], "number"))


TEXT = (
    "In an open loop requests are sent by a schedule, whether earlier ones were answered or not. Latency "
    "counts from the moment at which a request was due; “from send” leaves out how long it waited for a "
    "free connection. Gaps are the time between two sends of one worker of the load generator, as they were "
    "due and as they were; where wakes are shared, sends that fall due within half a millisecond go out "
    "together, because no CPU was free. This is not capacity: no row here is compared with one of a closed "
    "loop. Rows are in the order of the p99 of their median runs; the first table on this page says which "
    "differences were shown."
)


def _from_send(figures: Measured | None, name: str, text: LayerText) -> TableCell:
    """As the result states it: the histograms behind it are not read."""
    if figures is None:
        return number(ABSENT, None)
    stated = figures.record.service_time
    value, known = getattr(stated, name, None), stated_bounds(stated).get(name)
    if value is None and known:
        printed = bounds(known.low, known.high, text.latency)
        return number(printed, None, ((UNIDENTIFIED_MARK, UNIDENTIFIED),))
    return number(text.latency(value), value)


def _from_due(figures: Measured | None, name: str, text: LayerText) -> TableCell:
    if figures is None:
        return number(ABSENT, None)
    figure = percentile(name)
    return number(figure_text(figures, figure, text.latency), figure(figures), figure_marks(figures, figure))


def _kept(schedule: Schedule | None) -> tuple[TableCell, ...]:
    """How the schedule was kept."""
    if schedule is None:
        return (number(ABSENT, None),) * 6
    gaps, never = schedule.gaps_ms, schedule.dropped + schedule.unsent
    sent = [decimals(each, 2) for each in (gaps.p10, gaps.p50, gaps.p90, gaps.p99)] if gaps else []
    intended = gaps.intended if gaps else None
    return (
        number(rate(schedule.achieved_per_second), schedule.achieved_per_second),
        number(count(schedule.late), schedule.late),
        number(count(never), never),
        number(decimals(intended, 2), intended),
        number(" · ".join(sent) or ABSENT, gaps.p50 if gaps else None),
        TableCell("shared" if schedule.shared_wakes else "one a send"),
    )


def _row(summary: Summary, text: LayerText) -> TableRow:
    figures, identity = summary.figures, summary.identity
    latencies = [read(figures, name, text) for read in (_from_due, _from_send) for name in ("p50", "p99")]
    cells = (
        TableCell(identity.short_label, tag="control" if identity.control else ""),
        TableCell(identity.store_text),
        *(replace(each, marks=(*each.marks, *suspect_marks(summary))) for each in latencies),
        *_kept(figures.record.schedule if figures else None),
    )
    return TableRow(summary.id, cells, summary.no_figures_reason, kept=2, colour=summary.id)


def _table(part: RuntimeResults, cell: Cell) -> Table:
    rows = [_row(summary, cell.text) for summary in (*by_p99(cell.summaries), *by_p99(cell.controls))]
    title = ": ".join(filter(None, (part.name, cell_title(cell, bool(part.layer)))))
    caption = marks_note(each for row in rows for each in row.cells)
    return table_of(cell.id, _columns(cell.text), rows, title, caption=caption)


def latency_at_rate(analysis: Analysis) -> Section | None:
    """A table for each cell of an open loop, rows by p99 and controls last; None without one."""
    tables = tuple(
        _table(part, cell) for part in analysis.runtimes for cell in part.cells if cell.identity.open_loop
    )
    if not tables:
        return None
    return Section(
        "at-rate", "Latency at a rate", text=(TEXT,), tables=tables, charts=("latency-at-rate", "curve")
    )

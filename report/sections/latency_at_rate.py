"""Open loops: the latency at an offered rate, and how well that rate was kept (rules M3 to M5)."""

from msgspec import structs

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.figures import figure_text, percentile
from report.analysis.rankings import by_p99
from report.analysis.summary import Summary
from report.analysis.texts import LayerText
from report.base.format import ABSENT, bounds, count, decimals, rate
from report.results.model import Measured, stated_bounds
from report.results.records import Schedule
from report.sections import section, verdict_text
from report.sections.first_screen import cell_title


def _columns(text: LayerText) -> tuple[section.Column, ...]:
    latencies = [(name, text.latency_unit) for name in ("p50", "p99", "p50 from send", "p99 from send")]
    schedule = [
        ("Sent", text.rate_unit),
        ("Late", "sends"),
        ("Never sent", "sends"),
        ("Gap as due", "ms"),
        ("Gaps as sent", "p10 · p50 · p90 · p99, ms"),
        ("Wakes", "of the generator"),
    ]
    return (*section.words("Client", "Store"), *section.numbers([*latencies, *schedule], "number"))


TEXT = (
    "In an open loop requests are sent by a schedule, whether earlier ones were answered or not. Latency "
    "counts from the moment at which a request was due; “from send” leaves out how long it waited for a "
    "free connection. Gaps are the time between two sends of one worker of the load generator, as they were "
    "due and as they were; where wakes are shared, sends that fall due within half a millisecond go out "
    "together, because no CPU was free. This is not capacity: no row here is compared with one of a closed "
    "loop. Rows are in the order of the p99 of their median runs; the first table on this page says which "
    "differences were shown."
)


def _from_send(figures: Measured | None, name: str, text: LayerText) -> section.TableCell:
    """As the result states it: the histograms behind it are not read."""
    if figures is None:
        return section.number(ABSENT, None)
    stated = figures.record.service_time
    value, known = getattr(stated, name, None), stated_bounds(stated).get(name)
    if value is None and known:
        printed = bounds(known.low, known.high, text.latency)
        return section.number(printed, None, (verdict_text.UNIDENTIFIED,))
    return section.number(text.latency(value), value)


def _from_due(figures: Measured | None, name: str, text: LayerText) -> section.TableCell:
    if figures is None:
        return section.number(ABSENT, None)
    figure = percentile(name)
    marks = verdict_text.figure_marks(figures, figure)
    return section.number(figure_text(figures, figure, text.latency), figure(figures), marks)


def _kept(schedule: Schedule | None) -> tuple[section.TableCell, ...]:
    if schedule is None:
        return (section.number(ABSENT, None),) * 6
    gaps, never = schedule.gaps_ms, schedule.dropped + schedule.unsent
    sent = [decimals(each, 2) for each in (gaps.p10, gaps.p50, gaps.p90, gaps.p99)] if gaps else []
    intended = gaps.intended if gaps else None
    return (
        section.number(rate(schedule.achieved_per_second), schedule.achieved_per_second),
        section.number(count(schedule.late), schedule.late),
        section.number(count(never), never),
        section.number(decimals(intended, 2), intended),
        section.number(" · ".join(sent) or ABSENT, gaps.p50 if gaps else None),
        section.TableCell("shared" if schedule.shared_wakes else "one a send"),
    )


def _row(summary: Summary, text: LayerText) -> section.TableRow:
    figures, identity = summary.figures, summary.identity
    latencies = [read(figures, name, text) for read in (_from_due, _from_send) for name in ("p50", "p99")]
    cells = (
        section.TableCell(identity.short_label, tag="control" if identity.ceiling else ""),
        section.TableCell(identity.store_text),
        *(
            structs.replace(each, marks=(*each.marks, *verdict_text.suspect_marks(summary)))
            for each in latencies
        ),
        *_kept(figures.record.schedule if figures else None),
    )
    return section.TableRow(summary.id, cells, summary.no_figures_reason, kept=2, colour=summary.id)


def _table(part: RuntimeResults, cell: Cell) -> section.Table:
    ordered = (*cell.with_copies(by_p99(cell.summaries)), *by_p99(cell.controls))
    rows = [_row(summary, cell.text) for summary in ordered]
    title = ": ".join(filter(None, (part.name, cell_title(cell, bool(part.layer)))))
    caption = verdict_text.marks_note(each for row in rows for each in row.cells)
    return section.table_of(cell.id, _columns(cell.text), rows, title, caption=caption)


def latency_at_rate(analysis: Analysis) -> section.Section | None:
    """A table for each cell of an open loop, rows by p99 and controls last; None without one."""
    cells = [(part, cell) for part in analysis.runtimes for cell in part.cells]
    tables = tuple(_table(part, cell) for part, cell in cells if cell.identity.open_loop)
    if not tables:
        return None
    title, charts = "Latency at a rate", ("latency-at-rate", "curve")
    return section.Section("at-rate", title, text=(TEXT,), tables=tables, charts=charts)

"""Open loops: the latency at an offered rate, and how well that rate was kept (rules M3 to M5)."""

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.figures import Figure, from_send, mean_latency, of_schedule, p50, p99
from report.analysis.rankings import by_p99
from report.analysis.summary import Summary
from report.analysis.texts import LayerText
from report.base.format import ABSENT, Show, count, decimals, rate
from report.sections import section
from report.sections.figure_cells import marks_note, spread_figure
from report.sections.headings import cell_title


def _columns(text: LayerText) -> tuple[section.Column, ...]:
    latencies = [
        (name, text.latency_unit)
        for name in ("Mean", "p50", "p99", "p50 from send", "p99 from send")
    ]
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
    "loop. Each figure is the median over the runs, beside it their range. Rows are in the order of their "
    "p99; the first table on this page says which differences were shown."
)


def _gap(name: str) -> Figure:
    return of_schedule(lambda schedule: getattr(schedule.gaps_ms, name, None))


_GAPS = tuple(map(_gap, ("p10", "p50", "p90", "p99")))


def _two_decimals(value: float | None) -> str:
    return decimals(value, 2)


#: The figure, form and unit of the columns that show how the rate was kept.
_KEPT: tuple[tuple[Figure, Show, str], ...] = (
    (of_schedule(lambda schedule: schedule.achieved_per_second), rate, "sends/s"),
    (of_schedule(lambda schedule: schedule.late), count, "sends"),
    (of_schedule(lambda schedule: schedule.dropped + schedule.unsent), count, "sends"),
    (_gap("intended"), _two_decimals, "ms"),
)


def _sent_gaps(summary: Summary) -> section.TableCell:
    medians = [summary.figure_of(figure).value for figure in _GAPS]
    if any(value is None for value in medians):
        return section.number(ABSENT, None)
    return section.number(" · ".join(map(_two_decimals, medians)), medians[1])


def _wakes(summary: Summary) -> section.TableCell:
    """How the generator woke in the selected run: once for several sends, or once a send."""
    schedule = summary.selected_figures.record.schedule if summary.selected_figures else None
    if schedule is None:
        return section.number(ABSENT, None)
    return section.TableCell("shared" if schedule.shared_wakes else "one a send")


def _row(summary: Summary, text: LayerText) -> section.TableRow:
    identity = summary.identity
    latencies = (mean_latency, p50, p99, from_send("p50"), from_send("p99"))
    cells = (
        section.TableCell(identity.short_label, tag="control" if identity.ceiling else ""),
        section.TableCell(identity.store_text),
        *(spread_figure(summary, figure, text.latency, "ms") for figure in latencies),
        *(spread_figure(summary, *kept_figure) for kept_figure in _KEPT),
        _sent_gaps(summary),
        _wakes(summary),
    )
    return section.TableRow(summary.id, cells, summary.no_figures_reason, kept=2, colour=summary.id)


def _table(part: RuntimeResults, cell: Cell) -> section.Table:
    ordered = (*cell.with_copies(by_p99(cell.summaries)), *by_p99(cell.controls))
    rows = [_row(summary, cell.text) for summary in ordered]
    title = ": ".join(filter(None, (part.name, cell_title(cell, bool(part.layer)))))
    caption = marks_note(cell for row in rows for cell in row.cells)
    return section.table_of(cell.id, _columns(cell.text), rows, title, caption=caption)


def latency_at_rate(analysis: Analysis) -> section.Section | None:
    """A table for each cell of an open loop, with rows by p99 and controls last; None without such
    a cell."""
    cells = [(part, cell) for part in analysis.runtimes for cell in part.cells]
    tables = tuple(_table(part, cell) for part, cell in cells if cell.identity.open_loop)
    if not tables:
        return None
    title = "Latency at a rate"
    # The section of a load curve has the chart of the latency over the rate.
    charts = ("latency-at-rate",) if analysis.load_curves else ("latency-at-rate", "curve")
    return section.Section("at-rate", title, text=(TEXT,), tables=tables, charts=charts)

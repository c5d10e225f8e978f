"""Closed loops: the latency at full load, by how many targets were up at once (rule M35)."""

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.figures import mean_latency, percentile
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, LayerText
from report.sections import section
from report.sections.figure_cells import marks_note, spread_figure
from report.sections.headings import cell_title

#: Every list of latencies at full load shows this text.
GROUPS_TEXT = (
    "Latency at full load follows from the throughput, so nothing is concluded from it. It also moves "
    "with the number of targets that were up at once: compare it within groups of one size."
)

_LATENCIES = {
    "Mean": mean_latency,
    **{name.replace("_", "."): percentile(name) for name in ("p50", "p99", "p99_9")},
}


def _columns(text: LayerText) -> tuple[section.Column, ...]:
    unit = f"{text.latency_unit} {AT_FULL_LOAD}"
    group = section.Column("Group", "targets")
    return (
        *section.words("Client", "Store"),
        group,
        *section.numbers([(name, unit) for name in _LATENCIES]),
    )


def _row(summary: Summary, text: LayerText) -> section.TableRow:
    identity = summary.identity
    cells = (
        section.TableCell(identity.short_label, tag="control" if identity.ceiling else ""),
        section.TableCell(identity.store_text),
        section.number(summary.group_size_text, summary.group_sizes[-1]),
        *(spread_figure(summary, figure, text.latency, "ms") for figure in _LATENCIES.values()),
    )
    return section.TableRow(summary.id, cells, summary.no_figures_reason, kept=3, colour=summary.id)


def _table(part: RuntimeResults, cell: Cell) -> section.Table:
    """The rows of a cell under the size of their group, the smallest group first.

    A row that was in groups of several sizes stands under each of them, with the figures of its
    runs in groups of that size."""
    by_size: dict[int, list[Summary]] = {}
    for row in (*cell.rows, *cell.controls):
        for size in row.group_sizes:
            by_size.setdefault(size, []).append(row.in_groups_of(size))
    groups = tuple(
        section.TableGroup(
            tuple(_row(row, cell.text) for row in rows), rows[0].group_text.capitalize()
        )
        for _, rows in sorted(by_size.items())
    )
    title = ": ".join(filter(None, (part.name, cell_title(cell, bool(part.layer)))))
    figures = [figure for group in groups for row in group.rows for figure in row.cells]
    caption = marks_note(figures)
    return section.Table(f"{cell.id}-latency", title, _columns(cell.text), groups, caption)


def latency_tables(analysis: Analysis) -> tuple[section.Table, ...]:
    """A table for each cell of a closed loop. A campaign that only measured memory has none."""
    if analysis.only_memory:
        return ()
    cells = [(part, cell) for part in analysis.runtimes for cell in part.cells]
    return tuple(_table(part, cell) for part, cell in cells if not cell.identity.open_loop)

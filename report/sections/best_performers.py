"""The best of each kind of decider by traffic: what a campaign of several kinds shows first."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.best_performers import BestPerformer, best_performers
from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import interval_of, name
from report.analysis.deciders import algorithm_of, decider_of
from report.analysis.figures import percentile, throughput
from report.base.format import ABSENT, rate
from report.sections.first_screen import cell_title, row_status
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, named, words
from report.sections.spread_text import SpreadFigure, spread_figure

CAPTION = (
    "The first of each kind of decider under one work on one store, whatever its algorithm, and the ratio "
    "of the next to it with its interval. Kinds are not compared with each other. First, not shown: these "
    "runs do not show that it is better than all others of its kind."
)

#: Of the best row of its kind: it is alone, or nothing shows that it is the best.
ALONE, FIRST = "only one", "first, not shown"


@dataclass(frozen=True, slots=True)
class BestRow:
    """The best of one kind of decider on one store."""

    ids: str
    """Of all rows that it was chosen from, with a space between."""
    summary_id: str
    decided_by: str
    store: str
    label: str
    algorithm: str
    figure: SpreadFigure
    """Throughput; in an open loop p99."""
    next: str
    """The row that stands second; empty without one."""
    ratio: str
    """Of the second to the best, with its interval."""
    status: str
    shown: bool
    """It was shown to be better than every other one of its kind."""


@dataclass(frozen=True, slots=True)
class BestWork:
    """All kinds under one work: one cell."""

    title: str
    figure: str
    """What the rows are ordered by, with its unit."""
    rows: tuple[BestRow, ...]

    @property
    def ids(self) -> str:
        return " ".join(row.ids for row in self.rows)


def _status(found: BestPerformer) -> str:
    others = [row for row in found.rows if row.median]
    if len(others) < 2:
        return ALONE
    if found.ranking.winner is found.best:
        return row_status(found.ranking.standings[0], found.ranking)
    return FIRST


def best_row(found: BestPerformer) -> BestRow:
    """In words."""
    best, pair, text = found.best, found.to_next, found.cell.text
    open_loop = found.ranking.open_loop
    return BestRow(
        ids=" ".join(row.id for row in found.rows),
        summary_id=best.id,
        decided_by=decider_of(best.identity),
        store=best.identity.store_text,
        label=name(best),
        algorithm=algorithm_of(best.identity),
        figure=spread_figure(best, percentile("p99"), text.latency)
        if open_loop
        else spread_figure(best, throughput, rate),
        next=name(pair.new) if pair else "",
        ratio=interval_of(pair.comparison) if pair else "",
        status=_status(found),
        shown=found.ranking.winner is best,
    )


def best_works(analysis: Analysis) -> tuple[BestWork, ...]:
    """By cell, in page order; empty where the rankings say it all."""
    works = []
    for runtime in analysis.runtimes:
        by_cell: dict[str, list[BestPerformer]] = {}
        for found in best_performers(runtime.cells):
            by_cell.setdefault(found.cell.id, []).append(found)
        for members in by_cell.values():
            cell = members[0].cell
            text = cell.text
            title = cell_title(cell, bool(runtime.layer))
            works.append(
                BestWork(
                    title=": ".join(filter(None, (runtime.name, title))),
                    figure=f"p99, {text.latency_unit}" if cell.identity.open_loop else text.rate_unit,
                    rows=tuple(best_row(found) for found in members),
                )
            )
    return tuple(works)


def best_section(analysis: Analysis) -> Section | None:
    """None where the rankings say it all."""
    works = best_works(analysis)
    if not works:
        return None
    groups = tuple(
        TableGroup(tuple(map(_table_row, work.rows)), f"{work.title}, {work.figure}") for work in works
    )
    columns = (
        *words("Best", "Decided by", "Store", "Algorithm"),
        Column("Figure"),
        *words("Next, and its ratio to the best", "Conclusion"),
    )
    table = Table("best-rows", "", columns, groups, CAPTION, sortable=False)
    return Section("best", "Best performers by traffic", tables=(table,))


def _table_row(row: BestRow) -> TableRow:
    cells = (
        TableCell(row.label, best=row.shown),
        *named(row.decided_by, row.store, row.algorithm),
        TableCell(row.figure.text, marks=row.figure.marks, kind="number"),
        TableCell(f"{row.next} {row.ratio}".strip() or ABSENT),
        TableCell("", badge=row.status),
    )
    return TableRow(row.ids, cells, colour=row.summary_id)


def best_documents(works: Sequence[BestWork]) -> list[dict[str, object]]:
    """As plain data."""
    return [
        {
            "title": work.title,
            "store": row.store,
            "decided_by": row.decided_by,
            "label": row.label,
            "algorithm": row.algorithm,
            "next": row.next or None,
            "next_to_best": row.ratio or None,
            "status": row.status,
            "shown": row.shown,
        }
        for work in works
        for row in work.rows
    ]

"""The best of each kind of decider by traffic: what a campaign of several kinds shows first."""

from dataclasses import replace

from report.analysis.best_performers import BestPerformer, best_performers
from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import interval_of, name
from report.analysis.deciders import algorithm_of, decider_of
from report.analysis.figures import percentile, throughput
from report.base.format import ABSENT, rate
from report.sections.first_screen import cell_title, row_status
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, named, words
from report.sections.spread_text import spread_figure

CAPTION = (
    "The first of each kind of decider under one work on one store, whatever its algorithm, and the ratio "
    "of the next to it with its interval. Kinds are not compared with each other. First, not shown: these "
    "runs do not show that it is better than all others of its kind."
)


def _status(found: BestPerformer) -> str:
    if sum(bool(row.median) for row in found.rows) < 2:
        return "only one"
    if found.ranking.winner is found.best:
        return row_status(found.best, found.ranking)
    return "first, not shown"


def _works(analysis: Analysis) -> dict[str, list[BestPerformer]]:
    works: dict[str, list[BestPerformer]] = {}
    for runtime in analysis.runtimes:
        for found in best_performers(runtime.cells):
            title = cell_title(found.cell, bool(runtime.layer))
            works.setdefault(": ".join(filter(None, (runtime.name, title))), []).append(found)
    return works


def best_documents(analysis: Analysis) -> list[dict[str, object]]:
    return [
        {
            "title": title,
            "store": found.best.identity.store_text,
            "decided_by": decider_of(found.best.identity),
            "label": name(found.best),
            "algorithm": algorithm_of(found.best.identity),
            "next": name(found.to_next.new) if found.to_next else None,
            "next_to_best": (found.to_next and interval_of(found.to_next.comparison)) or None,
            "status": _status(found),
            "shown": found.ranking.winner is found.best,
        }
        for title, members in _works(analysis).items()
        for found in members
    ]


def _row(found: BestPerformer) -> TableRow:
    best, pair, text = found.best, found.to_next, found.cell.text
    figure = (
        spread_figure(best, percentile("p99"), text.latency)
        if found.ranking.open_loop
        else spread_figure(best, throughput, rate)
    )
    cells = (
        TableCell(name(best), best=found.ranking.winner is best),
        *named(decider_of(best.identity), best.identity.store_text, algorithm_of(best.identity)),
        replace(figure, range=""),
        TableCell(f"{name(pair.new)} {interval_of(pair.comparison)}".strip() if pair else ABSENT),
        TableCell("", badge=_status(found)),
    )
    return TableRow(" ".join(row.id for row in found.rows), cells, colour=best.id)


def best_section(analysis: Analysis) -> Section | None:
    groups = []
    for title, members in _works(analysis).items():
        cell = members[0].cell
        figure = f"p99, {cell.text.latency_unit}" if cell.identity.open_loop else cell.text.rate_unit
        groups.append(TableGroup(tuple(map(_row, members)), f"{title}, {figure}"))
    columns = (
        *words("Best", "Decided by", "Store", "Algorithm"),
        Column("Figure"),
        *words("Next, and its ratio to the best", "Conclusion"),
    )
    table = Table("best-rows", "", columns, tuple(groups), CAPTION, sortable=False)
    return Section("best", "Best performers by traffic", tables=(table,)) if groups else None

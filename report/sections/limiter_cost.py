"""Two named comparisons: what a limiter costs over `none` on its framework, and what a framework costs."""

from collections.abc import Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.comparison_text import interval_of, name
from report.analysis.figures import consumer_cpu, throughput
from report.analysis.load_text import load_text, varying_fields
from report.analysis.rankings import Pair, compare_pairs
from report.analysis.summary import Summary
from report.base.format import ratio
from report.sections.first_screen import WORD
from report.sections.section import (
    Column,
    Section,
    Table,
    TableCell,
    TableRow,
    named,
    number,
    table_of,
    words,
)

TEXT = (
    "Each row against the route without a limiter that was measured beside it: the ratio of what a request "
    "takes of the server’s CPU, with its interval, and of the requests/s. Each column is a family of its own."
)


Route = tuple[str | None, str | None]


def _route(row: Summary) -> Route:
    """Rows are compared with the route on the same framework and Node; None is the usual one."""
    return row.identity.framework, row.identity.node


def _controls(cell: Cell) -> dict[Route, Summary]:
    """The routes without a limiter."""
    return {
        _route(row): row
        for row in cell.controls
        if row.median and row.identity.ceiling and row.identity.decided_by == "nothing"
    }


def _limiters(cell: Cell) -> list[tuple[Summary, Summary]]:
    """Each row that decides, after the route that it is compared with."""
    controls = _controls(cell)
    rows = [*cell.summaries, *(row for row in cell.controls if row.identity.ceiling)]
    return [
        (controls[_route(row)], row)
        for row in rows
        if row.median and row.identity.decided_by != "nothing" and _route(row) in controls
    ]


def _frameworks(cell: Cell) -> list[tuple[Summary, Summary]]:
    controls = _controls(cell)
    return [
        (usual, row)
        for (framework, node), row in controls.items()
        if framework is not None and (usual := controls.get((None, node)))
    ]


def _cells(pair: Pair | None) -> tuple[TableCell, ...]:
    if pair is None:
        return named("", "")
    found = pair.comparison
    return number(interval_of(found), found.ratio), *named(WORD[found.status][True])


def _table(table_id: str, title: str, pairs: Sequence[tuple[Summary, Summary]]) -> Table | None:
    if not pairs:
        return None
    fields = varying_fields([new for _, new in pairs])
    by_cpu, by_rate = (
        {pair.new.id: pair for pair in compare_pairs(pairs, figure)} for figure in (consumer_cpu, throughput)
    )
    rows = [
        TableRow(
            new.id,
            (
                *named(name(new), load_text(new.identity, fields) if fields else "", name(base)),
                *_cells(by_cpu.get(new.id)),
                *_cells(None if new.identity.open_loop else by_rate.get(new.id)),
            ),
            colour=new.id,
        )
        for base, new in pairs
    ]
    columns = (
        *words("Target", "Load", "Beside"),
        Column("Server CPU", "ratio"),
        *words("CPU conclusion"),
        Column("Requests/s", "ratio"),
        *words("Rate conclusion"),
    )
    return table_of(table_id, columns, rows, title)


def _answer(pairs: Sequence[tuple[Summary, Summary]]) -> str:
    found = sorted(
        pair.comparison.ratio for pair in compare_pairs(pairs, consumer_cpu) if pair.comparison.ratio
    )
    if not found:
        return ""
    range_text = " to ".join(dict.fromkeys(map(ratio, (found[0], found[-1]))))
    return f"With a limiter a request takes {range_text} the CPU of one without."


def limiter_cost(analysis: Analysis) -> Section | None:
    limiters = [pair for cell in analysis.cells for pair in _limiters(cell)]
    frameworks = [pair for cell in analysis.cells for pair in _frameworks(cell)]
    tables = (
        _table("limiter-cost-rows", "A limiter over the same route without one", limiters),
        _table("framework-cost-rows", "A framework over the usual one, without a limiter", frameworks),
    )
    found = tuple(table for table in tables if table)
    if not found:
        return None
    return Section("limiter-cost", "What a limiter costs", _answer(limiters), text=(TEXT,), tables=found)

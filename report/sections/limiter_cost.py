"""Two named comparisons: what a limiter costs over `none` on its framework, and what a framework costs."""

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import consumer_cpu, throughput
from report.analysis.rankings import compare_pairs
from report.analysis.summary import Summary
from report.analysis.texts import interval_of, load_text, name, varying_fields
from report.base.format import ratio
from report.sections.first_screen import WORD
from report.sections.section import Column, Section, Table, TableRow, named, number, table_of, words

TEXT = (
    "Each row against the route without a limiter that was measured beside it: the ratio of what a request "
    "takes of the server’s CPU, with its interval, and of the requests/s. Each column is a family of its own."
)


Pairs = list[tuple[Summary, Summary]]


def _pairs(cell: Cell) -> tuple[Pairs, Pairs]:
    """Each row that decides, after the route without a limiter on the same framework and Node (None is the
    usual one), and each of these routes after the one on the usual framework."""

    def route(row: Summary) -> tuple[str | None, str | None]:
        return row.identity.framework, row.identity.node

    rows = [row for row in (*cell.summaries, *cell.controls) if row.median and not row.identity.copy]
    nothing = [row for row in rows if row.identity.decided_by == "nothing" and row.identity.ceiling]
    deciding = [row for row in rows if row.identity.decided_by != "nothing"]
    routes = {route(row): row for row in nothing}
    limiters = [(routes[route(row)], row) for row in deciding if route(row) in routes]
    usual = [(routes.get((None, row.identity.node)), row) for row in nothing if row.identity.framework]
    return limiters, [(base, row) for base, row in usual if base]


def _table(table_id: str, title: str, pairs: Pairs) -> Table:
    fields = varying_fields([new for _, new in pairs])
    by_cpu, by_rate = (
        {pair.new.id: pair.comparison for pair in compare_pairs(pairs, figure)}
        for figure in (consumer_cpu, throughput)
    )
    rows = []
    for base, new in pairs:
        cells = [*named(name(new), load_text(new.identity, fields), name(base))]
        for found in (by_cpu.get(new.id), None if new.identity.open_loop else by_rate.get(new.id)):
            cells += (number(interval_of(found), found.ratio),) if found else named("")
            cells += named(WORD[found.status][True] if found else "")
        rows.append(TableRow(new.id, tuple(cells), colour=new.id))
    columns = (
        *words("Target", "Load", "Beside"),
        Column("Server CPU", "ratio"),
        *words("CPU conclusion"),
        Column("Requests/s", "ratio"),
        *words("Rate conclusion"),
    )
    return table_of(table_id, columns, rows, title)


def _answer(pairs: Pairs) -> str:
    compared = compare_pairs(pairs, consumer_cpu)
    found = sorted(pair.comparison.ratio for pair in compared if pair.comparison.ratio)
    if not found:
        return ""
    range_text = " to ".join(dict.fromkeys(map(ratio, (found[0], found[-1]))))
    return f"With a limiter a request takes {range_text} the CPU of one without."


def limiter_cost(analysis: Analysis) -> Section | None:
    found = [_pairs(cell) for cell in analysis.cells]
    limiters, frameworks = ([pair for each in found for pair in each[index]] for index in (0, 1))
    compared = {
        "limiter-cost-rows": ("A limiter over the same route without one", limiters),
        "framework-cost-rows": ("A framework over the usual one, without a limiter", frameworks),
    }
    tables = tuple(_table(table_id, *each) for table_id, each in compared.items() if each[1])
    if not tables:
        return None
    return Section("limiter-cost", "What a limiter costs", _answer(limiters), text=(TEXT,), tables=tables)

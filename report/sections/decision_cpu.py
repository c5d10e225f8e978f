"""Where a decision's CPU goes, as a table."""

from collections.abc import Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.deciders import algorithm_of, decider_of, named_facts
from report.analysis.decision_cpu import (
    PARTS,
    dearer_clients,
    limited_by_client,
    node_kind,
    part_kinds,
    total_of,
)
from report.analysis.figures import Figure
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, microseconds
from report.sections.section import (
    Column,
    Table,
    TableCell,
    TableRow,
    exact,
    named,
    number,
    numbers,
    sort_key,
    table_of,
    words,
)
from report.sections.spread_text import spread_figure

LIMITED_BY_CLIENT = "limited by client"


def _cell(summary: Summary, read: Figure, wanted: bool) -> TableCell:
    """A dash for a part that is missing, nothing for one that the row does not have."""
    if not wanted:
        return TableCell("", kind="number", sort="")
    value = read(summary.figures) if summary.figures else None
    printed = spread_figure(summary, read, microseconds)
    return TableCell(
        printed.text,
        range=printed.range,
        marks=printed.marks,
        kind="number",
        sort=sort_key(value),
        hint=exact(value, "µs"),
    )


def _limited_cell(summary: Summary) -> TableCell:
    limit = summary.figures.record.limited_by if summary.figures else None
    if limited_by_client(summary):
        return TableCell(LIMITED_BY_CLIENT, hint="nothing is claimed about the service")
    return TableCell(limit.resource, hint=limit.text) if limit else TableCell(ABSENT)


def _caption(rows: Sequence[Summary], service: bool) -> str:
    served = any(row.identity.servers for row in rows)
    alone = any(not row.identity.servers for row in rows)
    node = [
        *(["the server, with HTTP and its endpoint"] if served else []),
        *(["the load generator, which is the client"] if alone else []),
    ]
    between = ", at the limiter layer " if len(node) > 1 else ""
    limited = (
        f" “{LIMITED_BY_CLIENT.capitalize()}”: the client’s side was used up first, and nothing is claimed "
        "about the service."
    )
    return (
        "CPU time per decision in the median run, beside it the range over the runs. A decision is an "
        "answer, allowed or limited, to a consume of one descriptor, counted by the process that calls the "
        "limiter; a request may take several. The CPU time is what the counters of the roles grew by in "
        "lead-in and window, between the same readings as the count: each part × decisions is that "
        "difference, and the sum is that of the parts. "
        f"Node is {between.join(node)}.{limited if service else ''}"
    )


def decision_cpu_table(analysis: Analysis) -> Table | None:
    rows = [
        row
        for row in analysis.ordered
        if row.figures and row.figures.decisions and row.identity.decided_by != "nothing"
    ]
    if not rows:
        return None
    fields, facts = varying_fields(rows), named_facts(rows)
    service = any("service" in part_kinds(row.identity) for row in rows)
    parts = ("node", *(["service"] if service else []), "store")

    def cells(row: Summary) -> tuple[TableCell, ...]:
        kinds = part_kinds(row.identity)
        own = {"node": node_kind(row.identity.layer)}
        decisions = row.figures.decisions if row.figures else None
        return (
            *named(
                row.identity.label,
                decider_of(row.identity) if facts.decider else "",
                algorithm_of(row.identity) if facts.algorithm else "",
                load_text(row.identity, fields) if fields else "",
            ),
            *(_cell(row, PARTS[own.get(part, part)], own.get(part, part) in kinds) for part in parts),
            _cell(row, total_of(kinds), wanted=True),
            number(count(decisions), decisions),
            _limited_cell(row),
        )

    columns = (
        *words("Configuration", "Decided by", "Algorithm", "Load"),
        *numbers([(part.capitalize(), "µs") for part in (*parts, "sum")]),
        Column("Decisions", "counted", "number more"),
        Column("Limited by", "resource", ""),
    )
    dearer = dearer_clients(analysis.cells)
    return table_of(
        "decision-cpu-rows",
        columns,
        [TableRow(row.id, cells(row), colour=row.id) for row in rows],
        "Where a decision’s CPU goes",
        caption=" ".join([*dearer, _caption(rows, service)]),
    )

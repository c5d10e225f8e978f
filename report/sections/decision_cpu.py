"""The table of the chart “Where a decision's CPU goes”, with the same figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.campaign_analysis import Analysis
from report.analysis.deciders import algorithm_of, decider_of, named_facts
from report.analysis.decision_cpu import (
    PARTS,
    dearer_clients,
    decision_cpu_of,
    node_kind,
    part_kinds,
    total_of,
)
from report.analysis.figures import Figure
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, microseconds
from report.sections.spread_text import spread_figure
from report.sections.tables import TableCell, exact, sort_key

LIMITED_BY_CLIENT = "limited by client"


@dataclass(frozen=True, slots=True)
class DecisionCpuRow:
    """`cells` go with the columns of the table."""

    summary_id: str
    configuration: str
    facts: tuple[str, ...]
    """What decides and the algorithm, where rows differ in them, and the part of its load that differs."""
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class DecisionCpuTable:
    facts: tuple[str, ...]
    """Headers of the facts of a row."""
    columns: tuple[tuple[str, str], ...]
    """Name and unit."""
    rows: tuple[DecisionCpuRow, ...]
    caption: str
    sentences: tuple[str, ...]
    """What comparisons of these figures show."""

    @property
    def ids(self) -> str:
        return " ".join(row.summary_id for row in self.rows)


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
    found, figures = decision_cpu_of(summary), summary.figures
    limit = figures.limited_by if figures else None
    if found and found.limited_by_client:
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


def decision_cpu_table(analysis: Analysis) -> DecisionCpuTable | None:
    """Rows with decisions, in page order; None where none was counted."""
    rows = [
        row
        for row in analysis.ordered
        if row.figures and row.figures.decisions and row.identity.decided_by != "nothing"
    ]
    if not rows:
        return None
    fields, named = varying_fields(rows), named_facts(rows)
    service = any("service" in part_kinds(row.identity) for row in rows)
    headers = [
        *(["Decided by"] if named.decider else []),
        *(["Algorithm"] if named.algorithm else []),
        *(["Load"] if fields else []),
    ]
    parts = ("node", *(["service"] if service else []), "store")

    def cells(row: Summary) -> tuple[TableCell, ...]:
        kinds = part_kinds(row.identity)
        own = {"node": node_kind(row.identity.layer)}
        figures = row.figures
        decisions = figures.decisions if figures else None
        return (
            *(_cell(row, PARTS[own.get(part, part)], own.get(part, part) in kinds) for part in parts),
            _cell(row, total_of(kinds), wanted=True),
            TableCell(count(decisions), kind="number", sort=sort_key(decisions)),
            _limited_cell(row),
        )

    return DecisionCpuTable(
        facts=tuple(headers),
        columns=(
            ("Node", "µs"),
            *([("Service", "µs")] if service else []),
            ("Store", "µs"),
            ("Sum", "µs"),
            ("Decisions", "counted"),
            ("Limited by", "resource"),
        ),
        rows=tuple(
            DecisionCpuRow(
                row.id,
                row.identity.label,
                (
                    *([decider_of(row.identity)] if named.decider else []),
                    *([algorithm_of(row.identity)] if named.algorithm else []),
                    *([load_text(row.identity, fields)] if fields else []),
                ),
                cells(row),
            )
            for row in rows
        ),
        caption=_caption(rows, service),
        sentences=tuple(dearer_clients(analysis.cells)),
    )

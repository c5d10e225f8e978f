"""The table of the chart “Where a decision's CPU goes”, with the same figures."""

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
        sentences=tuple(dearer_clients(analysis.cells)),
    )

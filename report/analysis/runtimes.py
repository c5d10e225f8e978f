"""What may share a table or a chart at all: rows that were measured in the same runtime."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.analysis.rankings import Cell, cells
from report.analysis.summary import Summary


@dataclass(frozen=True, slots=True)
class PagePart:
    """Cells and controls of one runtime; `id` and `name` are empty where there is one alone."""

    id: str
    name: str
    cells: tuple[Cell, ...]
    controls: tuple[Summary, ...]

    @property
    def ordered(self) -> tuple[Summary, ...]:
        """Cells in order, best first in each, then controls."""
        return (*(summary for cell in self.cells for summary in cell.summaries), *self.controls)


def page_parts(summaries: Sequence[Summary]) -> tuple[PagePart, ...]:
    """One part a runtime, in the order of `summaries`; rows without a run stand with the first one.

    Containers and local processes differ in more than the client, so that nothing is compared across them.
    """
    named = [summary.runtime for summary in summaries if summary.runtime]
    runtimes: dict[str, list[Summary]] = {}
    for summary in summaries:
        runtimes.setdefault(summary.runtime or (named[0] if named else ""), []).append(summary)
    several = len(runtimes) > 1
    parts = []
    for number, (runtime, rows) in enumerate(runtimes.items(), start=1):
        part_id = f"part{number}-" if several else ""
        found = tuple(replace(cell, id=part_id + cell.id) for cell in cells(rows, summaries))
        controls = tuple(row for row in rows if row.identity.control)
        parts.append(PagePart(part_id, runtime if several else "", found, controls))
    return tuple(parts)

"""What may share a table or a chart at all: rows that were measured in the same runtime."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.analysis.cells import Cell, cells
from report.analysis.summary import Summary


@dataclass(frozen=True, slots=True)
class RuntimeResults:
    """Cells and controls of one runtime; `id` and `name` are empty where there is one alone."""

    id: str
    name: str
    cells: tuple[Cell, ...]
    controls: tuple[Summary, ...]

    @property
    def ordered(self) -> tuple[Summary, ...]:
        """Cells in order, best first in each, then controls."""
        return (*(summary for cell in self.cells for summary in cell.summaries), *self.controls)


def runtimes_of(summaries: Sequence[Summary]) -> tuple[RuntimeResults, ...]:
    """The runtimes in the order of `summaries`; rows without a run stand with the first one.

    Containers and local processes differ in more than the client, so that nothing is compared across them.
    """
    named = [summary.runtime for summary in summaries if summary.runtime]
    rows_by_name: dict[str, list[Summary]] = {}
    for summary in summaries:
        rows_by_name.setdefault(summary.runtime or (named[0] if named else ""), []).append(summary)
    several = len(rows_by_name) > 1
    found = []
    for number, (name, rows) in enumerate(rows_by_name.items(), start=1):
        prefix = f"part{number}-" if several else ""
        members = tuple(replace(cell, id=prefix + cell.id) for cell in cells(rows, summaries))
        controls = tuple(row for row in rows if row.identity.control)
        found.append(RuntimeResults(prefix, name if several else "", members, controls))
    return tuple(found)

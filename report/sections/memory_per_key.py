"""What a key takes in memory, as a table for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.figures import MEMORY_KINDS
from report.analysis.memory_per_key import KeyMemory, Slope
from report.base.format import ABSENT, decimals, joined

#: Columns after the target, with their units: figures stand beside figures of their kind alone.
COLUMNS = (
    *((name, "bytes per key") for name in MEMORY_KINDS.values()),
    ("Read from", ""),
    ("Items", "per key"),
    ("Runs", "counted"),
)

NOTE = (
    "Bytes per key are the slope of a line, by least squares, through the memory that each run added and the "
    "number of keys that it made, with its interval of 95 %. Every run starts with a fresh store. "
    "Hash tables and allocators grow in steps, so a few more keys may cost nothing or a lot; the interval "
    "includes how far these steps are from a line. An allocator, a process and a store’s count of its items "
    "are no figures to compare with each other. Nodes are added up, replicas too. The throughput of "
    "these runs is no measurement: they have no warm-up, and each has another length."
)


@dataclass(frozen=True, slots=True)
class MemoryTableRow:
    """`cells` go with `COLUMNS`; `reason` replaces them where there is no slope."""

    summary_ids: tuple[str, ...]
    client: str
    label: str
    store: str
    cells: tuple[str, ...]
    reason: str


def _amount(value: float) -> str:
    return decimals(value, 1 if abs(value) < 1000 else 0)


def _interval(slope: Slope) -> str:
    line = slope.line
    if line.low is None or line.high is None:
        return ABSENT
    return f"{_amount(line.low)} to {_amount(line.high)}"


def _figures(row: KeyMemory, kind: str) -> str:
    """`130.0 (128.0 to 132.0)`; of several sources one after the other, as they are read."""
    found = [slope for slope in row.slopes if slope.kind == kind]
    return "; ".join(f"{_amount(slope.line.slope)} ({_interval(slope)})" for slope in found) or ABSENT


def _cells(row: KeyMemory) -> tuple[str, ...]:
    if not row.slopes:
        return ()
    points = row.slopes[0].points
    return (
        *(_figures(row, kind) for kind in MEMORY_KINDS),
        "; ".join(slope.text for slope in row.slopes),
        ABSENT if row.items_per_key is None else f"{row.items_per_key:.3g}",
        str(len(points)) + (f" of {len(points) + len(row.left_out)}" if row.left_out else ""),
    )


def memory_table(rows: Sequence[KeyMemory]) -> tuple[MemoryTableRow, ...]:
    """In the order of `memory_per_key`."""
    runtimes = {row.runtime for row in rows}
    return tuple(
        MemoryTableRow(
            summary_ids=row.summary_ids,
            client=row.identity.client,
            label=row.identity.label + (f", {row.runtime}" if len(runtimes) > 1 else ""),
            store=row.identity.store_text,
            cells=_cells(row),
            reason=row.reason,
        )
        for row in rows
    )


def memory_text(rows: Sequence[KeyMemory]) -> str:
    """`A key takes 139 bytes with ioredis (allocator’s).` What is not alike is not in one enumeration."""
    labels = [each.label for each in memory_table(rows)]
    known = []
    for kind, name in MEMORY_KINDS.items():
        alike = [
            f"{_amount(row.slopes[0].line.slope)} bytes with {label}"
            for row, label in zip(rows, labels, strict=True)
            if row.slopes and row.slopes[0].kind == kind
        ]
        if alike:
            known.append(f"{joined(alike)} ({name.lower()})")
    return f"A key takes {'; '.join(known)}." if known else "No run tells what a key takes."


def memory_lines(rows: Sequence[KeyMemory]) -> list[str]:
    """The same as lines of text, with aligned columns, and what was left out."""
    table = memory_table(rows)
    names = ["Target", "Store", *(f"{name} ({unit})" if unit else name for name, unit in COLUMNS)]
    lines = [names, *([row.label, row.store, *(row.cells or [row.reason])] for row in table)]
    widths = [
        max((len(line[n]) for line in lines if len(line) > max(n, 3)), default=0) for n in range(len(names))
    ]
    widths[:2] = [max(len(line[n]) for line in lines) for n in range(2)]
    return [
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip()
            for line in lines
        ),
        *(f"left out: {row.identity.label}, {text}" for row in rows for text in row.left_out),
    ]

"""What a key takes in memory, as a table for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.figures import SOURCES
from report.analysis.memory_per_key import KeyMemory, Slope
from report.base.format import ABSENT, decimals, joined

#: Columns after the target, with their units.
COLUMNS = (
    ("Bytes per key", ""),
    ("95 % interval", ""),
    ("Read from", ""),
    ("Other readings", "bytes per key"),
    ("Items", "per key"),
    ("Runs", "counted"),
)

NOTE = (
    "Bytes per key are the slope of a line, by least squares, through the memory that each run added and the "
    "number of keys that it made; the interval is that of the slope. Every run starts with a fresh store. "
    "Hash tables and allocators grow in steps, so a few more keys may cost nothing or a lot; the interval "
    "includes how far these steps are from a line. Counters of stores count different things: that of "
    "memcached counts its items without its hash table. Nodes are added up, replicas too. The throughput of "
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


def _with_interval(slope: Slope) -> str:
    return f"{slope.text}: {_amount(slope.line.slope)} ({_interval(slope)})"


def _cells(row: KeyMemory) -> tuple[str, ...]:
    if not row.slopes:
        return ()
    figure, *others = row.slopes
    return (
        _amount(figure.line.slope),
        _interval(figure),
        SOURCES[figure.source],
        "; ".join(map(_with_interval, others)) or ABSENT,
        ABSENT if row.items_per_key is None else f"{row.items_per_key:.3g}",
        str(len(figure.points)) + (f" of {len(figure.points) + len(row.left_out)}" if row.left_out else ""),
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
    """`A key takes 479 bytes with memory and 139 bytes with ioredis.`"""
    known = [
        f"{_amount(row.slopes[0].line.slope)} bytes with {label}"
        for row, label in zip(rows, (each.label for each in memory_table(rows)), strict=True)
        if row.slopes
    ]
    return f"A key takes {joined(known)}." if known else "No run tells what a key takes."


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

"""Shows how much memory a key takes, as a table and as text."""

from collections.abc import Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import MEMORY_KINDS
from report.analysis.memory_per_key_rows import KeyMemory, Slope
from report.base.format import ABSENT, decimals, joined
from report.sections import section

#: Each kind of memory has a column, because figures of two kinds cannot be compared.
COLUMNS = (
    *section.words("Target", "Store"),
    *section.numbers([(name, "bytes per key") for name in MEMORY_KINDS.values()], "number"),
    *section.words("Read from"),
    section.Column("Items", "per key", ""),
    section.Column("Runs", "counted", ""),
)
CAPTION = "Most bytes per key first, allocators, then processes, then counts."

NOTE = (
    "Bytes per key are the slope of a line, by least squares, through the memory that each run added and the "
    "number of keys that it made, with its interval of 95 %. Every run starts with a fresh store. "
    "Hash tables and allocators grow in steps, so a few more keys may cost nothing or a lot; the interval "
    "includes how far these steps are from a line. An allocator, a process and a store’s count of its items "
    "are no figures to compare with each other. Nodes are added up, replicas too. The throughput of "
    "these runs is no measurement: they have no warm-up, and each has another length."
)


def _amount(value: float) -> str:
    return decimals(value, 1 if abs(value) < 1000 else 0)


def _slope(slope: Slope) -> str:
    """The slope with its interval, in bytes per key: `130.0 (128.0 to 132.0)`."""
    low = slope.line.low
    high = slope.line.high
    interval = ABSENT if low is None or high is None else f"{_amount(low)} to {_amount(high)}"
    return f"{_amount(slope.line.slope)} ({interval})"


def _cells(row: KeyMemory) -> tuple[section.TableCell, ...]:
    """The cells of a target. Several sources of a kind stand in one cell, in the order of
    reading."""
    if not row.slopes:
        return ()
    counted = len(row.slopes[0].points)
    skipped_runs = len(row.left_out)
    figures = [
        "; ".join(_slope(slope) for slope in row.slopes if slope.kind == kind)
        for kind in MEMORY_KINDS
    ]
    return (
        *(
            section.TableCell(text or ABSENT, kind="text" if ";" in text else "number")
            for text in figures
        ),
        section.TableCell("; ".join(slope.text for slope in row.slopes), kind="text"),
        section.TableCell(ABSENT if row.items_per_key is None else f"{row.items_per_key:.3g}"),
        section.TableCell(
            f"{counted} of {counted + skipped_runs}" if skipped_runs else f"{counted}"
        ),
    )


def _labels(rows: Sequence[KeyMemory]) -> list[str]:
    several = len({row.runtime for row in rows}) > 1
    return [row.identity.label + (f", {row.runtime}" if several else "") for row in rows]


def memory_table(rows: Sequence[KeyMemory]) -> section.Table:
    table_rows = []
    for row, label in zip(rows, _labels(rows), strict=True):
        first = row.summary_ids[0]
        cells = (*section.named(label, row.identity.store_text), *_cells(row))
        table_rows.append(section.TableRow(first, cells, row.reason, kept=2, colour=first))
    return section.table_of("memory-rows", COLUMNS, table_rows, caption=CAPTION)


def memory_per_key_section(analysis: Analysis) -> section.Section | None:
    rows = analysis.memory
    if not rows:
        return None
    return section.Section(
        "memory-per-key",
        "Memory per key",
        memory_text(rows),
        text=(NOTE,),
        tables=(memory_table(rows),),
        charts=("memory-per-key",),
        notes=tuple(
            f"Left out: {row.identity.label}, {text}." for row in rows for text in row.left_out
        ),
        open=True,
    )


def memory_text(rows: Sequence[KeyMemory]) -> str:
    """`A key takes 139 bytes with ioredis (allocator’s).`, with an enumeration for each kind of
    memory."""
    labels = _labels(rows)
    texts_by_kind = []
    for kind, name in MEMORY_KINDS.items():
        texts_of_kind = [
            f"{_amount(row.slopes[0].line.slope)} bytes with {label}"
            for row, label in zip(rows, labels, strict=True)
            if row.slopes and row.slopes[0].kind == kind
        ]
        if texts_of_kind:
            texts_by_kind.append(f"{joined(texts_of_kind)} ({name.lower()})")
    return (
        f"A key takes {'; '.join(texts_by_kind)}."
        if texts_by_kind
        else "No run tells what a key takes."
    )


def memory_lines(rows: Sequence[KeyMemory]) -> list[str]:
    """The table as lines of text with aligned columns, and the runs that were left out."""
    table = memory_table(rows)
    names = [
        f"{column.name} ({column.unit})" if column.unit else column.name for column in table.columns
    ]
    cells = [
        [*(cell.text for cell in row.cells), *filter(None, [row.reason])] for row in table.rows
    ]
    lines = [names, *cells]
    widths = [
        max(
            (len(line[index]) for line in lines if index < 2 or len(line) > max(index, 3)),
            default=0,
        )
        for index in range(len(names))
    ]
    return [
        *("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines),
        *(f"left out: {row.identity.label}, {text}" for row in rows for text in row.left_out),
    ]

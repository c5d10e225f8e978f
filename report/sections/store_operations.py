"""The section about the store layer: figures, and ratios to the reference."""

from report.analysis.campaign_analysis import Analysis
from report.analysis.printed_rows import PrintedRow
from report.analysis.store_operations import StoreCell, StoreOperations
from report.base.format import ABSENT, decimals, microseconds, milliseconds, rate, ratio
from report.results.model import Identity
from report.sections.printed_cells import (
    Read,
    Show,
    figure_cells,
    limited_by_text,
    printed_latency,
    problem_texts,
    runs_text,
    verdict_cell,
)
from report.sections.section import (
    Column,
    Section,
    TableCell,
    TableRow,
    named,
    number,
    numbers,
    table_of,
    words,
)
from report.statistics.decision import Comparison

TEXT = (
    "Plain commands, without any limiter, server or Node client: {programs} sent them and printed the "
    "figures. The store's CPU and memory were measured beside it. These rows are never ranked with those of "
    "other layers. Each row shows its median run, with the range over its runs."
)
RATIOS = (
    "Store ÷ {reference}: the Hodges–Lehmann ratio of runs with its exact interval of 95 % (rules M17 and "
    "M28). Higher is better for throughput, lower for CPU. Each work is a family of its own."
)

#: Name and unit of each figure's column.
FIGURE_COLUMNS = (
    ("Throughput", "operations/s"),
    ("Mean", "ms"),
    ("p50", "ms"),
    ("p95", "ms"),
    ("p99", "ms"),
    ("Max", "ms"),
    ("Store CPU", "µs/operation"),
    ("Memory", "bytes/key"),
)

_FIGURES: tuple[tuple[Read, Show], ...] = (
    (lambda printed: printed.operations_per_second, rate),
    *((printed_latency(name), milliseconds) for name in ("average", "p50", "p95", "p99", "max")),
    (lambda printed: printed.store_cpu_us_per_operation, microseconds),
    (lambda printed: printed.bytes_per_key, lambda value: decimals(value, 0)),
)


def work_text(identity: Identity) -> str:
    payload = f" of {identity.payload_bytes} bytes" if identity.payload_bytes else ""
    connections = f"{identity.connections} connection{'' if identity.connections == 1 else 's'}"
    return f"{identity.workload}{payload}, {connections}"


def _operation_row(row: PrintedRow, reference: str) -> TableRow:
    cells = (
        TableCell(row.store, tag="reference" if row.store == reference else ""),
        *figure_cells(row, _FIGURES),
        *named(limited_by_text(row), runs_text(row)),
        verdict_cell(row.verdict),
    )
    return TableRow("", cells)


def ratio_text(found: Comparison) -> str:
    if found.ratio is None:
        return ABSENT
    interval = found.interval
    span = f" ({interval.low:.2f}–{interval.high:.2f})" if interval else ""
    return f"{ratio(found.ratio)}{span}"


def _verdict(found: Comparison) -> str:
    return f"{found.status}: {found.reason}" if found.reason else found.status


def _ratio_rows(cell: StoreCell) -> list[TableRow]:
    rows = []
    for each in cell.ratios:
        shown = [
            cell
            for found in each.comparisons[:2]
            for cell in (number(ratio_text(found), found.ratio), TableCell(_verdict(found), kind="text"))
        ]
        rows.append(TableRow("", (*named(each.row.store, work_text(cell.identity)), *shown)))
    return rows


def store_sentences(found: StoreOperations | None) -> list[str]:
    """The ratio table as lines, e.g. `…: valkey 1.25× (1.20–1.31) the throughput of redis (better), …`."""
    if found is None:
        return []
    lines = []
    for cell in found.cells:
        for each in cell.ratios:
            throughput, cpu = each.comparisons
            scope = f"Store layer, {work_text(cell.identity)}"
            lines.append(
                f"{scope}: {each.row.store} {ratio_text(throughput)} the throughput of {found.reference} "
                f"({throughput.status}), {ratio_text(cpu)} its CPU per operation ({cpu.status})."
                if throughput.ratio is not None
                else f"{scope}: {each.row.store} is not compared with {found.reference}, because there are "
                "too few runs."
            )
    if lines:
        return lines
    return [
        "Store layer: nothing is compared, because no other store than the reference has runs that count."
    ]


def store_operations(analysis: Analysis) -> Section | None:
    found = analysis.store_operations
    if found is None:
        return None
    programs = {
        f"{run.printed.program} {run.printed.program_version}"
        for row in found.rows
        for run in row.runs
        if run.printed
    }
    columns = (*words("Store"), *numbers(FIGURE_COLUMNS, "number"), *words("Limited by", "Runs", "Verdict"))
    tables = [
        table_of(
            f"operations{index}",
            columns,
            [_operation_row(row, found.reference) for row in cell.rows],
            work_text(cell.identity),
        )
        for index, cell in enumerate(found.cells, start=1)
    ]
    ratios = [row for cell in found.cells for row in _ratio_rows(cell)]
    if ratios:
        tables.append(
            table_of(
                "store-ratios",
                (
                    *words("Store", "Work"),
                    Column("Throughput"),
                    *words("Verdict"),
                    Column("Store CPU per operation"),
                    *words("Verdict"),
                ),
                ratios,
                f"Ratios to {found.reference}",
                caption=RATIOS.format(reference=found.reference),
            )
        )
    return Section(
        "store-operations",
        "Store operations",
        text=(TEXT.format(programs=" and ".join(sorted(programs))),),
        tables=tuple(tables),
        notes=problem_texts(found.problems),
        open=True,
    )

"""The section about the store layer: figures, and ratios to the reference."""

from dataclasses import dataclass

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
)
from report.sections.tables import TableCell
from report.statistics.decision import Comparison

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


@dataclass(frozen=True, slots=True)
class OperationRow:
    store: str
    reference: bool
    cells: tuple[TableCell, ...]
    """They go with `FIGURE_COLUMNS`; empty where no run counts."""
    limited_by: str
    status: str
    runs: str
    """`3`, `2 of 3` where some do not count."""


@dataclass(frozen=True, slots=True)
class RatioRow:
    work: str
    store: str
    throughput: str
    throughput_verdict: str
    cpu: str
    cpu_verdict: str


@dataclass(frozen=True, slots=True)
class OperationTable:
    id: str
    title: str
    rows: tuple[OperationRow, ...]


@dataclass(frozen=True, slots=True)
class StoreSection:
    reference: str
    programs: str
    """The programs that printed the figures, with their versions."""
    tables: tuple[OperationTable, ...]
    ratios: tuple[RatioRow, ...]
    problems: tuple[tuple[str, str], ...]
    """File and reasons of each run that is not valid."""


def work_text(identity: Identity) -> str:
    """`set of 100 bytes, 50 connections`."""
    payload = f" of {identity.payload_bytes} bytes" if identity.payload_bytes else ""
    connections = f"{identity.connections} connection{'' if identity.connections == 1 else 's'}"
    return f"{identity.workload}{payload}, {connections}"


def _operation_row(row: PrintedRow, reference: str) -> OperationRow:
    return OperationRow(
        store=row.store,
        reference=row.store == reference,
        cells=figure_cells(row, _FIGURES),
        limited_by=limited_by_text(row),
        status="" if row.verdict == "valid" else row.verdict,
        runs=runs_text(row),
    )


def ratio_text(found: Comparison) -> str:
    """`1.25× (1.20–1.31)`; without an interval below four runs a side."""
    if found.ratio is None:
        return ABSENT
    interval = found.interval
    span = f" ({interval.low:.2f}–{interval.high:.2f})" if interval else ""
    return f"{ratio(found.ratio)}{span}"


def _verdict(found: Comparison) -> str:
    return f"{found.status}: {found.reason}" if found.reason else found.status


def _ratio_rows(cell: StoreCell) -> list[RatioRow]:
    return [
        RatioRow(
            work=work_text(cell.identity),
            store=each.row.store,
            throughput=ratio_text(each.comparisons[0]),
            throughput_verdict=_verdict(each.comparisons[0]),
            cpu=ratio_text(each.comparisons[1]),
            cpu_verdict=_verdict(each.comparisons[1]),
        )
        for each in cell.ratios
    ]


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


def store_section(found: StoreOperations | None) -> StoreSection | None:
    """None for a campaign without the store layer."""
    if found is None:
        return None
    programs = {
        f"{run.printed.program} {run.printed.program_version}"
        for row in found.rows
        for run in row.runs
        if run.printed
    }
    return StoreSection(
        reference=found.reference,
        programs=" and ".join(sorted(programs)),
        tables=tuple(
            OperationTable(
                id=f"operations{number}",
                title=work_text(cell.identity),
                rows=tuple(_operation_row(row, found.reference) for row in cell.rows),
            )
            for number, cell in enumerate(found.cells, start=1)
        ),
        ratios=tuple(row for cell in found.cells for row in _ratio_rows(cell)),
        problems=problem_texts(found.problems),
    )

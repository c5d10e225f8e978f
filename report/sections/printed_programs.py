"""What foreign programs printed: operations of stores, and load programs in the place of Node."""

from collections.abc import Callable, Iterable, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import throughput
from report.analysis.load_text import load_text
from report.analysis.printed_rows import (
    LoadProgramControl,
    PrintedRow,
    Read,
    StoreOperations,
    bytes_per_key,
    service_cpu,
)
from report.base.format import ABSENT, decimals, microseconds, milliseconds, plural, rate, ratio
from report.results.model import Identity, Run
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

STORE_TEXT = (
    "Plain commands, without any limiter, server or Node client: {programs} sent them and printed the "
    "figures. The store's CPU and memory were measured beside it. These rows are never ranked with those of "
    "other layers. Each row shows its median run, with the range over its runs."
)
RATIOS = (
    "Store ÷ {reference}: the Hodges–Lehmann ratio of runs with its exact interval of 95 % (rules M17 and "
    "M28). Higher is better for throughput, lower for CPU. Each work is a family of its own."
)
PROGRAM_TEXT = (
    "Controls, never ranked: {programs} made the same calls as the client that they replace, on a service "
    "or store with the same limits, and printed the figures. CPU was measured beside them. A service that "
    "decides more here than from Node was not the limit there. Each row shows its median run, with the "
    "range over its runs."
)


def _latency(name: str) -> Read:
    return lambda printed: getattr(printed.latency, name)


#: Name, unit, figure and form of each figure's column.
Figures = tuple[tuple[str, str, Read, Callable[[float | None], str]], ...]
_OPERATIONS: Figures = (
    ("Throughput", "operations/s", lambda printed: printed.operations.per_second, rate),
    ("Mean", "ms", _latency("average"), milliseconds),
    *((name.capitalize(), "ms", _latency(name), milliseconds) for name in ("p50", "p95", "p99", "max")),
    ("Store CPU", "µs/operation", lambda printed: printed.store_cpu_us_per_operation, microseconds),
    ("Memory", "bytes/key", bytes_per_key, lambda value: decimals(value, 0)),
)
_DECISIONS: Figures = (
    ("Throughput", "decisions/s", lambda printed: printed.operations.per_second, rate),
    ("p50", "ms", _latency("p50"), milliseconds),
    ("p99", "ms", _latency("p99"), milliseconds),
    ("Service CPU", "µs/decision", service_cpu, microseconds),
    ("Store CPU", "µs/decision", lambda printed: printed.store_cpu_us_per_operation, microseconds),
)


def _columns(figures: Figures) -> tuple[Column, ...]:
    return (
        *numbers([(name, unit) for name, unit, _, _ in figures], "number"),
        *words("Limited by", "Runs", "Verdict"),
    )


def _limited_by(row: PrintedRow) -> str:
    figures = row.figures
    return figures.limited_by.resource if figures and figures.limited_by else ABSENT


def _cells(row: PrintedRow, columns: Figures) -> tuple[TableCell, ...]:
    """Figures of the median run, with their range over the runs; dashes where no run counts."""
    shown = []
    for _, _, read, show in columns:
        span = row.range_of(read) if row.figures else None
        text = show(read(row.figures)) if row.figures else ABSENT
        shown.append(TableCell(text, range=f"{show(span[0])}–{show(span[1])}" if span else "", kind="number"))
    verdict = TableCell(row.verdict, kind=f"verdict {row.verdict}")
    return (*shown, *named(_limited_by(row), counted_text(row.runs, row.missing, row.counted)), verdict)


def counted_text(runs: Sequence[object], missing: Sequence[object], counted: Sequence[object]) -> str:
    """`3`; `2 of 3` where some do not count."""
    planned = len(runs) + len(missing)
    return str(len(counted)) if len(counted) == planned else f"{len(counted)} of {planned}"


def _programs(runs: Iterable[Run]) -> str:
    found = {f"{run.printed.program.id} {run.printed.program.version}" for run in runs if run.printed}
    return " and ".join(sorted(found)) or "load programs"


def _problems(runs: Iterable[Run]) -> tuple[str, ...]:
    return tuple(
        f"{run.file} is {run.verdict if run.printed else run.record.status}: "
        + "; ".join(f"{reason.rule} {reason.text}" for reason in run.reasons)
        + "."
        for run in runs
        if run.verdict != "valid"
    )


def _client_rate(control: LoadProgramControl) -> str:
    figures = control.client.figures if control.client else None
    return rate(throughput(figures)) if figures else ABSENT


def _control_row(control: LoadProgramControl) -> TableRow:
    row, client = control.row, control.client
    limiting = client.figures.limiting_resource if client and client.figures else None
    cells = (
        *named(row.identity.label, load_text(row.identity)),
        *_cells(row, _DECISIONS),
        number(_client_rate(control), None),
        TableCell(limiting or ABSENT),
    )
    return TableRow("", cells)


def load_programs(analysis: Analysis) -> Section | None:
    controls = analysis.load_programs
    runs = [run for control in controls for run in control.row.runs]
    node = (Column("From Node", "decisions/s"), *words("Node limited by"))
    columns = (*words("Target", "Load"), *_columns(_DECISIONS), *node)
    section = Section(
        "load-programs",
        "Load programs in the place of Node",
        text=(PROGRAM_TEXT.format(programs=_programs(runs)),),
        tables=(table_of("load-program-rows", columns, map(_control_row, controls)),),
        notes=_problems(runs),
        open=True,
    )
    return section if controls else None


def load_program_sentences(controls: Sequence[LoadProgramControl]) -> list[str]:
    """`Control, realistic, …: wrk in the place of throttlecrab-http reached 52,300 decisions/s, …`"""
    return [
        f"Control, {load_text(control.row.identity)}: {control.program} in the place of "
        f"{control.client_label} reached {rate(control.row.figures.operations.per_second)} decisions/s, "
        f"limited by {_limited_by(control.row)}; Node reached {_client_rate(control)}."
        for control in controls
        if control.row.figures
    ]


def _work_text(identity: Identity) -> str:
    """`set of 100 bytes, 50 connections`."""
    payload = f" of {identity.payload_bytes} bytes" if identity.payload_bytes else ""
    return f"{identity.workload}{payload}, {plural(identity.connections, 'connection')}"


def _ratio(found: Comparison) -> str:
    """`1.25× (1.20–1.31)`; without an interval below four runs a side."""
    interval = found.interval
    span = f" ({interval.low:.2f}–{interval.high:.2f})" if interval else ""
    return ABSENT if found.ratio is None else f"{ratio(found.ratio)}{span}"


def _ratio_rows(operations: StoreOperations) -> list[TableRow]:
    rows = []
    for cell in operations.cells:
        for row, comparisons in cell.ratios:
            cells = [*named(row.store, _work_text(cell.identity))]
            for found in comparisons:
                verdict = f"{found.status}: {found.reason}" if found.reason else found.status
                cells += [number(_ratio(found), found.ratio), TableCell(verdict, kind="text")]
            rows.append(TableRow("", tuple(cells)))
    return rows


def store_sentences(found: StoreOperations | None) -> list[str]:
    """The ratio table as lines, e.g. `…: valkey 1.25× (1.20–1.31) the throughput of redis (better), …`."""
    if found is None:
        return []
    lines = []
    for cell in found.cells:
        for row, (operations, cpu) in cell.ratios:
            said = (
                f"{_ratio(operations)} the throughput of {found.reference} ({operations.status}), "
                f"{_ratio(cpu)} its CPU per operation ({cpu.status})"
                if operations.ratio is not None
                else f"is not compared with {found.reference}, because there are too few runs"
            )
            lines.append(f"Store layer, {_work_text(cell.identity)}: {row.store} {said}.")
    return lines or [
        "Store layer: nothing is compared, because no other store than the reference has runs that count."
    ]


def store_operations(analysis: Analysis) -> Section | None:
    found = analysis.store_operations
    if found is None:
        return None

    def row_of(row: PrintedRow) -> TableRow:
        name = TableCell(row.store, tag="reference" if row.store == found.reference else "")
        return TableRow("", (name, *_cells(row, _OPERATIONS)))

    columns = (*words("Store"), *_columns(_OPERATIONS))
    tables = [
        table_of(f"operations{index}", columns, map(row_of, cell.rows), _work_text(cell.identity))
        for index, cell in enumerate(found.cells, start=1)
    ]
    if ratios := _ratio_rows(found):
        of_ratios = (
            *words("Store", "Work"),
            *(
                column
                for name in ("Throughput", "Store CPU per operation")
                for column in (Column(name), *words("Verdict"))
            ),
        )
        caption = RATIOS.format(reference=found.reference)
        title = f"Ratios to {found.reference}"
        tables.append(table_of("store-ratios", of_ratios, ratios, title, caption=caption))
    runs = [run for row in found.rows for run in row.runs]
    return Section(
        "store-operations",
        "Store operations",
        text=(STORE_TEXT.format(programs=_programs(runs)),),
        tables=tuple(tables),
        notes=_problems(runs),
        open=True,
    )

"""The figures that load programs printed: operations of stores, and decisions in the place of
Node."""

from collections.abc import Iterable, Iterator, Sequence

from report.analysis import printed_rows as printed
from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import throughput
from report.analysis.limits import Limit
from report.analysis.printed_rows import LoadProgramControl, PrintedRow, Read, StoreOperations
from report.analysis.texts import AT_FULL_LOAD, load_text
from report.base.format import (
    ABSENT,
    Show,
    decimals,
    microseconds,
    milliseconds,
    plural,
    rate,
    ratio,
)
from report.results.identity import Identity
from report.results.model import Run
from report.sections import section
from report.statistics.comparison import Comparison

STORE_TEXT = (
    "Plain commands, without any limiter, server or Node client: {programs} sent them and printed the "
    "figures. The store's CPU and memory were measured beside it. These rows are never ranked with those of "
    "other layers. Each figure is the median over the runs, with their range."
)
RATIOS = (
    "Store ÷ {reference}: the Hodges–Lehmann ratio of runs with its exact interval of 95 % (rules M17 and "
    "M28). Higher is better for throughput, lower for CPU. Each work is a family of its own."
)
PROGRAM_TEXT = (
    "Controls, never ranked: {programs} made the same calls as the client that they replace, on a service "
    "or store with the same limits, and printed the figures. CPU was measured beside them. A service that "
    "decides more here than from Node was not the limit there. Each figure is the median over the "
    "runs, with their range."
)


Figures = tuple[tuple[str, str, Read, Show], ...]
"""The name, unit, figure and form of each column."""

_OPERATIONS: Figures = (
    ("Throughput", "operations/s", printed.rate, rate),
    ("Mean", "ms", printed.latency("average"), milliseconds),
    *(
        (name.capitalize(), "ms", printed.latency(name), milliseconds)
        for name in ("p50", "p95", "p99", "max")
    ),
    ("Store CPU", f"µs/operation {AT_FULL_LOAD}", printed.store_cpu, microseconds),
    ("Memory", "bytes/key", printed.bytes_per_key, lambda value: decimals(value, 0)),
)
_DECISIONS: Figures = (
    ("Throughput", "decisions/s", printed.rate, rate),
    *((name, "ms", printed.latency(name), milliseconds) for name in ("p50", "p99")),
    ("Service CPU", f"µs/decision {AT_FULL_LOAD}", printed.service_cpu, microseconds),
    ("Store CPU", f"µs/decision {AT_FULL_LOAD}", printed.store_cpu, microseconds),
)


def _columns(figures: Figures) -> tuple[section.Column, ...]:
    figure_columns = section.numbers([(name, unit) for name, unit, _, _ in figures], "number")
    return (*figure_columns, *section.words("Limited by", "Runs", "Verdict"))


def _cells(row: PrintedRow, columns: Figures) -> tuple[section.TableCell, ...]:
    """The medians over the runs with their range, or dashes where no run counts."""
    figure_cells = []
    for _, _, read, show in columns:
        bounds = row.range_of(read)
        text = show(row.median_of(read))
        range_text = f"{show(bounds[0])}–{show(bounds[1])}" if bounds else ""
        figure_cells.append(section.TableCell(text, range=range_text, kind="number"))
    verdict = section.TableCell(row.verdict, kind=f"verdict {row.verdict}")
    counted = counted_text(row.runs, row.missing, row.counted)
    return (*figure_cells, *section.named(_limit_words(row.limit), counted), verdict)


def _limit_words(limit: Limit | None) -> str:
    return limit.words if limit else ABSENT


def _limited_text(limit: Limit | None) -> str:
    if limit is None:
        return "what limited it is not known"
    return f"limited by {limit.words}" if limit.is_named else "and no limit was named"


def counted_text(
    runs: Sequence[object], missing: Sequence[object], counted: Sequence[object]
) -> str:
    """How many runs count: `3`, or `2 of 3` where some do not."""
    planned = len(runs) + len(missing)
    return str(len(counted)) if len(counted) == planned else f"{len(counted)} of {planned}"


def _client_rate(control: LoadProgramControl) -> str:
    return control.client.figure_of(throughput).text(rate) if control.client else ABSENT


def load_programs(analysis: Analysis) -> section.Section | None:
    controls = analysis.load_programs
    if not controls:
        return None
    rows = []
    for control in controls:
        row = control.row
        client = control.client
        limiting = client.limit if client else None
        names = section.named(row.identity.label, load_text(row.identity))
        node = (section.number(_client_rate(control), None), *section.named(_limit_words(limiting)))
        rows.append(section.TableRow("", (*names, *_cells(row, _DECISIONS), *node)))
    node_columns = (section.Column("From Node", "decisions/s"), *section.words("Node limited by"))
    columns = (*section.words("Target", "Load"), *_columns(_DECISIONS), *node_columns)
    table = section.table_of("load-program-rows", columns, rows)
    runs = [run for control in controls for run in control.row.runs]
    return _section(
        "load-programs", "Load programs in the place of Node", PROGRAM_TEXT, [table], runs
    )


def _section(
    section_id: str, title: str, text: str, tables: Iterable[section.Table], runs: Sequence[Run]
) -> section.Section:
    program_names = {
        f"{run.printed.program.id} {run.printed.program.version}" for run in runs if run.printed
    }
    programs = " and ".join(sorted(program_names)) or "load programs"
    problems = tuple(
        f"{run.file} is {run.verdict if run.printed else run.record.status}: "
        + "; ".join(f"{reason.rule} {reason.text}" for reason in run.reasons)
        + "."
        for run in runs
        if run.verdict != "valid"
    )
    text = text.format(programs=programs)
    return section.Section(
        section_id, title, text=(text,), tables=tuple(tables), notes=problems, open=True
    )


def load_program_sentences(controls: Sequence[LoadProgramControl]) -> list[str]:
    """One sentence for each control that counts, for example: `Control, realistic, …: wrk in the
    place of throttlecrab-http reached 52,300 decisions/s, …`"""
    return [
        f"Control, {load_text(control.row.identity)}: {control.program} in the place of "
        f"{control.client_label} reached {rate(control.row.median_of(printed.rate))} decisions/s, "
        f"{_limited_text(control.row.limit)}; Node reached {_client_rate(control)}."
        for control in controls
        if control.row.counted
    ]


def _work_text(identity: Identity) -> str:
    """`set of 100 bytes, 50 connections`."""
    payload = f" of {identity.payload_bytes} bytes" if identity.payload_bytes else ""
    return f"{identity.workload}{payload}, {plural(identity.connections, 'connection')}"


def _ratio(comparison: Comparison) -> str:
    """`1.25× (1.20–1.31)`, without an interval when a side has fewer than four runs."""
    interval = comparison.interval
    interval_text = f" ({interval.low:.2f}–{interval.high:.2f})" if interval else ""
    return ABSENT if comparison.ratio is None else f"{ratio(comparison.ratio)}{interval_text}"


def _ratio_rows(operations: StoreOperations) -> Iterator[section.TableRow]:
    for cell in operations.cells:
        for row, comparisons in cell.ratios:
            cells = [*section.named(row.store, _work_text(cell.rows[0].identity))]
            for comparison in comparisons:
                verdict = (
                    f"{comparison.statement}: {comparison.reason}"
                    if comparison.reason
                    else comparison.statement
                )
                cells += [
                    section.number(_ratio(comparison), comparison.ratio),
                    section.TableCell(verdict, kind="text"),
                ]
            yield section.TableRow("", tuple(cells))


def store_sentences(operations: StoreOperations | None) -> list[str]:
    """The table of ratios as lines of text, for example `…: valkey 1.25× (1.20–1.31) the throughput
    of redis (faster), …`."""
    if operations is None:
        return []
    lines = []
    for cell in operations.cells:
        for row, (rate_ratio, cpu) in cell.ratios:
            ratio_text = (
                f"{_ratio(rate_ratio)} the throughput of {operations.reference} ({rate_ratio.statement}), "
                f"{_ratio(cpu)} its CPU per operation {AT_FULL_LOAD} ({cpu.statement})"
                if rate_ratio.ratio is not None
                else f"is not compared with {operations.reference}, because there are too few runs"
            )
            lines.append(
                f"Store layer, {_work_text(cell.rows[0].identity)}: {row.store} {ratio_text}."
            )
    reason = "no other store than the reference has runs that count"
    return lines or [f"Store layer: nothing is compared, because {reason}."]


def store_operations(analysis: Analysis) -> section.Section | None:
    operations = analysis.store_operations
    if operations is None:
        return None

    def row_of(row: PrintedRow) -> section.TableRow:
        name = section.TableCell(
            row.store, tag="reference" if row.store == operations.reference else ""
        )
        return section.TableRow("", (name, *_cells(row, _OPERATIONS)))

    columns = (*section.words("Store"), *_columns(_OPERATIONS))
    tables = [
        section.table_of(
            f"operations{index}", columns, map(row_of, cell.rows), _work_text(cell.rows[0].identity)
        )
        for index, cell in enumerate(operations.cells, start=1)
    ]
    if ratios := list(_ratio_rows(operations)):
        verdicts = [
            (section.Column(name), *section.words("Verdict"))
            for name in ("Throughput", f"Store CPU per operation {AT_FULL_LOAD}")
        ]
        of_ratios = (*section.words("Store", "Work"), *verdicts[0], *verdicts[1])
        caption = RATIOS.format(reference=operations.reference)
        title = f"Ratios to {operations.reference}"
        tables.append(section.table_of("store-ratios", of_ratios, ratios, title, caption=caption))
    runs = [run for row in operations.rows for run in row.runs]
    return _section("store-operations", "Store operations", STORE_TEXT, tables, runs)

"""Makes the CSV and JSON files of topics: faults, memory per key, several servers, load programs
and operations of stores."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from report.analysis import column, printed_rows
from report.analysis.campaign_analysis import Analysis
from report.analysis.column import Column, Read
from report.analysis.columns import BOUND_ENDS
from report.analysis.fault_figures import (
    FAULTED_RUN_FIGURES,
    NEVER,
    FaultCase,
    FaultedRun,
    FaultGroup,
    fault_words,
)
from report.analysis.figures import throughput
from report.analysis.memory_per_key_rows import KeyMemory, Slope
from report.analysis.server_counts import SCALING_FIGURES, ServerScaling, ServerStep, ready_s
from report.analysis.summary_columns import RANGE_ENDS, interval_end
from report.base.csv_text import picked
from report.export.frame_csv import entries_csv
from report.results.generated.records import MeasuredResultFault
from report.results.model import Measured, Run, fault_title
from report.statistics.comparison import Comparison

_FAULT_IDENTITY = ("configuration_hash", "label", "topology", "store", "limiter", "traffic")
_MEMORY_IDENTITY = ("store", "topology", "limiter")


def _finite(value: float | None) -> float | None:
    return None if value == NEVER else value


class _FaultRow(Struct, frozen=True):
    """A fault in a run, which need not count."""

    group: FaultGroup
    case: FaultCase
    run: Run

    @property
    def record(self) -> MeasuredResultFault | None:
        return self.case.record_of(self.run)

    @property
    def faulted(self) -> FaultedRun | None:
        return self.case.faulted(self.run)


def _faulted(read: Callable[[FaultedRun], Any]) -> Read:
    return lambda row: read(row.faulted) if row.faulted else None


def _finite_figure(read: Callable[[FaultedRun], float | None]) -> Read:
    return _faulted(lambda faulted: _finite(read(faulted)))


def _measured(read: Callable[[Measured], Any]) -> Read:
    return lambda row: read(row.run.measured) if row.run.measured else None


def _codes(run: Measured) -> str | None:
    return " ".join(f"{code}:{number}" for code, number in run.failed_by_code.items()) or None


#: Columns that came after the others stand at the end, because some readers take columns by their
#: place.
_LATER_FAULT_COLUMNS: Mapping[str, Column] = {
    "served_again_s": column.number(_finite_figure(FAULTED_RUN_FIGURES["served_again_s"][0]), 3),
    "served_again_from": column.text(_faulted(attrgetter("served_again_from"))),
    "failed_by_status": column.text(_measured(_codes)),
    "connection_errors": column.whole(_measured(attrgetter("record.errors"))),
    "timeouts": column.whole(_measured(attrgetter("record.timeouts"))),
}
FAULT_COLUMNS: Mapping[str, Column] = {
    **{name: column.text(attrgetter(f"case.identity.{name}")) for name in _FAULT_IDENTITY},
    "rate_per_second": column.number(attrgetter("case.identity.rate_per_second"), 3),
    "fault": column.text(lambda row: fault_title(row.group.fault)),
    "fault_start_s": column.number(attrgetter("group.fault.start_s"), 3),
    "fault_length_s": column.number(attrgetter("group.fault.length_s"), 3),
    "run": column.whole(attrgetter("run.run")),
    "verdict": column.text(
        lambda row: row.run.verdict if row.run.measured else row.run.record.status
    ),
    "injected": column.truth(
        lambda row: row.record is not None and row.record.injected is not None
    ),
    "undone": column.truth(lambda row: row.record is None or row.record.undone),
    "observed_s": column.number(_faulted(attrgetter("figures.observed_s")), 1),
    "recovery": column.text(_faulted(attrgetter("figures.recovery"))),
    "behaviour": column.text(_faulted(attrgetter("figures.behaviour"))),
    **{
        name: column.number(_finite_figure(read), digits)
        for name, (read, digits) in FAULTED_RUN_FIGURES.items()
        if name not in _LATER_FAULT_COLUMNS
    },
    **_LATER_FAULT_COLUMNS,
}


def faults_csv(groups: Sequence[FaultGroup]) -> str:
    """A row for each fault and run, including runs that do not count. A figure that is absent is an
    empty cell and never 0."""
    cases = [(group, case) for group in groups for case in group.cases]
    rows = (_FaultRow(group, case, run) for group, case in cases for run in case.runs)
    return entries_csv(FAULT_COLUMNS, rows)


def _fault_spread(case: FaultCase, name: str) -> dict[str, Any] | None:
    spread = case.spread(name)
    if spread is None:
        return None
    return {
        "median": _finite(spread.middle),
        "min": _finite(spread.low),
        "max": _finite(spread.high),
        "runs": spread.runs,
    }


def _fault_document(group: FaultGroup, case: FaultCase) -> dict[str, Any]:
    fault = group.fault
    recoveries = [faulted.figures.recovery for faulted in case.counted]
    return {
        "fault": fault_title(fault),
        **picked(fault, "start_s", "length_s"),
        "words": fault_words(fault),
        **picked(case.identity, *_FAULT_IDENTITY),
        "rate_per_second": case.identity.rate_per_second,
        "runs": len(case.runs),
        "counted_runs": len(case.counted),
        "missing_runs": len(case.missing),
        "verdict": case.verdict,
        "behaviour": case.behaviour or None,
        "failures": case.failures,
        "recovered_runs": recoveries.count("recovered"),
        "never_recovered_runs": recoveries.count("never"),
        **{name: _fault_spread(case, name) for name in FAULTED_RUN_FIGURES},
    }


def fault_documents(groups: Sequence[FaultGroup]) -> list[dict[str, Any]]:
    return [_fault_document(group, case) for group in groups for case in group.cases]


class _MemoryRow(Struct, frozen=True):
    """The memory that a key takes by one source of figures. Without a slope it is not known, and
    `reason` of the memory says why."""

    memory: KeyMemory
    slope: Slope | None


def _slope_member(path: str) -> Read:
    read = attrgetter(path)
    return lambda row: read(row.slope) if row.slope else None


MEMORY_COLUMNS: Mapping[str, Column] = {
    "target": column.text(attrgetter("memory.identity.label")),
    **{name: column.text(attrgetter(f"memory.identity.{name}")) for name in _MEMORY_IDENTITY},
    "source": column.text(_slope_member("source")),
    "bytes_per_key": column.number(_slope_member("line.slope"), 2),
    "bytes_per_key_interval_low": column.number(_slope_member("line.low"), 2),
    "bytes_per_key_interval_high": column.number(_slope_member("line.high"), 2),
    "fixed_bytes": column.number(_slope_member("line.intercept"), 0),
    "items_per_key": column.number(attrgetter("memory.items_per_key"), 2),
    "runs": column.whole(lambda row: len(row.slope.points) if row.slope else 0),
    "left_out_runs": column.whole(lambda row: len(row.memory.left_out)),
    "reason": column.text(attrgetter("memory.reason")),
}


def memory_csv(memories: Sequence[KeyMemory]) -> str:
    return entries_csv(
        MEMORY_COLUMNS,
        (_MemoryRow(memory, slope) for memory in memories for slope in (memory.slopes or (None,))),
    )


def rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def _slope(slope: Slope) -> dict[str, Any]:
    line = slope.line
    interval = None
    if line.low is not None:
        interval = {"low": rounded(line.low), "high": rounded(line.high)}
    return {
        "source": slope.source,
        "bytes_per_key": rounded(line.slope),
        "interval": interval,
        "fixed_bytes": rounded(line.intercept),
        "points": [picked(point, "run", "keys", "bytes") for point in slope.points],
    }


def _memory_target(row: KeyMemory) -> dict[str, Any]:
    identity = row.identity
    return {
        "label": identity.label,
        **picked(identity, *_MEMORY_IDENTITY, "layer"),
        "runtime": row.runtime,
        "window_s": identity.limits[1] if identity.limits else None,
        "slopes": [_slope(slope) for slope in row.slopes],
        "items_per_key": rounded(row.items_per_key),
        "left_out": list(row.left_out),
        "reason": row.reason or None,
    }


def memory_document(analysis: Analysis) -> dict[str, Any]:
    manifest = analysis.campaign.manifest
    return {
        "schema": "ratelimit-bench/memory",
        "schema_version": 1,
        "campaign": analysis.campaign.name,
        "started_at": manifest["started_at"] if manifest else None,
        "targets": [_memory_target(row) for row in analysis.memory],
    }


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The document of a comparison, whose ratios are new ÷ base. Without an upper bound `high` is
    null.

    `ratio_of_medians` exists for readers of the first format. It is null, because a second value
    for one ratio would contradict `ratio`."""
    interval = comparison.known_interval
    ends = asdict(interval) if interval else None
    if interval and ends and not isfinite(interval.high):
        ends["high"] = None

    detectable = comparison.detectable
    return {
        "conclusion": comparison.conclusion,
        "statement": comparison.statement,
        "reason": comparison.reason or None,
        "ratio": comparison.ratio,
        "ratio_of_medians": None,
        "interval": ends,
        "pairs": comparison.pairs,
        "runs_without_partner": comparison.dropped,
        "ratio_when_stopped": comparison.stopped_at,
        **picked(comparison, "p", "p_holm"),
        "comparisons_in_family": comparison.comparisons,
        "systematic_error": {
            "percent": 100 * comparison.systematic.share,
            "not_measured": list(comparison.systematic.unmeasured),
        },
        "runs_needed": comparison.runs_needed,
        "detectable_percent": None if detectable is None else 100 * detectable,
    }


#: The names of the ratios to the row with the fewest servers.
_RATIOS = ("throughput_per_server", "server_cpu", "store_cpu")


class _ServerRow(Struct, frozen=True):
    scaling: ServerScaling
    step: ServerStep


def _server_figure(name: str, member: str) -> Read:
    figure, _ = SCALING_FIGURES[name]
    return lambda row: getattr(row.step.summary.figure_of(figure), member)


def _server_ratio_end(name: str, end: str) -> Read:
    return lambda row: interval_end(row.step.ratios.get(name), end)


def _server_ratio_member(name: str, member: str) -> Read:
    return lambda row: getattr(row.step.ratios.get(name), member, None)


def _step_member(part: str, member: str) -> Read:
    """A member of a part of a step, or None where the step does not have that part."""
    return lambda row: getattr(getattr(row.step, part), member, None)


def _server_figure_columns(name: str, digits: int) -> Iterator[tuple[str, Column]]:
    yield name, column.number(_server_figure(name, "value"), digits)
    for ending, end in RANGE_ENDS:
        yield f"{name}_{ending}", column.number(_server_figure(name, end), digits)


def _server_ratio_columns(name: str) -> Iterator[tuple[str, Column]]:
    yield f"{name}_ratio", column.number(_server_ratio_member(name, "ratio"), 4)
    for end in BOUND_ENDS:
        yield f"{name}_ratio_{end}", column.number(_server_ratio_end(name, end), 4)
    yield f"{name}_ratio_status", column.text(_server_ratio_member(name, "conclusion"))


SERVER_COLUMNS: Mapping[str, Column] = {
    "configuration_hash": column.text(attrgetter("step.summary.identity.configuration_hash")),
    "target": column.text(attrgetter("scaling.identity.label")),
    "servers": column.whole(attrgetter("step.servers")),
    "runs": column.whole(attrgetter("step.summary.counted_runs")),
    **dict(
        name_and_column
        for name, (_, digits) in SCALING_FIGURES.items()
        for name_and_column in _server_figure_columns(name, digits)
    ),
    **dict(name_and_column for name in _RATIOS for name_and_column in _server_ratio_columns(name)),
    "added_server_share": column.number(_step_member("added", "estimate"), 4),
    "added_server_share_low": column.number(_step_member("added", "low"), 4),
    "added_server_share_high": column.number(_step_member("added", "high"), 4),
    "first_second_ratio": column.number(_step_member("first_second", "ratio"), 4),
    "first_second_ratio_low": column.number(_step_member("first_second", "low"), 4),
    "first_second_ratio_high": column.number(_step_member("first_second", "high"), 4),
    "first_second_p99_ms": column.number(_step_member("first_second", "p99_ms"), 3),
    "rest_p99_ms": column.number(_step_member("first_second", "rest_p99_ms"), 3),
    "limited_by": column.text(lambda row: getattr(row.step.summary.limit, "resource", None)),
}


def servers_csv(scalings: Sequence[ServerScaling]) -> str:
    rows = (_ServerRow(scaling, step) for scaling in scalings for step in scaling.steps)
    return entries_csv(SERVER_COLUMNS, rows)


def server_documents(scalings: Sequence[ServerScaling]) -> list[dict[str, Any]]:
    return [
        {
            "name": scaling.name,
            "label": scaling.identity.label,
            "steps": list(map(_step, scaling.steps)),
        }
        for scaling in scalings
    ]


def _server_ratio(step: ServerStep, name: str) -> dict[str, Any] | None:
    if name not in step.ratios:
        return None
    document = comparison_document(step.ratios[name])
    members = ("conclusion", "reason", "ratio", "interval", "p_holm")
    return {member: document[member] for member in members}


def _step(step: ServerStep) -> dict[str, Any]:
    summary = step.summary
    measured = summary.selected_figures
    values = {}
    ranges = {}
    for name, (figure, digits) in SCALING_FIGURES.items():
        figure_summary = summary.figure_of(figure)
        values[name] = rounded(figure_summary.value, digits)
        if figure_summary.range:
            low, high = figure_summary.range
            ranges[name] = {"min": round(low, digits), "max": round(high, digits)}

    limit = summary.limit
    return {
        "configuration_hash": summary.identity.configuration_hash,
        "servers": step.servers,
        "runs": summary.counted_runs,
        **values,
        "ranges": ranges,
        "answers_by_server": list(measured.answers_by_server) if measured else [],
        "servers_ready_s": ready_s(measured) if measured else [],
        **{name: _server_ratio(step, name) for name in _RATIOS},
        "added_server_share": asdict(step.added) if step.added else None,
        "first_second": asdict(step.first_second) if step.first_second else None,
        "limited_by": picked(limit, "resource", "text", "runs", "of_runs") if limit else None,
    }


def _printed_columns(row: str) -> dict[str, Column]:
    """The columns with the number of runs of a printed row and their verdict. `row` is the path of
    the row in an entry."""
    read = attrgetter(row)
    return {
        "runs": column.whole(lambda entry: len(read(entry).runs)),
        "counted_runs": column.whole(lambda entry: len(read(entry).counted)),
        "missing_runs": column.whole(lambda entry: len(read(entry).missing)),
        "verdict": column.text(attrgetter(f"{row}.verdict")),
    }


def _median(figure: printed_rows.Read) -> Read:
    return lambda entry: entry.row.median_of(figure)


def _rate_range_end(index: int) -> Read:
    """An end of the range of the rate over the runs, the lower one at index 0."""

    def read(entry: Any) -> float | None:
        ends = entry.row.range_of(printed_rows.rate)
        return ends[index] if ends else None

    return read


def _program_version(entry: Any) -> str | None:
    selected = entry.row.selected
    return selected.program.version if selected else None


def _limiting_resource(entry: Any) -> str | None:
    return entry.row.limit.resource if entry.row.limit else None


def _latency_columns(names: Sequence[str], digits: int) -> dict[str, Column]:
    return {
        f"{name}_ms": column.number(_median(printed_rows.latency(name)), digits) for name in names
    }


def _client_rate(control: printed_rows.LoadProgramControl) -> float | None:
    return control.client.figure_of(throughput).value if control.client else None


LOAD_PROGRAM_COLUMNS: Mapping[str, Column] = {
    "configuration_hash": column.text(attrgetter("row.identity.configuration_hash")),
    "target": column.text(attrgetter("row.identity.label")),
    "program": column.text(attrgetter("program")),
    "program_version": column.text(_program_version),
    "store": column.text(attrgetter("row.identity.store")),
    "topology": column.text(attrgetter("row.identity.topology")),
    "traffic": column.text(attrgetter("row.identity.traffic")),
    "connections": column.whole(attrgetter("row.identity.connections")),
    "duration_s": column.number(attrgetter("row.identity.duration_s"), 3),
    **_printed_columns("row"),
    "decisions_per_second": column.number(_median(printed_rows.rate), 2),
    "decisions_per_second_low": column.number(_rate_range_end(0), 2),
    "decisions_per_second_high": column.number(_rate_range_end(1), 2),
    **_latency_columns(("average", "p50", "p95", "p99", "max"), 3),
    "service_cpu_us_per_decision": column.number(_median(printed_rows.service_cpu), 2),
    "store_cpu_us_per_decision": column.number(_median(printed_rows.store_cpu), 2),
    "limited_by": column.text(_limiting_resource),
    "client": column.text(attrgetter("client_label")),
    "client_decisions_per_second": column.number(_client_rate, 2),
}


def load_programs_csv(controls: Sequence[printed_rows.LoadProgramControl]) -> str:
    return entries_csv(LOAD_PROGRAM_COLUMNS, controls)


class _OperationRow(Struct, frozen=True):
    """A row of a store, an operation, a payload and a number of connections."""

    reference: str
    row: printed_rows.PrintedRow
    comparisons: Mapping[str, Comparison]
    """The comparisons with the reference by the names of `COMPARED`, which the reference itself
    does not have."""


def _operation_rows(operations: printed_rows.StoreOperations) -> Iterator[_OperationRow]:
    names = [name for name, _, _ in printed_rows.COMPARED]
    for cell in operations.cells:
        for row in cell.rows:
            comparisons = next(
                (comparisons for store_row, comparisons in cell.ratios if store_row is row), None
            )
            by_name = dict(zip(names, comparisons, strict=True)) if comparisons else {}
            yield _OperationRow(operations.reference, row, by_name)


def _store_version(entry: _OperationRow) -> str | None:
    selected = entry.row.selected
    return selected.versions.store if selected else None


def _operation_comparison(name: str, member: str) -> Read:
    return lambda entry: getattr(entry.comparisons.get(name), member, None)


def _operation_interval(name: str, end: str) -> Read:
    interval = _operation_comparison(name, "interval")
    return lambda entry: getattr(interval(entry), end, None)


def _operation_ratio_columns(name: str) -> Iterator[tuple[str, Column]]:
    yield f"{name}_ratio", column.number(_operation_comparison(name, "ratio"), 4)
    for end in BOUND_ENDS:
        yield f"{name}_ratio_{end}", column.number(_operation_interval(name, end), 4)
    yield f"{name}_verdict", column.text(_operation_comparison(name, "conclusion"))


OPERATION_COLUMNS: Mapping[str, Column] = {
    "configuration_hash": column.text(attrgetter("row.identity.configuration_hash")),
    "store": column.text(attrgetter("row.store")),
    "reference": column.text(attrgetter("reference")),
    "operation": column.text(attrgetter("row.identity.workload")),
    "payload_bytes": column.whole(attrgetter("row.identity.payload_bytes")),
    "connections": column.whole(attrgetter("row.identity.connections")),
    "duration_s": column.number(attrgetter("row.identity.duration_s"), None),
    "program": column.text(attrgetter("row.identity.client")),
    "program_version": column.text(_program_version),
    "store_version": column.text(_store_version),
    **_printed_columns("row"),
    "operations_per_second": column.number(_median(printed_rows.rate), 4),
    "operations_per_second_low": column.number(_rate_range_end(0), 4),
    "operations_per_second_high": column.number(_rate_range_end(1), 4),
    **_latency_columns(("average", "min", "p50", "p95", "p99", "max"), 4),
    "store_cpu_us_per_operation": column.number(_median(printed_rows.store_cpu), 4),
    "bytes_per_key": column.number(_median(printed_rows.bytes_per_key), 4),
    **dict(
        name_and_column
        for name, _, _ in printed_rows.COMPARED
        for name_and_column in _operation_ratio_columns(name)
    ),
    "limited_by": column.text(_limiting_resource),
}


def operation_documents(operations: printed_rows.StoreOperations | None) -> list[dict[str, Any]]:
    """A document for each store, operation, payload and number of connections. There are none if
    the campaign has no store layer."""
    rows = _operation_rows(operations) if operations else ()
    return [
        {name: row_column.read(row) for name, row_column in OPERATION_COLUMNS.items()}
        for row in rows
    ]


def operations_csv(operations: printed_rows.StoreOperations | None) -> str:
    return entries_csv(OPERATION_COLUMNS, _operation_rows(operations) if operations else ())

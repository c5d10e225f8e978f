"""The CSV files of load programs and of operations of stores, and the documents of operations."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct

from report.analysis import column, printed_rows
from report.analysis.column import Column, Read
from report.analysis.columns import BOUND_ENDS
from report.analysis.figures import throughput
from report.export.frame_csv import entries_csv
from report.statistics.comparison import Comparison


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

"""Rows of the store layer as CSV and JSON. They are files of their own: no other layer shares their rows."""

import json
from typing import Any

from report.analysis.printed_rows import PrintedRow
from report.analysis.store_operations import COMPARED, StoreCell, StoreOperations
from report.base.csv_text import csv_number, records_csv
from report.statistics.decision import Comparison

_LATENCIES = ("average", "min", "p50", "p95", "p99", "max")


def _figures(row: PrintedRow) -> dict[str, Any]:
    figures = row.figures
    throughput = row.range_of(lambda printed: printed.operations_per_second)
    return {
        "operations_per_second": figures and figures.operations_per_second,
        "operations_per_second_low": throughput and throughput[0],
        "operations_per_second_high": throughput and throughput[1],
        **{f"{name}_ms": figures and figures.latency_ms[name] for name in _LATENCIES},
        "store_cpu_us_per_operation": figures and figures.store_cpu_us_per_operation,
        "bytes_per_key": figures and figures.bytes_per_key,
    }


def _comparison(name: str, found: Comparison | None) -> dict[str, Any]:
    interval = found.interval if found else None
    return {
        f"{name}_ratio": found.ratio if found else None,
        f"{name}_ratio_low": interval.low if interval else None,
        f"{name}_ratio_high": interval.high if interval else None,
        f"{name}_verdict": found.status if found else None,
    }


def _entry(cell: StoreCell, row: PrintedRow, reference: str) -> dict[str, Any]:
    own = next((each for each in cell.ratios if each.row is row), None)
    identity = row.identity
    figures = row.figures
    return {
        "configuration_hash": identity.configuration_hash,
        "store": row.store,
        "reference": reference,
        "operation": identity.workload,
        "payload_bytes": identity.payload_bytes,
        "connections": identity.connections,
        "duration_s": identity.duration_s,
        "program": identity.client,
        "program_version": figures.program_version if figures else None,
        "store_version": figures.store_version if figures else None,
        "runs": len(row.runs),
        "counted_runs": len(row.counted),
        "missing_runs": len(row.missing),
        "verdict": row.verdict,
        **_figures(row),
        **{
            key: value
            for index, figure in enumerate(COMPARED)
            for key, value in _comparison(figure.name, own.comparisons[index] if own else None).items()
        },
        "limited_by": figures.limited_by.resource if figures and figures.limited_by else None,
    }


def operation_rows(found: StoreOperations | None) -> list[dict[str, Any]]:
    if found is None:
        return []
    return [_entry(cell, row, found.reference) for cell in found.cells for row in cell.rows]


def operations_json(found: StoreOperations | None) -> str:
    return json.dumps(operation_rows(found), ensure_ascii=False, indent=1) + "\n"


def operations_csv(found: StoreOperations | None) -> str:
    return records_csv(
        {name: csv_number(value, 4) if isinstance(value, float) else value for name, value in row.items()}
        for row in operation_rows(found)
    )

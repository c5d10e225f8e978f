"""Rows of foreign programs as CSV and JSON. They are files of their own: no other layer shares their rows."""

import json
from collections.abc import Sequence
from typing import Any

from report.analysis import printed_rows
from report.analysis.figures import throughput
from report.base.csv_text import Cell, csv_number, records_csv


def _runs(row: printed_rows.PrintedRow) -> dict[str, Any]:
    counts = {"runs": len(row.runs), "counted_runs": len(row.counted), "missing_runs": len(row.missing)}
    return {**counts, "verdict": row.verdict}


def _control(control: printed_rows.LoadProgramControl) -> dict[str, Cell]:
    row, client = control.row, control.client
    identity, figures = row.identity, row.figures
    low, high = row.range_of(printed_rows.rate) or (None, None)
    of_client = throughput(client.figures) if client and client.figures else None
    latencies = ("average", "p50", "p95", "p99", "max")
    return {
        "configuration_hash": identity.configuration_hash,
        "target": identity.label,
        "program": control.program,
        "program_version": figures.program.version if figures else None,
        "store": identity.store,
        "topology": identity.topology,
        "traffic": identity.traffic,
        "connections": identity.connections,
        "duration_s": csv_number(identity.duration_s, 3),
        **_runs(row),
        "decisions_per_second": csv_number(figures.operations.per_second if figures else None, 2),
        "decisions_per_second_low": csv_number(low, 2),
        "decisions_per_second_high": csv_number(high, 2),
        **{
            f"{name}_ms": csv_number(getattr(figures and figures.latency, name, None), 3)
            for name in latencies
        },
        "service_cpu_us_per_decision": csv_number(printed_rows.service_cpu(figures) if figures else None, 2),
        "store_cpu_us_per_decision": csv_number(figures.store_cpu_us_per_operation if figures else None, 2),
        "limited_by": row.limited_by,
        "client": control.client_label,
        "client_decisions_per_second": csv_number(of_client, 2),
    }


def load_programs_csv(controls: Sequence[printed_rows.LoadProgramControl]) -> str:
    return records_csv(map(_control, controls))


def _operation(cell: printed_rows.StoreCell, row: printed_rows.PrintedRow, reference: str) -> dict[str, Any]:
    identity, figures = row.identity, row.figures
    low, high = row.range_of(printed_rows.rate) or (None, None)
    own = next((found for each, found in cell.ratios if each is row), (None,) * len(printed_rows.COMPARED))
    latencies = ("average", "min", "p50", "p95", "p99", "max")
    return {
        "configuration_hash": identity.configuration_hash,
        "store": row.store,
        "reference": reference,
        "operation": identity.workload,
        "payload_bytes": identity.payload_bytes,
        "connections": identity.connections,
        "duration_s": identity.duration_s,
        "program": identity.client,
        "program_version": figures.program.version if figures else None,
        "store_version": figures.versions.store if figures else None,
        **_runs(row),
        "operations_per_second": figures and figures.operations.per_second,
        "operations_per_second_low": low,
        "operations_per_second_high": high,
        **{f"{name}_ms": figures and getattr(figures.latency, name) for name in latencies},
        "store_cpu_us_per_operation": figures and figures.store_cpu_us_per_operation,
        "bytes_per_key": figures and printed_rows.bytes_per_key(figures),
        **{
            f"{name}_{part}": value
            for (name, _, _), found in zip(printed_rows.COMPARED, own, strict=True)
            for part, value in (
                ("ratio", found.ratio if found else None),
                ("ratio_low", found.interval.low if found and found.interval else None),
                ("ratio_high", found.interval.high if found and found.interval else None),
                ("verdict", found.status if found else None),
            )
        },
        "limited_by": row.limited_by,
    }


def _operations(found: printed_rows.StoreOperations | None) -> list[dict[str, Any]]:
    """One row a store, operation, payload and number of connections; none without the store layer."""
    return (
        [_operation(cell, row, found.reference) for cell in found.cells for row in cell.rows] if found else []
    )


def operations_json(found: printed_rows.StoreOperations | None) -> str:
    return json.dumps(_operations(found), ensure_ascii=False, indent=1) + "\n"


def operations_csv(found: printed_rows.StoreOperations | None) -> str:
    return records_csv(
        {name: csv_number(value, 4) if isinstance(value, float) else value for name, value in row.items()}
        for row in _operations(found)
    )

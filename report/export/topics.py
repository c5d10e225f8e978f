"""Files of what is in no ranking of speed: memory, faults, several servers, and rows of foreign programs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.faults import (
    NEVER,
    FaultCase,
    FaultedRun,
    FaultGroup,
    Read,
    answer_share,
    fault_words,
    over_admission,
    predicted_over_admission,
    recovery,
)
from report.analysis.figures import throughput
from report.analysis.memory_per_key import KeyMemory, Slope
from report.analysis.printed_rows import COMPARED, LoadProgramControl, PrintedRow, StoreCell, StoreOperations
from report.analysis.several_servers import ServerScaling
from report.base.csv_text import Cell, csv_number, records_csv
from report.base.files import json_text
from report.export.summary_json import SERVER_FIGURES, server_documents
from report.results.model import Identity, Run
from report.sections.faults import behaviour_of


def _identity(identity: Identity, *names: str) -> dict[str, Any]:
    return {name: getattr(identity, name) for name in names}


def _memory_record(row: KeyMemory, slope: Slope | None) -> dict[str, Cell]:
    line = slope.line if slope else None
    return {
        "target": row.identity.label,
        **_identity(row.identity, "store", "topology", "limiter"),
        "source": slope.source if slope else None,
        "bytes_per_key": csv_number(line.slope if line else None, 2),
        "bytes_per_key_interval_low": csv_number(line.low if line else None, 2),
        "bytes_per_key_interval_high": csv_number(line.high if line else None, 2),
        "fixed_bytes": csv_number(line.intercept if line else None, 0),
        "items_per_key": csv_number(row.items_per_key, 2),
        "runs": len(slope.points) if slope else 0,
        "left_out_runs": len(row.left_out),
        "reason": row.reason or None,
    }


def memory_csv(rows: Sequence[KeyMemory]) -> str:
    return records_csv(_memory_record(row, slope) for row in rows for slope in (row.slopes or (None,)))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _slope(slope: Slope) -> dict[str, Any]:
    line = slope.line
    return {
        "source": slope.source,
        "bytes_per_key": _rounded(line.slope),
        "interval": None if line.low is None else {"low": _rounded(line.low), "high": _rounded(line.high)},
        "fixed_bytes": _rounded(line.intercept),
        "points": [{"run": point.run, "keys": point.keys, "bytes": point.bytes} for point in slope.points],
    }


def memory_document(analysis: Analysis) -> dict[str, Any]:
    manifest = analysis.campaign.manifest
    return {
        "schema": "ratelimit-bench/memory",
        "schema_version": 1,
        "campaign": analysis.campaign.name,
        "started_at": manifest["started_at"] if manifest else None,
        "targets": [
            {
                **_identity(row.identity, "label", "store", "topology", "limiter", "layer"),
                "runtime": row.runtime,
                "window_s": row.identity.limits[1] if row.identity.limits else None,
                "slopes": list(map(_slope, row.slopes)),
                "items_per_key": _rounded(row.items_per_key),
                "left_out": list(row.left_out),
                "reason": row.reason or None,
            }
            for row in analysis.memory
        ],
    }


#: Of faults: name, figure and decimals of what is a number.
_FAULT_FIGURES: tuple[tuple[str, Callable[[FaultedRun], float | None], int], ...] = (
    ("outage_injected_s", lambda each: each.figures.outage_injected_s, 3),
    ("outage_seen_s", lambda each: each.figures.outage_seen_s, 1),
    ("error_share", lambda each: each.figures.error_share, 6),
    ("first_error_s", lambda each: each.figures.first_error_s, 3),
    ("recovery_s", recovery, 3),
    ("p99_before_us", lambda each: each.run.faults.p99_before_us if each.run.faults else None, 0),
    ("p99_worst_us", lambda each: each.figures.p99_worst_us, 0),
    ("requests_lost", lambda each: each.figures.requests_lost, 0),
    ("over_admission", over_admission, 0),
    ("over_admission_predicted", predicted_over_admission, 0),
    ("allowed_share", answer_share("allowed"), 6),
    ("limited_share", answer_share("limited"), 6),
    ("failed_share", answer_share("failed"), 6),
    ("server_memory_peak_bytes", lambda each: each.figures.server_memory_peak_bytes, 0),
    ("store_reconnections", lambda each: each.record.store_reconnections, 0),
)
_OF_FAULTED = ("configuration_hash", "label", "topology", "store", "limiter", "traffic")


def _finite(value: float | None) -> float | None:
    return None if value == NEVER else value


def _fault_record(group: FaultGroup, case: FaultCase, run: Run) -> dict[str, Cell]:
    record = case.record_of(run)
    figures = record.figures if record else None
    faulted = FaultedRun(run, record, figures) if record and figures else None
    return {
        **_identity(case.identity, *_OF_FAULTED),
        "rate_per_second": csv_number(case.identity.rate_per_second, 3),
        "fault": group.fault.title,
        "fault_start_s": csv_number(group.fault.start_s, 3),
        "fault_length_s": csv_number(group.fault.length_s, 3),
        "run": run.run,
        "verdict": run.verdict if run.measured else run.status,
        "injected": str(record is not None and record.from_s is not None).lower(),
        "undone": str(record is None or record.undone).lower(),
        "observed_s": csv_number(figures.observed_s, 1) if figures else None,
        "recovery": figures.recovery if figures else None,
        "behaviour": figures.behaviour if figures else None,
        **{
            name: csv_number(_finite(read(faulted)) if faulted else None, digits)
            for name, read, digits in _FAULT_FIGURES
        },
    }


def faults_csv(groups: Sequence[FaultGroup]) -> str:
    """One row a fault and run, also of runs that do not count; what is absent is an empty cell, never 0."""
    return records_csv(
        _fault_record(group, case, run) for group in groups for case in group.cases for run in case.runs
    )


def _fault_spread(case: FaultCase, read: Read) -> dict[str, Any] | None:
    found = case.spread(read)
    if found is None:
        return None
    ends = {"median": found.middle, "min": found.low, "max": found.high}
    return {name: _finite(value) for name, value in ends.items()} | {"runs": found.runs}


def _fault_document(group: FaultGroup, case: FaultCase) -> dict[str, Any]:
    fault = group.fault
    recoveries = [each.figures.recovery for each in case.counted]
    return {
        "fault": fault.title,
        "start_s": fault.start_s,
        "length_s": fault.length_s,
        "words": fault_words(fault),
        **_identity(case.identity, *_OF_FAULTED, "rate_per_second"),
        "runs": len(case.runs),
        "counted_runs": len(case.counted),
        "missing_runs": len(case.missing),
        "verdict": case.verdict,
        "behaviour": behaviour_of(case) or None,
        "recovered_runs": recoveries.count("recovered"),
        "never_recovered_runs": recoveries.count("never"),
        **{name: _fault_spread(case, read) for name, read, _ in _FAULT_FIGURES},
    }


def faults_json(groups: Sequence[FaultGroup]) -> str:
    return json_text([_fault_document(group, case) for group in groups for case in group.cases])


def _server_record(target: str, step: Mapping[str, Any]) -> dict[str, Cell]:
    record: dict[str, Cell] = {
        "configuration_hash": step["configuration_hash"],
        "target": target,
        "servers": step["servers"],
        "runs": step["runs"],
    }
    for name, _, digits in SERVER_FIGURES:
        ends = step["ranges"].get(name, {})
        record[name] = csv_number(step[name], digits)
        record |= {f"{name}_{end}": csv_number(ends.get(end), digits) for end in ("min", "max")}
    for name in ("throughput_per_server", "server_cpu", "store_cpu"):
        found = step[name] or {}
        interval = found.get("interval") or {}
        record[f"{name}_ratio"] = csv_number(found.get("ratio"), 4)
        record |= {f"{name}_ratio_{end}": csv_number(interval.get(end), 4) for end in ("low", "high")}
        record[f"{name}_ratio_status"] = found.get("status")
    added, first = step["added_server_share"] or {}, step["first_second"] or {}
    return {
        **record,
        "added_server_share": csv_number(added.get("estimate"), 4),
        **{f"added_server_share_{end}": csv_number(added.get(end), 4) for end in ("low", "high")},
        "first_second_ratio": csv_number(first.get("ratio"), 4),
        **{f"first_second_ratio_{end}": csv_number(first.get(end), 4) for end in ("low", "high")},
        "first_second_p99_ms": csv_number(first.get("p99_ms"), 3),
        "rest_p99_ms": csv_number(first.get("rest_p99_ms"), 3),
        "limited_by": (step["limited_by"] or {}).get("resource"),
    }


def servers_csv(found: Sequence[ServerScaling]) -> str:
    """One row per number of servers, ratios to that with the fewest."""
    return records_csv(
        _server_record(target["label"], step)
        for target in server_documents(found)
        for step in target["steps"]
    )


def _runs(row: PrintedRow) -> dict[str, Any]:
    counts = {"runs": len(row.runs), "counted_runs": len(row.counted), "missing_runs": len(row.missing)}
    return {**counts, "verdict": row.verdict}


def _printed(row: PrintedRow, name: str) -> Any:
    return getattr(row.figures, name) if row.figures else None


def _limited_by(row: PrintedRow) -> str | None:
    return row.figures.limited_by.resource if row.figures and row.figures.limited_by else None


def _control(control: LoadProgramControl) -> dict[str, Cell]:
    row, client = control.row, control.client
    identity, latency = row.identity, _printed(row, "latency_ms") or {}
    low, high = row.range_of(lambda printed: printed.operations_per_second) or (None, None)
    of_client = throughput(client.figures) if client and client.figures else None
    latencies = ("average", "p50", "p95", "p99", "max")
    return {
        "configuration_hash": identity.configuration_hash,
        "target": identity.label,
        "program": control.program,
        "program_version": _printed(row, "program_version"),
        **_identity(identity, "store", "topology", "traffic", "connections"),
        "duration_s": csv_number(identity.duration_s, 3),
        **_runs(row),
        "decisions_per_second": csv_number(_printed(row, "operations_per_second"), 2),
        "decisions_per_second_low": csv_number(low, 2),
        "decisions_per_second_high": csv_number(high, 2),
        **{f"{name}_ms": csv_number(latency.get(name), 3) for name in latencies},
        "service_cpu_us_per_decision": csv_number(_printed(row, "service_cpu_us_per_operation"), 2),
        "store_cpu_us_per_decision": csv_number(_printed(row, "store_cpu_us_per_operation"), 2),
        "limited_by": _limited_by(row),
        "client": control.client_label,
        "client_decisions_per_second": csv_number(of_client, 2),
    }


def load_programs_csv(controls: Sequence[LoadProgramControl]) -> str:
    return records_csv(map(_control, controls))


def _operation(cell: StoreCell, row: PrintedRow, reference: str) -> dict[str, Any]:
    identity, latency = row.identity, _printed(row, "latency_ms") or {}
    low, high = row.range_of(lambda printed: printed.operations_per_second) or (None, None)
    own = next((found for each, found in cell.ratios if each is row), (None,) * len(COMPARED))
    latencies = ("average", "min", "p50", "p95", "p99", "max")
    document = {
        "configuration_hash": identity.configuration_hash,
        "store": row.store,
        "reference": reference,
        "operation": identity.workload,
        **_identity(identity, "payload_bytes", "connections", "duration_s"),
        "program": identity.client,
        "program_version": _printed(row, "program_version"),
        "store_version": _printed(row, "store_version"),
        **_runs(row),
        "operations_per_second": _printed(row, "operations_per_second"),
        "operations_per_second_low": low,
        "operations_per_second_high": high,
        **{f"{name}_ms": latency.get(name) for name in latencies},
        "store_cpu_us_per_operation": _printed(row, "store_cpu_us_per_operation"),
        "bytes_per_key": _printed(row, "bytes_per_key"),
    }
    for (name, _, _), found in zip(COMPARED, own, strict=True):
        interval = found.interval if found else None
        document |= {
            f"{name}_ratio": found and found.ratio,
            f"{name}_ratio_low": interval and interval.low,
            f"{name}_ratio_high": interval and interval.high,
            f"{name}_verdict": found and found.status,
        }
    return {**document, "limited_by": _limited_by(row)}


def _operations(found: StoreOperations | None) -> list[dict[str, Any]]:
    """One row a store, operation, payload and number of connections; none without the store layer."""
    return (
        [_operation(cell, row, found.reference) for cell in found.cells for row in cell.rows] if found else []
    )


def operations_json(found: StoreOperations | None) -> str:
    return json_text(_operations(found))


def operations_csv(found: StoreOperations | None) -> str:
    return records_csv(
        {name: csv_number(value, 4) if isinstance(value, float) else value for name, value in row.items()}
        for row in _operations(found)
    )

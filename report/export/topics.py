"""Topics with CSV and JSON files of their own: faults, memory per key, several servers, foreign programs."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from msgspec.structs import asdict

from report.analysis import printed_rows
from report.analysis.campaign_analysis import Analysis
from report.analysis.faults import FIGURES as FAULT_FIGURES
from report.analysis.faults import NEVER, FaultCase, FaultedRun, FaultGroup, fault_words
from report.analysis.figures import throughput
from report.analysis.memory_per_key import KeyMemory, Slope
from report.analysis.several_servers import FIGURES, ServerScaling, ServerStep, ready_s
from report.base.csv_text import Cell, csv_number, picked, records_csv
from report.results.model import Run, fault_title
from report.statistics.decision import Comparison

_FAULT_IDENTITY = ("configuration_hash", "label", "topology", "store", "limiter", "traffic")
_MEMORY_IDENTITY = ("store", "topology", "limiter")


def _finite(value: float | None) -> float | None:
    return None if value == NEVER else value


def _fault_record(group: FaultGroup, case: FaultCase, run: Run) -> dict[str, Cell]:
    fault, record, faulted = group.fault, case.record_of(run), case.faulted(run)
    return {
        **picked(case.identity, *_FAULT_IDENTITY),
        "rate_per_second": csv_number(case.identity.rate_per_second, 3),
        "fault": fault_title(fault),
        "fault_start_s": csv_number(fault.start_s, 3),
        "fault_length_s": csv_number(fault.length_s, 3),
        "run": run.run,
        "verdict": run.verdict if run.measured else run.record.status,
        "injected": str(record is not None and record.injected is not None).lower(),
        "undone": str(record is None or record.undone).lower(),
        "observed_s": csv_number(faulted.figures.observed_s, 1) if faulted else None,
        "recovery": faulted.figures.recovery if faulted else None,
        "behaviour": faulted.figures.behaviour if faulted else None,
        **{
            name: csv_number(_finite(read(faulted)), digits) if faulted else None
            for name, (read, digits) in FAULT_FIGURES.items()
            if name != "served_again_s"
        },
        **_later_fault_columns(run, faulted),
    }


def _later_fault_columns(run: Run, faulted: FaultedRun | None) -> dict[str, Cell]:
    """Columns that came after the others: they stand at the end, because some readers take columns by their
    place."""
    codes = run.measured.failed_by_code if run.measured else {}
    return {
        "served_again_s": csv_number(_finite(faulted.served_again_s), 3) if faulted else None,
        "served_again_from": faulted.served_again_from if faulted else None,
        "failed_by_status": " ".join(f"{code}:{number}" for code, number in codes.items()) or None,
        "connection_errors": run.measured.record.errors if run.measured else None,
        "timeouts": run.measured.record.timeouts if run.measured else None,
    }


def faults_csv(groups: Sequence[FaultGroup]) -> str:
    """One row a fault and run, also of runs that do not count; what is absent is an empty cell, never 0."""
    cases = [(group, case) for group in groups for case in group.cases]
    return records_csv(_fault_record(group, case, run) for group, case in cases for run in case.runs)


def _fault_spread(case: FaultCase, name: str) -> dict[str, Any] | None:
    found = case.spread(name)
    if found is None:
        return None
    ends = {"median": found.middle, "min": found.low, "max": found.high}
    return {end: _finite(value) for end, value in ends.items()} | {"runs": found.runs}


def _fault_document(group: FaultGroup, case: FaultCase) -> dict[str, Any]:
    fault = group.fault
    recoveries = [each.figures.recovery for each in case.counted]
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
        **{name: _fault_spread(case, name) for name in FAULT_FIGURES},
    }


def fault_documents(groups: Sequence[FaultGroup]) -> list[dict[str, Any]]:
    return [_fault_document(group, case) for group in groups for case in group.cases]


def _memory_record(row: KeyMemory, slope: Slope | None) -> dict[str, Cell]:
    line = slope.line if slope else None
    return {
        "target": row.identity.label,
        **picked(row.identity, *_MEMORY_IDENTITY),
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


def rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def _slope(slope: Slope) -> dict[str, Any]:
    line = slope.line
    return {
        "source": slope.source,
        "bytes_per_key": rounded(line.slope),
        "interval": None if line.low is None else {"low": rounded(line.low), "high": rounded(line.high)},
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
    """One comparison; ratios are new ÷ base. Without an upper bound `high` is null. `ratio_of_medians` is
    there for readers of the first format: a second value for one ratio would contradict `ratio`, so it is
    null."""
    interval = comparison.known_interval
    return {
        "status": comparison.status,
        "reason": comparison.reason or None,
        "ratio": comparison.ratio,
        "ratio_of_medians": None,
        "interval": asdict(interval) | ({} if isfinite(interval.high) else {"high": None})
        if interval
        else None,
        "pairs": comparison.pairs,
        "runs_without_partner": comparison.dropped,
        "ratio_when_stopped": comparison.stopped_at,
        **picked(comparison, "p", "p_holm"),
        "comparisons_in_family": comparison.comparisons,
        "runs_needed": comparison.runs_needed,
        "detectable_percent": None if comparison.detectable is None else 100 * comparison.detectable,
    }


#: Ratios to the row with the fewest servers.
_RATIOS = ("throughput_per_server", "server_cpu", "store_cpu")


def _ends(name: str, found: dict[str, Any] | None, *ends: str) -> dict[str, Cell]:
    return {f"{name}_{end}": csv_number(found[end], 4) if found else None for end in ends}


def _server_record(each: ServerScaling, step: ServerStep) -> dict[str, Cell]:
    document = _step(step)
    added, first, limit = (document[name] for name in ("added_server_share", "first_second", "limited_by"))
    record: dict[str, Cell] = {
        "configuration_hash": document["configuration_hash"],
        "target": each.identity.label,
        "servers": document["servers"],
        "runs": document["runs"],
    }
    for name, (_, digits) in FIGURES.items():
        span = document["ranges"].get(name, {})
        record[name] = csv_number(document[name], digits)
        record |= {f"{name}_{end}": csv_number(span.get(end), digits) for end in ("min", "max")}
    for name in _RATIOS:
        found = document[name]
        record[f"{name}_ratio"] = csv_number(found["ratio"], 4) if found else None
        record |= _ends(f"{name}_ratio", found and found["interval"], "low", "high")
        record[f"{name}_ratio_status"] = found["status"] if found else None
    return {
        **record,
        "added_server_share": csv_number(added["estimate"], 4) if added else None,
        **_ends("added_server_share", added, "low", "high"),
        "first_second_ratio": csv_number(first["ratio"], 4) if first else None,
        **_ends("first_second_ratio", first, "low", "high"),
        "first_second_p99_ms": csv_number(first["p99_ms"], 3) if first else None,
        "rest_p99_ms": csv_number(first["rest_p99_ms"], 3) if first else None,
        "limited_by": limit["resource"] if limit else None,
    }


def servers_csv(found: Sequence[ServerScaling]) -> str:
    return records_csv(_server_record(each, step) for each in found for step in each.steps)


def server_documents(found: Sequence[ServerScaling]) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "label": each.identity.label, "steps": list(map(_step, each.steps))}
        for each in found
    ]


def _server_ratio(step: ServerStep, name: str) -> dict[str, Any] | None:
    if name not in step.ratios:
        return None
    whole = comparison_document(step.ratios[name])
    return {part: whole[part] for part in ("status", "reason", "ratio", "interval", "p_holm")}


def _step(step: ServerStep) -> dict[str, Any]:
    summary, figures = step.summary, step.summary.selected_figures
    values, ranges = {}, {}
    for name, (figure, digits) in FIGURES.items():
        found = summary.figure_of(figure)
        values[name] = rounded(found.value, digits)
        if found.range:
            low, high = found.range
            ranges[name] = {"min": round(low, digits), "max": round(high, digits)}
    limit = summary.limit
    return {
        "configuration_hash": summary.identity.configuration_hash,
        "servers": step.servers,
        "runs": summary.counted_runs,
        **values,
        "ranges": ranges,
        "answers_by_server": list(figures.answers_by_server) if figures else [],
        "servers_ready_s": ready_s(figures) if figures else [],
        **{name: _server_ratio(step, name) for name in _RATIOS},
        "added_server_share": asdict(step.added) if step.added else None,
        "first_second": asdict(step.first_second) if step.first_second else None,
        "limited_by": picked(limit, "resource", "text", "runs", "of_runs") if limit else None,
    }


def _runs(row: printed_rows.PrintedRow) -> dict[str, Any]:
    counts = {"runs": len(row.runs), "counted_runs": len(row.counted), "missing_runs": len(row.missing)}
    return {**counts, "verdict": row.verdict}


def _control(control: printed_rows.LoadProgramControl) -> dict[str, Cell]:
    row, client = control.row, control.client
    identity, selected = row.identity, row.selected
    low, high = row.range_of(printed_rows.rate) or (None, None)
    of_client = client.figure_of(throughput).value if client else None
    latencies = ("average", "p50", "p95", "p99", "max")
    return {
        "configuration_hash": identity.configuration_hash,
        "target": identity.label,
        "program": control.program,
        "program_version": selected.program.version if selected else None,
        **picked(identity, "store", "topology", "traffic", "connections"),
        "duration_s": csv_number(identity.duration_s, 3),
        **_runs(row),
        "decisions_per_second": csv_number(row.median_of(printed_rows.rate), 2),
        "decisions_per_second_low": csv_number(low, 2),
        "decisions_per_second_high": csv_number(high, 2),
        **{f"{name}_ms": csv_number(row.median_of(printed_rows.latency(name)), 3) for name in latencies},
        "service_cpu_us_per_decision": csv_number(row.median_of(printed_rows.service_cpu), 2),
        "store_cpu_us_per_decision": csv_number(row.median_of(printed_rows.store_cpu), 2),
        "limited_by": row.limit.resource if row.limit else None,
        "client": control.client_label,
        "client_decisions_per_second": csv_number(of_client, 2),
    }


def load_programs_csv(controls: Sequence[printed_rows.LoadProgramControl]) -> str:
    return records_csv(map(_control, controls))


def _operation(cell: printed_rows.StoreCell, row: printed_rows.PrintedRow, reference: str) -> dict[str, Any]:
    identity, selected = row.identity, row.selected
    low, high = row.range_of(printed_rows.rate) or (None, None)
    own = next((found for each, found in cell.ratios if each is row), (None,) * len(printed_rows.COMPARED))
    latencies = ("average", "min", "p50", "p95", "p99", "max")
    return {
        "configuration_hash": identity.configuration_hash,
        "store": row.store,
        "reference": reference,
        "operation": identity.workload,
        **picked(identity, "payload_bytes", "connections", "duration_s"),
        "program": identity.client,
        "program_version": selected.program.version if selected else None,
        "store_version": selected.versions.store if selected else None,
        **_runs(row),
        "operations_per_second": row.median_of(printed_rows.rate),
        "operations_per_second_low": low,
        "operations_per_second_high": high,
        **{f"{name}_ms": row.median_of(printed_rows.latency(name)) for name in latencies},
        "store_cpu_us_per_operation": row.median_of(printed_rows.store_cpu),
        "bytes_per_key": row.median_of(printed_rows.bytes_per_key),
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
        "limited_by": row.limit.resource if row.limit else None,
    }


def operation_documents(found: printed_rows.StoreOperations | None) -> list[dict[str, Any]]:
    """One row a store, operation, payload and number of connections; none without the store layer."""
    rows = [(cell, row) for cell in found.cells for row in cell.rows] if found else []
    return [_operation(cell, row, found.reference) for cell, row in rows] if found else []


def operations_csv(found: printed_rows.StoreOperations | None) -> str:
    return records_csv(
        {name: csv_number(value, 4) if isinstance(value, float) else value for name, value in row.items()}
        for row in operation_documents(found)
    )

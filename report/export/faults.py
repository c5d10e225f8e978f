"""What faults did to the requests, as CSV and JSON, apart from the figures of speed."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from report.analysis.faults import (
    NEVER,
    FaultCase,
    FaultedRun,
    FaultGroup,
    Read,
    answer_share,
    fault_words,
    over_admission,
    p99_before,
    predicted_over_admission,
    recovery,
)
from report.base.csv_text import Cell, csv_number, records_csv
from report.results.model import Run, fault_title
from report.sections.faults import behaviour_of

#: Name, figure and decimals of what is a number.
_FIGURES: tuple[tuple[str, Callable[[FaultedRun], float | None], int], ...] = (
    ("outage_injected_s", lambda each: each.figures.outage_injected_s, 3),
    ("outage_seen_s", lambda each: each.figures.outage_seen_s, 1),
    ("error_share", lambda each: each.figures.error_share, 6),
    ("first_error_s", lambda each: each.figures.first_error_s, 3),
    ("recovery_s", recovery, 3),
    ("p99_before_us", p99_before, 0),
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


def _finite(value: float | None) -> float | None:
    return None if value == NEVER else value


def _record(group: FaultGroup, case: FaultCase, run: Run) -> dict[str, Cell]:
    fault = group.fault
    record = case.record_of(run)
    faulted = case.faulted(run)
    return {
        **_identity(case),
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
            for name, read, digits in _FIGURES
        },
    }


def _identity(case: FaultCase) -> dict[str, Cell]:
    identity = case.identity
    return {
        "configuration_hash": identity.configuration_hash,
        "label": identity.label,
        "topology": identity.topology,
        "store": identity.store,
        "limiter": identity.limiter,
        "traffic": identity.traffic,
    }


def faults_csv(groups: Sequence[FaultGroup]) -> str:
    """One row a fault and run, also of runs that do not count; what is absent is an empty cell, never 0."""
    return records_csv(
        _record(group, case, run) for group in groups for case in group.cases for run in case.runs
    )


def _spread(case: FaultCase, read: Read) -> dict[str, Any] | None:
    found = case.spread(read)
    if found is None:
        return None
    ends = {"median": found.middle, "min": found.low, "max": found.high}
    return {name: _finite(value) for name, value in ends.items()} | {"runs": found.runs}


def _document(group: FaultGroup, case: FaultCase) -> dict[str, Any]:
    fault = group.fault
    recoveries = [each.figures.recovery for each in case.counted]
    return {
        "fault": fault_title(fault),
        "start_s": fault.start_s,
        "length_s": fault.length_s,
        "words": fault_words(fault),
        **_identity(case),
        "rate_per_second": case.identity.rate_per_second,
        "runs": len(case.runs),
        "counted_runs": len(case.counted),
        "missing_runs": len(case.missing),
        "verdict": case.verdict,
        "behaviour": behaviour_of(case) or None,
        "recovered_runs": recoveries.count("recovered"),
        "never_recovered_runs": recoveries.count("never"),
        **{name: _spread(case, read) for name, read, _ in _FIGURES},
    }


def faults_json(groups: Sequence[FaultGroup]) -> str:
    found = [_document(group, case) for group in groups for case in group.cases]
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"

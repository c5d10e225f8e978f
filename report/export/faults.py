"""What faults did to the requests, as CSV and JSON, apart from the figures of speed."""

import json
from collections.abc import Sequence
from typing import Any

from report.analysis.faults import FIGURES, NEVER, FaultCase, FaultGroup, fault_words
from report.base.csv_text import Cell, csv_number, records_csv
from report.results.model import Run, fault_title


def _finite(value: float | None) -> float | None:
    return None if value == NEVER else value


def _record(group: FaultGroup, case: FaultCase, run: Run) -> dict[str, Cell]:
    fault, record, faulted = group.fault, case.record_of(run), case.faulted(run)
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
            for name, (read, digits) in FIGURES.items()
        },
    }


def _identity(case: FaultCase) -> dict[str, Cell]:
    names = ("configuration_hash", "label", "topology", "store", "limiter", "traffic")
    return {name: getattr(case.identity, name) for name in names}


def faults_csv(groups: Sequence[FaultGroup]) -> str:
    """One row a fault and run, also of runs that do not count; what is absent is an empty cell, never 0."""
    return records_csv(
        _record(group, case, run) for group in groups for case in group.cases for run in case.runs
    )


def _spread(case: FaultCase, name: str) -> dict[str, Any] | None:
    found = case.spread(name)
    if found is None:
        return None
    ends = {"median": found.middle, "min": found.low, "max": found.high}
    return {end: _finite(value) for end, value in ends.items()} | {"runs": found.runs}


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
        "behaviour": case.behaviour or None,
        "recovered_runs": recoveries.count("recovered"),
        "never_recovered_runs": recoveries.count("never"),
        **{name: _spread(case, name) for name in FIGURES},
    }


def faults_json(groups: Sequence[FaultGroup]) -> str:
    found = [_document(group, case) for group in groups for case in group.cases]
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"

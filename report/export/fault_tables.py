"""The CSV file and the documents of faults."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct

from report.analysis import column
from report.analysis.column import Column, Read
from report.analysis.fault_figures import (
    FAULTED_RUN_FIGURES,
    NEVER,
    FaultCase,
    FaultedRun,
    FaultGroup,
    fault_words,
)
from report.base.csv_text import picked
from report.export.frame_csv import entries_csv
from report.results.generated.records import MeasuredResultFault
from report.results.identity import fault_title
from report.results.model import Measured, Run

_FAULT_IDENTITY = ("configuration_hash", "label", "topology", "store", "limiter", "traffic")


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

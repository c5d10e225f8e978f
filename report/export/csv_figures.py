"""Figures of a run that both CSV files have."""

from collections.abc import Callable, Sequence
from typing import Literal

from report.base.csv_text import Cell, csv_number
from report.results.model import DIMENSIONS, MEASURED_KINDS, Measured, sums_by_kind
from report.results.records import Boundary

#: Kinds of roles in the columns that there were before there were services; those of later kinds stand at
#: the end, because some readers take columns by their place.
FIRST_KINDS = tuple(kind for kind in MEASURED_KINDS if kind != "service")
LATER_KINDS = tuple(kind for kind in MEASURED_KINDS if kind not in FIRST_KINDS)
#: The same of the numbers by which configurations differ.
FIRST_DIMENSIONS = tuple(dimension.key for dimension in DIMENSIONS if dimension.key == "servers")
LATER_DIMENSIONS = tuple(dimension.key for dimension in DIMENSIONS if dimension.key not in FIRST_DIMENSIONS)

#: Parts whose versions have columns.
VERSIONED = ("client", "limiter", "store", "fastify", "node", "autocannon", "harness")

Read = Callable[[Measured], float | None]


#: Of roles by kind: the column, the member of a role, and decimals.
OF_KINDS = {
    "cpu_us_per_request": ("cpu_us_per_request", 3),
    "cpu_percent": ("cpu_percent", 2),
    "resident_bytes": ("resident_bytes_mean", 0),
    "run_delay_us": ("run_delay_us", 0),
}


def of_kind(kind: str, member: str) -> Read:
    return lambda measured: sums_by_kind(measured.record.resources, member).get(kind)


#: Failed requests: the column, and the figure of a record.
FAILED = (
    *(("connection_errors", "errors"), ("timeouts", "timeouts"), ("failed_answers", "counts.failed_answers")),
    ("errors_total", "totalErrors"),
)


def bound_of(name: str, end: Literal["low", "high"]) -> Read:

    def read(measured: Measured) -> float | None:
        known = measured.bounds_ms.get(name)
        if known is None:
            return None
        return known.low if end == "low" else known.high

    return read


def _gap(name: str) -> Read:
    return lambda measured: getattr(measured.record.schedule and measured.record.schedule.gaps_ms, name, None)


#: Of an open loop: name, figure and decimals.
SCHEDULE_FIGURES: tuple[tuple[str, Read, int], ...] = tuple(
    (f"send_gap_{name}_ms", _gap(name), 3) for name in ("intended", "p10", "p50", "p90", "p99", "max")
)


def wakes_shared(measured: Measured) -> Cell:
    return str(measured.record.schedule.shared_wakes).lower() if measured.record.schedule else None


def late_percentiles(measured: Measured) -> Cell:
    return " ".join(measured.record.schedule.late_percentiles) if measured.record.schedule else None


#: With traffic boundary, each the worst of some runs: name and figure.
BOUNDARY_FIGURES: tuple[tuple[str, Callable[[Sequence[Boundary]], Cell]], ...] = (
    ("burst_quotas", lambda runs: csv_number(max(each.burst.factor for each in runs), 3)),
    ("over_admitted", lambda runs: max(each.over_admission.total for each in runs)),
    ("under_admitted", lambda runs: max(each.under_admission.total for each in runs)),
    (
        "promises_broken",
        lambda runs: " ".join(
            dict.fromkeys(promise.id for each in runs for promise in each.promises if not promise.holds)
        ),
    ),
)

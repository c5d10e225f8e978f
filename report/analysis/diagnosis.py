"""Where a request's microseconds go: what the instruments of diagnosing runs showed, per request."""

from collections.abc import Mapping
from dataclasses import dataclass

from report.analysis.summary import row_order
from report.results.model import Campaign, Diagnosis, Measured, Run
from report.results.roles import cpu_us_per_request


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCost:
    """One diagnosing run. Times are in µs per request, the store's per decision; None, or nothing in a
    mapping: not known."""

    run: Run
    diagnosis: Diagnosis
    cpu_us: Mapping[str, float]
    """CPU time by kind of role."""
    collection_us: float | None
    """Pauses of the garbage collection."""
    allocated_bytes: float | None
    context_switches: Mapping[str, float]
    system_calls: Mapping[str, float]
    script_us: float | None
    received_bytes: float | None
    """Bytes that the store received."""
    sent_bytes: float | None

    @property
    def measured(self) -> Measured | None:
        """None where the run failed."""
        return self.run.measured


def _per(total: float | None, divisor: int) -> float | None:
    return None if total is None or not divisor else total / divisor


def _each_per(totals: Mapping[str, float], divisor: int) -> dict[str, float]:
    return {name: total / divisor for name, total in totals.items()} if divisor else {}


def _cost(run: Run, found: Diagnosis) -> RequestCost:
    pauses_us = sum(each.total_us for each in found.pauses.values())
    return RequestCost(
        run=run,
        diagnosis=found,
        cpu_us=cpu_us_per_request(run.measured.roles) if run.measured else {},
        collection_us=_per(pauses_us, found.requests),
        allocated_bytes=_per(found.allocated_bytes, found.requests),
        context_switches=_each_per(found.context_switches, found.requests),
        system_calls=_each_per(found.system_calls, found.requests),
        script_us=_per(found.script_us, found.decisions),
        received_bytes=_per(found.store_received_bytes, found.decisions),
        sent_bytes=_per(found.store_sent_bytes, found.decisions),
    )


def request_costs(campaign: Campaign) -> tuple[RequestCost, ...]:
    """One for each diagnosing run, in `row_order`."""
    ordered = sorted(campaign.diagnoses, key=lambda run: (row_order(run.identity), run.run))
    return tuple(_cost(run, run.diagnosis) for run in ordered if run.diagnosis)

"""Sums over roles, and bounds that a result states."""

from collections.abc import Mapping, Sequence

from report.results.catalog import MEASURED_KINDS
from report.results.generated import records
from report.statistics.histograms import Bounds


def total_of(values: Sequence[int | None]) -> int | None:
    """The sum of the values. None without values, or if one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def stated_bounds(latency: records.Latency | None) -> dict[str, Bounds]:
    """The bounds of latencies that a result contains, by name."""
    bounds_by_name = (latency.bounds if latency else None) or {}
    return {name: Bounds(bounds.low, bounds.high) for name, bounds in bounds_by_name.items()}


def sum_over_kind(roles: Mapping[str, records.Resource], member: str, kind: str) -> float | None:
    """The sum of a member over the roles of a kind. None without such roles, and if the member is
    not known of one of them."""
    values = [getattr(role, member) for role in roles.values() if role.kind == kind]
    return sum(values) if values and None not in values else None


def sums_by_kind(roles: Mapping[str, records.Resource], member: str) -> dict[str, float]:
    """The sums of a member over the roles of each kind. A kind is absent if its sum is not
    known."""
    sums = {kind: sum_over_kind(roles, member, kind) for kind in MEASURED_KINDS}
    return {kind: total for kind, total in sums.items() if total is not None}


def cpu_us_per_request(roles: Mapping[str, records.Resource]) -> dict[str, float]:
    return sums_by_kind(roles, "cpu_us_per_request")

"""Roles by kind: the nodes of a cluster are one store, several servers are one server."""

from collections.abc import Callable, Mapping

from report.results.model import MEASURED_KINDS
from report.results.records import Resource


def kinds_of(roles: Mapping[str, Resource]) -> list[str]:
    found = {role.kind for role in roles.values()}
    return [kind for kind in MEASURED_KINDS if kind in found]


def cpu_us_per_request(roles: Mapping[str, Resource]) -> dict[str, float]:
    """CPU time in µs per answered request, by kind; a kind that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.cpu_us_per_request)


def cpu_percent(roles: Mapping[str, Resource]) -> dict[str, float]:
    return _sums(roles, lambda role: role.cpu_percent)


def resident_bytes(roles: Mapping[str, Resource]) -> dict[str, float]:
    """Resident memory, mean over the window, by kind; a kind that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.resident_bytes_mean)


def run_delay_us(roles: Mapping[str, Resource]) -> dict[str, float]:
    """How long threads waited for a CPU, in µs; a kind that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.run_delay_us)


def _sums(roles: Mapping[str, Resource], read: Callable[[Resource], float | None]) -> dict[str, float]:
    sums: dict[str, list[float | None]] = {kind: [] for kind in kinds_of(roles)}
    for role in roles.values():
        sums[role.kind].append(read(role))
    return {
        kind: sum(value for value in values if value is not None)
        for kind, values in sums.items()
        if None not in values
    }

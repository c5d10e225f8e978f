"""Roles by kind: the nodes of a cluster are one store, several servers are one server."""

from collections.abc import Callable, Mapping

from report.results.model import MEASURED_KINDS, Role


def kinds_of(roles: Mapping[str, Role]) -> list[str]:
    found = {role.kind for role in roles.values()}
    return [kind for kind in MEASURED_KINDS if kind in found]


def cpu_us_per_request(roles: Mapping[str, Role]) -> dict[str, float]:
    """CPU time in µs per answered request, by kind; a kind that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.cpu_us_per_request)


def cpu_percent(roles: Mapping[str, Role]) -> dict[str, float]:
    return _sums(roles, lambda role: role.cpu_percent)


def resident_bytes(roles: Mapping[str, Role]) -> dict[str, float]:
    """Resident memory, mean over the window, by kind; a kind that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.resident_bytes)


def run_delay_us(roles: Mapping[str, Role]) -> dict[str, float]:
    """How long threads waited for a CPU, in µs; a kind that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.run_delay_us)


def _sums(roles: Mapping[str, Role], read: Callable[[Role], float | None]) -> dict[str, float]:
    sums: dict[str, list[float | None]] = {kind: [] for kind in kinds_of(roles)}
    for role in roles.values():
        sums[role.kind].append(read(role))
    return {
        kind: sum(value for value in values if value is not None)
        for kind, values in sums.items()
        if None not in values
    }

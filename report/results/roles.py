"""Roles as a reader thinks of them: the nodes of a cluster are one store."""

from collections.abc import Callable, Mapping

from report.results.model import Role

ORDER = ("server", "store", "generator")


def group_of(role: str) -> str:
    """`store-1`, `store-2`, … and `store` are the store; any other role is itself."""
    return "store" if role == "store" or role.startswith(("store-", "store.", "store:")) else role


def group_names(roles: Mapping[str, Role]) -> list[str]:
    """The groups among `roles`: the usual ones in the order of a request's way, then others by name."""
    found = {group_of(role) for role in roles}
    return [*(name for name in ORDER if name in found), *sorted(found.difference(ORDER))]


def cpu_us_per_request(roles: Mapping[str, Role]) -> dict[str, float]:
    """CPU time in µs per answered request, by group; a group that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.cpu_us_per_request)


def cpu_percent(roles: Mapping[str, Role]) -> dict[str, float]:
    """CPU time in % of one core over the window, by group."""
    return _sums(roles, lambda role: role.cpu_percent)


def resident_bytes(roles: Mapping[str, Role]) -> dict[str, float]:
    """Resident memory, mean over the window, by group; a group that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.resident_bytes)


def run_delay_us(roles: Mapping[str, Role]) -> dict[str, float]:
    """How long threads waited for a CPU, in µs; a group that lacks a figure for a role is absent."""
    return _sums(roles, lambda role: role.run_delay_us)


def _sums(roles: Mapping[str, Role], read: Callable[[Role], float | None]) -> dict[str, float]:
    sums: dict[str, list[float | None]] = {}
    for name, role in roles.items():
        sums.setdefault(group_of(name), []).append(read(role))
    return {
        group: sum(value for value in values if value is not None)
        for group, values in sums.items()
        if None not in values
    }

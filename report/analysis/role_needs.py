"""What a rate takes of one kind of role, in proportion to the CPU time that a request took of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from report.analysis.server_numbers import ServerNumber
from report.results.model import Measured
from report.results.roles import cpu_us_per_request
from report.statistics.resampling import Estimate, Resamples, estimate_of

#: How many of them a rate takes is told. A service runs on all CPUs that it gets: only its CPUs are told.
COUNTED_KINDS = ("generator", "server", "store")

#: Nodes that belong together: a primary and its replica.
_NODES_OF_SHARD = {"cluster": 2}

_US_PER_S = 1_000_000


@dataclass(frozen=True, slots=True)
class Demand:
    """A rate in requests per second, and the share of its CPUs that a role may use, 0 to 1."""

    rate_per_second: float
    utilisation: float


@dataclass(frozen=True, slots=True)
class RoleNeed:
    """What a rate takes of one kind of role."""

    cpu_us_per_request: Estimate
    """Of all its roles together."""
    cpus: Estimate
    """Busy at the rate."""
    units: Estimate | None
    """Generators, servers, or store nodes with their replicas; None for a service."""
    carried_per_second: float | None
    """Requests per second that so many units carry; None for a service."""
    carried_by_one: float | None
    """The same of one unit."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """One generator, server or store node."""

    cpus: float
    """That it can use: one for each thread that does the work, or its cap."""
    together: int
    """So many come at a time."""
    fewest: int

    def needed(self, us_per_request: float, demand: Demand) -> int:
        busy = demand.rate_per_second * us_per_request / _US_PER_S
        # What is whole but for its last binary digits stays.
        least = math.ceil(busy / (self.cpus * demand.utilisation) - 1e-9)
        return self.together * math.ceil(max(self.fewest, least, 1) / self.together)

    def carried(self, units: float, us_per_request: float, demand: Demand) -> float:
        usable_us = units * self.cpus * demand.utilisation * _US_PER_S
        return usable_us / us_per_request if us_per_request > 0 else math.inf


def _unit(number: ServerNumber, kind: str) -> _Unit:
    threads = {"generator": float(number.workers_per_generator), "store": float(number.store_threads)}
    cpus, cap = threads.get(kind, 1.0), number.cpu_cap(kind)
    is_store = kind == "store"
    return _Unit(
        cpus=cpus if cap is None else min(cpus, cap),
        together=_NODES_OF_SHARD.get(number.identity.topology or "", 1) if is_store else 1,
        # A cluster has no fewer nodes than the one that was measured.
        fewest=number.roles_of(kind) if is_store else 1,
    )


def _all_roles_us(figures: Measured, kind: str) -> float | None:
    return cpu_us_per_request(figures.roles).get(kind)


def _as_the_busiest_us(figures: Measured, kind: str) -> float | None:
    """What all roles of a kind would take if each took what the busiest does: shards are never quite even."""
    each = [role.cpu_us_per_request for role in figures.roles.values() if role.kind == kind]
    known = [value for value in each if value is not None]
    return max(known) * len(known) if known and len(known) == len(each) else None


def _values(number: ServerNumber, kind: str, read: Callable[[Measured, str], float | None]) -> list[float]:
    """Of each run; empty where one does not have it."""
    found = [read(figures, kind) for figures in number.measured]
    known = [value for value in found if value is not None]
    return known if len(known) == len(found) else []


def role_need(number: ServerNumber, kind: str, draws: Resamples | None, demand: Demand) -> RoleNeed | None:
    """What a rate takes of a kind of role, by the median CPU time per request of the runs.

    Args:
        draws: of the runs; None where one alone counts.
    Returns:
        None where the CPU time is not known.
    """
    every, busiest = (_values(number, kind, read) for read in (_all_roles_us, _as_the_busiest_us))
    if not every or not busiest:
        return None
    us_per_request, busiest_us = float(np.median(every)), float(np.median(busiest))
    resampled = draws.medians(every) if draws else None
    per_us = demand.rate_per_second / _US_PER_S
    cpu = estimate_of(us_per_request, resampled)
    cpus = estimate_of(us_per_request * per_us, None if resampled is None else resampled * per_us)
    if kind not in COUNTED_KINDS:
        return RoleNeed(cpu, cpus, None, None, None)
    unit = _unit(number, kind)
    units = unit.needed(busiest_us, demand)
    drawn = [unit.needed(each, demand) for each in draws.medians(busiest).tolist()] if draws else None
    return RoleNeed(
        cpu,
        cpus,
        estimate_of(units, drawn),
        unit.carried(units, busiest_us, demand),
        unit.carried(1, busiest_us, demand),
    )

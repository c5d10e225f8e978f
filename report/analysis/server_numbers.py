"""The runs of a target by its number of servers, and at which of these numbers throughput tells how servers
scale: only where nothing but the servers themselves could hold them up."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from report.analysis.hardware_text import cpus_in_lists
from report.analysis.several_servers import target_key
from report.analysis.summary import Summary
from report.base.format import plural
from report.results.model import Identity, Measured, Run

#: Limits of the servers, and waiting for one another. With a service in between, a server is its client.
_OF_SERVERS = ("server loop", "server CPU", "client", "none")


@dataclass(frozen=True)
class ServerNumber:
    """The runs that served their load with one number of servers, of all campaigns together."""

    identity: Identity
    runs: tuple[Run, ...]
    """At least one."""

    @property
    def servers(self) -> int:
        return self.identity.servers

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        return tuple(run.measured for run in self.runs if run.measured)

    @cached_property
    def limit(self) -> str | None:
        """The resource that limited most of the runs; None where it is not on record."""
        found = Counter(figures.limiting_resource for figures in self.measured)
        return found.most_common(1)[0][0]

    def roles_of(self, kind: str) -> int:
        """How many roles of this kind there are."""
        return sum(role.kind == kind for role in self.measured[0].roles.values())

    @property
    def workers_per_generator(self) -> int:
        """The most that a generator had: they share the workers as evenly as may be."""
        return -(-self.measured[0].generator_workers // max(1, self.roles_of("generator")))

    @property
    def warm_up_requests_per_server(self) -> int:
        """What a server answered before the window, in the middle of the runs."""
        return int(median(figures.warm_up.requests for figures in self.measured) / self.servers)

    @property
    def store_threads(self) -> int:
        """That run commands in a store node."""
        return self.measured[0].store_threads

    def cpu_cap(self, kind: str) -> float | None:
        """CPUs that each role of a kind may use; None without such a cap."""
        cap: float | None = self._caps.get(kind, {}).get("cpus")
        return cap

    @cached_property
    def _caps(self) -> Mapping[str, Mapping[str, Any]]:
        """Caps by kind of role: what was asked for, else the runtime's own; nothing where it applies none."""
        runtime = self.runs[0].runtime or {}
        if not runtime.get("caps_applied"):
            return {}
        return {**runtime.get("caps", {}), **json.loads(self.identity.caps)}

    @cached_property
    def shared_cpus(self) -> int | None:
        """How many CPUs the roles had, where these are fewer than all roles together can keep busy: one with
        each thread that does the work, or their caps. None where they are enough, or not known."""
        cpus = self._cpus
        threads = {
            "generator": self.measured[0].generator_workers,
            "server": self.servers,
            "service": self.roles_of("service"),
            "store": self.roles_of("store") * self.store_threads,
        }
        usable = sum(self._within_caps(kind, count) for kind, count in threads.items())
        # Caps are decimal fractions, whose sum may be too large in its last binary digit.
        return cpus if cpus is not None and usable > cpus + 1e-9 else None

    def _within_caps(self, kind: str, threads: int) -> float:
        """CPUs that all roles of a kind can keep busy with so many threads together."""
        cap = self.cpu_cap(kind)
        return threads if cap is None else min(threads, self.roles_of(kind) * cap)

    @property
    def _cpus(self) -> int | None:
        """CPUs of the machine, or those that all kinds of roles are pinned to."""
        kinds = {role.kind for role in self.measured[0].roles.values()}
        pinned = [str(self._caps.get(kind, {}).get("cpuset", "")) for kind in kinds]
        if pinned and all(pinned):
            return cpus_in_lists(pinned)
        speed = self.runs[0].host_speed
        return self.measured[0].host_cpus or (speed.before.cpus if speed else None)

    @property
    def unusable_reason(self) -> str:
        """Why throughput tells nothing about how servers scale; empty where it does."""
        if self.shared_cpus is not None:
            return f"all roles shared {plural(self.shared_cpus, 'CPU')}"
        if self.limit is not None and self.limit not in _OF_SERVERS:
            return f"the limit was {self.limit}"
        return ""


@dataclass(frozen=True)
class MeasuredTarget:
    """One target under one load in one runtime."""

    summary: Summary
    """One of its rows, for its name."""
    numbers: tuple[ServerNumber, ...]
    """The fewest servers first; empty where no run counts."""


def measured_targets(summaries: Iterable[Summary]) -> tuple[MeasuredTarget, ...]:
    """The targets of closed loops with servers, in their order. Copies of references are left out: they are
    the same target once more.

    Args:
        summaries: of one campaign, or of several: the runs of one target are put together.
    """
    groups: dict[tuple[object, ...], list[Summary]] = {}
    for summary in summaries:
        identity = summary.identity
        if identity.servers and not identity.open_loop and not identity.copy:
            groups.setdefault(target_key(summary), []).append(summary)
    return tuple(MeasuredTarget(rows[0], _numbers(rows)) for rows in groups.values())


def _numbers(rows: Sequence[Summary]) -> tuple[ServerNumber, ...]:
    by_number: dict[int, list[Run]] = {}
    for row in rows:
        runs = [run for run in row.runs if run.eligible and run.measured]
        by_number.setdefault(row.identity.servers, []).extend(runs)
    return tuple(ServerNumber(runs[0].identity, tuple(runs)) for _, runs in sorted(by_number.items()) if runs)

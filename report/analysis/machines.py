"""Describes machines: their hardware as text, the roles that ran on them, and the links between
them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.base.errors import one_line
from report.base.format import decimals, gibibytes, plural
from report.results.catalog import MEASURED_KINDS
from report.results.model import Campaign, Run

#: The kinds of roles in the order in which requests pass them.
_KINDS_PASSED: tuple[str, ...] = tuple(CONSTANTS["kinds_passed"])

#: The names of the properties by which machines differ. All other properties are shown and decide
#: nothing, because they are measured, or change with a restart.
_NAMES = {"cpu_model": "CPU", "microcode": "Microcode", "cpus": "CPUs", "kernel": "Kernel"}
_KEY = {member: _NAMES[member] for member in CONSTANTS["machine_key"]}

_ROLE_NAMES = {
    "generator": "load generator",
    "server": "server",
    "service": "service",
    "store": "store node",
}


def time_text(us: float) -> str:
    """A time such as `0.8 µs`, `36 µs` or `1.30 ms`."""
    if us >= 1000:
        return f"{decimals(us / 1000, 2 if us < 10_000 else 0)} ms"
    return f"{decimals(us, 1 if us < 10 else 0)} µs"


def _rate_text(bits_per_second: float | None) -> str:
    """A bandwidth such as `9.4 Gbit/s` or `94 Mbit/s`."""
    if bits_per_second is None:
        return "bandwidth not known"
    if bits_per_second >= 1e9:
        return f"{decimals(bits_per_second / 1e9, 1)} Gbit/s"
    return f"{decimals(bits_per_second / 1e6, 0)} Mbit/s"


class Link(Struct, frozen=True, kw_only=True):
    """What lies between two machines, as it was measured."""

    between: tuple[str, str]
    round_trip_us: float
    """The median round trip."""
    p90: str
    bandwidth: str
    """Of the slower direction."""

    @property
    def ends(self) -> str:
        return " ⇄ ".join(self.between)

    @property
    def round_trip(self) -> str:
        return time_text(self.round_trip_us)


def _link(stated: Mapping[str, Any]) -> Link:
    one, other = stated["between"]
    return Link(
        between=(one, other),
        round_trip_us=stated["round_trip_us"]["p50"],
        p90=f"p90 {time_text(stated['round_trip_us']['p90'])}",
        bandwidth=_rate_text(min(stated.get("bits_per_second", {}).values(), default=None)),
    )


def links_of(campaign: Campaign) -> tuple[Link, ...]:
    sessions = (campaign.manifest or {}).get("sessions", [])
    links_by_session = [session["links"] for session in sessions if session.get("links")]
    return tuple(map(_link, links_by_session[-1])) if links_by_session else ()


def machines_in(campaign: Campaign) -> tuple[Mapping[str, Any], ...]:
    return tuple((campaign.manifest or {}).get("machines", ()))


def all_runs(campaign: Campaign) -> tuple[Run, ...]:
    return tuple(run for run in (*campaign.counted, *campaign.beside) if not run.set_aside)


def kind_of(role: str) -> str:
    return role.rpartition("-")[0]


def roles_by_machine(runs: Iterable[Run]) -> dict[str, tuple[str, ...]]:
    """The roles that ran on each machine in any run, in the order in which requests pass them.
    Empty if the campaign had one machine."""
    roles_by_machine: dict[str, set[str]] = {}
    for run in runs:
        for role, name in run.placement.items():
            roles_by_machine.setdefault(name, set()).add(role)
    return {name: tuple(sorted(roles, key=_role_order)) for name, roles in roles_by_machine.items()}


def _role_order(role: str) -> tuple[int, int]:
    """The place of a role among those that requests pass, and its number. A document may name a
    role without a number, which is none of ours."""
    kind, _, number = role.rpartition("-")
    return (
        _KINDS_PASSED.index(kind) if kind in MEASURED_KINDS else len(_KINDS_PASSED),
        int(number) if number.isdecimal() else 0,
    )


def tier_of(roles: Sequence[str]) -> int:
    """The index of the first kind of role on a machine that requests pass."""
    return min(_role_order(role)[0] for role in roles)


def roles_text(roles: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        plural(count, _ROLE_NAMES.get(kind, kind)) if count > 1 else kind_name(kind)
        for kind, count in Counter(map(kind_of, roles)).items()
    )


def placement_shapes(runs: Iterable[Run]) -> list[str]:
    """Texts that say which roles shared machines, whatever their names are, such as `3 machines
    (load generator | server | store)`.

    Empty if all roles ran on one machine. Rows with different numbers of roles have different
    shapes."""
    shapes = set()
    for run in runs:
        if not run.placement:
            continue

        machines = sorted(
            roles_by_machine([run]).values(), key=lambda roles: list(map(_role_order, roles))
        )
        placement = " | ".join(" + ".join(roles_text(roles)) for roles in machines)
        shapes.add(f"{plural(len(machines), 'machine')} ({placement})")
    return sorted(shapes)


def machine_by_kind(runs: Iterable[Run]) -> dict[str, str]:
    """The name of the machine on which the first role of each kind ran. Empty on one machine."""
    for run in runs:
        if run.placement:
            return {
                kind_of(role): name
                for role, name in run.placement.items()
                if _role_order(role)[1] == 1
            }
    return {}


def round_trips_by_kinds(campaign: Campaign) -> dict[tuple[str, str], float]:
    """The median round trip in µs between the machines of the first roles of two kinds."""
    machines = machine_by_kind(all_runs(campaign))
    by_ends = {frozenset(link.between): link.round_trip_us for link in links_of(campaign)}
    kinds = [kind for kind in _KINDS_PASSED if kind in machines]
    round_trips_us = {
        pair: by_ends.get(frozenset(machines[kind] for kind in pair)) for pair in pairwise(kinds)
    }
    return {pair: us for pair, us in round_trips_us.items() if us is not None}


def kind_name(kind: str) -> str:
    return "store" if kind == "store" else _ROLE_NAMES.get(kind, kind)


def cpus_in(cpuset: str) -> set[int]:
    """The CPUs in a list such as `0-1,3`."""
    ends = [part.split("-") for part in cpuset.split(",") if part]
    return {cpu for end in ends for cpu in range(int(end[0]), int(end[-1]) + 1)}


def _cache_text(cache: Mapping[str, Any]) -> str:
    """A text such as `L1 data 32 KiB` or `L3 32 MiB for 2 CPUs`."""
    kind = "" if cache["type"] == "Unified" else f" {cache['type'].lower()}"
    sharing = len(cpus_in(cache["cpus"]))
    kibibytes = cache["size_bytes"] / 1024
    size = f"{kibibytes:g} KiB" if kibibytes < 1024 else f"{kibibytes / 1024:g} MiB"
    shared = "" if sharing == 1 else f" for {plural(sharing, 'CPU')}"
    return f"L{cache['level']}{kind} {size}{shared}"


def _nodes_text(nodes: Sequence[str]) -> str:
    if len(nodes) == 1:
        return "1"
    cpus_of_nodes = "; ".join(f"CPUs {cpus}" for cpus in nodes)
    return f"{len(nodes)} ({cpus_of_nodes})"


def index_text(machine: Mapping[str, Any]) -> str:
    """The time of the fixed loop before the first run (rule M21). Empty if it is not known."""
    index_ms = machine.get("index_ms")
    if not index_ms:
        return ""
    return f"{decimals(index_ms, 1)} ms for a fixed loop of integers; it decides nothing"


def hardware_texts(machine: Mapping[str, Any]) -> dict[str, str]:
    """SMT, caches, NUMA nodes and hypervisor by name, as far as the system reported them."""
    properties = {}
    if "smt" in machine:
        properties["SMT"] = "on" if machine["smt"] else "off"
    if "caches" in machine:
        properties["caches"] = ", ".join(_cache_text(cache) for cache in machine["caches"])
    if "numa_nodes" in machine:
        properties["NUMA nodes"] = _nodes_text(machine["numa_nodes"])
    if "hypervisor" in machine:
        properties["hypervisor"] = machine["hypervisor"]
    return properties


def key_texts(machine: Mapping[str, Any]) -> dict[str, str]:
    """The properties by which this machine differs from others, by name and as far as they are on
    record."""
    cpus = plural(machine["cpus"], "CPU")
    texts = {"cpus": ", of which may be used: ".join(filter(None, (cpus, limits_text(machine))))}
    return {
        name: texts.get(key, one_line(machine[key])) for key, name in _KEY.items() if key in machine
    }


def keys_by_kind(campaign: Campaign) -> dict[str, dict[str, str]]:
    """The properties of the machine of each kind of role. The kind is empty if the campaign had one
    machine."""
    return {
        kind: key_texts(machine) for kind, machine in machine_properties_by_kind(campaign).items()
    }


def key_properties(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """The properties of `keys_by_kind` with names such as `CPU`, or `CPU of the store` if there are
    several machines."""
    machines = keys_by_kind(campaign)
    if "" not in machines:
        yield "Machines", "several"
    for kind, properties in machines.items():
        for name, text in properties.items():
            yield f"{name} of the {kind_name(kind)}" if kind else name, text


def is_key_property(name: str) -> bool:
    return name.partition(" of the ")[0] in _KEY.values()


def machine_properties_by_kind(campaign: Campaign) -> dict[str, Mapping[str, Any]]:
    """The machine of each kind of role, or under an empty kind the only machine. The machine of the
    command does not count among several, because it runs no role."""
    by_kind = machine_by_kind(all_runs(campaign))
    if not by_kind:
        return {"": (campaign.manifest or {})["machine"]}

    by_name = {machine["name"]: machine for machine in machines_in(campaign)}
    known = {kind: by_name[name] for kind, name in by_kind.items() if name in by_name}
    return {kind: machine.get("facts", machine) for kind, machine in known.items()}


def limits_text(machine: Mapping[str, Any]) -> str:
    """The part of the machine that a campaign of local processes may use, such as `1 CPU, a quota
    of 0.5 CPUs`. Empty if it may use all of it."""
    allowed = machine.get("cpus_allowed")
    quota = machine.get("cpu_quota")
    memory_bytes = machine.get("memory_limit_bytes")
    parts = [
        plural(allowed, "CPU") if allowed else "",
        f"a quota of {quota:g} CPUs" if quota else "",
        f"{gibibytes(memory_bytes)} GiB of memory" if memory_bytes else "",
    ]
    return ", ".join(filter(None, parts))


def cpus_text(machine: Mapping[str, Any]) -> str:
    cpus = machine["cpus"]
    cores = len(machine.get("siblings", []))
    if not machine.get("smt"):
        return plural(cpus, "core")
    return f"{plural(cpus, 'CPU')} on {plural(cores, 'core')}"

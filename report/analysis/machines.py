"""Machines: their hardware in words, what ran where, and what lies between several of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.base.errors import one_line
from report.base.format import decimals, gibibytes, plural
from report.results.model import MEASURED_KINDS, Campaign, Run

#: In the order in which requests pass them.
_PASSED: tuple[str, ...] = tuple(CONSTANTS["kinds_passed"])

#: What tells one machine from another, and what each is called. All else about a machine is shown
#: and decides nothing: it is measured, or changes with a restart.
_NAMES = {"cpu_model": "CPU", "microcode": "Microcode", "cpus": "CPUs", "kernel": "Kernel"}
_KEY = {member: _NAMES[member] for member in CONSTANTS["machine_key"]}

_ROLE_NAMES = {
    "generator": "load generator",
    "server": "server",
    "service": "service",
    "store": "store node",
}


def time_text(us: float) -> str:
    """`0.8 µs`, `36 µs`, `1.30 ms`."""
    if us >= 1000:
        return f"{decimals(us / 1000, 2 if us < 10_000 else 0)} ms"
    return f"{decimals(us, 1 if us < 10 else 0)} µs"


def _rate_text(bits_per_second: float | None) -> str:
    """`9.4 Gbit/s`, `94 Mbit/s`."""
    if bits_per_second is None:
        return "bandwidth not known"
    if bits_per_second >= 1e9:
        return f"{decimals(bits_per_second / 1e9, 1)} Gbit/s"
    return f"{decimals(bits_per_second / 1e6, 0)} Mbit/s"


class Link(Struct, frozen=True, kw_only=True):
    between: tuple[str, str]
    round_trip_us: float
    """Median."""
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
    measured = [session["links"] for session in sessions if session.get("links")]
    return tuple(map(_link, measured[-1])) if measured else ()


def machines_in(campaign: Campaign) -> tuple[Mapping[str, Any], ...]:
    return tuple((campaign.manifest or {}).get("machines", ()))


def all_runs(campaign: Campaign) -> tuple[Run, ...]:
    return tuple(run for run in (*campaign.counted, *campaign.beside) if not run.set_aside)


def kind_of(role: str) -> str:
    return role.rpartition("-")[0]


def roles_by_machine(runs: Iterable[Run]) -> dict[str, tuple[str, ...]]:
    """The roles that ran on each machine in any run, in the order of requests; empty on one
    machine."""
    roles_by_machine: dict[str, set[str]] = {}
    for run in runs:
        for role, name in run.placement.items():
            roles_by_machine.setdefault(name, set()).add(role)
    return {name: tuple(sorted(roles, key=_role_order)) for name, roles in roles_by_machine.items()}


def _role_order(role: str) -> tuple[int, int]:
    kind, _, number = role.rpartition("-")
    return (_PASSED.index(kind) if kind in MEASURED_KINDS else len(_PASSED), int(number))


def tier_of(roles: Sequence[str]) -> int:
    """How far requests have come when they reach a machine, by the first of its roles."""
    return min(_role_order(role)[0] for role in roles)


def roles_text(roles: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        plural(count, _ROLE_NAMES.get(kind, kind)) if count > 1 else kind_name(kind)
        for kind, count in Counter(map(kind_of, roles)).items()
    )


def placement_shapes(runs: Iterable[Run]) -> list[str]:
    """Which roles share machines, whatever these are called: `3 machines (load generator | server |
    store)`.

    Nothing where all ran on one machine. Rows with other numbers of roles have other shapes."""
    shapes = set()
    for run in runs:
        if not run.placement:
            continue
        roles = roles_by_machine([run]).values()
        by_machine = sorted(roles, key=lambda names: list(map(_role_order, names)))
        placed = " | ".join(" + ".join(roles_text(roles)) for roles in by_machine)
        shapes.add(f"{plural(len(by_machine), 'machine')} ({placed})")
    return sorted(shapes)


def machine_by_kind(runs: Iterable[Run]) -> dict[str, str]:
    for run in runs:
        if run.placement:
            return {
                kind_of(role): name
                for role, name in run.placement.items()
                if _role_order(role)[1] == 1
            }
    return {}


def round_trips_by_kinds(campaign: Campaign) -> dict[tuple[str, str], float]:
    """Between the machines of the first roles of two kinds: the median round trip in µs."""
    machines = machine_by_kind(all_runs(campaign))
    by_ends = {frozenset(link.between): link.round_trip_us for link in links_of(campaign)}
    kinds = [kind for kind in _PASSED if kind in machines]
    round_trips_us = {
        pair: by_ends.get(frozenset(machines[kind] for kind in pair)) for pair in pairwise(kinds)
    }
    return {pair: us for pair, us in round_trips_us.items() if us is not None}


def kind_name(kind: str) -> str:
    return "store" if kind == "store" else _ROLE_NAMES.get(kind, kind)


def cpus_in(cpuset: str) -> set[int]:
    """Of a list such as `0-1,3`."""
    ends = [part.split("-") for part in cpuset.split(",") if part]
    return {cpu for end in ends for cpu in range(int(end[0]), int(end[-1]) + 1)}


def _cache_text(cache: Mapping[str, Any]) -> str:
    """`L1 data 32 KiB`, `L3 32 MiB for 2 CPUs`."""
    kind = "" if cache["type"] == "Unified" else f" {cache['type'].lower()}"
    sharing = len(cpus_in(cache["cpus"]))
    kibibytes = cache["size_bytes"] / 1024
    size = f"{kibibytes:g} KiB" if kibibytes < 1024 else f"{kibibytes / 1024:g} MiB"
    shared = "" if sharing == 1 else f" for {plural(sharing, 'CPU')}"
    return f"L{cache['level']}{kind} {size}{shared}"


def _nodes_text(nodes: Sequence[str]) -> str:
    return (
        "1" if len(nodes) == 1 else f"{len(nodes)} ({'; '.join(f'CPUs {cpus}' for cpus in nodes)})"
    )


def index_text(machine: Mapping[str, Any]) -> str:
    """What the fixed loop took before the first run (rule M21); empty where it is not known."""
    index_ms = machine.get("index_ms")
    return (
        f"{decimals(index_ms, 1)} ms for a fixed loop of integers; it decides nothing"
        if index_ms
        else ""
    )


def hardware_texts(machine: Mapping[str, Any]) -> dict[str, str]:
    """SMT, caches, NUMA nodes and hypervisor by name. What the system did not report is not
    there."""
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
    """What tells this machine from others, by name; without what is not on record."""
    cpus = plural(machine["cpus"], "CPU")
    texts = {"cpus": ", of which may be used: ".join(filter(None, (cpus, limits_text(machine))))}
    return {
        name: texts.get(key, one_line(machine[key])) for key, name in _KEY.items() if key in machine
    }


def keys_by_kind(campaign: Campaign) -> dict[str, dict[str, str]]:
    """The machine of each kind of role where a campaign has several; without a kind where it has
    one."""
    return {kind: key_texts(machine) for kind, machine in facts_by_kind(campaign).items()}


def key_facts(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """The same as names and texts: `CPU`, or `CPU of the store` where there are several
    machines."""
    machines = keys_by_kind(campaign)
    if "" not in machines:
        yield "Machines", "several"
    for kind, facts in machines.items():
        for name, text in facts.items():
            yield f"{name} of the {kind_name(kind)}" if kind else name, text


def is_key_fact(name: str) -> bool:
    return name.partition(" of the ")[0] in _KEY.values()


def facts_by_kind(campaign: Campaign) -> dict[str, Mapping[str, Any]]:
    """Of several machines those of each kind of role: the machine of the command runs nothing."""
    by_kind = machine_by_kind(all_runs(campaign))
    if not by_kind:
        return {"": (campaign.manifest or {})["machine"]}
    stated = {machine["name"]: machine for machine in machines_in(campaign)}
    known = {kind: stated[name] for kind, name in by_kind.items() if name in stated}
    return {kind: machine.get("facts", machine) for kind, machine in known.items()}


def limits_text(machine: Mapping[str, Any]) -> str:
    """`1 CPU, a quota of 0.5 CPUs`: what a campaign of local processes may use; empty where it is
    all."""
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
    return (
        f"{plural(cpus, 'CPU')} on {plural(cores, 'core')}"
        if machine.get("smt")
        else plural(cpus, "core")
    )

"""What a manifest says about the hardware of its machine, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from report.base.format import plural

_KIB = 1024


def _size_text(size: int) -> str:
    """`32 KiB`, `1.25 MiB`."""
    kibibytes = size / _KIB
    return f"{kibibytes:g} KiB" if kibibytes < _KIB else f"{kibibytes / _KIB:g} MiB"


def _cpus_in_list(text: str) -> int:
    """How many CPUs `0-1,3` names."""
    ranges = [[int(cpu) for cpu in each.split("-")] for each in text.split(",")]
    return sum(each[-1] - each[0] + 1 for each in ranges)


def _cache_text(cache: Mapping[str, Any]) -> str:
    """`L1 data 32 KiB`, `L3 32 MiB for 2 CPUs`."""
    kind = "" if cache["type"] == "Unified" else f" {cache['type'].lower()}"
    sharing = _cpus_in_list(cache["cpus"])
    shared = "" if sharing == 1 else f" for {plural(sharing, 'CPU')}"
    return f"L{cache['level']}{kind} {_size_text(cache['size_bytes'])}{shared}"


def _nodes_text(nodes: Sequence[str]) -> str:
    """`1`, `2 (CPUs 0-3; CPUs 4-7)`."""
    return "1" if len(nodes) == 1 else f"{len(nodes)} ({'; '.join(f'CPUs {cpus}' for cpus in nodes)})"


def hardware_texts(machine: Mapping[str, Any]) -> dict[str, str]:
    """SMT, caches, NUMA nodes and hypervisor by name. What the system did not report is not there."""
    found = {}
    if "smt" in machine:
        found["SMT"] = "on" if machine["smt"] else "off"
    if "caches" in machine:
        found["caches"] = ", ".join(_cache_text(cache) for cache in machine["caches"])
    if "numa_nodes" in machine:
        found["NUMA nodes"] = _nodes_text(machine["numa_nodes"])
    if "hypervisor" in machine:
        found["hypervisor"] = machine["hypervisor"]
    return found


def cpus_text(machine: Mapping[str, Any]) -> str:
    """`2 cores`, or `8 CPUs on 4 cores` where cores run several threads."""
    cpus, cores = machine["cpus"], len(machine.get("siblings", []))
    return f"{plural(cpus, 'CPU')} on {plural(cores, 'core')}" if machine.get("smt") else plural(cpus, "core")

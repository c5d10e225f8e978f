"""What a manifest says about the hardware of its machine, in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from report.base.format import decimals, plural

_KIB = 1024


def _size_text(size: int) -> str:
    kibibytes = size / _KIB
    return f"{kibibytes:g} KiB" if kibibytes < _KIB else f"{kibibytes / _KIB:g} MiB"


def cpus_in_lists(texts: Iterable[str]) -> int:
    """How many CPUs lists such as `0-1,3` name, each CPU once."""
    ranges = [[int(cpu) for cpu in each.split("-")] for text in texts for each in text.split(",")]
    found, end = 0, -1
    for first, last in sorted((each[0], each[-1]) for each in ranges):
        found += max(0, last - max(first, end + 1) + 1)
        end = max(end, last)
    return found


def _cache_text(cache: Mapping[str, Any]) -> str:
    """`L1 data 32 KiB`, `L3 32 MiB for 2 CPUs`."""
    kind = "" if cache["type"] == "Unified" else f" {cache['type'].lower()}"
    sharing = cpus_in_lists([cache["cpus"]])
    shared = "" if sharing == 1 else f" for {plural(sharing, 'CPU')}"
    return f"L{cache['level']}{kind} {_size_text(cache['size_bytes'])}{shared}"


def _nodes_text(nodes: Sequence[str]) -> str:
    return "1" if len(nodes) == 1 else f"{len(nodes)} ({'; '.join(f'CPUs {cpus}' for cpus in nodes)})"


def index_text(machine: Mapping[str, Any]) -> str:
    """What the fixed loop took before the first run (rule M21); empty where it is not known."""
    found = machine.get("index_ms")
    return f"{decimals(found, 1)} ms for a fixed loop of integers; it decides nothing" if found else ""


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
    cpus, cores = machine["cpus"], len(machine.get("siblings", []))
    return f"{plural(cpus, 'CPU')} on {plural(cores, 'core')}" if machine.get("smt") else plural(cpus, "core")

"""The engine, its images and the caps of a campaign that ran in containers, as pairs of a name and a text."""

from collections.abc import Mapping
from typing import Any

from report.base.format import gibibytes, plural

_KINDS = {
    "store": "Cap of a store node",
    "server": "Cap of the server",
    "generator": "Cap of the load generator",
}


def _cap(cap: dict[str, Any]) -> str:
    parts = [
        *([plural_cpus(cap["cpus"])] if "cpus" in cap else []),
        *([f"{gibibytes(cap['memory_bytes'])} GiB"] if "memory_bytes" in cap else []),
        *([f"CPUs {cap['cpuset']}"] if "cpuset" in cap else []),
    ]
    return ", ".join(parts) or "none"


def caps_text(caps: Mapping[str, Any]) -> str:
    """`store 2 CPUs, 2.0 GiB; server 2.0 GiB`, by role."""
    return "; ".join(f"{role} {_cap(cap)}" for role, cap in sorted(caps.items())) or "none"


def plural_cpus(cpus: float) -> str:
    """`0.5 CPUs`, `1 CPU`, `2 CPUs`."""
    return f"{cpus:g} CPU{'' if cpus == 1 else 's'}"


def container_facts(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Empty for a campaign without containers. What was really applied to each role stands in the results."""
    engine = manifest.get("engine")
    if engine is None:
        return []
    caps = manifest["runtime"].get("caps", {})
    return [
        ("Engine", f"{engine['name']} {engine['version']}, API {engine['api_version']}"),
        (
            "Engine's host",
            f"{engine['operating_system']}, {engine['kernel']}, {plural(engine['cpus'], 'core')}, "
            f"{gibibytes(engine['memory_bytes'])} GiB, control groups version {engine['cgroup_version']}",
        ),
        *((name, _cap(caps[kind])) for kind, name in _KINDS.items() if kind in caps),
        *(
            (f"Image {name}", f"{image['name']} {image.get('digest', image['id'])}")
            for name, image in sorted(manifest.get("images", {}).items())
        ),
    ]

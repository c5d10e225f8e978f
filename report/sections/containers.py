"""The engine, its images and the caps of a campaign that ran in containers, as pairs of a name and a text."""

from collections.abc import Mapping
from typing import Any

from report.analysis.load_text import cap_text
from report.base.format import gibibytes, plural
from report.results.model import MEASURED_KINDS

_KINDS = {
    "store": "Cap of a store node",
    "service": "Cap of a service",
    "server": "Cap of a server",
    "generator": "Cap of the load generator",
}


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
        *((_KINDS[kind], cap_text(caps[kind])) for kind in MEASURED_KINDS if kind in caps),
        *(
            (
                f"Image {name}",
                f"{image['name']} {image.get('digest', image['id'])}"
                + ("" if image.get("pinned", True) else ", not pinned"),
            )
            for name, image in sorted(manifest.get("images", {}).items())
        ),
    ]

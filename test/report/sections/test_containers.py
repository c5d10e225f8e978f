"""What the report says of a campaign that ran in containers."""

from builder import configuration
from campaign_writer import manifest
from report.sections.environment import container_facts

GIB = 1024**3
ENGINE = {
    "name": "Docker",
    "version": "28.1.0",
    "api_version": "1.49",
    "operating_system": "Example OS",
    "kernel": "6.12.0",
    "cpus": 8,
    "memory_bytes": 16 * GIB,
    "cgroup_version": "2",
}
CONTAINERS = {
    "runtime": {
        "id": "docker",
        "embedded_store": False,
        "caps_applied": True,
        "caps": {
            "store": {"cpus": 2, "memory_bytes": 2 * GIB, "cpuset": "0-1"},
            "server": {"cpus": 1},
            "generator": {},
        },
    },
    "engine": ENGINE,
    "images": {
        "redis": {
            "name": "redis:8.0",
            "id": "sha256:" + "a" * 64,
            "digest": "sha256:" + "b" * 64,
            "pinned": False,
        },
        "server": {"name": "ratelimit-bench-server:1", "id": "sha256:" + "c" * 64},
    },
}


def test_the_engine_its_images_and_the_caps_are_named() -> None:
    facts = dict(container_facts(manifest([configuration()], runs=1, **CONTAINERS)))
    assert facts["Engine"] == "Docker 28.1.0, API 1.49"
    assert facts["Cap of a store node"] == "2 CPUs, 2.0 GiB, CPUs 0-1"
    assert facts["Cap of a server"] == "1 CPU"
    assert facts["Cap of the load generator"] == "none"
    # The registry's digest where there is one: it is what others can pull.
    assert facts["Image redis"] == f"redis:8.0 sha256:{'b' * 64}, not pinned"
    assert facts["Image server"].endswith("c" * 64)

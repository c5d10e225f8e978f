"""Where and how a campaign ran, as the page tells it."""

from pathlib import Path
from typing import Any

import pytest

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from report.results.load import load_campaign
from report.sections.environment import (
    campaign_properties,
    container_properties,
    machine_properties,
)


def machine_properties_of(folder: Path, **properties: Any) -> dict[str, str]:
    machine = {**manifest([configuration()])["machine"], **properties}
    written = manifest([configuration()], 1, machine=machine)
    campaign = load_campaign(write_campaign(folder / "one", written, [result(configuration())]))
    return dict(machine_properties(campaign, []))


def test_hardware_is_told_as_far_as_it_is_known(tmp_path: Path) -> None:
    texts = machine_properties_of(
        tmp_path,
        cpus=8,
        smt=True,
        siblings=["0,4", "1,5", "2,6", "3,7"],
        caches=[
            {"level": 1, "type": "Data", "size_bytes": 32 * 1024, "cpus": "0,4"},
            {"level": 1, "type": "Instruction", "size_bytes": 32 * 1024, "cpus": "0,4"},
            {"level": 2, "type": "Unified", "size_bytes": 1024**2, "cpus": "0"},
            {"level": 3, "type": "Unified", "size_bytes": 32 * 1024**2, "cpus": "0-1,4-5"},
        ],
        numa_nodes=["0-1,4-5", "2-3,6-7"],
        hypervisor="Amazon EC2 m7i.large",
        microcode="0xa0011d1",
        index_ms=21.27,
    )
    assert texts["CPU"] == "Example CPU @ 2.50GHz, 8 CPUs on 4 cores"
    assert texts["SMT"] == "on"
    assert texts["Caches"] == (
        "L1 data 32 KiB for 2 CPUs, L1 instruction 32 KiB for 2 CPUs, L2 1 MiB, L3 32 MiB for 4 CPUs"
    )
    assert texts["NUMA nodes"] == "2 (CPUs 0-1,4-5; CPUs 2-3,6-7)"
    assert texts["Hypervisor"] == "Amazon EC2 m7i.large"
    assert texts["Microcode"] == "0xa0011d1"
    assert texts["Index of the machine"].startswith("21.3 ms")


def test_hardware_that_is_not_known_is_not_there(tmp_path: Path) -> None:
    properties = machine_properties_of(tmp_path)
    assert properties["CPU"] == "Example CPU @ 2.50GHz, 2 cores"
    assert not {
        "SMT",
        "Caches",
        "NUMA nodes",
        "Hypervisor",
        "Microcode",
        "Index of the machine",
    } & set(properties)


def test_without_smt_each_cpu_is_a_core(tmp_path: Path) -> None:
    properties = machine_properties_of(tmp_path, smt=False, siblings=["0", "1"], numa_nodes=["0-1"])
    assert (properties["CPU"], properties["SMT"]) == ("Example CPU @ 2.50GHz, 2 cores", "off")
    assert properties["NUMA nodes"] == "1"


@pytest.mark.parametrize(
    ("warm_up", "order", "text"),
    [
        (2.5, "turns", "2.5 s, discarded"),
        ("auto", "interleaved", "until the load was steady, up to 10 s of each target, discarded"),
        ("auto", "turns", "until the load was steady, up to 10 s of each target, discarded"),
    ],
)
def test_the_warm_up_is_told_as_it_was_asked_for(
    tmp_path: Path, warm_up: float | str, order: str, text: str
) -> None:
    written = manifest([configuration()], 1)
    written["plan"] |= {"warmup_s": warm_up, "order": order}
    campaign = load_campaign(write_campaign(tmp_path / "one", written, [result(configuration())]))
    assert dict(campaign_properties(campaign))["Warm-up"] == text


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
    properties = dict(container_properties(manifest([configuration()], runs=1, **CONTAINERS)))
    assert properties["Engine"] == "Docker 28.1.0, API 1.49"
    assert properties["Cap of a store node"] == "2 CPUs, 2.0 GiB, CPUs 0-1"
    assert properties["Cap of a server"] == "1 CPU"
    assert properties["Cap of the load generator"] == "none"
    # The registry's digest where there is one: it is what others can pull.
    assert properties["Image redis"] == f"redis:8.0 sha256:{'b' * 64}, not pinned"
    assert properties["Image server"].endswith("c" * 64)

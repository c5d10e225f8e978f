"""Where and how a campaign ran, as the page tells it."""

from pathlib import Path
from typing import Any

import pytest

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from report.results.load import load_campaign
from report.sections.environment import campaign_facts, machine_facts


def machine_facts_of(folder: Path, **facts: Any) -> dict[str, str]:
    machine = {**manifest([configuration()])["machine"], **facts}
    written = manifest([configuration()], 1, machine=machine)
    campaign = load_campaign(write_campaign(folder / "one", written, [result(configuration())]))
    return dict(machine_facts(campaign, []))


def test_hardware_is_told_as_far_as_it_is_known(tmp_path: Path) -> None:
    facts = machine_facts_of(
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
        machine_id="0123456789abcdef",
        index_ms=21.27,
    )
    assert facts["CPU"] == "Example CPU @ 2.50GHz, 8 CPUs on 4 cores"
    assert facts["SMT"] == "on"
    assert facts["Caches"] == (
        "L1 data 32 KiB for 2 CPUs, L1 instruction 32 KiB for 2 CPUs, L2 1 MiB, L3 32 MiB for 4 CPUs"
    )
    assert facts["NUMA nodes"] == "2 (CPUs 0-1,4-5; CPUs 2-3,6-7)"
    assert facts["Hypervisor"] == "Amazon EC2 m7i.large"
    assert facts["Machine"] == "0123456789abcdef"
    assert facts["Index of the machine"].startswith("21.3 ms")


def test_hardware_that_is_not_known_is_not_there(tmp_path: Path) -> None:
    facts = machine_facts_of(tmp_path)
    assert facts["CPU"] == "Example CPU @ 2.50GHz, 2 cores"
    assert not {"SMT", "Caches", "NUMA nodes", "Hypervisor", "Machine", "Index of the machine"} & set(facts)


def test_without_smt_each_cpu_is_a_core(tmp_path: Path) -> None:
    facts = machine_facts_of(tmp_path, smt=False, siblings=["0", "1"], numa_nodes=["0-1"])
    assert (facts["CPU"], facts["SMT"]) == ("Example CPU @ 2.50GHz, 2 cores", "off")
    assert facts["NUMA nodes"] == "1"


@pytest.mark.parametrize(
    ("warm_up", "order", "text"),
    [
        (2.5, "turns", "2.5 s, discarded"),
        ("auto", "interleaved", "until the load was steady, 3 to 10 s, discarded"),
        ("auto", "turns", "until the load was steady, 1.5 to 10 s, discarded"),
    ],
)
def test_the_warm_up_is_told_as_it_was_asked_for(
    tmp_path: Path, warm_up: float | str, order: str, text: str
) -> None:
    written = manifest([configuration()], 1)
    written["plan"] |= {"warmup_s": warm_up, "order": order}
    campaign = load_campaign(write_campaign(tmp_path / "one", written, [result(configuration())]))
    assert dict(campaign_facts(campaign))["Warm-up"] == text

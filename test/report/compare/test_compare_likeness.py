"""Which rows `compare` takes for alike: scripts, stores, machines, runtimes and caps."""

import re
from typing import Any

import pytest

from builder import Document, configuration
from campaign_writer import manifest
from compared_campaigns import (
    GLIDE,
    IOVALKEY,
    JITTER,
    Call,
    Put,
    changing,
)


def test_targets_with_scripts_of_their_own_are_compared_client_and_script_together(
    call: Call, put: Put
) -> None:
    put("one", {"iovalkey": 6000, "valkey-glide": 5000})
    table = call("iovalkey", "valkey-glide")
    assert table.code == 6
    assert not re.search(r"[0-9a-f]{40}", table.out)
    assert "measure both with +same-script" in table.out
    (row,) = call("iovalkey", "valkey-glide", "--format", "json").document["comparisons"]
    assert row["compared"] == "client and script together"
    assert row["compared_parts"] == ["client", "script"]
    assert row["conclusion"] == "slower"
    # The flag that used to be needed is taken still.
    assert call("iovalkey", "valkey-glide", "--allow", "script").out == table.out


def test_one_client_under_both_scripts_is_a_comparison_of_the_script(call: Call, put: Put) -> None:
    put("one", {"valkey-glide": 6000, GLIDE: 5000})
    assert "the comparison is of script alone" in call("valkey-glide", GLIDE).out
    put("two", {IOVALKEY: 6000, GLIDE: 5000})
    (row,) = call(IOVALKEY, GLIDE, "--format", "json").document["comparisons"]
    assert (row["compared"], row["differs"]) == ("client alone", [])


def test_a_control_is_said_to_have_no_store(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, "none": 20000})
    refused = call(IOVALKEY, "none")
    assert (refused.code, refused.err) == (
        2,
        "compare: not comparable: none is a control without a store. "
        "To compare them all the same: --allow store,topology\n",
    )
    assert call(IOVALKEY, "none", "--allow", "store,topology").code == 0


def test_same_script_that_was_not_the_same_is_refused(call: Call, put: Put) -> None:
    for number, document in enumerate(changing(put("one", {IOVALKEY: 6000, GLIDE: 5000}))):
        if number >= len(JITTER):
            document["consumers"][0]["limiter_script"] = {
                "kind": "evalsha",
                "name_or_sha1": "f" * 40,
            }
    refused = call(IOVALKEY, GLIDE)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "were to run one script and did not (EVALSHA " in refused.err
    assert "; EVALSHA ffffffff)" in refused.err
    assert "f" * 9 not in refused.err
    assert refused.err.endswith("To compare them all the same: --allow script\n")
    assert call(IOVALKEY, GLIDE, "--allow", "script").code == 6


def test_other_store_is_refused(call: Call, put: Put) -> None:
    put("one", {"ioredis": 6000, "ioredis@valkey": 5000})
    refused = call("ioredis", "ioredis@valkey")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert (
        "store differs: ioredis ran on redis 9.1.2 (embedded); ioredis@valkey on valkey 9.1.2"
        in refused.err
    )
    allowed = call("ioredis", "ioredis@valkey", "--allow", "store")
    assert allowed.code == 6
    assert "on valkey 9.1.2 (embedded): the comparison is of store alone" in allowed.out


def test_an_embedded_store_beside_an_installed_one_is_one_runtime(call: Call, put: Put) -> None:
    for document in changing(put("one", {"ioredis": 6000, "ioredis@valkey": 5000})):
        document["runtime"]["embedded_store"] = (
            document["configuration"]["target"]["store"] == "valkey"
        )
    assert "runtime differs" not in call("ioredis", "ioredis@valkey").err
    assert call("ioredis", "ioredis@valkey", "--allow", "store").code == 6


DOCKER = {"id": "docker", "embedded_store": False, "caps_applied": True}


def test_other_machine_and_runtime_are_refused(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    put("two", {IOVALKEY: 6000}, reference=4000, machine=on_machine(cpu_model="Another CPU"))
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert "machine differs: CPU Example CPU @ 2.50GHz, then Another CPU" in refused.err
    assert call("results/one", "results/two", "--allow", "machine").code == 0
    put(
        "three",
        {IOVALKEY: 6000},
        reference=4000,
        result_changes={"runtime": DOCKER},
        runtime=DOCKER,
    )
    refused = call("results/one", "results/three")
    assert refused.code == 2
    assert (
        "runtime differ: one ran on valkey 9.1.2 (embedded), runtime local; three on" in refused.err
    )
    assert call("results/one", "results/three", "--allow", "runtime,store").code == 0


HARDWARE: Document = {
    "smt": True,
    "siblings": ["0-1"],
    "caches": [
        {"level": 1, "type": "Data", "size_bytes": 48 * 1024, "cpus": "0-1"},
        {"level": 2, "type": "Unified", "size_bytes": 1280 * 1024, "cpus": "0"},
        {"level": 3, "type": "Unified", "size_bytes": 32 * 1024**2, "cpus": "0-7,16-23"},
    ],
    "numa_nodes": ["0-1"],
    "hypervisor": "none",
}


def on_machine(**properties: Any) -> Document:
    return {**manifest([configuration()])["machine"], **properties}


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({"smt": False}, "SMT on, then off"),
        (
            {"caches": HARDWARE["caches"][:2]},
            "caches L1 data 48 KiB for 2 CPUs, L2 1.25 MiB, L3 32 MiB for 16 CPUs, then "
            "L1 data 48 KiB for 2 CPUs, L2 1.25 MiB",
        ),
        ({"numa_nodes": ["0", "1"]}, "NUMA nodes 1, then 2 (CPUs 0; CPUs 1)"),
        ({"hypervisor": "KVM\n"}, "hypervisor none, then KVM"),
    ],
)
def test_properties_that_are_no_part_of_a_machine_s_key_are_told_and_refuse_nothing(
    call: Call, put: Put, properties: Document, text: str
) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000, machine=on_machine(**HARDWARE))
    put("two", {IOVALKEY: 6000}, reference=4000, machine=on_machine(**{**HARDWARE, **properties}))
    completed = call("results/one", "results/two")
    assert completed.code == 0
    assert f"facts of the machine differ: {text}" in completed.out


@pytest.mark.parametrize(
    "properties", [{"cpu_model": "B"}, {"microcode": "0x2"}, {"cpus": 3}, {"kernel": "Linux 9"}]
)
def test_a_machine_s_key_is_cpu_model_microcode_number_of_cpus_and_kernel(
    call: Call, put: Put, properties: Document
) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000, machine=on_machine(microcode="0x1"))
    put(
        "two",
        {IOVALKEY: 6000},
        reference=4000,
        machine=on_machine(**{"microcode": "0x1"} | properties),
    )
    refused = call("results/one", "results/two")
    assert refused.code == 2 and "machine differs" in refused.err


def test_of_hardware_that_a_campaign_does_not_have_on_record_nothing_is_claimed(
    call: Call, put: Put
) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    put("two", {IOVALKEY: 6000}, reference=4000, machine=on_machine(**HARDWARE))
    put("three", {IOVALKEY: 6000}, reference=4000, machine=on_machine(microcode="0x1"))
    for sides in (("one", "two"), ("two", "one"), ("one", "three")):
        completed = call(*(f"results/{side}" for side in sides))
        assert completed.code == 0
        assert "machine differs" not in completed.out


def test_caps_of_containers_that_differ_are_named(call: Call, put: Put) -> None:
    for name, cpus in (("one", 2), ("two", 0.5)):
        caps = {**DOCKER, "caps": {"store": {"cpus": cpus}, "server": {}, "generator": {}}}
        put(name, {IOVALKEY: 6000}, result_changes={"runtime": caps}, runtime=caps)
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert (
        "runtime differs: one ran on runtime docker (caps: server none; store 2 CPUs; generator none)"
        in (refused.err)
    )
    assert "store 0.5 CPUs" in refused.err


def test_other_store_versions_of_local_and_container_campaigns_are_one_notice_that_names_both(
    call: Call, put: Put
) -> None:
    rates = {"ioredis": 7000, IOVALKEY: 6000, GLIDE: 5000, "none": 20000}
    put("one", rates)
    assert call("--save-baseline", "main").code == 0
    for document in changing(put("two", rates, result_changes={"runtime": DOCKER}, runtime=DOCKER)):
        if "store" in document["versions"]:
            document["versions"]["store"] = "8.1.1"
    notice = (
        "store version and runtime differ: one ran on redis 9.1.2 (embedded) and valkey 9.1.2 (embedded), "
        "runtime local; two on redis 8.1.1 and valkey 8.1.1, runtime docker"
    )
    for arguments in (("results/one", "results/two"), ("--baseline", "main")):
        refused = call(*arguments)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert refused.err.count(notice) == 1
        allowed = call(*arguments, "--allow", "store,runtime")
        assert allowed.out.count(notice) == 1
        (row, *_) = call(*arguments, "--allow", "store,runtime", "--format", "json").document[
            "comparisons"
        ]
        assert row["compared_parts"] == ["store version", "runtime"]


def test_a_campaign_without_a_manifest_is_of_an_unknown_machine(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000})
    (put("two", {IOVALKEY: 6000}) / "manifest.json").unlink()
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert "machine differs: that of campaign two is not on record" in refused.err

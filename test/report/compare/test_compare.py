"""`compare` as it is called: sides, likeness, margins, baselines and exit codes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, result, verdict
from campaign_writer import manifest, write_campaign
from report.base.errors import REGRESSION
from report.base.paths import PACKAGE
from report.cli.compare_command import main

JITTER = (0.996, 0.998, 0.999, 1.001, 1.002, 1.004)
CLOSED = {"model": "closed", "connections": 50}
IOVALKEY = "iovalkey+same-script"
GLIDE = "valkey-glide+same-script"
#: Stands in both of two campaigns.
REFERENCE = "node-redis@valkey+same-script"
#: Its own luck in the same rounds.
REFERENCE_JITTER = (1.003, 0.997, 1.001, 1.002, 0.998, 0.999)


@dataclass(frozen=True)
class CompletedCommand:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


#: Of a result by turns.
TURNS: Document = {"group": 2, "turns": 10, "lead_in_ms": 5, "slice_ms": 100, "drained_s": 0.1}

Call = Callable[..., CompletedCommand]
Put = Callable[..., Path]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Calls the command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> CompletedCommand:
        capsys.readouterr()
        code = main(arguments)
        completed = capsys.readouterr()
        return CompletedCommand(code, completed.out, completed.err)

    return run


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes `results/NAME`: of each target so many requests/s, times each factor; `latest` points
    to it.

    With a `reference` of so many requests/s the targets were measured by turns beside it.
    """

    def write(
        name: str,
        throughputs: dict[str, float],
        factors: tuple[float, ...] = JITTER,
        result_changes: Document | None = None,
        loads: Sequence[Document] = (CLOSED,),
        reference: float | None = None,
        turns: Document | None = None,
        order: str = "turns",
        **changes: Any,
    ) -> Path:
        rates = throughputs if reference is None else {REFERENCE: reference, **throughputs}
        configurations = [configuration(label, load=load) for label in rates for load in loads]
        by_turns: Document = {"turns": turns or TURNS} if reference is not None else {}
        more = by_turns | (result_changes or {})
        results = [
            result(configured, run, int(rates[label] * factor), campaign=name, **more)
            for configured in configurations
            for label in [configured["target"]["label"]]
            for own in [cycle(REFERENCE_JITTER) if label == REFERENCE else factors]
            for run, (_, factor) in enumerate(zip(factors, own, strict=False), start=1)
        ]
        folder = tmp_path / "results" / name
        manifested = manifest(configurations, len(factors), campaign=name, **changes)
        if reference is not None:
            plan = manifested["plan"] | {"order": order}
            plan["references"] = [
                each["hash"]
                for each in plan["configurations"]
                if each["configuration"]["target"]["label"] == REFERENCE
            ]
            for run in plan["runs"]:
                run |= {"round": run["run"], "group": 1}
            manifested["plan"] = plan
        write_campaign(folder, manifested, results)
        latest = folder.with_name("latest")
        latest.unlink(missing_ok=True)
        latest.symlink_to(name)
        return folder

    return write


def test_two_targets_of_the_latest_campaign(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    junit = tmp_path / "comparison.xml"
    worse = call(IOVALKEY, GLIDE, "--format", "json", "--junit", str(junit))
    assert worse.code == 6
    assert '<failure message="0.833×' in junit.read_text(encoding="utf-8")
    (row,) = worse.document["comparisons"]
    assert row["conclusion"] == "slower"
    assert row["ratio"] == pytest.approx(5 / 6, rel=1e-3)
    assert row["ratio_of_medians"] is None, "ratio is the one estimate"
    assert row["interval"]["low"] < 5 / 6 < row["interval"]["high"] < 0.98
    assert (row["base"]["runs"], row["new"]["runs"], row["p"]) == (6, 6, pytest.approx(2 / 924))
    assert row["reference"] is None
    assert worse.document["margin_percent"] == pytest.approx(2)
    better = call(GLIDE, IOVALKEY)
    assert better.code == 0
    assert better.out.endswith("no regression\n")
    assert call(IOVALKEY, GLIDE, "--fail-on", "never").code == 0


def changing(folder: Path) -> Iterator[Document]:
    """Each result of a campaign, which is written as it is changed."""
    for path in sorted(folder.glob("*_run*.json")):
        document = json.loads(path.read_text())
        yield document
        path.write_text(json.dumps(document))


def at_rate(per_second: int) -> Document:
    return {
        "model": "open",
        "rate_per_second": per_second,
        "arrivals": "constant",
        "connections": 50,
    }


@pytest.mark.parametrize("metric", ["p50", "p99"])
def test_what_is_better_when_lower(call: Call, put: Put, metric: str) -> None:
    # The builder's latency is inverse to the throughput.
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    (row,) = call(IOVALKEY, GLIDE, "--metric", metric, "--format", "json").document["comparisons"]
    assert row["conclusion"] == "worse"
    assert row["ratio"] == pytest.approx(1.2, rel=0.01)


BURNING = "iovalkey+autopipelining+same-script"


@pytest.fixture
def put_burning(put: Put) -> Callable[..., None]:
    """A campaign in which a target takes a tenth more CPU per request than another, at the same
    loads."""

    def write(*loads: Document, runs: int = 6) -> None:
        for document in changing(
            put("one", {IOVALKEY: 6000, BURNING: 6000}, JITTER[:runs], loads=loads)
        ):
            if document["configuration"]["target"]["label"] == BURNING:
                document["resources"]["server-1"]["cpu_us_per_request"] *= 1.1

    return write


def test_a_tenth_more_cpu_per_request_at_one_rate_is_a_regression(
    call: Call, put_burning: Callable[..., None]
) -> None:
    put_burning(at_rate(6000))
    completed = call(IOVALKEY, BURNING, "--metric", "cpu")
    assert completed.code == 6 and "full load" not in completed.out
    assert call(BURNING, IOVALKEY, "--metric", "cpu").code == 0
    assert call(IOVALKEY, BURNING).code == 0


@pytest.mark.parametrize("runs", [3, 6])
def test_in_a_closed_loop_cpu_per_request_is_no_second_conclusion(
    call: Call, put_burning: Callable[..., None], runs: int
) -> None:
    put_burning(CLOSED, runs=runs)
    assert call(BURNING, IOVALKEY, "--metric", "cpu").code == 7
    completed = call(IOVALKEY, BURNING, "--metric", "cpu")
    assert completed.code == 7
    assert "(--rate)" in completed.out and "full load" in completed.out
    (row,) = call(IOVALKEY, BURNING, "--metric", "cpu", "--format", "json").document["comparisons"]
    assert row["ratio"] == pytest.approx(1.1, rel=0.01)
    assert (row["conclusion"], row["p"], row["p_holm"], row["runs_needed"]) == (
        "not decided",
        None,
        None,
        None,
    )
    assert call(IOVALKEY, BURNING, "--metric", "cpu", "--fail-on", "never").code == 0


def test_cpu_at_one_rate_decides_beside_a_closed_loop(
    call: Call, put_burning: Callable[..., None]
) -> None:
    put_burning(CLOSED, at_rate(6000), at_rate(3000))
    rows = call(IOVALKEY, BURNING, "--metric", "cpu", "--format", "json")
    assert [row["conclusion"] for row in rows.document["comparisons"]] == [
        "not decided",
        "worse",
        "worse",
    ]
    assert (rows.code, rows.document["verdict"]) == (6, "regression")
    # What concludes nothing does not leave the rest undecided.
    assert call(BURNING, IOVALKEY, "--metric", "cpu").code == 0


def test_output_that_nobody_reads_ends_quietly_with_the_code_of_the_comparison(put: Put) -> None:
    folder = put("one", {IOVALKEY: 6000, GLIDE: 5000})
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, str(PACKAGE), "compare", IOVALKEY, GLIDE, "--campaign", str(folder)]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.stderr, done.returncode) == (b"", REGRESSION)


def test_few_runs_decide_nothing(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, JITTER[:3])
    completed = call(IOVALKEY, GLIDE)
    assert completed.code == 7
    assert (
        "not decided: 3 runs per side cannot show a difference, it takes at least 5"
        in completed.out
    )


def test_the_margin_is_the_users(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    assert call(IOVALKEY, GLIDE, "--margin", "30%").code == 0
    assert call(IOVALKEY, GLIDE, "--margin", "0.5").code == 6
    for wrong in ("-1", "100", "x", "2%%", ""):
        refused = call(IOVALKEY, GLIDE, f"--margin={wrong}")
        assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_the_margin_is_that_of_the_campaign_unless_it_is_given(call: Call, put: Put) -> None:
    folder = put("one", {IOVALKEY: 6000, GLIDE: 5900})
    assert call(IOVALKEY, GLIDE, "--format", "json").document["margin_percent"] == pytest.approx(2)

    path = folder / "manifest.json"
    document = json.loads(path.read_text("utf-8"))
    document["plan"]["margin_percent"] = 5
    path.write_text(json.dumps(document), encoding="utf-8")
    by_campaign = call(IOVALKEY, GLIDE, "--format", "json").document
    assert by_campaign["margin_percent"] == pytest.approx(5)
    assert by_campaign["comparisons"][0]["conclusion"] == "no difference"

    given = call(IOVALKEY, GLIDE, "--margin", "1", "--format", "json").document
    assert given["margin_percent"] == pytest.approx(1)


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


def test_campaigns_are_matched_by_target_and_say_what_only_one_has(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, reference=4000)
    put("two", {IOVALKEY: 5000, GLIDE: 5000, "ioredis@valkey+same-script": 4000}, reference=4000)
    completed = call("results/one", "results/two")
    assert completed.code == 6
    assert "only in two: ioredis@valkey+same-script" in completed.out
    assert call("results/one#" + GLIDE, "results/two").code == 0
    assert call("results/one", f"results/two#{IOVALKEY}").code == 6


def test_consecutive_runs_decide_nothing(call: Call, put: Put) -> None:
    plan = manifest([configuration(IOVALKEY), configuration(GLIDE)], 6)["plan"]
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, plan={**plan, "order": "consecutive"})
    completed = call(IOVALKEY, GLIDE, "--format", "json")
    (row,) = completed.document["comparisons"]
    assert (completed.code, row["conclusion"]) == (7, "not decided")
    assert "the host does not cancel" in row["reason"]
    assert row["ratio"] == pytest.approx(5 / 6, rel=1e-3)


def test_what_the_host_did_to_both_cancels_between_campaigns(call: Call, put: Put) -> None:
    # The second campaign met a host that is half as fast.
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, reference=4000)
    put("two", {IOVALKEY: 3000, GLIDE: 2250}, reference=2000)
    completed = call("results/one", "results/two", "--format", "json")
    assert completed.code == 6
    first, second = completed.document["comparisons"]
    assert [row["new"]["label"] for row in (first, second)] == [IOVALKEY, GLIDE]
    assert (first["conclusion"], first["reference"]) == ("no difference", REFERENCE)
    assert second["conclusion"] == "slower"
    assert second["ratio"] == pytest.approx(0.9, rel=2e-3)
    assert second["interval"]["low"] < 0.9 < second["interval"]["high"]
    assert (second["pairs"], second["comparisons_in_family"]) == (None, 2)
    assert call("results/one", f"results/two#{IOVALKEY}").code == 0


def test_six_rounds_on_each_side_are_needed(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000}, JITTER[:5], reference=4000)
    put("two", {IOVALKEY: 3000}, JITTER, reference=4000)
    assert call("results/one", "results/two").code == 7
    put("three", {IOVALKEY: 6000}, JITTER, reference=4000)
    assert call("results/three", "results/two").code == 6


@pytest.mark.parametrize("change", ["version", "store", "none", "consecutive"])
def test_without_a_common_reference_nothing_is_decided(call: Call, put: Put, change: str) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    folder = put("two", {IOVALKEY: 3000}, reference=None if change == "none" else 4000)
    if change == "consecutive":
        manifested = json.loads((folder / "manifest.json").read_text())
        manifested["plan"]["order"] = change
        for run in manifested["plan"]["runs"]:
            del run["round"], run["group"]
        (folder / "manifest.json").write_text(json.dumps(manifested))
    for document in changing(folder):
        if document["configuration"]["target"]["label"] == REFERENCE and change in (
            "version",
            "store",
        ):
            document["versions"]["client" if change == "version" else "store"] = "9.9.9"
    completed = call("results/one", "results/two", "--allow", "order,store", "--format", "json")
    (row,) = [
        each for each in completed.document["comparisons"] if each["new"]["label"] == IOVALKEY
    ]
    assert (completed.code, row["conclusion"], row["reference"]) == (7, "not decided", None)
    assert "the host does not cancel" in row["reason"]
    assert "--reference auto" in row["reason"]
    assert row["ratio"] == pytest.approx(0.5, rel=1e-2)


def test_a_round_in_which_the_reference_failed_its_load_is_left_out(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    folder = put("two", {IOVALKEY: 6000}, (*JITTER, *JITTER), reference=4000)
    for number, document in enumerate(changing(folder)):
        if number < 2:
            assert document["configuration"]["target"]["label"] == REFERENCE
            document |= {"outcome": "failed", "outcome_text": "failed"}
    completed = call("results/one", "results/two", "--format", "json")
    (row,) = completed.document["comparisons"]
    assert (completed.code, row["conclusion"], row["ratio"]) == (
        0,
        "no difference",
        pytest.approx(1, abs=0.01),
    )


@pytest.mark.parametrize(
    ("turns", "code"), [({"group": 5}, 2), ({"slice_ms": 400}, 2), ({"slice_ms": 120}, 0), ({}, 0)]
)
def test_order_group_and_slice_are_checked(
    call: Call, put: Put, turns: Document, code: int
) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    put("two", {IOVALKEY: 6000}, reference=4000, turns=TURNS | turns)
    assert call("results/one", "results/two").code == code
    assert call("results/one", "results/two", "--allow", "order").code == 0
    put("three", {IOVALKEY: 6000}, reference=4000, order="interleaved")
    refused = call("results/one", "results/three")
    assert (refused.code, "order differs: turns, then interleaved" in refused.err) == (2, True)


def test_a_baseline_is_saved_whole_and_compared_with(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, reference=4000)
    saved = call("--save-baseline", "main")
    assert (saved.code, saved.err) == (0, "")
    put("two", {IOVALKEY: 5000, GLIDE: 5000}, reference=4000)
    assert call("--baseline", "main").code == 6
    assert call("--baseline", "main", GLIDE).code == 0
    # Saved again, the newer one counts, and nothing of the older is left.
    assert call("--save-baseline", "main", "results/two").code == 0
    assert call("--baseline", "main", "results/two").code == 0
    there = sorted(path.name for path in (tmp_path / "results" / "baselines").iterdir())
    assert there == ["main"]


def test_a_baseline_without_a_reference_says_that_it_decides_nothing(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000})
    saved = call("--save-baseline", "main")
    assert saved.code == 0
    assert "--reference auto" in saved.err


def test_a_baseline_of_an_older_schema_is_to_be_saved_again(
    call: Call, put: Put, tmp_path: Path
) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    assert call("--save-baseline", "main").code == 0
    saved = tmp_path / "results" / "baselines" / "main"
    (saved / "SHA256SUMS").unlink(missing_ok=True)
    for path in saved.glob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(document | {"schema_version": 1}), encoding="utf-8")
    refused = call("--baseline", "main")
    assert refused.code == 2
    first, last = refused.err.splitlines()
    assert first.endswith(
        "more files: $.schema_version is 1; this report reads versions 2 to 4: measure again"
    )
    assert last.endswith("baseline main: save it again with --save-baseline main")


def test_baselines_that_cannot_be(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000})
    for name in ("../x", "", ".hidden", "a/b", "x" * 80, "-x\n"):
        refused = call(f"--save-baseline={name}")
        assert (refused.code, refused.err.count("\n")) == (2, 1), name
    missing = call("--baseline", "nope")
    assert missing.code == 2
    assert "none was saved" in missing.err
    assert "--save-baseline nope" in missing.err
    assert call("--save-baseline", "main", IOVALKEY).code == 2
    assert call("--save-baseline", "main", "--baseline", "x").code == 2
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "results" / "baselines").symlink_to(elsewhere)
    assert call("--save-baseline", "main").code == 3
    assert list(elsewhere.iterdir()) == []


def test_a_baseline_stays_as_it_was_when_the_copy_fails(
    call: Call, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    assert call("--save-baseline", "main").code == 0
    put("two", {IOVALKEY: 5000}, reference=4000)

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("report.compare.selection.shutil.copyfile", full)
    failed = call("--save-baseline", "main")
    assert failed.code == 4
    assert "No space left on device" in failed.err
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert [path.name for path in (tmp_path / "results" / "baselines").iterdir()] == ["main"]
    assert call("--baseline", "main").code == 6


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["a"], "give BASE and NEW"),
        (["iovalkei+same-script", IOVALKEY], "did you mean iovalkey+same-script?"),
        ([IOVALKEY, IOVALKEY], "both sides are the same runs"),
        (["#x", IOVALKEY], "give DIR#TARGET"),
        (["", IOVALKEY], "is empty"),
        (["results/none", "results/one"], "is not a folder"),
        ([IOVALKEY, GLIDE, "--allow", "everything"], "--allow 'everything': give of machine"),
        (["--baseline", "main", IOVALKEY, GLIDE], "give one side at most"),
    ],
)
def test_wrong_usage_is_one_line(call: Call, put: Put, arguments: list[str], text: str) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    if "--baseline" in arguments:
        call("--save-baseline", "main")
    refused = call(*arguments)
    assert refused.code == 2
    assert text in refused.err
    assert (refused.out, refused.err.count("\n")) == ("", 1)


def test_a_target_of_another_campaign_is_found_there(call: Call, put: Put) -> None:
    put("20260101_000000", {IOVALKEY: 6000, GLIDE: 5000})
    put("example", {IOVALKEY: 6000, GLIDE: 5000})
    put("20260102_000000", {IOVALKEY: 6000, GLIDE: 5000})
    put("20260103_000000", {"ioredis": 6000})
    refused = call(IOVALKEY, GLIDE)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"{IOVALKEY} is no target of campaign 20260103_000000" in refused.err
    assert refused.err.endswith(
        "; campaign 20260102_000000 has it: --campaign results/20260102_000000\n"
    )
    assert call(IOVALKEY, GLIDE, "--campaign", "results/20260102_000000").code == 6


def test_no_load_in_common(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000})
    fixed = configuration(IOVALKEY, traffic="fixed")
    write_campaign(tmp_path / "results" / "two", None, [result(fixed, 1, campaign="two")])
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert "have no load in common: light · realistic" in refused.err


def test_runs_that_are_invalid_do_not_count(call: Call, put: Put) -> None:
    for number, document in enumerate(changing(put("one", {IOVALKEY: 6000, GLIDE: 5000}))):
        if number == 0:
            document["verdict"] = verdict("invalid", ("M9", "failed"))
    (row,) = call(IOVALKEY, GLIDE, "--format", "json").document["comparisons"]
    assert (row["base"]["runs"], row["new"]["runs"]) == (5, 6)


def test_markdown_is_a_table_whose_names_are_code_and_mention_nobody(call: Call, put: Put) -> None:
    put("one_@two", {IOVALKEY: 6000, GLIDE: 5000})
    lines = call(IOVALKEY, GLIDE, "--format", "md").out.splitlines()
    assert lines[0].startswith("**regression**: `one_@two#valkey-glide+same-script` against")
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 3
    assert {line.count("|") for line in table} == {10}
    assert "slower" in table[2]


def test_markdown_names_the_load_and_the_versions_of_both_sides(call: Call, put: Put) -> None:
    versions = {**result(configuration())["versions"], "client": "5.7.0"}
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, result_changes={"versions": versions})
    text = call(IOVALKEY, GLIDE, "--format", "md").out
    (row,) = [line for line in text.splitlines() if line.startswith("|") and "slower" in line]
    assert "50 connections" in row
    assert f"- {IOVALKEY}: client 5.7.0" in text
    assert f"- {GLIDE}: client 5.7.0" in text


def test_everything_behind_one_exit_code_is_one_family(call: Call, put: Put) -> None:
    """Each load alone could be decided by five runs; as one of seven it cannot."""
    loads = [{"model": "closed", "connections": 10 * number} for number in range(1, 8)]
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, JITTER[:5], loads=loads)
    completed = call(IOVALKEY, GLIDE, "--format", "json")
    assert {row["comparisons_in_family"] for row in completed.document["comparisons"]} == {7}
    assert completed.code == 7
    few = put("two", {IOVALKEY: 6000, GLIDE: 5000}, JITTER[:5], loads=loads[:3])
    assert call(IOVALKEY, GLIDE, "--campaign", str(few)).code == 6


#: Runs of ten rounds on a host that slows down by a third.
SLOWING = tuple(1 - 0.03 * number for number in range(10))


def put_in_rounds(
    put: Put, throughputs: dict[str, float], references: Sequence[str] = (IOVALKEY,)
) -> None:
    configured = [configuration(label, load=CLOSED) for label in throughputs]
    plan = manifest(configured, len(SLOWING))["plan"]
    for run in plan["runs"]:
        run |= {"round": run["run"]}
    hashes = {
        each["configuration"]["target"]["label"]: each["hash"] for each in plan["configurations"]
    }
    plan["references"] = [hashes[label] for label in references]
    put("one", throughputs, SLOWING, plan=plan)


def test_runs_of_one_round_are_compared_by_pairs(call: Call, put: Put) -> None:
    put_in_rounds(put, {IOVALKEY: 6000, GLIDE: 5700})
    completed = call(IOVALKEY, GLIDE)
    assert completed.code == 6
    assert "runs of one round are compared with each other" in completed.out
    (row,) = call(IOVALKEY, GLIDE, "--format", "json").document["comparisons"]
    assert (row["pairs"], row["ratio"]) == (10, pytest.approx(0.95, rel=1e-3))
    # The same runs without their rounds: the host's drift hides it.
    put("two", {IOVALKEY: 6000, GLIDE: 5700}, SLOWING)
    assert call(IOVALKEY, GLIDE).code == 7


def test_a_copy_is_compared_with_nothing_of_another_campaign_and_gates_nothing(
    call: Call, put: Put
) -> None:
    put_in_rounds(put, {IOVALKEY: 6000, GLIDE: 5700, "iovalkey+copy+same-script": 6360})
    assert call(IOVALKEY, GLIDE).code == 6
    assert call("--save-baseline", "main").code == 0
    rows = call("--baseline", "main", "--format", "json").document["comparisons"]
    assert [(row["new"]["label"], row["reference"]) for row in rows] == [(GLIDE, IOVALKEY)]


def put_adaptive(put: Put, name: str, throughputs: dict[str, float], rounds: int) -> None:
    configured = [configuration(label, load=CLOSED) for label in (REFERENCE, *throughputs)]
    plan = manifest(configured, 20)["plan"] | {"adaptive": {"looks": [5, 7, 10, 14, 20]}}
    asked = {each["hash"]: rounds for each in plan["configurations"]}
    factors = tuple(0.99 + 0.002 * ((7 * n) % 10) for n in range(rounds))
    adaptive = {"rounds": asked, "looked": rounds, "spent_s": 1}
    put(name, throughputs, factors, reference=4000, plan=plan, adaptive=adaptive)


def test_campaigns_that_stopped_early_are_compared_at_the_earlier_look(
    call: Call, put: Put
) -> None:
    put_adaptive(put, "one", {IOVALKEY: 6000, GLIDE: 5000}, 5)
    put_adaptive(put, "two", {IOVALKEY: 5000, GLIDE: 5000}, 10)
    completed = call("results/one", "results/two", "--format", "json")
    assert completed.code == 7, "two comparisons of five runs at 0.8 %: 2/252 for each is too much"
    row, _ = completed.document["comparisons"]
    assert (row["base"]["runs"], row["new"]["runs"]) == (5, 5)
    assert any(
        "the first 5 rounds" in note and "0.8 %" in note for note in completed.document["notes"]
    )
    assert row["interval"]["coverage"] > 0.98
    put_adaptive(put, "three", {IOVALKEY: 6000, GLIDE: 5000}, 10)
    assert call("results/three", "results/two").code == 6

"""`compare` as it is called: sides, likeness, floors, baselines and exit codes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, result
from campaigns import manifest, write_campaign
from report.comparing.cli import main

JITTER = (0.996, 0.998, 0.999, 1.001, 1.002, 1.004)
IOVALKEY, GLIDE = "iovalkey+same-script", "valkey-glide+same-script"


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


Call = Callable[..., Said]
Put = Callable[..., Path]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(arguments)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes `results/NAME`: of each target so many requests/s, times each factor; `latest` points to it."""

    def write(
        name: str,
        throughputs: dict[str, float],
        factors: tuple[float, ...] = JITTER,
        result_changes: Document | None = None,
        **changes: Any,
    ) -> Path:
        configurations = [configuration(label) for label in throughputs]
        results = [
            result(configured, run, int(typical * factor), campaign=name, **(result_changes or {}))
            for configured, typical in zip(configurations, throughputs.values(), strict=True)
            for run, factor in enumerate(factors, start=1)
        ]
        folder = tmp_path / "results" / name
        write_campaign(folder, manifest(configurations, len(factors), campaign=name, **changes), results)
        latest = folder.with_name("latest")
        latest.unlink(missing_ok=True)
        latest.symlink_to(name)
        return folder

    return write


def test_two_targets_of_the_latest_campaign(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    worse = call(IOVALKEY, GLIDE, "--format", "json")
    assert worse.code == 6
    (row,) = worse.document["comparisons"]
    assert row["status"] == "worse"
    assert row["ratio"] == pytest.approx(5 / 6, rel=1e-3)
    assert row["ratio_of_medians"] == pytest.approx(5 / 6, rel=1e-3)
    assert row["interval"]["low"] < 5 / 6 < row["interval"]["high"] < 0.98
    assert (row["base"]["runs"], row["new"]["runs"], row["p"]) == (6, 6, pytest.approx(2 / 924))
    assert worse.document["drift_excluded"] is True
    assert worse.document["floor_percent"] == pytest.approx(2)
    better = call(GLIDE, IOVALKEY)
    assert better.code == 0
    assert better.out.endswith("no regression\n")
    assert call(IOVALKEY, GLIDE, "--fail-on", "never").code == 0


@pytest.mark.parametrize(("metric", "status"), [("p50", "worse"), ("p99", "worse"), ("cpu", "worse")])
def test_what_is_better_when_lower(call: Call, put: Put, metric: str, status: str) -> None:
    # The builder's latency and CPU per request are inverse to the throughput.
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    (row,) = call(IOVALKEY, GLIDE, "--metric", metric, "--format", "json").document["comparisons"]
    assert row["status"] == status
    assert row["ratio"] == pytest.approx(1.2, rel=0.01)


def test_a_tenth_more_cpu_per_request_is_a_regression(call: Call, put: Put) -> None:
    burning = "iovalkey+autopipelining+same-script"
    for path in put("one", {IOVALKEY: 6000, burning: 6000}).glob("*_run*.json"):
        document = json.loads(path.read_text())
        if document["configuration"]["target"]["label"] == burning:
            document["resources"]["server"]["cpu_us_per_request"] *= 1.1
            path.write_text(json.dumps(document))
    assert call(IOVALKEY, burning, "--metric", "cpu").code == 6
    assert call(IOVALKEY, burning).code == 0


def test_few_runs_are_inconclusive(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, JITTER[:3])
    said = call(IOVALKEY, GLIDE)
    assert said.code == 7
    assert "indicative: 3 runs a side cannot show a difference, it takes at least 5" in said.out


def test_the_floor_is_the_users(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    assert call(IOVALKEY, GLIDE, "--floor", "30%").code == 0
    assert call(IOVALKEY, GLIDE, "--floor", "0.5").code == 6
    for wrong in ("-1", "100", "x", "2%%", ""):
        refused = call(IOVALKEY, GLIDE, f"--floor={wrong}")
        assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_other_script_is_refused_and_said_when_allowed(call: Call, put: Put) -> None:
    put("one", {"iovalkey": 6000, "valkey-glide": 5000})
    refused = call("iovalkey", "valkey-glide")
    assert refused.code == 2
    assert "script differs (iovalkey, valkey-glide)" in refused.err
    assert "--allow script. The +same-script targets run one script." in refused.err
    allowed = call("iovalkey", "valkey-glide", "--allow", "script")
    assert allowed.code == 6
    assert "script differs" in allowed.out
    assert "the comparison is of all that differs together" in allowed.out


def test_other_store_is_refused(call: Call, put: Put) -> None:
    put("one", {"ioredis": 6000, "ioredis@valkey": 5000})
    refused = call("ioredis", "ioredis@valkey")
    assert refused.code == 2
    assert "store differs (ioredis, ioredis@valkey): redis 9.1.2, then valkey 9.1.2" in refused.err
    assert call("ioredis", "ioredis@valkey", "--allow", "store").code == 6


def test_other_machine_and_runtime_are_refused(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000})
    machine = {**manifest([configuration()])["machine"], "cpu_model": "Another CPU"}
    put("two", {IOVALKEY: 6000}, machine=machine)
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert "machine differs: cpu_model is Example CPU @ 2.50GHz, then Another CPU" in refused.err
    assert call("results/one", "results/two", "--allow", "machine").code == 0
    docker = {"id": "docker", "embedded_store": False, "caps_applied": True}
    put("three", {IOVALKEY: 6000}, result_changes={"runtime": docker}, runtime=docker)
    refused = call("results/one", "results/three")
    assert refused.code == 2
    assert "runtime differs" in refused.err
    assert call("results/one", "results/three", "--allow", "runtime,store").code == 0


def test_a_campaign_without_a_manifest_is_of_an_unknown_machine(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000})
    (put("two", {IOVALKEY: 6000}) / "manifest.json").unlink()
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert "machine differs: that of campaign two is not on record" in refused.err


def test_campaigns_are_matched_by_target_and_say_that_drift_is_not_excluded(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    put("two", {IOVALKEY: 5000, GLIDE: 5000, "ioredis@valkey+same-script": 4000})
    said = call("results/one", "results/two")
    assert said.code == 6
    assert "drift of the machine is not excluded: the sides are of two campaigns" in said.out
    assert "only in two: ioredis@valkey+same-script" in said.out
    assert call("results/one#" + GLIDE, "results/two").code == 0
    assert call("results/one", f"results/two#{IOVALKEY}").code == 6


def test_consecutive_runs_do_not_exclude_drift(call: Call, put: Put) -> None:
    plan = manifest([configuration(IOVALKEY), configuration(GLIDE)], 6)["plan"]
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, plan={**plan, "order": "consecutive"})
    said = call(IOVALKEY, GLIDE)
    assert "drift of the machine is not excluded: runs were not interleaved" in said.out


def noise_file(root: Path, machine: Document, floor: float, runtime: Document | None = None) -> None:
    facts = runtime or {"id": "local", "embedded_store": True, "caps_applied": False}
    (root / "noise").mkdir()
    (root / "noise" / "a.json").write_text(
        json.dumps(
            {
                "schema": "ratelimit-bench/noise",
                "schema_version": 1,
                "campaign": "quiet-night",
                "measured_at": "2026-01-02T03:04:05.000Z",
                "machine": machine,
                "runtime": json.dumps([facts, "{}"], sort_keys=True),
                "metrics": {"throughput": {"noise_floor": floor}},
            }
        )
    )
    (root / "noise" / "b.json").write_text("not JSON")


@pytest.mark.parametrize(("noisy", "code"), [(0.25, 0), (0.01, 6)])
def test_between_campaigns_the_hosts_noise_is_the_floor_where_it_is_larger(
    call: Call, put: Put, tmp_path: Path, noisy: float, code: int
) -> None:
    put("one", {IOVALKEY: 6000})
    put("two", {IOVALKEY: 5000})
    assert "no `noise` was measured here" in call("results/one", "results/two").out
    machine = {
        "platform": "linux",
        "kernel": "6.12.0",
        "cpu_model": "Example CPU @ 2.50GHz",
        "cpus": 2,
        "governor": None,
        "memory_gib": 8,
    }
    noise_file(tmp_path / "results", machine, noisy)
    said = call("results/one", "results/two")
    assert said.code == code
    assert f"{100 * noisy:.3g} %, measured in campaign quiet-night" in said.out


def test_noise_of_another_machine_does_not_count(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000})
    put("two", {IOVALKEY: 5000})
    noise_file(tmp_path / "results", {"platform": "other"}, 0.5)
    assert call("results/one", "results/two").code == 6


def test_a_baseline_is_saved_whole_and_compared_with(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    assert call("--save-baseline", "main").code == 0
    put("two", {IOVALKEY: 5000, GLIDE: 5000})
    assert call("--baseline", "main").code == 6
    assert call("--baseline", "main", GLIDE).code == 0
    # Saved again, the newer one counts, and nothing of the older is left.
    assert call("--save-baseline", "main", "results/two").code == 0
    assert call("--baseline", "main", "results/two").code == 0
    there = sorted(path.name for path in (tmp_path / "results" / "baselines").iterdir())
    assert there == ["main"]


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
    put("one", {IOVALKEY: 6000})
    assert call("--save-baseline", "main").code == 0
    put("two", {IOVALKEY: 5000})

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("report.comparing.baselines.shutil.copyfile", full)
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


def test_no_load_in_common(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000})
    fixed = configuration(IOVALKEY, traffic="fixed")
    write_campaign(tmp_path / "results" / "two", None, [result(fixed, 1, campaign="two")])
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert "have no load in common: light · realistic" in refused.err


def test_runs_that_are_invalid_do_not_count(call: Call, put: Put) -> None:
    folder = put("one", {IOVALKEY: 6000, GLIDE: 5000})
    path = next(folder.glob("00_*.json"))
    document = json.loads(path.read_text())
    reason = {"rule": "M9", "severity": "invalid", "text": "failed"}
    document["verdict"] = {"status": "invalid", "reasons": [reason], "not_applicable": []}
    path.write_text(json.dumps(document))
    (row,) = call(IOVALKEY, GLIDE, "--format", "json").document["comparisons"]
    assert (row["base"]["runs"], row["new"]["runs"]) == (5, 6)


def test_markdown_is_a_table_whose_text_is_escaped(call: Call, put: Put) -> None:
    put("one_two", {IOVALKEY: 6000, GLIDE: 5000})
    lines = call(IOVALKEY, GLIDE, "--format", "md").out.splitlines()
    assert lines[0].startswith("**regression**: one\\_two\\#valkey-glide+same-script against")
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 3
    assert {line.count("|") for line in table} == {10}
    assert "worse" in table[2]

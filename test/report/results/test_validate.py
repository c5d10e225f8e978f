"""What must not be reported: file and field are named, the exit code is 2, and an existing report
stays."""

import json
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build
from report.cli.generate_command import main
from report.results.older_documents import SCHEMA_VERSION

READ = f"this report reads versions 2 to {SCHEMA_VERSION}"
NEWER = SCHEMA_VERSION + 1


def altered(path: str, value: Any) -> Document:
    """A valid result with one field changed, or removed where `value` is `...`."""
    document: Document = json.loads(json.dumps(result(configuration())))
    *parents, last = path.split(".")
    place: Any = document
    for name in parents:
        place = place[int(name)] if name.isdigit() else place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


# [R-report-1]
@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("latency.p99", ..., "$.latency.p99 is missing"),
        ("latency.p50", -0.1, "$.latency.p50 is -0.1"),
        ("latency", ..., "$.latency is missing"),
        ("requests.average", "fast", "$.requests.average"),
        ("requests.average", None, "$.requests.average"),
        ("schema", "someone-elses/result", "$.schema is"),
        ("schema_version", 1, f"$.schema_version is 1; {READ}: measure again"),
        ("schema_version", NEWER, f"$.schema_version is {NEWER}; {READ}: report it with"),
        ("schema_version", ..., "$.schema_version is null"),
        ("status", "splendid", "$.status"),
        ("run", -1, "$.run"),
        ("surprise", 1, "$.surprise is not a field"),
        ("configuration", ..., "$.configuration is missing"),
        ("configuration_hash", ..., "$.configuration_hash is missing"),
        ("campaign", "another", "$.campaign is another"),
        ("latency.p99", None, "$.latency.bounds.p99 is missing"),
        ("latency.average", None, "$.latency.bounds.average is missing"),
        ("load_text", ..., "$.load_text is missing"),
        ("generators.0.histograms.limited.data", "AAAA", "$.generators[0].histograms.limited.data"),
        ("generators.0.histograms.failed.count", 3, "$.generators[0].histograms.failed.data"),
        ("configuration.load.connections", 51, "$.configuration differs"),
    ],
)
def test_wrong_field_is_named(build: Build, path: str, value: Any, field: str) -> None:
    outcome = build(manifest([configuration()]), [altered(path, value)])
    assert outcome.code == 2
    assert outcome.err.startswith(
        f"generate_report: 00_run{value if path == 'run' else 1}.json: {field}"
    )
    assert outcome.err.count("\n") == 1
    assert not (outcome.folder / "report").exists()


def encoded_with(text: str, replacement: str) -> bytes:
    return json.dumps(result(configuration(), 2)).replace(text, replacement, 1).encode()


# [R-report-2]
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (encoded_with('"duration": 5', '"duration": NaN'), "$ is not JSON"),
        (encoded_with('"duration": 5', '"duration": -Infinity'), "$ is not JSON"),
        (encoded_with('"duration": 5', '"duration": 1e999'), "$ holds 1e999"),
        (b'{"duration": 1e999}', "$ is not JSON"),
        (encoded_with("iovalkey", "\\ud800"), "$ is not JSON"),
        (encoded_with("iovalkey", "\xff").replace("\xff".encode(), b"\xff"), "$ is not UTF-8"),
        (json.dumps(result(configuration(), 2)).encode()[:-100], "$ is not JSON"),
        (b"", "$ is not JSON"),
        (b"[" * 100_000, "$ is nested too deeply"),
        (encoded_with('"notes": []', '"notes": ' + "[" * 60 + "]" * 60), "$"),
        (b"[" + b"0," * 4_100_000 + b"0]", "$"),
        (json.dumps(manifest([configuration()])).encode(), "$.schema is"),
        (b"\x00" * 1000, "$"),
        (b"\xef\xbb\xbf{}", "$"),
        (b"[]", "$ is not a JSON object"),
        (b"{}", "$.schema is missing"),
        (b'{"results": [1, 2]}', "$.schema is missing"),
        (b" " * (64 * 1024 * 1024 + 1), "$ is larger than 64 MiB"),
    ],
)
def test_damaged_or_foreign_file_is_named(build: Build, data: bytes, text: str) -> None:
    outcome = build(
        manifest([configuration()]), [result(configuration())], files={"strange.json": data}
    )
    assert outcome.code == 2
    assert outcome.err.startswith(f"generate_report: strange.json: {text}")
    assert outcome.err.count("\n") == 1


# [R-hostile-3]
@pytest.mark.parametrize(
    "name",
    [
        "$(touch x).json",
        ";rm -rf x;.json",
        "-rf.json",
        "a\nb.json",
        "<img src=x onerror=alert(1)>.json",
        "=cmd|x.json",
        "n" * 245 + ".json",
    ],
)
def test_hostile_file_name_is_told_on_one_line(build: Build, name: str) -> None:
    outcome = build(manifest([configuration()]), [result(configuration())], files={name: b"{}"})
    assert outcome.code == 2
    assert "$.schema is missing" in outcome.err
    assert outcome.err.count("\n") == 1
    assert len(outcome.err) < 400
    assert not (outcome.folder / "x").exists()
    assert not Path("x").exists()


def test_one_run_twice_is_refused(build: Build) -> None:
    outcome = build(None, [result(configuration(), 1, 100), result(configuration(), 1, 200)])
    assert outcome.code == 2
    assert "01_run1.json: $.run 1 of this configuration is also in 00_run1.json" in outcome.err


def test_one_hash_for_two_configurations_is_refused(build: Build) -> None:
    document = result(configuration(), 1)
    other = result(configuration("ioredis"), 2)
    outcome = build(
        None, [document, {**other, "configuration_hash": document["configuration_hash"]}]
    )
    assert outcome.code == 2
    assert (
        "01_run2.json: $.configuration differs from that of the same hash in 00_run1.json"
        in outcome.err
    )


def test_wrong_manifest_is_named(build: Build) -> None:
    broken = manifest([configuration()])
    del broken["machine"]["cpus"]
    outcome = build(broken, [result(configuration())])
    assert outcome.code == 2
    assert (
        outcome.err.splitlines()[-1] == "generate_report: manifest.json: $.machine.cpus is missing"
    )


# [R-report-3]
def test_existing_report_stays_as_it_was(build: Build) -> None:
    good = build(manifest([configuration()]), [result(configuration())])
    before = {path.name: path.read_bytes() for path in (good.folder / "report").iterdir()}
    bad = build(manifest([configuration()]), [result(configuration())], files={"broken.json": b"{"})
    assert bad.code == 2
    assert {path.name: path.read_bytes() for path in (bad.folder / "report").iterdir()} == before


def test_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_folder_without_results(build: Build) -> None:
    outcome = build(manifest([configuration()]), [])
    assert outcome.code == 2
    assert "holds no result" in outcome.err
    assert outcome.err.count("\n") == 1


# [R-crash-3]
def test_leftovers_of_a_crash_are_ignored_and_said(build: Build) -> None:
    leftovers = {"x_run1.json.tmp123": b"{", ".x_run2.json": b"{", "00_run1.json.log": b"noise"}
    outcome = build(None, [result(configuration())], files=leftovers)
    assert outcome.code == 0
    assert "x_run1.json.tmp123: ignored" in outcome.err
    assert ".x_run2.json: ignored" in outcome.err
    assert ".log" not in outcome.err
    assert "Ignored: x_run1.json.tmp123" in outcome.page


def test_message_stays_on_one_line(build: Build) -> None:
    document = {**result(configuration()), "status": "a\nb\x1b[31m" + "c" * 500}
    outcome = build(None, [document])
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "\x1b" not in outcome.err
    assert len(outcome.err) < 300
